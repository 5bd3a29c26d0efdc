"""The noise between the two positions of the support, made independent of the lean.

While the lean y is small, replacing the two support scores by their common value at y = 0, and the
embeddings by their parts orthogonal to the start, changes the noise by a small sub-gamma variable
(docs/corollary3.md, section 3; ours).
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from numerics.balls.bounds.sample_noise import SampleNoise
from numerics.balls.bounds.tails import sub_gamma_threshold

__all__ = ["FrozenMargin"]


@dataclass(frozen=True)
class FrozenMargin:
    """What freezing changes, for leans up to a reach.

    Attributes
    ----------
    noise : SampleNoise
        Over bounds on the scores that hold for the frozen ones too.
    rho_0 : arb
        Bound of the overlap, in both directions.
    energy : arb
        Bound of sum t_i^2 along (v_a - v_b)/|v_a - v_b|, frozen or not.
    """

    noise: SampleNoise
    rho_0: arb
    energy: arb

    def change(self, lean: arb, n: arb, level: arb) -> arb:
        """Return theta: what a head's noise gains from being frozen, but for a chance e^-level.

        Parameters
        ----------
        lean : arb
            The largest y considered.
        n : arb
            Number of samples.
        level : arb
            Exponent of the probability.
        """
        m = self.noise.m
        bounds = self.noise.scores.slopes(2 * lean)
        weights = self._weights(lean) / arb(self.noise.scores.d).sqrt()
        embedded = (weights + lean**2 * bounds.noise) ** 2 / (m - 1)
        product = self._product(lean)
        # E |G - G_frozen|^k <= (2k-1)!! b^k <= (k!/2) (3 b^2) (2 b)^(k-2).
        return sub_gamma_threshold(embedded + 3 * product**2 / n, 2 * product / n, level)

    def _moves(self, lean: arb) -> tuple[arb, arb, arb]:
        """Bound the changes of the support scores, of Z and of 1/omega (by d^2)."""
        scores = self.noise.scores
        score = ((1 + self.rho_0) / 2).sqrt() * lean + lean**2
        total = 2 * scores.sigma.exp() * score.expm1()
        return score, total, 2 * scores.z[1] * total / scores.d

    def _weights(self, lean: arb) -> arb:
        """Return lambda: d |c_j - c_j frozen|."""
        scores = self.noise.scores
        score, total, product = self._moves(lean)
        d, z_low, z_2_high = scores.d, scores.z[0], scores.z_2[1]
        growth = scores.sigma.exp()
        total_2 = 2 * growth**2 * (2 * score).expm1()
        kappa = 2 * (2 * lean).cosh() - 2 + 2 * z_2_high * total_2 / d
        kappa += (scores.cosh_mean(2) ** 2 + 2) * product
        least, most = scores.kappa(arb(0))
        K_moves = kappa / z_low + (-least).max(abs(most)) * total / (d * z_low**2)
        M_moves = product * z_2_high + total_2 / d
        return K_moves * growth + M_moves * growth**2 + 2 * product

    def _product(self, lean: arb) -> arb:
        """Return b_D: the moments of G less its frozen value are those of b_D times two forms."""
        noise, scores = self.noise, self.noise.scores
        d, z_low = scores.d, scores.z[0]
        score, total, product = self._moves(lean)
        own = ((1 + self.rho_0) / 2).sqrt()
        relative = total / (d * z_low)
        norm_moves = noise.norm * relative + relative / arb(2).sqrt()
        support = scores.sigma.exp() * (score.expm1() + relative) / (d * z_low)
        spread = noise.largest * self.energy.sqrt()
        mean = (noise.largest * self.energy).sqrt()
        drift = (scores.h + scores.q * scores.sigma.expm1() / scores.sigma) / z_low
        mean_moves = 2 * support * own + mean * relative + lean * drift + lean**2 * mean
        spread_moves = (
            arb(2).sqrt() * support * (own + mean)
            + (spread + noise.norm * mean) * relative
            + lean * noise.largest * (scores.q * d).sqrt()
            + lean**2 * spread
            + noise.norm * mean_moves
        )
        both = norm_moves * spread + noise.norm * spread_moves
        inverse = noise.inverse_omega
        return 2 * (both * inverse + product * arb(d) ** 2 * noise.norm * spread) + (
            2 * norm_moves * spread * inverse
        )
