"""The loss of the worst input, without visiting 2^d of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from numerics.enumeration import enumerate_loss
from numerics.worst_case import Closure, worst_case_loss
from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.derivation import derivation_cell
from verify.instances.rational_attention import (
    as_fractions,
    draw_rational_attention,
    draw_support,
    normalised,
)
from verify.seeds import Streams

__all__ = ["CLAIMS"]

_TRIALS: dict[Profile, int] = {"quick": 400, "standard": 1000, "full": 20_000}

# The smallest instance whose bracket stays open: the best vertex has mu = -8/25, the lowest edge
# -9/25, and no input reaches the edge.
_OPEN = ([1, 1, 14, 4], [7, 7, 2, 4])
_OPEN_ENDS = (Fraction(33, 25) ** 2, Fraction(34, 25) ** 2)


def bracket_error(
    gamma: Sequence[Fraction], gamma_tilde: Sequence[Fraction], support: tuple[int, int]
) -> float:
    """Return how far the kernel's bracket of rational attention is from right.

    Returns
    -------
    float
        ``inf`` if the bracket misses the exact supremum over the 2^d inputs or its witness does
        not reach the lower end, or if it is open by more than the gap that is proved, the
        largest product outside the support; otherwise the relative width of a bracket that
        calls itself closed, and 0 for an open one.
    """
    u = np.array([float(value) for value in gamma])
    t = np.array([float(value) for value in gamma_tilde])
    found = worst_case_loss(u, t, support)
    # The bracket is about the binary64 entries over their exact sum.
    exact_u, exact_t = normalised(as_fractions(u)), normalised(as_fractions(t))
    supremum = enumerate_loss(exact_u, exact_t, support).supremum
    if not found.lower <= supremum <= found.upper:
        return np.inf
    if _loss(exact_u, exact_t, support, found.witness.tolist()) < Fraction(found.lower):
        return np.inf
    if found.proved is Closure.OPEN:
        products = u * t
        products[list(support)] = 0
        gap = np.sqrt(found.upper) - np.sqrt(found.lower)
        # The roots 1 - mu of either end, of size 1, are rounded a few times.
        return 0.0 if gap <= products.max() + 1e-14 else np.inf
    if supremum == 0:
        return 0.0
    return float((Fraction(found.upper) - Fraction(found.lower)) / supremum)


def _loss(
    gamma: Sequence[Fraction],
    gamma_tilde: Sequence[Fraction],
    support: tuple[int, int],
    x: Sequence[int],
) -> Fraction:
    p = sum((weight * sign for weight, sign in zip(gamma, x, strict=True)), Fraction(0))
    q = sum((weight * sign for weight, sign in zip(gamma_tilde, x, strict=True)), Fraction(0))
    a, b = support
    return (x[a] * x[b] - p * q) ** 2


def _random_bracket_error(rng: np.random.Generator) -> float:
    d = int(rng.integers(2, 10))
    gamma, gamma_tilde = draw_rational_attention(rng, d), draw_rational_attention(rng, d)
    return bracket_error(gamma, gamma_tilde, draw_support(rng, d))


def _check_open(_: Streams) -> Evidence:
    gamma, gamma_tilde = (normalised([Fraction(n) for n in weights]) for weights in _OPEN)
    found = worst_case_loss(
        np.array([float(x) for x in gamma]), np.array([float(x) for x in gamma_tilde]), (0, 1)
    )
    supremum = enumerate_loss(gamma, gamma_tilde, (0, 1)).supremum
    ends = (found.lower, found.upper)
    # Both ends carry a documented allowance of some 50 units of 2^-53.
    near = all(
        abs(Fraction(end) / exact - 1) < Fraction(1, 10**14)
        for end, exact in zip(ends, _OPEN_ENDS, strict=True)
    )
    honest = found.proved is Closure.OPEN and supremum == _OPEN_ENDS[0]
    return Evidence(
        cell="smallest open instance",
        subject="cross-check",
        method="exact enumeration of 16 inputs",
        grade=Grade.EXACT if near and honest else Grade.REFUTED,
        computed=f"[{found.lower:.6f}, {found.upper:.6f}], {found.proved}; supremum {supremum}",
        claimed="[(33/25)^2, (34/25)^2], open; supremum (33/25)^2",
        precision="binary64 beside exact",
    )


def _cells(profile: Profile) -> tuple[Cell, ...]:
    trials = _TRIALS[profile]
    return (
        derivation_cell("worst_case", cost=2),
        Cell(name="smallest open instance", check=_check_open),
        agreement_cell(
            "bracket at random instances, d = 2..9",
            method="exact enumeration of all 2^d inputs",
            error=_random_bracket_error,
            # A closed bracket is as wide as its two allowances: below 200 units of 2^-53 here.
            bound=200 * 2.0**-53,
            trials=trials,
            cost=trials * 1e-3,
        ),
    )


CLAIMS = (
    Claim(
        id="worst-case-loss",
        title="the largest loss over all 2^d inputs, bracketed in O(d log d)",
        statement=(
            r"$\sup_x (f(x) - y)^2 = (1 - \mu)^2$ with $\mu = \min_x x_a x_b p q$. On $x_a x_b ="
            r" -1$ the minimum is at a vertex of the zonotope of the $(\gamma_i, \tilde\gamma_i)$,"
            r" $i \notin S$; on $x_a x_b = +1$ a vertex is within $\max_{i \notin S} \gamma_i"
            r" \tilde\gamma_i$ of the minimum of $pq$, and exact if $\gamma_a + \gamma_b \ge 1/2$"
            r" and $\tilde\gamma_a + \tilde\gamma_b \ge 1/2$."
        ),
        source="ours; it decides the conclusion of arXiv:2502.07553v2, Theorem 2",
        cells=_cells,
    ),
)
