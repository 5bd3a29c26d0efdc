"""Exact confidence intervals for a binomial proportion (Clopper and Pearson, 1934)."""

from __future__ import annotations

from typing import SupportsFloat, SupportsIndex

from numerics.arguments import InvalidArgumentError, finite_float, integer_at_least

__all__ = ["clopper_pearson"]


def clopper_pearson(
    count: SupportsIndex, trials: SupportsIndex, *, level: SupportsFloat = 0.95
) -> tuple[float, float]:
    """Return the two-sided interval that covers the proportion with probability >= `level`.

    Its ends are beta quantiles: each tail beyond an end has probability (1 - level)/2. No
    failure in 1000 trials gives [0, 0.0036820839], not [0, 0].

    Parameters
    ----------
    count, trials : int
        Number of events among the trials; ``0 <= count <= trials``, ``trials >= 1``.
    level : float
        Coverage, strictly between 0 and 1.

    Raises
    ------
    InvalidArgumentError
        If a count is out of range or the level is not in (0, 1).
    """
    from scipy.special import betaincinv

    n = integer_at_least("trials", trials, 1)
    k = integer_at_least("count", count, 0)
    if k > n:
        raise InvalidArgumentError("count", k, f"must be at most trials = {n}")
    coverage = finite_float("level", level)
    if not 0 < coverage < 1:
        raise InvalidArgumentError("level", coverage, "must be strictly between 0 and 1")
    tail = (1 - coverage) / 2
    lower = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    upper = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return lower, upper
