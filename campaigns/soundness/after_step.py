"""The losses of all inputs after one step, each to a stated relative accuracy.

The scores after the step are those before it minus eta V grad, with the gradient of
`campaigns.soundness.before_step`, as integers in a fine unit. With u and v the mass of a head
where x is +1 and -1, Z = u + v and p = (u - v)/Z,

    1 - p q = 2 (u v~ + v u~) / (Z Z~),    1 + p q = 2 (u u~ + v v~) / (Z Z~):

sums of positive numbers in mpmath's floating point, which has no limits of exponent. So a loss of
exp(-10^300) is as accurate as any other.

**Error.** The step is taken with so many bits that a score errs by at most 2^-(accuracy + 10); a
difference of scores, cut to the unit, by 2^-(accuracy + 8.9); R = 1 -+ p q then by four times this,
its square by eight times, relative to itself. Roundings are 2^-32 of the accuracy. So each
loss is right to a relative 2^-accuracy, and so is the attention on a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from mpmath.libmp import (
    fone,
    from_int,
    from_man_exp,
    fzero,
    mpf_add,
    mpf_cmp,
    mpf_exp,
    mpf_mul,
    mpf_shift,
)

from campaigns.soundness.before_step import (
    ERROR_BITS,
    Population,
    Quotients,
    Scored,
    label_signs,
    population,
)

__all__ = ["AfterStep", "Estimate", "after_step", "gradient_bits"]

Mpf = tuple[int, int, int, int]

# Places of the integers that hold differences of scores, beyond the accuracy asked for.
_UNIT_BITS = 16
_ROUNDING_BITS = 32
# In units of 2^-(accuracy + 16), differences of two differences err by no more than this.
_TIE = 1 << 9


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is not negative, as a quotient.

    Attributes
    ----------
    numerator, denominator : tuple
        Floating-point numbers of mpmath.
    accuracy : int or None
        It errs by at most a relative 2^-accuracy; None if it is exact.
    """

    numerator: Mpf
    denominator: Mpf
    accuracy: int | None

    def side(self, x: Fraction) -> int | None:
        """Return 1, 0 or -1 where the number is above, at or below x; None if it is not known."""
        left = mpf_mul(self.numerator, from_int(x.denominator))
        right = mpf_mul(self.denominator, from_int(x.numerator))
        if self.accuracy is None or self.numerator == fzero:
            return mpf_cmp(left, right)
        one = 1 << self.accuracy
        right = mpf_shift(right, self.accuracy)
        if mpf_cmp(mpf_mul(left, from_int(one - 1)), right) > 0:
            return 1
        return -1 if mpf_cmp(mpf_mul(left, from_int(one + 1)), right) < 0 else None

    def near(self, finest: int) -> Fraction | None:
        """Return it as a rational number, as accurate as it is; None if below 2^-finest."""
        (_, n, e, _), (_, k, f, _) = self.numerator, self.denominator
        if e + n.bit_length() - f - k.bit_length() < -finest:
            return None
        return Fraction(n, k) * Fraction(2) ** (e - f)


@dataclass(frozen=True, slots=True)
class AfterStep:
    """The attention of both heads after the step, and the losses of all inputs.

    Attributes
    ----------
    behind : pair of list of int
        By how much each score is below the largest of its head, in units of
        2^-(accuracy + 16).
    weights : pair of list of tuple
        exp of minus these.
    R : list of tuple
        Z Z~ (1 - x_a x_b p q) / 2 for every input with x_0 = +1.
    totals : pair of tuple
        Z and Z~.
    accuracy : int
        What is derived errs by a relative 2^-accuracy at most.
    exact : bool
        Whether nothing was rounded.
    """

    behind: tuple[list[int], list[int]]
    weights: tuple[list[Mpf], list[Mpf]]
    R: list[Mpf]
    totals: tuple[Mpf, Mpf]
    accuracy: int
    exact: bool

    def loss(self, x: Sequence[int]) -> Estimate:
        """Return the loss of an input."""
        number = sum(1 << i for i, sign in enumerate(x[1:]) if sign != x[0])
        return self._loss(self.R[number])

    def supremum(self) -> Estimate:
        """Return the largest loss."""
        largest = self.R[0]
        for R in self.R[1:]:
            if mpf_cmp(R, largest) > 0:
                largest = R
        return self._loss(largest)

    def attention(self, head: int, position: int) -> Estimate:
        """Return the attention of a head on a position."""
        return self._estimate(self.weights[head][position], self.totals[head])

    def leads(self, head: int, position: int) -> bool | None:
        """Whether no other position has as much attention; None if that is not known."""
        behind = self.behind[head]
        lead = min(n for i, n in enumerate(behind) if i != position) - behind[position]
        if self.exact or abs(lead) > _TIE:
            return lead > 0
        return None

    def _loss(self, R: Mpf) -> Estimate:
        total = mpf_mul(*self.totals)
        return self._estimate(mpf_shift(mpf_mul(R, R), 2), mpf_mul(total, total))

    def _estimate(self, numerator: Mpf, denominator: Mpf) -> Estimate:
        return Estimate(numerator, denominator, None if self.exact else self.accuracy)


