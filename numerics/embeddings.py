"""Laws of the frozen positional embeddings, drawn in place.

The paper draws the rows of V uniformly on the unit sphere (arXiv:2502.07553v2, section 2); the
other laws are ours, to ask what that assumption is needed for. A law of a user's own is named
``module:ATTRIBUTE`` and is an `EmbeddingLaw`, for example::

    def draw(rng, d, m):
        return rng.laplace(scale=(2 * m) ** -0.5, size=(d, m))

    LAPLACE = EmbeddingLaw("entries Laplace, of variance 1/m", draw)

A matrix at d = 10^6, m = 256
takes 2 GiB, so it is drawn into its own memory and scaled in blocks of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import (
    InvalidArgumentError,
    finite_array,
    integer_at_least,
    row_blocks,
    suggestion,
)
from numerics.plug_ins import failure_in_a_line, load_plug_in

__all__ = [
    "LAWS",
    "EmbeddingLaw",
    "check_law",
    "find_law",
    "sample_embeddings",
    "uniform_direction",
]

_OWN_LAWS = "file:PATH (V from an .npy or .npz file) or module:ATTRIBUTE (an EmbeddingLaw)"
_SINUSOID_BASE = 10_000.0  # the wavelengths of the usual positional code: 2 pi to 2 pi 10^4


@dataclass(frozen=True, slots=True)
class EmbeddingLaw:
    """A law of the embedding matrix.

    Attributes
    ----------
    title : str
        What the rows are, in words.
    draw : callable
        ``draw(rng, d, m)`` returns a new ``(d, m)`` binary64 matrix.
    independent : bool
        Whether the rows are linearly independent, which needs ``d <= m``.
    """

    title: str
    draw: Callable[[np.random.Generator, int, int], NDArray[np.float64]]
    independent: bool = False


def find_law(name: str) -> EmbeddingLaw:
    """Return a law by its name, a key of `LAWS` or ``module:ATTRIBUTE``.

    Raises
    ------
    InvalidArgumentError
        If there is no such law, or the module cannot be imported.
    """
    if name in LAWS:
        return LAWS[name]
    if ":" in name:
        return load_plug_in("law", name, EmbeddingLaw)
    near = suggestion(name, LAWS)
    raise InvalidArgumentError("law", name, f"must be one of {', '.join(LAWS)}, {_OWN_LAWS}{near}")


def check_law(law: str, d: int, m: int) -> None:
    """Refuse a law that does not exist or has no matrix of this shape.

    Raises
    ------
    InvalidArgumentError
        As `find_law`; or if the law needs ``d <= m`` and does not have it.
    """
    if find_law(law).independent and d > m:
        raise InvalidArgumentError("law", law, f"needs d <= m, and d = {d}, m = {m}")


def sample_embeddings(
    rng: np.random.Generator, d: SupportsIndex, m: SupportsIndex, *, law: str = "sphere"
) -> NDArray[np.float64]:
    """Draw the embedding matrix V, shape ``(d, m)``, row i embedding position i.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; the same state gives the same matrix.
    d, m : int
        Number of positions (>= 2) and embedding dimension (>= 1).
    law : str
        As in `find_law`.

    Raises
    ------
    InvalidArgumentError
        If `d` or `m` is too small, `check_law` refuses, or a law of a user's own fails or draws
        anything but a finite real ``(d, m)`` matrix.
    """
    d, m = integer_at_least("d", d, 2), integer_at_least("m", m, 1)
    check_law(law, d, m)
    return LAWS[law].draw(rng, d, m) if law in LAWS else _draw_own(rng, d, m, law)


def _draw_own(rng: np.random.Generator, d: int, m: int, law: str) -> NDArray[np.float64]:
    try:
        V = finite_array("V", find_law(law).draw(rng, d, m), 2)
    except InvalidArgumentError as refusal:
        raise InvalidArgumentError("law", law, f"drew no embeddings: {refusal}") from None
    except (Exception, SystemExit) as failure:  # a function of the user's may fail in any way
        reason = failure_in_a_line(failure)
        raise InvalidArgumentError("law", law, f"drew no embeddings: {reason}") from None
    if V.shape != (d, m):
        raise InvalidArgumentError(
            "law", law, f"drew an array of shape {V.shape}; it must be ({d}, {m})"
        )
    return np.ascontiguousarray(V)


def uniform_direction(rng: np.random.Generator, m: SupportsIndex) -> NDArray[np.float64]:
    """Draw a point uniformly from the unit sphere of R^m, shape ``(m,)``.

    Raises
    ------
    InvalidArgumentError
        If ``m < 1``.
    """
    return _sphere(rng, 1, integer_at_least("m", m, 1)).reshape(-1)


def _sphere(rng: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
    V = np.empty((d, m))
    rng.standard_normal(out=V)
    _normalise_rows(V, rng)
    return V


def _normalise_rows(V: NDArray[np.float64], rng: np.random.Generator) -> None:
    for block in row_blocks(*V.shape):
        rows = V[block]
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        while not norms.all():
            # A Gaussian row of zeros has no direction; it is drawn again.
            zero = norms <= 0
            rows[zero] = rng.standard_normal((int(zero.sum()), V.shape[1]))
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= norms[:, np.newaxis]


def _gaussian(rng: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
    V = np.empty((d, m))
    rng.standard_normal(out=V)
    V /= math.sqrt(m)
    return V


def _rademacher(rng: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
    V = np.empty((d, m))
    rng.random(out=V)
    # Uniforms are multiples of 2^-53 in [0, 1): exactly half of them are below 1/2.
    V -= 0.5
    np.copysign(1 / math.sqrt(m), V, out=V)
    return V


def _orthonormal(rng: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
    Q, R = np.linalg.qr(rng.standard_normal((m, d)))
    # The signs make the factorisation unique, which is what makes Q uniformly distributed.
    Q *= np.copysign(1.0, np.diagonal(R))
    V: NDArray[np.float64] = np.ascontiguousarray(Q.T)
    return V


def _sinusoidal(rng: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
    # The cosine leads each pair: it vanishes at no integer, so an odd m leaves no zero row.
    frequencies = _SINUSOID_BASE ** (-np.arange(0, m, 2) / m)
    V = np.empty((d, m))
    for block in row_blocks(d, m):
        angles = np.arange(block.start, block.stop)[:, np.newaxis] * frequencies
        np.cos(angles, out=V[block, 0::2])
        np.sin(angles[:, : m // 2], out=V[block, 1::2])
    _normalise_rows(V, rng)
    return V


LAWS: Mapping[str, EmbeddingLaw] = MappingProxyType(
    {
        "sphere": EmbeddingLaw("rows uniform on the unit sphere", _sphere),
        "gaussian": EmbeddingLaw("entries N(0, 1/m)", _gaussian),
        "rademacher": EmbeddingLaw("entries +-1/sqrt(m)", _rademacher),
        "orthonormal": EmbeddingLaw(
            "rows orthonormal, uniformly rotated (d <= m)", _orthonormal, independent=True
        ),
        "sinusoidal": EmbeddingLaw("sines and cosines of the position, unit rows", _sinusoidal),
    }
)
"""The laws by name; the first is the paper's and the default."""
