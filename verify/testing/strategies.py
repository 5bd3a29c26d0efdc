"""Hypothesis strategies for instances and attention, for this project's tests and for yours.

Hypothesis draws small integers and nothing else: d, m, a seed and a support. The arrays are made
from these, always in the same way, so that a failing example shrinks to few positions, seed 0 and
support (0, 1), and is reported as the call that makes it again. Entries of V drawn one by one
would be equal nearly everywhere, in rows that are no unit vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TypeVar

import numpy as np

try:
    from hypothesis import assume, event, settings
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    if missing.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "verify.testing.strategies needs Hypothesis: install xorverify[strategies]",
        name="hypothesis",
    ) from None

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.embeddings import check_law, find_law
from verify.claim import Assumption
from verify.instances.instance import Instance
from verify.testing.attention_pairs import ATTENTION_KINDS, AttentionPair, check_kind
from verify.testing.hard_instances import (
    CORNERS,
    DrawnInstance,
    Start,
    check_corner,
    corner_at,
    instance_at,
)

__all__ = [
    "ATTENTION_KINDS",
    "CORNERS",
    "AttentionPair",
    "DrawnInstance",
    "Tally",
    "adversarial_instances",
    "assuming",
    "attention_pairs",
    "corner_at",
    "instance_at",
    "instances",
    "rational_attention",
    "register_profiles",
    "sizes",
    "supports",
]


def _seed(pairs: tuple[int, int, int]) -> int:
    first, second, third = pairs
    return (first * 100 + second) * 100 + third


# Six digits in pairs: of one integer below a million, Hypothesis would draw every other one below
# a thousand, and the same few seeds would come again and again.
_PAIR = st.integers(0, 99)
_SEEDS = st.tuples(_PAIR, _PAIR, _PAIR).map(_seed)


def sizes(
    *, min_d: int = 2, max_d: int = 16, min_m: int = 1, max_m: int = 8, law: str = "sphere"
) -> st.SearchStrategy[tuple[int, int]]:
    """Draw sizes ``(d, m)``, with ``d <= m`` if the law needs it.

    Raises
    ------
    InvalidArgumentError
        If the limits leave no sizes or the law does not exist.
    """
    min_d, min_m = integer_at_least("min_d", min_d, 2), integer_at_least("min_m", min_m, 1)
    max_d, max_m = integer_at_least("max_d", max_d, min_d), integer_at_least("max_m", max_m, min_m)
    check_law(law, min_d, max_m)
    if not find_law(law).independent:
        return st.tuples(st.integers(min_d, max_d), st.integers(min_m, max_m))
    return st.integers(min_d, min(max_d, max_m)).flatmap(
        lambda d: st.tuples(st.just(d), st.integers(max(d, min_m), max_m))
    )


def supports(d: int) -> st.SearchStrategy[tuple[int, int]]:
    """Draw ordered pairs of distinct positions below `d`; they shrink to ``(0, 1)``.

    Raises
    ------
    InvalidArgumentError
        If ``d < 2``.
    """
    d = integer_at_least("d", d, 2)
    return st.tuples(st.integers(0, d - 1), st.integers(0, d - 2)).map(_distinct)


def _distinct(pair: tuple[int, int]) -> tuple[int, int]:
    a, b = pair
    return a, b + (b >= a)


def instances(
    *,
    min_d: int = 2,
    max_d: int = 16,
    min_m: int = 1,
    max_m: int = 8,
    law: str = "sphere",
    start: Start = "antisymmetric",
) -> st.SearchStrategy[DrawnInstance]:
    """Draw ordinary instances, as a Monte Carlo trial does: see `instance_at`.

    Parameters
    ----------
    min_d, max_d, min_m, max_m : int
        Limits of the sizes.
    law, start : str
        As in `instance_at`.

    Raises
    ------
    InvalidArgumentError
        If the limits leave no sizes or the law does not exist.
    """
    options: dict[str, st.SearchStrategy[object]] = {}
    if law != "sphere":
        options["law"] = st.just(law)
    if start != "antisymmetric":
        options["start"] = st.just(start)
    allowed = sizes(min_d=min_d, max_d=max_d, min_m=min_m, max_m=max_m, law=law)
    return _made(instance_at, allowed, options)


def adversarial_instances(
    *corners: str, min_d: int = 2, max_d: int = 16, min_m: int = 1, max_m: int = 8
) -> st.SearchStrategy[DrawnInstance]:
    """Draw hard instances: see `CORNERS` and `corner_at`.

    Parameters
    ----------
    *corners : str
        Keys of `CORNERS`; all if none is given. Examples shrink to the first corner that fails.
    min_d, max_d, min_m, max_m : int
        Limits of the sizes. A corner without such sizes is left out.

    Raises
    ------
    InvalidArgumentError
        If a corner does not exist, or none has such sizes.
    """
    families = []
    for name in corners or CORNERS:
        corner = check_corner(name)
        if min_d > corner.max_d or min_m > corner.max_m:
            continue
        options: dict[str, st.SearchStrategy[object]] = {"corner": st.just(name)}
        if len(corner.exponents) > 1:
            options["exponent"] = st.sampled_from(corner.exponents)
        allowed = sizes(
            min_d=min_d,
            max_d=min(max_d, corner.max_d),
            min_m=min_m,
            max_m=min(max_m, corner.max_m),
        )
        families.append(_made(corner_at, allowed, options))
    if not families:
        raise InvalidArgumentError(
            "corners", ", ".join(corners or CORNERS), "no instance has these sizes"
        )
    return st.one_of(families)


def _made(
    make: Callable[..., DrawnInstance],
    allowed: st.SearchStrategy[tuple[int, int]],
    options: dict[str, st.SearchStrategy[object]],
) -> st.SearchStrategy[DrawnInstance]:
    @cache  # it takes longer to make a strategy than to draw from it
    def of_size(size: tuple[int, int]) -> st.SearchStrategy[DrawnInstance]:
        # st.builds, because Hypothesis reports what it builds as a call, and says for each
        # argument whether the failure depends on it.
        d, m = size
        return st.builds(
            make, d=st.just(d), m=st.just(m), seed=_SEEDS, support=supports(d), **options
        )

    return allowed.flatmap(of_size)


def attention_pairs(
    *kinds: str, min_d: int = 2, max_d: int = 8
) -> st.SearchStrategy[AttentionPair]:
    """Draw the attention of two heads, with a support.

    Parameters
    ----------
    *kinds : str
        Keys of `ATTENTION_KINDS`; all if none is given. Examples shrink to the first that fails.
    min_d, max_d : int
        Limits of the number of positions; up to 8, all inputs are visited in milliseconds.

    Raises
    ------
    InvalidArgumentError
        If the limits leave no size or a kind does not exist.
    """
    min_d = integer_at_least("min_d", min_d, 2)
    max_d = integer_at_least("max_d", max_d, min_d)
    for kind in kinds:
        check_kind(kind)
    names = st.sampled_from(kinds or tuple(ATTENTION_KINDS))
    return st.integers(min_d, max_d).flatmap(
        lambda d: st.builds(
            AttentionPair, kind=names, d=st.just(d), seed=_SEEDS, support=supports(d)
        )
    )


def rational_attention(
    d: int, *, smallest: int = 0, largest: int = 20
) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Draw `d` rational weights that sum to exactly 1, in proportion to small integers.

    Parameters
    ----------
    d : int
        Number of positions (>= 2).
    smallest, largest : int
        Limits of the integers; 1 as the smallest makes every weight positive.

    Raises
    ------
    InvalidArgumentError
        If ``d < 2``, or the limits leave no positive integer.
    """
    d = integer_at_least("d", d, 2)
    smallest = integer_at_least("smallest", smallest, 0)
    largest = integer_at_least("largest", largest, max(smallest, 1))
    counts = st.lists(st.integers(smallest, largest), min_size=d, max_size=d)
    return counts.filter(any).map(_normalised)


