"""Signs of derived functions, proved in balls: the part of an obligation that is no exact algebra.

An obligation says that a function f of one variable is not negative on an interval with rational
ends. The interval is cut into cells with exact ends, halved until each is decided by a lower bound
that holds on all of it:

direct
    f at a ball that holds the cell;
mean value
    f(c) + f'(X) (X - c), with X a ball that holds the cell and c its middle, which is the better
    one where the cell is narrow;
zero
    if f vanishes at z to the order n, f(x) = f^(n)(xi) (x - z)^n / n! for some xi between x and z:
    f has the sign of the n-th derivative, enclosed on the hull of cell and zero, times that of
    (x - z)^n.

The last two need f to be smooth between the points concerned. It is if the balls of f and of that
derivative are finite there: whatever an obligation may be built from is analytic where its ball is
finite, except for the root at 0, and a derivative divides by the root.

No value at a point ever counts for the statement. Against it a single one is enough: a rational
number at which f is proved negative.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex

from flint import arb

from numerics.arguments import integer_at_least
from numerics.balls.arithmetic.exact import from_fraction, lower_digits, lower_end, upper_digits
from numerics.balls.arithmetic.precision import MIN_BITS, working_precision
from numerics.balls.arithmetic.ternary import Ternary, less, less_equal
from verify.ledgers.symbolic_to_ball import real_in_balls

if TYPE_CHECKING:
    from derivations.proof.obligations import Obligation

__all__ = ["Discharge", "Verdict", "discharge"]

_DIGITS = 17
_SHOWN_DIGITS = 6


class Verdict(Enum):
    """What was found about an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Discharge:
    """The outcome for one obligation.

    Attributes
    ----------
    verdict : Verdict
        Proved on the whole interval, refuted by a witness, or neither.
    cells : int
        Number of cells looked at.
    bits : int
        Working precision.
    least : str or None
        If proved, a decimal lower bound of the function over the cells that its values decide,
        rounded downwards; None if there are none.
    least_at_zero : str or None
        If proved, the same for the derivative that decides the other cells, with the sign that
        makes it count; None if there are none.
    witness : Fraction or None
        If refuted, a point of the interval at which the function is proved negative.
    reason : str
        If undecided, why; else empty.
    """

    verdict: Verdict
    cells: int
    bits: int
    least: str | None = None
    least_at_zero: str | None = None
    witness: Fraction | None = None
    reason: str = ""


def discharge(
    obligation: Obligation, *, bits: SupportsIndex = 128, most_cells: SupportsIndex = 4096
) -> Discharge:
    """Decide an obligation: ``expression >= 0`` for all ``lower <= variable <= upper``.

    The obligation first checks the order of its zero, exactly; where it does not hold nothing is
    decided.

    Parameters
    ----------
    obligation : Obligation
        The statement.
    bits : int
        Working precision, at least 2.
    most_cells : int
        Number of cells, at least 1, after which the statement is left undecided. All cells of one
        round are looked at before any of their halves, so that a point that cannot be decided
        keeps none of the others waiting.

    Raises
    ------
    InvalidArgumentError
        If `bits` or `most_cells` is no integer, or too small.
    ValueError
        If the expression or a derivative of it holds a function without an evaluation in balls.
    """
    from derivations.proof.refusal import CheckError

    bits = integer_at_least("bits", bits, MIN_BITS)
    most_cells = integer_at_least("most_cells", most_cells, 1)
    try:
        obligation.check()
    except CheckError as failure:
        return Discharge(verdict=Verdict.UNDECIDED, cells=0, bits=bits, reason=str(failure))
    with working_precision(bits):
        return _subdivide(_Function(obligation), bits, most_cells)


