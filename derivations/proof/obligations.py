"""Signs of functions of one variable: what a derivation states and leaves to ball arithmetic.

An obligation is data: an expression in one symbol that must not be negative on an interval. Away
from its zeros a subdivision of the interval in balls decides that; next to a zero no ball can, and
there a derivative decides. So an obligation names its zero and the order of it, and this module
checks exactly that the derivatives below that order vanish there and that the first one left has
the sign that the interval asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derivations.proof.refusal import require

__all__ = ["Obligation"]


@dataclass(frozen=True, kw_only=True)
class Obligation:
    """``expression >= 0`` for all ``lower <= variable <= upper``.

    Attributes
    ----------
    name : str
        Its name, unique among the obligations of its derivation.
    expression : sympy.Expr
        Built from the variable and rational numbers by sums, products, integer powers, exp, cosh,
        sinh, sqrt, log and atan; smooth on the interval.
    variable : sympy.Symbol
        The variable.
    lower, upper : sympy.Rational
        The ends of the interval.
    zero : sympy.Rational, optional
        The one point of the interval at which the expression vanishes, if there is one.
    order : int
        Order of that zero: the derivatives below it vanish there. Even, unless the zero is an end
        of the interval. 0 without a zero.
    """

    name: str
    expression: sp.Expr
    variable: sp.Symbol
    lower: sp.Rational
    upper: sp.Rational
    zero: sp.Rational | None = None
    order: int = 0

    def check(self) -> None:
        """Return if the zero has the order that is stated, exactly; of the rest nothing is decided.

        Raises
        ------
        CheckError
            If it has not, or the interval is empty, or other symbols occur.
        """
        require(self.expression.free_symbols == {self.variable}, f"{self.name}: other symbols")
        require(bool(self.lower < self.upper), f"{self.name}: {self.lower} to {self.upper}")
        if self.zero is None:
            require(self.order == 0, f"{self.name}: an order without a zero")
            return
        require(bool(self.lower <= self.zero <= self.upper), f"{self.name}: the zero is outside")
        is_end = self.zero in {self.lower, self.upper}
        require(self.order >= 1, f"{self.name}: a zero of order {self.order}")
        require(is_end or self.order % 2 == 0, f"{self.name}: it changes sign at its zero")
        for order in range(self.order):
            value = self.derivative(order).subs(self.variable, self.zero)
            require(value == 0, f"{self.name}: derivative {order} is {value} at {self.zero}")
        leading = self.derivative(self.order).subs(self.variable, self.zero)
        at_upper_end = self.zero == self.upper
        signed = -leading if at_upper_end and self.order % 2 else leading
        require(
            signed.is_positive is True,
            f"{self.name}: derivative {self.order} is {leading} at {self.zero}",
        )

    def derivative(self, order: int) -> sp.Expr:
        """Return the derivative of the expression of the given order."""
        return sp.diff(self.expression, self.variable, order)