def _normalised(counts: list[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(count, sum(counts)) for count in counts)


@dataclass(slots=True)
class Tally:
    """How many draws were offered to `assuming`, and how many it rejected.

    Every draw counts, those of shrinking included; a test that passes does not shrink.

    Attributes
    ----------
    offered, rejected : int
        Number of draws.
    violations : Counter
        For each assumption by name, how many draws violate it.
    """

    offered: int = 0
    rejected: int = 0
    violations: Counter[str] = field(default_factory=Counter)

    @property
    def share_rejected(self) -> float:
        """The share of the draws that were rejected; 1 if there were none, as nothing was met."""
        return self.rejected / self.offered if self.offered else 1.0

    def count(self, violated: Sequence[str]) -> None:
        """Count one draw, given the names of the assumptions it violates."""
        self.offered += 1
        self.rejected += bool(violated)
        self.violations.update(violated)

    def __str__(self) -> str:
        reasons = ", ".join(f"{name} {count}" for name, count in self.violations.most_common())
        shares = f"{self.rejected} of {self.offered} draws rejected ({self.share_rejected:.1%})"
        return f"{shares}: {reasons}" if reasons else shares


_Kind = TypeVar("_Kind", bound=Instance)


@st.composite
def assuming(
    draw: st.DrawFn,
    draws: st.SearchStrategy[_Kind],
    *assumptions: Assumption,
    tally: Tally | None = None,
) -> _Kind:
    """Keep the draws that satisfy every assumption, and report what is rejected.

    A rejected draw ends its test case as invalid, and each assumption it violates is an event,
    which ``pytest --hypothesis-show-statistics`` lists. When more than about five in six draws
    are rejected Hypothesis fails the test (`HealthCheck.filter_too_much`).

    Parameters
    ----------
    draws : strategy
        Draws instances.
    *assumptions : Assumption
        Those of `verify.evidence.assumptions`, or your own.
    tally : Tally, optional
        Counts the draws, for a test to bound ``tally.share_rejected``.
    """
    instance = draw(draws)
    # The square of a huge number may overflow: infinite, it answers a predicate correctly.
    with np.errstate(over="ignore"):
        violated = [each.name for each in assumptions if not each.holds(instance)]
    if tally is not None:
        tally.count(violated)
    for name in violated:
        event(f"violates the assumption: {name}")
    # Not st.filter, which tries again within the same corner and would inflate the share.
    assume(not violated)
    return instance


def register_profiles() -> None:
    """Register two settings profiles, to be loaded by name; importing this module does neither.

    ``ci`` draws the same examples on every run. ``nightly`` draws 10,000 new ones for each test
    that does not set ``max_examples`` itself. Neither has a deadline or needs a database of
    earlier failures: both print how to reproduce one.
    """
    # Not from the active profile, which differs where Hypothesis notices a CI service.
    plain = settings.get_profile("default")
    settings.register_profile(
        "ci", plain, derandomize=True, database=None, deadline=None, print_blob=True
    )
    settings.register_profile(
        "nightly", plain, max_examples=10_000, database=None, deadline=None, print_blob=True
    )
