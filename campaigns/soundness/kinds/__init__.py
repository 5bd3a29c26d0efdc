"""The kinds of instance that are put to the verifier: ordinary ones, and every edge we know of.

A case is made from its seed and number alone: the number says the kind, in turn, and seed and
number the draws. So a case is repeated by naming both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from campaigns.soundness.cases import Case, Kind
from campaigns.soundness.kinds import boundaries, magnitudes, ordinary, ties

__all__ = ["KINDS", "case_at"]

_DIGITS = (1, 2, 5, 17, 17, 17, 40, 60)
_LOW_BITS = (2, 6, 8, 10, 12, 14, 16, 20, 24, 32, 53, 64, 100)
_ROUTES, _SHARES = ("kernel", "bundle", "command"), (0.7, 0.25, 0.05)


def case_at(seed: int, number: int, *, kind: str | None = None) -> Case:
    """Make a case again.

    Parameters
    ----------
    seed, number : int
        Its name.
    kind : str, optional
        A key of `KINDS`, in place of the one whose turn it is.
    """
    rng = np.random.default_rng([seed, number])
    name = kind or list(KINDS)[number % len(KINDS)]
    chosen = KINDS[name]
    d, m = (int(rng.integers(low, high + 1)) for low, high in (chosen.d, chosen.m))
    if rng.random() < 0.02 and chosen.d[1] > 4:
        d = int(rng.integers(8, 11))
    return replace(
        chosen.make(rng, d, m),
        kind=name,
        seed=seed,
        number=number,
        digits=int(rng.choice(_DIGITS)),
        low_bits=int(rng.choice(_LOW_BITS)),
        nearness=int(rng.integers(1, 60)) * int(rng.choice((-1, 1))),
        route=str(rng.choice(_ROUTES, p=_SHARES)),
    )


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "sphere": Kind("uniform rows, as in the paper", ordinary.sphere),
        "learning": Kind("a large step from rows at right angles: tiny losses", ordinary.learning),
        "boundary": Kind(
            "the tolerance at the largest loss, to 35 digits", boundaries.beside_the_supremum
        ),
        "extreme tolerance": Kind(
            "4 and next to it, 1e-9000, 1e9000", boundaries.extreme_tolerance
        ),
        "switch": Kind(
            "the step size where two positions of a head swap", boundaries.switch, m=(2, 4)
        ),
        "integers": Kind("V of small integers: equal rows, ties", ties.grid),
        "equal scores": Kind("different rows with equal scores", ties.equal_scores),
        "duplicates": Kind("rows that come twice", ties.duplicates),
        "copies of the support": Kind(
            "ambient rows equal v_a or v_b", ties.duplicates_of_the_support
        ),
        "equal support": Kind("v_a = v_b", ties.equal_support, undecided=Fraction(1, 3)),
        "equal rows": Kind("all rows equal: a rational largest loss", ties.equal_rows),
        "parallel": Kind("all rows on one line", ties.parallel),
        "opposite": Kind("rows and their negatives", ties.opposite),
        "denormal": Kind("V or theta of 5e-324 to 1e-307", magnitudes.denormal),
        "huge": Kind("entries of 1e150 and 1e300", magnitudes.huge),
        "two positions": Kind("d = 2", ordinary.sphere, d=(2, 2)),
        "three positions": Kind("d = 3", ordinary.sphere, d=(3, 3)),
        "one column": Kind("m = 1", ordinary.sphere, m=(1, 1)),
        "zero query": Kind("theta = 0, or both queries", ordinary.theta_zero),
        "equal queries": Kind("theta~ = theta", ordinary.equal_queries),
        "free queries": Kind("theta~ on its own, columns of many sizes", ordinary.free_queries),
        "huge step": Kind("eta up to 3e4000", magnitudes.huge_step, undecided=Fraction(1, 4)),
        "tiny step": Kind("eta down to 7e-4000", magnitudes.tiny_step),
        "mixed lengths": Kind("rows of 2^-60 to 2^60", magnitudes.mixed_lengths),
        "negative zero": Kind("entries of -0.0", magnitudes.negative_zero),
        "support at the ends": Kind("support (0, d - 1) or (d - 1, 0)", ordinary.ends),
        "concentrated": Kind("attention within 2^-20 to 2^-2000 of 1", magnitudes.concentrated),
        "open bracket": Kind("edges exceed vertices", boundaries.prescribed, d=(4, 8), m=(2, 2)),
        "no vertex": Kind(
            "the worst input is inside the zonotope", boundaries.inside, d=(6, 8), m=(2, 2)
        ),
        "offset": Kind("a common score of 2^60", magnitudes.offset, m=(1, 2)),
        "scattered": Kind("entries of 1e-40 to 1", magnitudes.scattered),
        "nearly tied": Kind("two leading rows that differ in the last bits", ties.nearly_tied),
        "zero gradient": Kind("components that are zero by symmetry", ties.zero_gradient),
        "nearly zero gradient": Kind("a column that is nearly balanced", ties.nearly_zero_gradient),
        "tied inputs": Kind("many inputs have the largest loss", ties.tied_inputs, d=(4, 7)),
    }
)
"""The kinds by name, in the order in which they take turns."""
