"""Attention, loss and the weights of the gradient at the precision of an mpmath context.

The context is always a private one, so no precision of the caller, or of another thread, is ever
touched.
"""

from __future__ import annotations

from operator import mul

from mpmath import MPContext, mpf

from numerics.exact.instance import ExactInstance

__all__ = ["attention", "exact_scores", "gradient_weights", "population_loss"]


def exact_scores(instance: ExactInstance, context: MPContext) -> tuple[list[mpf], list[mpf]]:
    """Return the scores as mpf of the context, unrounded whatever its precision."""
    working = context.prec
    longest = max(abs(score) for score in (*instance.scores, *instance.scores_tilde))
    context.prec = max(working, longest.bit_length())
    exact = (
        [context.mpf((score, instance.unit)) for score in instance.scores],
        [context.mpf((score, instance.unit)) for score in instance.scores_tilde],
    )
    context.prec = working
    return exact


def attention(context: MPContext, scores: list[mpf]) -> list[mpf]:
    """Return the softmax of the scores."""
    powers = [context.exp(score) for score in scores]
    total = context.fsum(powers)
    return [power / total for power in powers]


def population_loss(
    context: MPContext, gamma: list[mpf], gamma_tilde: list[mpf], support: tuple[int, int]
) -> mpf:
    """L = 1 - 2 mu + |gamma|^2 |gamma~|^2 + 2 <gamma, gamma~>^2 - 2 sum gamma_i^2 gamma~_i^2."""
    a, b = support
    mu = gamma[a] * gamma_tilde[b] + gamma[b] * gamma_tilde[a]
    products = list(map(mul, gamma, gamma_tilde))
    square, square_tilde = context.fdot(gamma, gamma), context.fdot(gamma_tilde, gamma_tilde)
    overlap = context.fsum(products)
    return 1 - 2 * mu + square * square_tilde + 2 * (overlap**2 - context.fdot(products, products))


def gradient_weights(
    context: MPContext, gamma: list[mpf], gamma_tilde: list[mpf], support: tuple[int, int]
) -> list[mpf]:
    """Return w_i = gamma_i (g_i - sum_j gamma_j g_j), g = dL/dgamma: grad_theta L = sum w_i v_i."""
    a, b = support
    square_tilde = context.fdot(gamma_tilde, gamma_tilde)
    overlap = context.fdot(gamma, gamma_tilde)
    slopes = [
        2 * g * square_tilde + 4 * t * (overlap - g * t)
        for g, t in zip(gamma, gamma_tilde, strict=True)
    ]
    slopes[a] -= 2 * gamma_tilde[b]
    slopes[b] -= 2 * gamma_tilde[a]
    mean = context.fdot(gamma, slopes)
    return [g * (slope - mean) for g, slope in zip(gamma, slopes, strict=True)]