def _subdivide(function: _Function, bits: int, most_cells: int) -> Discharge:
    """Halve cells until all are decided, the statement is refuted, or there are too many."""
    open_cells = deque([function.interval])
    least, least_at_zero = _Least(), _Least()
    cells = 0
    while open_cells:
        if cells == most_cells:
            low = lower_digits(open_cells[0].low, _SHOWN_DIGITS)
            high = upper_digits(open_cells[0].high, _SHOWN_DIGITS)
            reason = f"open after {cells} cells, between {low} and {high} for example"
            return Discharge(verdict=Verdict.UNDECIDED, cells=cells, bits=bits, reason=reason)
        cell = open_cells.popleft()
        cells += 1
        if least.admits(function.direct(cell)):
            continue
        centre = function.at(cell.middle)
        if less(centre, arb(0)) is Ternary.TRUE:
            return Discharge(verdict=Verdict.REFUTED, cells=cells, bits=bits, witness=cell.middle)
        if least.admits(function.mean_value(cell, centre)):
            continue
        if least_at_zero.admits(function.from_zero(cell)):
            continue
        open_cells.extend(cell.halves())
    return Discharge(
        verdict=Verdict.PROVED,
        cells=cells,
        bits=bits,
        least=least.digits(),
        least_at_zero=least_at_zero.digits(),
    )


@dataclass(frozen=True)
class _Cell:
    """The closed interval between two rational numbers."""

    low: Fraction
    high: Fraction

    @property
    def middle(self) -> Fraction:
        return (self.low + self.high) / 2

    @property
    def ball(self) -> arb:
        """A ball that holds the cell, its ends included."""
        return from_fraction(self.low).union(from_fraction(self.high))

    def halves(self) -> tuple[_Cell, _Cell]:
        return _Cell(self.low, self.middle), _Cell(self.middle, self.high)

    def hull(self, point: Fraction) -> _Cell:
        """Return the least cell that holds this one and a point."""
        return _Cell(min(self.low, point), max(self.high, point))


class _Function:
    """The function of an obligation, and the enclosures that decide its cells."""

    def __init__(self, obligation: Obligation) -> None:
        self._name = obligation.variable.name
        self.interval = _Cell(_fraction(obligation.lower), _fraction(obligation.upper))
        self._zero = None if obligation.zero is None else _fraction(obligation.zero)
        self._order = obligation.order
        self._derivatives = {n: obligation.derivative(n) for n in (0, 1, obligation.order)}

    def at(self, point: Fraction) -> arb:
        """Enclose the function at a point."""
        return self._enclosed(0, from_fraction(point))

    def direct(self, cell: _Cell) -> arb:
        """Enclose the function on a cell."""
        return self._enclosed(0, cell.ball)

    def mean_value(self, cell: _Cell, centre: arb) -> arb:
        """Enclose the function on a cell, given its value in the middle."""
        slope = self._smooth(1, cell)
        return centre + slope * (cell.ball - from_fraction(cell.middle))

    def from_zero(self, cell: _Cell) -> arb:
        """Enclose what has the sign of the function on a cell, the zero apart.

        It is the derivative of the zero's order between cell and zero, times the sign of
        (x - zero)^order. A zero of odd order is an end of the interval, so that no cell has it
        inside. Without a zero nothing is known.
        """
        if self._zero is None:
            return arb.nan()
        derivative = self._smooth(self._order, cell.hull(self._zero))
        return -derivative if cell.high <= self._zero and self._order % 2 else derivative

    def _smooth(self, order: int, cell: _Cell) -> arb:
        """Enclose a derivative on a cell; not finite where the function itself is not."""
        if not self.direct(cell).is_finite():
            return arb.nan()
        return self._enclosed(order, cell.ball)

    def _enclosed(self, order: int, x: arb) -> arb:
        return real_in_balls(self._derivatives[order], {self._name: x})


class _Least:
    """The least lower end of the balls that were admitted."""

    def __init__(self) -> None:
        self._least: Fraction | None = None

    def admits(self, ball: arb) -> bool:
        """Whether it is proved that no member is negative."""
        if less_equal(arb(0), ball) is not Ternary.TRUE:
            return False
        # What is too large to be written out is no less than 0.
        end = lower_end(ball) or Fraction(0)
        self._least = end if self._least is None else min(self._least, end)
        return True

    def digits(self) -> str | None:
        return None if self._least is None else lower_digits(self._least, _DIGITS)


def _fraction(x: Any) -> Fraction:
    """Return a rational number of SymPy's."""
    return Fraction(int(x.p), int(x.q))
