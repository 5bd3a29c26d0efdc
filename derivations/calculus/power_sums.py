"""Power sums over all positions, for symbolic d, without a bound index.

A sum over the positions of a product of sequences, such as |gamma|^2 = sum_i gamma_i^2, is the
single object ``PowerSum(gamma**2)``; the value of a sequence at a position is ``Entry(gamma, a)``.
SymPy's own `Sum` carries an index symbol, and differentiating it by an entry with the same index
captures that index and gives a wrong answer. Here there is no index to capture.

Both constructors normalise, so that equal sums are equal objects:

- they are linear: scalars are pulled out, sums are split;
- ``PowerSum(1)`` is d;
- the indicator of a position picks that entry: ``PowerSum(Unit(a) * gamma)`` is
  ``Entry(gamma, a)``, and ``Unit(a) * Unit(b)`` contributes nothing when a and b differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import sympy as sp

from derivations.notation import Position, Sequence, d

__all__ = ["Entry", "PowerSum", "Unit", "density", "is_scalar", "monomials"]


class Unit(sp.Expr):
    """The indicator sequence of one position: 1 there, 0 elsewhere.

    Parameters
    ----------
    position : Position
        Where the sequence is 1.
    """

    is_commutative = True
    is_real = True

    def __new__(cls, position: Position) -> Unit:
        """Build the indicator of `position`."""
        unit: Unit = sp.Expr.__new__(cls, position)
        return unit

    @property
    def position(self) -> Position:
        """The position at which the sequence is 1."""
        position: Position = self.args[0]
        return position

    def _eval_power(self, exponent: sp.Expr) -> sp.Expr | None:
        return self if exponent.is_positive else None

    def at(self, position: Position) -> sp.Expr:
        """Return the value at `position`: a number where it is known, else Kronecker's delta."""
        if self.position == position:
            return sp.S.One
        if self.position.differs_from(position):
            return sp.S.Zero
        return sp.KroneckerDelta(self.position, position)


class _Linear(sp.Expr):
    """What `PowerSum` and `Entry` share: they are real, and SymPy may not differentiate them."""

    is_commutative = True
    is_real = True

    def _eval_derivative(self, symbol: sp.Symbol) -> NoReturn:
        raise TypeError(
            f"derivative={symbol}: a sequence is not a scalar; "
            "use derivations.calculus.variation.Variation"
        )


class PowerSum(_Linear):
    """Sum over all positions of a polynomial (negative powers allowed) in sequences.

    Parameters
    ----------
    summand : sympy.Expr
        The sequence to be summed. Its monomials may have scalar coefficients.

    Raises
    ------
    ValueError
        If a sequence occurs other than in a monomial with integer exponents.
    """

    def __new__(cls, summand: sp.Expr) -> sp.Expr:
        """Sum `summand` monomial by monomial."""
        return sp.Add(*(scalar * cls._of_monomial(powers) for scalar, powers in monomials(summand)))

    @classmethod
    def _of_monomial(cls, powers: tuple[tuple[sp.Expr, int], ...]) -> sp.Expr:
        for base, _ in powers:
            if isinstance(base, Unit):
                rest = tuple(power for power in powers if power[0] != base)
                return _entry_of_monomial(rest, base.position)
        if not powers:
            return d
        return sp.Expr.__new__(cls, sp.Mul(*(base**exponent for base, exponent in powers)))

    @property
    def powers(self) -> tuple[tuple[sp.Expr, int], ...]:
        """The sequences of the monomial that is summed, each with its exponent, sorted by name."""
        ((_, powers),) = monomials(self.args[0])
        return powers


class Entry(_Linear):
    """The value of a sequence at a position.

    Parameters
    ----------
    sequence : sympy.Expr
        A polynomial in sequences, as for `PowerSum`.
    position : Position
        Where it is read.
    """

    def __new__(cls, sequence: sp.Expr, position: Position) -> sp.Expr:
        """Read `sequence` at `position`, monomial by monomial."""
        return sp.Add(
            *(
                scalar * _entry_of_monomial(powers, position)
                for scalar, powers in monomials(sequence)
            )
        )

    @property
    def sequence(self) -> Sequence:
        """The sequence that is read."""
        sequence: Sequence = self.args[0]
        return sequence

    @property
    def position(self) -> Position:
        """Where it is read."""
        position: Position = self.args[1]
        return position


def _entry_of_monomial(powers: tuple[tuple[sp.Expr, int], ...], position: Position) -> sp.Expr:
    return sp.Mul(
        *(
            base.at(position)
            if isinstance(base, Unit)
            else sp.Expr.__new__(Entry, base, position) ** exponent
            for base, exponent in powers
        )
    )


def is_scalar(expr: sp.Basic) -> bool:
    """Tell whether `expr` has one value, not one for each position."""
    if isinstance(expr, PowerSum | Entry):
        return True
    if isinstance(expr, Sequence | Unit):
        return False
    return all(is_scalar(argument) for argument in expr.args)


def monomials(expr: sp.Expr) -> Iterator[tuple[sp.Expr, tuple[tuple[sp.Expr, int], ...]]]:
    """Write a sequence as a sum of scalar multiples of monomials in sequences.

    Yields
    ------
    scalar : sympy.Expr
        The coefficient.
    powers : tuple of (sequence, exponent)
        The monomial, sorted by name; empty for the constant sequence 1.

    Raises
    ------
    ValueError
        If `expr` is not a polynomial, negative powers allowed, in its sequences.
    """
    for term in sp.Add.make_args(sp.expand(sp.sympify(expr), log=False, power_exp=False)):
        scalar = sp.S.One
        powers: dict[sp.Expr, int] = {}
        for factor in sp.Mul.make_args(term):
            if is_scalar(factor):
                scalar *= factor
                continue
            base, exponent = factor.as_base_exp()
            if not isinstance(base, Sequence | Unit) or not exponent.is_Integer:
                raise ValueError(f"sequence={factor}: not a power of a sequence")
            if isinstance(base, Unit) and exponent < 0:
                raise ValueError(f"sequence={factor}: an indicator has no inverse")
            powers[base] = int(exponent)
        yield scalar, tuple(sorted(powers.items(), key=lambda power: str(power[0])))


def density(expr: sp.Expr, direction: Sequence) -> sp.Expr:
    """Return the sequence g with ``PowerSum(g * direction) == expr``.

    Parameters
    ----------
    expr : sympy.Expr
        A scalar, linear and homogeneous in `direction`.
    direction : Sequence
        The argument of the linear form.

    Raises
    ------
    ValueError
        If `expr` is not a linear form in `direction`.
    """
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(expr)):
        holders = [factor for factor in sp.Mul.make_args(term) if direction in factor.free_symbols]
        if len(holders) != 1:
            raise ValueError(f"expr={term}: not linear in {direction}")
        (holder,) = holders
        if isinstance(holder, PowerSum) and dict(holder.powers)[direction] == 1:
            weight = holder.args[0] / direction
        elif isinstance(holder, Entry):
            weight = Unit(holder.position)
        else:
            raise ValueError(f"expr={term}: not linear in {direction}")
        total += term / holder * weight
    return total
