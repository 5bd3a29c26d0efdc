"""The quadratic forms of linear attention, exactly: how many there are, and what they can reach.

Ours. With gamma = V theta, gamma~ = V theta~ every prediction -c p q is one of the functions
x^T V A V^T x on {-1, +1}^d, A symmetric. In the orthonormal functions 1 and x_i x_j, i < j, the one
with A = (e_k e_l^T + e_l e_k^T) / 2 has the coefficients

    sum_i V_ik V_il    and    V_ik V_jl + V_jk V_il.

If P projects on the space of them, r is its dimension, lambda_ij = |P x_i x_j|^2 and lambda_0 =
|P 1|^2, then no loss with the support {i, j} is below 1 - lambda_ij, and these bounds have the mean
1 - (r - lambda_0) / C(d, 2). Binary64 numbers are integers times a power of two, which changes no
space, so all of it is arithmetic of integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

from flint import fmpq_mat, fmpz_mat, nmod_mat
from numpy.typing import ArrayLike

from numerics.arguments import InvalidArgumentError, check_support, integer_at_least
from numerics.exact.rank import integer_rows

__all__ = ["FormSpace", "form_space", "rank_at_least"]

_PRIME = (1 << 61) - 1

_MOST_COEFFICIENTS = 1 << 22
"""Largest table of coefficients, C(d, 2) + 1 times m (m + 1) / 2: about a minute."""


@dataclass(frozen=True, slots=True)
class FormSpace:
    """The space of quadratic forms at one V.

    Attributes
    ----------
    d : int
        Number of positions.
    dimension : int
        r, exactly.
    constant : Fraction
        lambda_0, exactly.
    targets : dict of (int, int) to Fraction
        lambda_ij for i < j, exactly; of those supports that were asked for.
    """

    d: int
    dimension: int
    constant: Fraction
    targets: dict[tuple[int, int], Fraction]

    @property
    def mean_loss(self) -> Fraction:
        """The mean over all supports of 1 - lambda_ij."""
        return 1 - (self.dimension - self.constant) / math.comb(self.d, 2)


def form_space(V: ArrayLike, supports: Iterable[tuple[int, int]] | None = ()) -> FormSpace:
    """Return the dimension of the space of quadratic forms and what it can reach, exactly.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    supports : iterable of pair of int, optional
        The supports whose lambda is wanted; None for all.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix, there are too many coefficients, or a support does not fit.
    """
    rows = integer_rows(V)
    d, m = len(rows), len(rows[0])
    forms = m * (m + 1) // 2
    if (math.comb(d, 2) + 1) * forms > _MOST_COEFFICIENTS:
        raise InvalidArgumentError(
            "V",
            f"array of shape {d, m}",
            f"C(d, 2) m (m + 1) / 2 must be at most {_MOST_COEFFICIENTS}; see rank_at_least",
        )
    pairs = list(itertools.combinations(range(d), 2))
    wanted = pairs if supports is None else [_in_order(pair, d) for pair in supports]
    table = fmpz_mat([_constant(rows), *(_coefficients(rows[i], rows[j]) for i, j in pairs)])
    table = _independent_columns(table)
    if table.ncols() == 0:
        return FormSpace(d, 0, Fraction(0), dict.fromkeys(wanted, Fraction(0)))
    places = {pair: place for place, pair in enumerate(pairs, start=1)}
    chosen = [0, *(places[pair] for pair in wanted)]
    along = fmpz_mat([[table[place, k] for place in chosen] for k in range(table.ncols())])
    gram = fmpq_mat(table.transpose() * table)
    solved, denominator = gram.solve(fmpq_mat(along)).numer_denom()
    shares = [
        Fraction(
            int(sum(along[k, c] * solved[k, c] for k in range(table.ncols()))), int(denominator)
        )
        for c in range(len(chosen))
    ]
    return FormSpace(d, table.ncols(), shares[0], dict(zip(wanted, shares[1:], strict=True)))


def rank_at_least(V: ArrayLike, *, positions: SupportsIndex | None = None) -> int:
    """Return a lower bound of the dimension of the space of quadratic forms.

    It is the rank modulo a prime of the coefficients at pairs of the first positions. At most
    m (m + 1) / 2 forms are independent, so a bound that reaches this is the dimension.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    positions : int, optional
        How many positions are looked at, at least 2; all if not given, or if there are fewer.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix, or `positions` no integer >= 2.
    """
    rows = integer_rows(V)
    if positions is not None:
        rows = rows[: integer_at_least("positions", positions, 2)]
    table = [
        entry % _PRIME for i, j in itertools.combinations(rows, 2) for entry in _coefficients(i, j)
    ]
    m = len(rows[0])
    rank: int = nmod_mat(math.comb(len(rows), 2), m * (m + 1) // 2, table, _PRIME).rank()
    return rank


def _in_order(support: tuple[int, int], d: int) -> tuple[int, int]:
    a, b = check_support(support, d)
    return min(a, b), max(a, b)


def _columns(m: int) -> Iterator[tuple[int, int]]:
    return itertools.combinations_with_replacement(range(m), 2)


def _constant(rows: list[list[int]]) -> list[int]:
    return [sum(row[k] * row[j] for row in rows) for k, j in _columns(len(rows[0]))]


def _coefficients(left: list[int], right: list[int]) -> list[int]:
    return [left[k] * right[j] + right[k] * left[j] for k, j in _columns(len(left))]


def _independent_columns(table: fmpz_mat) -> fmpz_mat:
    """Return columns that span those of the table and are independent."""
    reduced, _, rank = table.rref()
    pivots = [next(k for k in range(table.ncols()) if reduced[row, k] != 0) for row in range(rank)]
    entries = [table[row, k] for row in range(table.nrows()) for k in pivots]
    return fmpz_mat(table.nrows(), rank, entries)
