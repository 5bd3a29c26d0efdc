"""The loss and its gradient by visiting every input, in integers.

Scores of binary64 numbers are integers in a common unit. Their exponentials, relative to the
largest, are taken from mpmath and cut to integers E_i, F_i of a given number of bits; all else is
the definition, exactly: with P = sum E_i x_i, Q = sum F_i x_i, Z = sum E_i and Y = sum F_i,

    L         = E (P Q - x_a x_b Z Y)^2 / (Z Y)^2,
    dL/dtheta = 2 E (P Q - x_a x_b Z Y) Q sum_i x_i E_i (Z v_i - sum_j E_j v_j) / (Z^3 Y^2).

No moment, no closed form and no floating-point number enters. Inputs x and -x have the same terms,
so that those with x_0 = +1 suffice.

**Error.** Each E_i errs by at most 2, of 2^bits and more in their sum, so an attention errs by
e = 2 (d + 1) 2^-bits at most. As |p|, |q| <= 1, the loss errs by 4 (|dp| + |dq|) <= 8 d e, and a
component of the gradient, sum_i gamma_i g_i (v_i - vbar) with |g_i| <= 4, by 28 d e max|V|. For
d <= 10 both are below 2^13 2^-bits, times max|V| for the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import NamedTuple

import numpy as np
from mpmath.libmp import from_man_exp, mpf_exp, to_fixed
from numpy.typing import NDArray

__all__ = [
    "ERROR_BITS",
    "MOST_POSITIONS",
    "Population",
    "Quotients",
    "Scored",
    "in_one_unit",
    "label_signs",
    "population",
    "signed_sums",
    "vanishing",
]

MOST_POSITIONS = 10
"""Largest d for which the stated errors hold."""
ERROR_BITS = 13
"""The loss at `bits` errs by at most 2^(ERROR_BITS - bits), the gradient by max|V| times this."""

# A Mersenne prime and two bases: see `vanishing`.
_PRIME = 2**127 - 1
_BASES = (43, 2**100 + 277)


class Quotients(NamedTuple):
    """Integers over one of them: rational numbers that are not brought to lowest terms."""

    numerators: list[int]
    denominator: int

    def fraction(self, k: int) -> Fraction:
        """Return the k-th number."""
        return Fraction(self.numerators[k], self.denominator)


class Population(NamedTuple):
    """The loss, and the gradients with respect to theta and theta~."""

    loss: Fraction
    gradients: tuple[Quotients, Quotients]


@dataclass(frozen=True, slots=True)
class Scored:
    """An instance in integers.

    Attributes
    ----------
    rows : list of list of int
        V, in units of 2^-places.
    places : int
        As above.
    scores : pair of list of int
        V theta and V theta~, in units of 2^-score_places.
    score_places : int
        As above.
    support : pair of int
        The positions (a, b), 0-based.
    """

    rows: list[list[int]]
    places: int
    scores: tuple[list[int], list[int]]
    score_places: int
    support: tuple[int, int]

    @classmethod
    def of(
        cls,
        V: NDArray[np.float64],
        theta: NDArray[np.float64],
        theta_tilde: NDArray[np.float64],
        support: tuple[int, int],
    ) -> Scored:
        """Take the binary64 numbers as the rational numbers they are."""
        d, m = V.shape
        if d > MOST_POSITIONS:
            raise ValueError(f"d={d}: all inputs are visited, so at most {MOST_POSITIONS}")
        entries, places = in_one_unit(V.ravel().tolist())
        rows = [entries[start : start + m] for start in range(0, d * m, m)]
        queries, query_places = in_one_unit([*theta.tolist(), *theta_tilde.tolist()])
        first, second = (
            [sum(map(mul, row, query)) for row in rows] for query in (queries[:m], queries[m:])
        )
        return cls(rows, places, (first, second), places + query_places, support)

    @property
    def largest_exponent(self) -> int:
        """The least e, at least 1 - places, with |V_ij| < 2^e for every entry."""
        return max(1, *(abs(n).bit_length() for row in self.rows for n in row)) - self.places

    @property
    def uniform(self) -> bool:
        """Whether the scores of either head are all equal, so that nothing below is rounded."""
        return all(len(set(head)) == 1 for head in self.scores)


def in_one_unit(values: Sequence[float]) -> tuple[list[int], int]:
    """Return integers n_i and the least places >= 0 with values[i] = n_i 2^-places."""
    ratios = [value.as_integer_ratio() for value in values]
    places = max(denominator.bit_length() for _, denominator in ratios) - 1
    return [n << (places + 1 - under.bit_length()) for n, under in ratios], places


def population(scored: Scored, bits: int) -> Population:
    """Return the loss and the gradients from exponentials of `bits` bits."""
    E, F = (_powers(head, scored.score_places, bits) for head in scored.scores)
    loss, first, second = _numerators(E, F, scored)
    Z, Y = sum(E), sum(F)
    square = (Z * Y) ** 2
    half_of_inputs = 1 << (len(E) - 1)
    # The 2 of the derivative and the 2^(d-1) inputs of the mean.
    over = square << (len(E) - 2 + scored.places)
    return Population(
        Fraction(loss, square * half_of_inputs),
        (Quotients(first, over * Z), Quotients(second, over * Y)),
    )


def vanishing(scored: Scored) -> tuple[list[bool], list[bool]]:
    """Tell which components of the gradients are zero, as numbers.

    The numerators are sums of integers times e^(n u), n an integer, u the unit of the scores. Such
    a sum is zero if and only if its coefficients are (Lindemann, Weierstrass), hence only if it
    stays zero when e^u is replaced by any residue modulo a prime. It is evaluated so, at two: that
    a sum is not zero and still vanishes at both has a chance of about 2^-250.
    """
    heads: tuple[list[bool], list[bool]] = ([], [])
    rounds = []
    for base in _BASES:
        E, F = ([pow(base, n - min(head), _PRIME) for n in head] for head in scored.scores)
        rounds.append(_numerators(E, F, scored)[1:])
    for head, found in enumerate(heads):
        found += [
            all(n % _PRIME == 0 for n in residues)
            for residues in zip(*(each[head] for each in rounds), strict=True)
        ]
    return heads


def _powers(scores: Sequence[int], places: int, bits: int) -> list[int]:
    """Return exp(s_i - max s) in units of 2^-bits, each within 2; exact where it is 1."""
    top = max(scores)
    guarded = bits + 8
    # Of a difference above 2^(size - 1) > bits the exponential is below a unit.
    return [
        1 << bits
        if n == top
        else 0
        if (top - n) >> places > bits
        else to_fixed(mpf_exp(from_man_exp(n - top, -places), guarded), bits)
        for n in scores
    ]


def _numerators(
    E: Sequence[int], F: Sequence[int], scored: Scored
) -> tuple[int, list[int], list[int]]:
    """Return the sums over the inputs with x_0 = +1 whose quotients are loss and gradients."""
    P, Q = signed_sums(E), signed_sums(F)
    total = sum(E) * sum(F)
    errors = [
        p * q - tau * total
        for p, q, tau in zip(P, Q, label_signs(len(E), scored.support), strict=True)
    ]
    loss = sum(error * error for error in errors)
    first = _pulled(E, _correlations([x * q for x, q in zip(errors, Q, strict=True)]), scored.rows)
    second = _pulled(F, _correlations([x * p for x, p in zip(errors, P, strict=True)]), scored.rows)
    return loss, first, second


def label_signs(d: int, support: tuple[int, int]) -> list[int]:
    """Return x_a x_b for every input with x_0 = +1; bit i - 1 of its number is set if x_i = -1."""
    a, b = support
    return [-1 if ((2 * k >> a) ^ (2 * k >> b)) & 1 else 1 for k in range(1 << (d - 1))]


def signed_sums(weights: Sequence[int]) -> list[int]:
    """Return sum_i w_i x_i for every input with x_0 = +1, numbered as in `label_signs`."""
    sums = [weights[0]]
    for weight in weights[1:]:
        sums = [x + weight for x in sums] + [x - weight for x in sums]
    return sums


def _correlations(values: Sequence[int]) -> list[int]:
    """Return sum_x x_i values[x] for every position i."""
    found = []
    while len(values) > 1:
        half = len(values) // 2
        plus, minus = values[:half], values[half:]
        found.append(sum(plus) - sum(minus))
        values = [x + y for x, y in zip(plus, minus, strict=True)]
    return [values[0], *reversed(found)]


def _pulled(
    weights: Sequence[int], slopes: Sequence[int], rows: Sequence[Sequence[int]]
) -> list[int]:
    """Return sum_i w_i h_i (Z v_i - sum_j w_j v_j)."""
    total = sum(weights)
    pulls = list(map(mul, weights, slopes))
    whole = sum(pulls)
    return [
        total * sum(map(mul, pulls, column)) - whole * sum(map(mul, weights, column))
        for column in zip(*rows, strict=True)
    ]
