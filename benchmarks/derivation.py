"""The derived loss, for every d, beside SymPy expanding the mean over all 2^d inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import sympy as sp
from sympy.core.cache import clear_cache

from benchmarks.timing import Figure, Row, interleaved
from derivations.population import loss

__all__ = ["rows"]

_SIZES = (3, 4, 5, 6)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    figures: list[Figure] = []
    for d in _SIZES:
        found = interleaved(
            {"ours": _derived, "SymPy": lambda size=d: _expanded(size)}, rounds=min(rounds, 3)
        )
        figures.append(found["SymPy"])
        yield Row(f"loss for d = {d}, expanded over 2^d inputs by SymPy", str(found["SymPy"]))
    yield Row("loss for every d at once, derived by the moment rule", str(found["ours"]))
    growth = (figures[-1].median / figures[0].median) ** (1 / (_SIZES[-1] - _SIZES[0]))
    yield Row("brute force, growth for each further position", f"a factor {growth:.1f}")


def _derived() -> sp.Expr:
    # SymPy remembers what it has computed before; neither contender may profit from that.
    clear_cache()
    return loss()


def _expanded(d: int) -> sp.Expr:
    clear_cache()
    gamma, gamma_tilde = sp.symbols(f"g:{d}"), sp.symbols(f"t:{d}")
    total = sp.Integer(0)
    for x in product((1, -1), repeat=d):
        p = sum(weight * sign for weight, sign in zip(gamma, x, strict=True))
        q = sum(weight * sign for weight, sign in zip(gamma_tilde, x, strict=True))
        total += (x[0] * x[1] - p * q) ** 2
    return sp.expand(total / 2**d)
