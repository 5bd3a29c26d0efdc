"""The range of (p, q) over the inputs, exactly: planar zonotopes with rational generators.

For one value tau of x_a x_b, (p, q) runs over sums of +- the generators (gamma_i, gamma_tilde_i), i
not in S, shifted by the part of the support. Their convex hull is a zonotope; flipping the signs
one after the other in the order of the slopes walks along its boundary. `branch_minimum` is the
independent witness by brute force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cmp_to_key

from derivations.proof.enumeration import dot, inputs

__all__ = ["boundary", "branch_bracket", "branch_minimum"]

Point = tuple[Fraction, Fraction]
Edge = tuple[Point, Point]


def boundary(
    gamma: Sequence[Fraction],
    gamma_tilde: Sequence[Fraction],
    support: tuple[int, int],
    tau: int,
) -> Iterator[Edge]:
    """Yield the edges (start, end) of the zonotope of the inputs with x_a x_b = tau.

    Parameters
    ----------
    gamma, gamma_tilde : sequence of Fraction, shape (d,)
        Positive weights.
    support : pair of int
        The positions a and b.
    tau : int
        +1 or -1. By the symmetry x -> -x only x_a = 1 is looked at.

    Yields
    ------
    pair of points
        On both chains from the all-minus vertex to the all-plus vertex. The ends of each edge are
        attained by inputs. Without generators, one edge of length zero.
    """
    a, b = support
    generators = [
        weights
        for position, weights in enumerate(zip(gamma, gamma_tilde, strict=True))
        if position not in support
    ]
    # Slopes are compared by cross-multiplication: no quotient, and vertical generators are welcome.
    generators.sort(key=cmp_to_key(_compare_slopes))
    lowest = (
        gamma[a] + tau * gamma[b] - sum(u[0] for u in generators),
        gamma_tilde[a] + tau * gamma_tilde[b] - sum(u[1] for u in generators),
    )
    if not generators:
        yield lowest, lowest
    for chain in (generators, generators[::-1]):
        start = lowest
        for generator in chain:
            end = (start[0] + 2 * generator[0], start[1] + 2 * generator[1])
            yield start, end
            start = end


def branch_bracket(
    gamma: Sequence[Fraction],
    gamma_tilde: Sequence[Fraction],
    support: tuple[int, int],
    tau: int,
) -> tuple[Fraction, Fraction]:
    """Return (bound, attained) around the least tau p q over the inputs with x_a x_b = tau.

    Parameters
    ----------
    gamma, gamma_tilde, support, tau
        As for `boundary`.

    Returns
    -------
    bound : Fraction
        The least value on the boundary of the zonotope: no input is below it.
    attained : Fraction
        The least value at a vertex: some input has it.
    """
    bound = attained = None
    for start, end in boundary(gamma, gamma_tilde, support, tau):
        ends = min(tau * start[0] * start[1], tau * end[0] * end[1])
        along = min(ends, _least_inside(start, end) if tau == 1 else ends)
        attained = ends if attained is None else min(attained, ends)
        bound = along if bound is None else min(bound, along)
    if bound is None or attained is None:
        raise ValueError(f"gamma={list(gamma)}: needs at least two positions")
    return bound, attained


def branch_minimum(
    gamma: Sequence[Fraction],
    gamma_tilde: Sequence[Fraction],
    support: tuple[int, int],
    tau: int,
) -> Fraction:
    """Return the least tau p q over all inputs with x_a x_b = tau, one by one."""
    a, b = support
    return min(
        Fraction(tau * dot(gamma, x) * dot(gamma_tilde, x))
        for x in inputs(len(gamma))
        if x[a] * x[b] == tau
    )


def _compare_slopes(left: Point, right: Point) -> int:
    difference = left[1] * right[0] - right[1] * left[0]
    return (difference > 0) - (difference < 0)


def _least_inside(start: Point, end: Point) -> Fraction:
    """Return the least P Q inside an edge, where it is a convex quadratic in the fraction r."""
    (P, Q), (dP, dQ) = start, (end[0] - start[0], end[1] - start[1])
    quadratic, linear = dP * dQ, P * dQ + Q * dP
    if quadratic == 0 or not -2 * quadratic < linear < 0:
        return min(P * Q, end[0] * end[1])
    return P * Q - linear * linear / (4 * quadratic)
