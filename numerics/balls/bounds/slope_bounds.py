"""What the first step does to the scores, bounded for all starts that avoid three rare events.

At the antisymmetric start the step changes S_a - S_b by 2 eta omega slope, with a signal that
grows with the lean Delta = s_a - s_b and weights c_j, one for each position, that work against it
(section 2 of docs/theorem2.md). `ScoreBounds` encloses the sums in these weights for all scores s
with

    max_j |s_j| <= sigma,    |sum_{j not in S} s_j| <= h d,    sum_{j not in S} s_j^2 <= q d,

and `SlopeBounds` what follows for slopes and weights while 0 <= Delta <= D (section 3). Everything
is a ball computation: the ends are right for all members of the balls that go in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import arb

from numerics.balls.arithmetic.exact import from_fraction
from numerics.balls.arithmetic.ternary import Ternary, less, less_equal
from numerics.balls.bounds.tails import reciprocal_moment, reciprocal_square_moment

__all__ = ["ScoreBounds", "SlopeBounds", "UnmetConditionError", "require_positive"]


class UnmetConditionError(ArithmeticError):
    """A condition of the theorem does not hold, or cannot be seen to hold, for this budget.

    Attributes
    ----------
    event : str
        The event that can then not be excluded.
    condition : str
        What would have to hold.
    """

    def __init__(self, event: str, condition: str) -> None:
        super().__init__(f"{event}: {condition}")
        self.event = event
        self.condition = condition


def require_positive(value: arb, event: str, condition: str) -> None:
    """Return if the ball is proved positive.

    Raises
    ------
    UnmetConditionError
        If it is not.
    """
    if less(arb(0), value) is not Ternary.TRUE:
        raise UnmetConditionError(event, condition)


def _largest(*values: arb) -> arb:
    """Enclose the maximum."""
    result = values[0]
    for value in values[1:]:
        result = result.max(value)
    return result


def _smallest(*values: arb) -> arb:
    """Enclose the minimum."""
    return -_largest(*(-value for value in values))


def _divided(numerator: arb, *, low: arb, high: arb) -> tuple[arb, arb]:
    """Return the least and the largest of numerator/z over 0 < low <= z <= high."""
    quotients = numerator / low, numerator / high
    return _smallest(*quotients), _largest(*quotients)


@dataclass(frozen=True, kw_only=True)
class ScoreBounds:
    """The sums over all positions, bounded off the three events on the scores.

    Attributes
    ----------
    d : int
        Number of positions.
    sigma, h, q : arb
        The thresholds above; ``0 < sigma <= 1``.

    Raises
    ------
    UnmetConditionError
        If sigma exceeds 1, or the sum of squared exponentials cannot be kept positive: the sum of
        scores is too loosely bounded.
    """

    d: int
    sigma: arb
    h: arb
    q: arb

    def __post_init__(self) -> None:
        # Scores are at most 1, and the signs behind the bounds are decided for 2 sigma <= 2 alone.
        if less_equal(self.sigma, arb(1)) is not Ternary.TRUE:
            raise UnmetConditionError("largest score", "sigma <= 1")
        require_positive(
            1 - 2 * self.h_1, "sum of scores", "1 - 2 h - 4 sigma/d > 0, so that Z_2 > 0"
        )

    @cached_property
    def h_1(self) -> arb:
        """Bound of |sum of all scores| / d."""
        return self.h + 2 * self.sigma / self.d

    @cached_property
    def q_1(self) -> arb:
        """Bound of the sum of all squared scores, by d."""
        return self.q + 2 * self.sigma**2 / self.d

    def cosh_mean(self, k: int) -> arb:
        """Return C_k: sum_j cosh(k s_j) <= C_k d."""
        return 1 + self.q_1 * ((k * self.sigma).cosh() - 1) / self.sigma**2

    @cached_property
    def omega_least(self) -> arb:
        """Lower bound of d^2 omega, which is at most 1."""
        return self.cosh_mean(1) ** -2

    @cached_property
    def z(self) -> tuple[arb, arb]:
        """Ends of Z/d."""
        return 1 - self.h_1, 1 + self.h_1 + self.q_1 * _curvature(self.sigma)

    @cached_property
    def z_2(self) -> tuple[arb, arb]:
        """Ends of Z_2/d."""
        return 1 - 2 * self.h_1, 1 + 2 * self.h_1 + 4 * self.q_1 * _curvature(2 * self.sigma)

    def kappa(self, lean: arb) -> tuple[arb, arb]:
        """Return the ends of kappa for 0 <= Delta <= `lean`."""
        least = arb(2) / self.d - self.cosh_mean(2) ** 2
        return least, 2 * lean.cosh() - self.omega_least * (3 - arb(2) / self.d)

    @cached_property
    def freezing(self) -> tuple[arb, arb]:
        """How far the weights move when the two support scores are put to 0, while Delta = 0.

        The two numbers x, y are such that d |c_j - c_j at 0| <= x + y (2 cosh Delta - 2).
        """
        d, growth = self.d, self.sigma.exp()
        support, support_2 = 2 * (growth - 1) / d, 2 * (growth**2 - 1) / d
        product, product_2 = self._product_moves(1), self._product_moves(2)
        least, most = self.kappa(arb(0))
        kappa_moves = product_2 + (self.cosh_mean(2) ** 2 + 2) * product
        K_moves = kappa_moves / self.z[0] + _largest(-least, abs(most)) * support / self.z[0] ** 2
        M_moves = product * self.z_2[1] + support_2
        return K_moves * growth + M_moves * growth**2 + 2 * product, growth / self.z[0]

    def _product_moves(self, k: int) -> arb:
        """Bound the change of Z_k Z~_k / d^2 when the two support scores are put to 0."""
        x = k * self.sigma
        odd_sum = k * self.h + self.q * (x.sinh() - x) / self.sigma**2
        both = 4 * (x.exp() - 1) ** 2 / self.d
        return (4 * (x.cosh() - 1) * self.cosh_mean(k) + 4 * x.sinh() * odd_sum + both) / self.d

    def slopes(self, lean: arb) -> SlopeBounds:
        """Return the bounds that hold for 0 <= Delta <= `lean`."""
        d, sigma = self.d, self.sigma
        kappa_least, kappa_most = self.kappa(lean)
        K_least = _divided(kappa_least, low=self.z[0], high=self.z[1])[0]
        K_most = _divided(kappa_most, low=self.z[0], high=self.z[1])[1]
        M_least, M_most = self.omega_least * self.z_2[0], self.z_2[1]
        linear = _largest(abs(K_most + 2 * M_most), abs(K_least + 2 * M_least))
        near, far = _curvature(-sigma), _curvature(sigma)
        quadratic = _largest(
            abs(_largest(K_most * near, K_most * far) + 4 * M_most * _curvature(2 * sigma)),
            abs(_smallest(K_least * near, K_least * far) + 4 * M_least * _curvature(-2 * sigma)),
        )
        growth = sigma.exp()
        steepest = 2 * M_most * growth**2
        scale = linear + quadratic * sigma
        norm = scale * (self.q_1 / d).sqrt()
        amplitude = scale * sigma / d
        increase = _largest(K_most * growth, K_most / growth) + steepest
        cosh = lean.cosh()
        frozen, frozen_lean = self.freezing
        return SlopeBounds(
            lean=lean,
            norm=norm,
            amplitude=amplitude,
            weight=2 * cosh / d + 2 * amplitude,
            noise=(4 * cosh**2 / d + norm**2).sqrt(),
            alpha=1 - _largest(arb(0), increase) / (2 * d),
            beta=cosh * self.h + norm * (self.q * d).sqrt() / 2,
            decrease=(_largest(abs(K_least), abs(K_most)) * growth + steepest) / d,
            moves=frozen + frozen_lean * (2 * cosh - 2),
        )


@dataclass(frozen=True, kw_only=True)
class SlopeBounds:
    """What holds for both heads while 0 <= Delta <= lean.

    Attributes
    ----------
    lean : arb
        Largest Delta considered.
    norm : arb
        R: bounds (sum_j f_j^2)^(1/2), f_j = c_j - c(0).
    amplitude : arb
        f-bar: bounds max_j |f_j|.
    weight : arb
        c-bar: bounds max_j |c_j|.
    noise : arb
        w: bounds (sum_j c_j^2)^(1/2).
    alpha, beta : arb
        Of the least slope |A| (2 (alpha (1 - rho) - beta) y - Y).
    decrease : arb
        c'': f_a - f_b >= -decrease Delta.
    moves : arb
        lambda: bounds d |c_j - c_j with both support scores put to 0|.
    """

    lean: arb
    norm: arb
    amplitude: arb
    weight: arb
    noise: arb
    alpha: arb
    beta: arb
    decrease: arb
    moves: arb

    def least_rate(self, rho: arb) -> arb:
        """Return g(rho) = 2 (alpha (1 - rho) - beta), the least growth of the slope with y."""
        return 2 * (self.alpha * (1 - rho) - self.beta)

    def largest_rate(self, rho: arb) -> arb:
        """Return g+(rho), the largest growth of the slope with y."""
        signal = self.lean.sinh() / self.lean
        return 2 * ((signal + self.decrease / 2) * (1 - rho) + self.beta)

    def stretch(self, rho_0: arb, lost: arb | None = None) -> tuple[arb, arb]:
        """Return 1 - c and r >= (1 - rho)/(c - rho) for rho <= rho_0; c is where g vanishes.

        Parameters
        ----------
        rho_0 : arb
            Largest overlap.
        lost : arb, optional
            What is taken from g beforehand.

        Raises
        ------
        UnmetConditionError
            If g is not seen to be positive up to rho_0.
        """
        require_positive(self.alpha, "near margin", "alpha > 0")
        excess = (self.beta if lost is None else self.beta + lost / 2) / self.alpha
        room = 1 - excess - rho_0
        require_positive(room, "near margin", "1 - beta/alpha > rho_0")
        return excess, 1 + excess / room

    def mean_inverse_rate(self, m: int, rho_0: arb) -> arb:
        """Bound E[1/g(rho); rho <= rho_0] for the overlap rho of two uniform points of R^m, m >= 6.

        1/(c - rho) <= 1/(1 - rho) + (1 - c) r/(1 - rho)^2, whose moments are known.
        """
        excess, stretch = self.stretch(rho_0)
        first, second = reciprocal_moment(m), reciprocal_square_moment(m)
        mean = from_fraction(first) + excess * stretch * from_fraction(second)
        return mean / (2 * self.alpha)

    def frozen_noise(self, d: int) -> arb:
        """Return w_0: bounds the norm of weights that no longer depend on the support's scores."""
        return (arb(4) / d + self.norm**2).sqrt() + self.moves / arb(d).sqrt()


def _curvature(s: arb) -> arb:
    """Return g(s) = (e^s - 1 - s)/s^2, for a ball away from 0."""
    return (s.expm1() - s) / s**2
