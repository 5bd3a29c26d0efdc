"""What is proved in balls, beside certificates: digits, bounds, descents, floors and reach.

The digits of the gradient have a second implementation here, by mpmath from other formulas; no
library proves any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from benchmarks.timing import Row, in_words, interleaved
from numerics.balls import gradient_digits
from numerics.balls.attention_descent import certify_descent
from numerics.balls.bounds.explicit_corollary3 import explicit_corollary3
from numerics.balls.bounds.explicit_theorem2 import explicit_theorem2
from numerics.balls.pushes import enclose_pushes
from numerics.balls.reach.concave_floor import concave_floor
from numerics.balls.reach.softmax_reach import softmax_reach
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.exact.quadratic_forms import form_space
from numerics.multiprecision import gradient_digits as by_mpmath

__all__ = ["rows"]

_SUPPORT = (0, 1)
_TOLERANCE = Fraction(1, 100)
_DIGITS = ((1000, 256, 17), (64, 16, 50), (64, 16, 1000))
_BESIDE_MPMATH = (64, 16)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    for d, m, digits in _DIGITS:
        yield from _digits(d, m, digits, rounds=min(rounds, 3))
    for name, run in _proofs():
        yield Row(name, str(interleaved({"ours": run}, rounds=min(rounds, 3))["ours"]))
    # It takes seconds, so once will do.
    run = {"ours": lambda: explicit_corollary3(10**4, 512)}
    figure = interleaved(run, rounds=1, warm=False)["ours"]
    yield Row("bound of Corollary 3 at (1e4, 512), samples searched", in_words(figure.median))


def _digits(d: int, m: int, digits: int, *, rounds: int) -> Iterator[Row]:
    at = _instance(d, m)
    contenders = {"ours": lambda: gradient_digits.population_gradient_digits(*at, digits=digits)}
    if (d, m) == _BESIDE_MPMATH:
        contenders["mpmath"] = lambda: by_mpmath.population_gradient_digits(*at, digits=digits)
        assert contenders["ours"]().theta == contenders["mpmath"]().theta
    figures = interleaved(contenders, rounds=rounds)
    what = f"gradient to {digits:,} digits at ({d:,}, {m})"
    for name, figure in figures.items():
        yield Row(f"{what}: {name}", str(figure))
    if "mpmath" in figures:
        yield Row(f"{what}: mpmath over ours", str(figures["mpmath"].ratio(figures["ours"])))


def _instance(d: int, m: int):
    rng = np.random.default_rng(0)
    return (
        sample_embeddings(rng, d, m),
        uniform_direction(rng, m),
        uniform_direction(rng, m),
        _SUPPORT,
    )


def _proofs() -> Iterator[tuple[str, Callable[[], object]]]:
    narrow = _instance(1024, 16)[0]
    wide = _instance(32, 64)
    forms = _instance(24, 8)[0]
    pushed = _instance(1024, 256)
    yield (
        "bound of Theorem 2 at (1e6, 512), step size searched",
        lambda: explicit_theorem2(10**6, 512, tolerance=_TOLERANCE),
    )
    yield "pushes of the first gradient at (1,024, 256), enclosed", lambda: enclose_pushes(*pushed)
    yield (
        "10 steps of linear attention at (32, 64), every loss enclosed",
        lambda: certify_descent(
            *wide, attention="linear", eta=_TOLERANCE, steps=10, tolerance=_TOLERANCE
        ),
    )
    yield "floor of odd concave attention at (1,024, 16)", lambda: concave_floor(narrow)
    yield (
        "reach of softmax attention at (1,024, 16), every support",
        lambda: softmax_reach(narrow, tolerance=_TOLERANCE),
    )
    yield "quadratic forms of linear attention at (24, 8), exactly", lambda: form_space(forms)
