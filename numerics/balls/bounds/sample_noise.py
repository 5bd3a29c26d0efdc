"""How far the gradient of one sample can lie from its expectation, off rare starts.

Along a direction A, with t_i = v_i . A and r_i = gamma_i (t_i - tbar), one sample pushes by
G = (p q - x_a x_b) q <r, x> / omega, in the units in which the population's push is a slope. Its
moments are bounded by those of products of two linear forms in signs, E (<c, x> <c', x>)^k <=
(2k-1)!! (|c| |c'|)^k, which grow like k!: the mean of n copies is sub-gamma (docs/corollary3.md,
section 2; ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import arb

from numerics.balls.bounds.slope_bounds import ScoreBounds
from numerics.balls.bounds.tails import sub_gamma_tail, sub_gaussian_tail

__all__ = ["SampleNoise"]


@dataclass(frozen=True)
class SampleNoise:
    """The noise of samples, for all scores within given bounds and either head.

    Attributes
    ----------
    scores : ScoreBounds
        Bounds on the scores.
    m : int
        Embedding dimension.
    by_range : bool
        Whether to use nothing but the range of one sample's push, as Hoeffding's inequality does.
    """

    scores: ScoreBounds
    m: int
    by_range: bool = False

    @cached_property
    def norm(self) -> arb:
        """N: bounds |gamma| and |gamma~|."""
        return (self.scores.z_2[1] / self.scores.d).sqrt() / self.scores.z[0]

    @cached_property
    def largest(self) -> arb:
        """Bound of every attention weight."""
        return self.scores.sigma.exp() / (self.scores.d * self.scores.z[0])

    @cached_property
    def inverse_omega(self) -> arb:
        """Bound of 1/omega."""
        return arb(self.scores.d) ** 2 / self.scores.omega_least

    def product(self, energy: arb) -> arb:
        """Return b >= |gamma~| |r| / omega, for ``sum_i t_i^2 <= energy``."""
        return self.norm * self.largest * energy.sqrt() * self.inverse_omega

    def typical_square(self) -> arb:
        """Bound E G^2 along (v_a - v_b)/|v_a - v_b|, over all that is drawn but its lean.

        The scores of the support are equal here; their exponential enters by its expectation.
        """
        if self.by_range:
            raise ValueError("by_range=True: the range of a sample has no typical square")
        d, m, n_squared = self.scores.d, self.m, self.norm**2
        support = (arb(2) / (m - 1)).exp() / (d * self.scores.z[0]) ** 2
        square = n_squared * (1 + n_squared) / (m - 1) + support
        overlap = 2 * (arb(d) ** 2 * n_squared - d) / (arb(m - 1) * arb(d) ** 4)
        first = (n_squared * square + overlap).sqrt()
        second = arb(105).sqrt() * self.norm**3 * square.sqrt()
        return ((first + second) * self.inverse_omega) ** 2

    def square(self, energy: arb) -> arb:
        """Bound E G^2 by the energy; by the squared range where nothing else is to be used."""
        if self.by_range:
            return 4 * self.largest * energy * self.inverse_omega**2
        return (self.product(energy) * (arb(3).sqrt() + arb(105).sqrt() * self.norm**2)) ** 2

    def tail(self, t: arb, n: arb, energy: arb, *, more: arb | None = None) -> arb:
        """Bound the chance that the mean of n samples is off by more than t, to one side.

        Parameters
        ----------
        t : arb
            Threshold.
        n : arb
            Number of samples.
        energy : arb
            Bound of ``sum_i t_i^2``.
        more : arb, optional
            Variance proxy of an independent sub-Gaussian noise that is added.
        """
        variance = self.square(energy) / n + (arb(0) if more is None else more)
        if self.by_range:
            return sub_gaussian_tail(t, variance)
        # E |G|^k <= (2k-1)!! (2b)^k <= (k!/2) v (40 b/3)^(k-2).
        return sub_gamma_tail(t, variance, 40 * self.product(energy) / (3 * n))
