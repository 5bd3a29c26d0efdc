"""Tail bounds of sums of independent terms, held against binomial tails in rational arithmetic.

A bound that is too small, and not merely one that is not the best, is what is looked for.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from numerics.balls.arithmetic.exact import from_fraction
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds import tails
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["binomial_tails_cell"]

_BITS = 96


def binomial_tails_cell() -> Cell:
    """Return the cell on Bernstein's, sub-gamma and sub-Gaussian tails and thresholds."""
    return fault_cell(
        "tails of sums",
        _tail_faults,
        method="binomial tails in rational arithmetic",
        claimed="no bound below the probability, and every threshold where its tail is",
        grade=Grade.CERTIFIED,
        precision=f"{_BITS} bits",
        trials=40,
        cost=0.1,
    )


def _tail_faults(rng: np.random.Generator) -> Faults:
    n = int(rng.integers(1, 60))
    # Few successes are to be expected as often as many: there the tail is far from Gaussian.
    p = Fraction(1, 1 << int(rng.integers(1, 8)))
    count = int(rng.integers(math.floor(n * p) + 1, n + 1))
    probability = sum(
        (math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count, n + 1)), Fraction(0)
    )
    with working_precision(_BITS):
        t, variance = from_fraction(count - n * p), from_fraction(n * p * (1 - p))
        range_, proxy = from_fraction(1 - p), from_fraction(Fraction(n, 4))
        truth = from_fraction(probability)
        exponent = from_fraction(Fraction(int(rng.integers(1, 40)), 4))
        bounds = {
            "Bernstein": tails.bernstein_tail(t, variance, range_),
            "sub-gamma": tails.sub_gamma_tail(t, variance, range_ / 3),
            "sub-Gaussian": tails.sub_gaussian_tail(t, proxy),
        }
        for name, bound in bounds.items():
            if not bound >= truth:
                yield f"{name}: {bound}, and P(X >= {t}) = {truth} for n = {n}, p = {p}"
        level = (-exponent).exp()
        for name, again in (
            ("Bernstein", _bernstein_again(variance, range_, exponent)),
            ("sub-gamma", _sub_gamma_again(variance, range_ / 3, exponent)),
            ("sub-Gaussian", _sub_gaussian_again(proxy, exponent)),
        ):
            # Rounded outwards, by far less than this.
            if not level * (1 - arb(2) ** -40) <= again <= level * (1 + arb(2) ** -40):
                yield f"{name}: tail {again} beyond the threshold for {level}"


def _bernstein_again(variance: arb, range_: arb, exponent: arb) -> arb:
    threshold = tails.bernstein_threshold(variance, range_, exponent)
    return tails.bernstein_tail(threshold, variance, range_)


def _sub_gamma_again(variance: arb, scale: arb, exponent: arb) -> arb:
    threshold = tails.sub_gamma_threshold(variance, scale, exponent)
    return tails.sub_gamma_tail(threshold, variance, scale)


def _sub_gaussian_again(proxy: arb, exponent: arb) -> arb:
    return tails.sub_gaussian_tail(tails.sub_gaussian_threshold(proxy, exponent), proxy)
