"""The value of a formula at an instance: explicit sequences, explicit numbers, any exact ring.

This is where a formula for symbolic d meets a given d. The evaluator knows nothing of what the
formula means; it reads sums, products, integer powers, power sums and entries, and computes with
whatever numbers it is handed: fractions, SymPy expressions, multi-precision floats, balls.

`evaluate_real` is for the formulas of bounds instead: scalar symbols only, and real functions of
them, all of which the caller brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Values
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Position, Sequence

__all__ = ["REAL_FUNCTIONS", "evaluate", "evaluate_over", "evaluate_real"]

T = TypeVar("T")

REAL_FUNCTIONS = ("abs", "atan", "exp", "gamma", "log", "max", "pi", "sqrt")
"""The functions that `evaluate_real` may need."""


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


def evaluate_real(
    expr: sp.Expr,
    *,
    rational: Callable[[int, int], T],
    scalars: Mapping[str, T],
    functions: Mapping[str, Callable[..., T]],
) -> T:
    """Evaluate a formula in scalar symbols over real numbers of the caller's choice.

    Parameters
    ----------
    expr : sympy.Expr
        Built from symbols and rational numbers by sums, products, powers, exp, cosh, sinh, log,
        atan, gamma, pi, Max, Min and Abs.
    rational : callable
        ``rational(p, q)`` is p/q.
    scalars : mapping of name to number
        The values of the symbols, d among them.
    functions : mapping of name to callable
        What of `REAL_FUNCTIONS` occurs: ``max`` of two arguments, ``pi`` of none, the others of
        one. cosh and sinh need exp, a minimum needs max, a power that is no integer needs sqrt if
        it is a multiple of 1/4, else exp and log.

    Returns
    -------
    T
        The value.

    Raises
    ------
    ValueError
        If a symbol or function is missing, or something else occurs in the formula.
    """
    value: T = _RealEvaluator(rational, scalars, functions).value(expr)
    return value


class _RealEvaluator:
    """One pass over one formula; every value it holds is a number of the caller's."""

    def __init__(
        self,
        rational: Callable[[int, int], Any],
        scalars: Mapping[str, Any],
        functions: Mapping[str, Callable[..., Any]],
    ) -> None:
        self._rational = rational
        self._scalars = scalars
        self._functions = functions

    def value(self, expr: sp.Expr) -> Any:
        if isinstance(expr, sp.Rational):
            return self._rational(int(expr.p), int(expr.q))
        if isinstance(expr, sp.Symbol) and not isinstance(expr, Sequence | Position):
            return _look_up(self._scalars, expr.name, "scalars")
        if isinstance(expr, sp.Add):
            return _total(self.value(term) for term in expr.args)
        if isinstance(expr, sp.Mul):
            return _product(self.value(factor) for factor in expr.args)
        if isinstance(expr, sp.Pow):
            return self._power(self.value(expr.base), expr.exp)
        if expr is sp.pi:
            return self._apply("pi")
        if isinstance(expr, sp.cosh | sp.sinh):
            grown = self._apply("exp", self.value(expr.args[0]))
            sign = 1 if isinstance(expr, sp.cosh) else -1
            return (grown + self._rational(sign, 1) / grown) * self._rational(1, 2)
        if isinstance(expr, sp.Max):
            return self._largest(self.value(each) for each in expr.args)
        if isinstance(expr, sp.Min):
            return -self._largest(-self.value(each) for each in expr.args)
        for kind, name in _REAL_FUNCTIONS.items():
            if isinstance(expr, kind):
                return self._apply(name, self.value(expr.args[0]))
        raise ValueError(f"expr={expr}: {type(expr).__name__} has no real value")

    def _apply(self, name: str, *arguments: Any) -> Any:
        return _look_up(self._functions, name, "functions")(*arguments)

    def _power(self, base: Any, exponent: sp.Expr) -> Any:
        if exponent.is_Integer:
            return base ** int(exponent)
        roots = exponent.q if isinstance(exponent, sp.Rational) else 0
        if roots in {2, 4}:
            for _ in range(roots.bit_length() - 1):
                base = self._apply("sqrt", base)
            return base ** int(exponent.p)
        return self._apply("exp", self.value(exponent) * self._apply("log", base))

    def _largest(self, values: Iterator[Any]) -> Any:
        largest = next(values)
        for value in values:
            largest = self._apply("max", largest, value)
        return largest


_REAL_FUNCTIONS = {sp.Abs: "abs", sp.atan: "atan", sp.exp: "exp", sp.gamma: "gamma", sp.log: "log"}


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
