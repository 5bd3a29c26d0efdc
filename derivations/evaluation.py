"""The value of a formula at an instance: explicit sequences, explicit numbers, any exact ring.

This is where a formula for symbolic d meets a given d. The evaluator knows nothing of what the
formula means; it reads sums, products, integer powers, power sums and entries, and computes with
whatever numbers it is handed: fractions, SymPy expressions, multi-precision floats, balls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Values
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp

from derivations.notation import Position, Sequence
from derivations.power_sums import Entry, PowerSum

__all__ = ["evaluate", "evaluate_over"]

T = TypeVar("T")


def evaluate(
    expr: sp.Expr,
    *,
    sequences: Mapping[str, Values[Fraction | int]],
    positions: Mapping[str, int] | None = None,
    scalars: Mapping[str, Fraction | int] | None = None,
    exponentials: Mapping[str, Fraction | int] | None = None,
) -> Fraction:
    """Evaluate a formula exactly in rational numbers.

    Parameters
    ----------
    expr : sympy.Expr
        The formula; a scalar.
    sequences : mapping of name to values
        Each sequence, as d numbers; d is their common length.
    positions : mapping of name to int, optional
        Where ``a``, ``b``, ``i``, ``k`` are; 0-based.
    scalars : mapping of name to number, optional
        The scalar symbols, other than d.
    exponentials : mapping of name to number, optional
        Scalars known by their exponential: ``{"Delta": x}`` says e^Delta = x, and gives meaning to
        exp, cosh and sinh of integer multiples of Delta.

    Returns
    -------
    Fraction
        The exact value.

    Raises
    ------
    ValueError
        If a name is missing, or the lengths differ, or there is no sequence and d is needed.
    """

    def exact(values: Mapping[str, Fraction | int] | None) -> dict[str, Fraction]:
        return {name: Fraction(value) for name, value in (values or {}).items()}

    return evaluate_over(
        expr,
        rational=Fraction,
        sequences={name: [Fraction(x) for x in values] for name, values in sequences.items()},
        positions=positions,
        scalars=exact(scalars),
        exponentials=exact(exponentials),
    )


def evaluate_over(
    expr: sp.Expr,
    *,
    rational: Callable[[int, int], T],
    sequences: Mapping[str, Values[T]],
    positions: Mapping[str, int] | None = None,
    scalars: Mapping[str, T] | None = None,
    exponentials: Mapping[str, T] | None = None,
) -> T:
    """Evaluate a formula over a ring of the caller's choice.

    Parameters
    ----------
    expr : sympy.Expr
        The formula; a scalar.
    rational : callable
        ``rational(p, q)`` is p/q in the ring: `Fraction`, `sympy.Rational`, ...
    sequences, positions, scalars, exponentials
        As for `evaluate`, with values in the ring.

    Returns
    -------
    T
        The value, computed with the ring's own ``+``, ``*`` and ``**``.

    Raises
    ------
    ValueError
        As for `evaluate`.
    """
    lengths = {len(values) for values in sequences.values()}
    if len(lengths) > 1:
        raise ValueError(f"sequences={sorted(sequences)}: all must have the same length")
    value: T = _Evaluator(
        rational, sequences, positions or {}, scalars or {}, exponentials or {}, lengths
    ).value(expr)
    return value


class _Evaluator:
    """One pass over one formula; every value it holds is in the caller's ring."""

    def __init__(
        self,
        rational: Callable[[int, int], Any],
        sequences: Mapping[str, Values[Any]],
        positions: Mapping[str, int],
        scalars: Mapping[str, Any],
        exponentials: Mapping[str, Any],
        lengths: set[int],
    ) -> None:
        self._rational = rational
        self._sequences = sequences
        self._positions = positions
        self._scalars = dict(scalars)
        self._exponentials = exponentials
        self._power_sums: dict[PowerSum, Any] = {}
        for length in lengths:
            self._scalars["d"] = rational(length, 1)

    def value(self, expr: sp.Expr) -> Any:
        if isinstance(expr, sp.Rational):
            return self._rational(int(expr.p), int(expr.q))
        if isinstance(expr, PowerSum):
            if expr not in self._power_sums:
                self._power_sums[expr] = self._power_sum(expr)
            return self._power_sums[expr]
        if isinstance(expr, Entry):
            return self._sequence(expr.sequence)[self._position(expr.position)]
        if isinstance(expr, sp.KroneckerDelta):
            left, right = (self._position(position) for position in expr.args)
            return self._rational(int(left == right), 1)
        if isinstance(expr, sp.Symbol) and not isinstance(expr, Sequence | Position):
            return _look_up(self._scalars, expr.name, "scalars")
        if isinstance(expr, sp.Add):
            return _total(self.value(term) for term in expr.args)
        if isinstance(expr, sp.Mul):
            return _product(self.value(factor) for factor in expr.args)
        if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
            return self.value(expr.base) ** int(expr.exp)
        if isinstance(expr, sp.exp):
            return self._exponential(expr.args[0])
        if isinstance(expr, sp.cosh):
            grown, decayed = self._exponential(expr.args[0]), self._exponential(-expr.args[0])
            return (grown + decayed) * self._rational(1, 2)
        if isinstance(expr, sp.sinh):
            grown, decayed = self._exponential(expr.args[0]), self._exponential(-expr.args[0])
            return (grown - decayed) * self._rational(1, 2)
        raise ValueError(f"expr={expr}: {type(expr).__name__} has no value at an instance")

    def _power_sum(self, expr: PowerSum) -> Any:
        columns = [(self._sequence(base), exponent) for base, exponent in expr.powers]
        return _total(
            _product(entries[position] ** exponent for entries, exponent in columns)
            for position in range(len(columns[0][0]))
        )

    def _sequence(self, sequence: Sequence) -> Values[Any]:
        return _look_up(self._sequences, sequence.name, "sequences")

    def _position(self, position: Position) -> int:
        return _look_up(self._positions, position.name, "positions")

    def _exponential(self, exponent: sp.Expr) -> Any:
        multiple, scalar = exponent.as_coeff_Mul()
        if not multiple.is_Integer or not isinstance(scalar, sp.Symbol):
            raise ValueError(f"expr=exp({exponent}): not an integer multiple of a scalar")
        return _look_up(self._exponentials, scalar.name, "exponentials") ** int(multiple)


def _look_up(values: Mapping[str, T], name: str, kind: str) -> T:
    if name not in values:
        raise ValueError(f"{kind}={sorted(values)}: {name} is missing")
    return values[name]


def _total(values: Any) -> Any:
    values = iter(values)
    total = next(values)
    for value in values:
        total = total + value
    return total


def _product(values: Any) -> Any:
    values = iter(values)
    product = next(values)
    for value in values:
        product = product * value
    return product