def gradient_bits(scored: Scored, eta: Fraction, accuracy: int) -> int:
    """Return the bits of `population` at which eta V grad errs by at most 2^-(accuracy + 10)."""
    size = eta.numerator.bit_length() - eta.denominator.bit_length() + 1
    size += len(scored.rows[0]).bit_length() + 2 * scored.largest_exponent
    return accuracy + 10 + ERROR_BITS + max(size, 0)


def after_step(
    scored: Scored, eta: Fraction, accuracy: int, *, given: Population | None = None
) -> AfterStep:
    """Take one step of gradient descent and visit all inputs.

    Parameters
    ----------
    scored : Scored
        The instance.
    eta : Fraction
        Step size, positive, for the loss without the factor 1/2.
    accuracy : int
        Bits to which losses and attention shall be right, relative to themselves.
    given : Population, optional
        The gradients, at `gradient_bits` or more.
    """
    places = accuracy + _UNIT_BITS
    before = given or population(scored, gradient_bits(scored, eta, accuracy))
    moved = [_moved(scored, head, gradient, eta) for head, gradient in enumerate(before.gradients)]
    exact = scored.uniform and all(len(set(head.numerators)) == 1 for head in moved)
    behind, weights, totals, signed = [], [], [], []
    precision = accuracy + _ROUNDING_BITS
    for head in moved:
        top = max(head.numerators)
        differences = [((top - n) << places) // head.denominator for n in head.numerators]
        masses = [mpf_exp(from_man_exp(-n, -places), precision) if n else fone for n in differences]
        behind.append(differences)
        weights.append(masses)
        totals.append(_total(masses, precision))
        signed.append(_split(masses, precision))
    (plus, minus), (plus_tilde, minus_tilde) = signed
    R = []
    for k, tau in enumerate(label_signs(len(scored.rows), scored.support)):
        other, same = minus_tilde[k], plus_tilde[k]
        if tau < 0:
            other, same = same, other
        R.append(
            mpf_add(
                mpf_mul(plus[k], other, precision),
                mpf_mul(minus[k], same, precision),
                precision,
            )
        )
    return AfterStep(
        (behind[0], behind[1]),
        (weights[0], weights[1]),
        R,
        (totals[0], totals[1]),
        accuracy,
        exact,
    )


def _moved(scored: Scored, head: int, gradient: Quotients, eta: Fraction) -> Quotients:
    """Return the scores of a head after the step."""
    start = (eta.denominator * gradient.denominator) << scored.places
    pushes = [sum(map(mul, row, gradient.numerators)) for row in scored.rows]
    return Quotients(
        [
            score * start - ((eta.numerator * push) << scored.score_places)
            for score, push in zip(scored.scores[head], pushes, strict=True)
        ],
        start << scored.score_places,
    )


def _split(masses: Sequence[Mpf], precision: int) -> tuple[list[Mpf], list[Mpf]]:
    """Return the masses where x is +1 and where it is -1, for every input with x_0 = +1."""
    plus, minus = [masses[0]], [fzero]
    for mass in masses[1:]:
        plus = [mpf_add(x, mass, precision) for x in plus] + plus
        minus = minus + [mpf_add(x, mass, precision) for x in minus]
    return plus, minus


def _total(masses: Sequence[Mpf], precision: int) -> Mpf:
    total = fzero
    for mass in masses:
        total = mpf_add(total, mass, precision)
    return total
