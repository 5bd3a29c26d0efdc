"""One instance of the model, drawn from a law or read from a file."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, check_support, finite_array
from numerics.embeddings import LAWS, uniform_direction
from verify.files.archives import Archive, add_arrays, open_archive
from verify.files.array_files import ArrayFile
from verify.files.writing import write_atomically
from verify.instances.laws import draw_embeddings
from verify.instances.origin import Origin
from verify.seeds import Streams

__all__ = [
    "Instance",
    "draw_instance",
    "draw_origin",
    "draw_trial",
    "load_instance",
    "save_instance",
]

_REQUIRED = ("V", "theta")
_OPTIONAL = ("theta_tilde", "support", "eta")
# Beside the arrays, a drawn instance keeps its draw, as a text that other readers may ignore.
_ORIGIN = "origin.json"
_LONGEST_ORIGIN = 4096


@dataclass(frozen=True)
class Instance:
    """Embeddings, queries and support; all numbers are exactly the binary64 numbers held.

    Parameters
    ----------
    V : ndarray of shape (d, m)
        Positional embeddings, one row a position. They need not be unit vectors.
    theta, theta_tilde : ndarray of shape (m,)
        The two query vectors.
    support : pair of int
        The relevant positions ``(a, b)``, 0-based.
    eta : float, optional
        Step size.
    origin : Origin, optional
        The draw that made it, if a draw did that can be repeated from these few numbers.
    """

    V: NDArray[np.float64]
    theta: NDArray[np.float64]
    theta_tilde: NDArray[np.float64]
    support: tuple[int, int]
    eta: float | None = None
    origin: Origin | None = None

    @property
    def d(self) -> int:
        """Number of positions."""
        return len(self.V)

    @property
    def m(self) -> int:
        """Embedding dimension."""
        return len(self.theta)

    @property
    def arguments(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], tuple[int, int]]:
        """What kernels take of it, in their order: ``(V, theta, theta_tilde, support)``."""
        return self.V, self.theta, self.theta_tilde, self.support


def draw_instance(
    rng: np.random.Generator,
    d: int,
    m: int,
    *,
    law: str = "sphere",
    support: tuple[int, int] | None = None,
) -> Instance:
    """Draw an instance with the paper's antisymmetric start.

    The order of the draws is part of the contract: support (uniform over ordered pairs, unless
    given), then V, then theta; ``theta_tilde`` is ``-theta``.

    Raises
    ------
    InvalidArgumentError
        If the sizes, the law or the support are not usable.
    """
    if support is None:
        a = int(rng.integers(d))
        b = int(rng.integers(d - 1))
        support = (a, b + (b >= a))
    support = check_support(support, d)
    V = draw_embeddings(rng, d, m, law=law)
    theta = uniform_direction(rng, m)
    return Instance(V, theta, -theta, support)


def draw_trial(
    d: int,
    m: int,
    *,
    law: str,
    seed: int,
    trial: int,
    support: tuple[int, int] | None = None,
) -> Instance:
    """Draw the instance of a Monte Carlo trial, with its origin if the law is one of ours.

    A law of a user's own is a file or a program that may change, so that nothing here could
    repeat the draw: such an instance has its numbers alone.

    Raises
    ------
    InvalidArgumentError
        As `draw_instance`.
    """
    if law in LAWS:
        origin = Origin(d=d, m=m, law=law, seed=seed, trial=trial, support=support)
        return draw_origin(origin)
    return draw_instance(Streams(seed).trial(trial), d, m, law=law, support=support)


def draw_origin(origin: Origin) -> Instance:
    """Draw an instance again.

    Raises
    ------
    InvalidArgumentError
        As `draw_instance`.
    """
    rng = Streams(origin.seed).trial(origin.trial)
    drawn = draw_instance(rng, origin.d, origin.m, law=origin.law, support=origin.support)
    return replace(drawn, origin=origin)


def load_instance(path: Path, *, support: tuple[int, int] | None = None) -> Instance:
    """Read an instance file, with pickles disabled.

    Parameters
    ----------
    path : Path
        An ``.npz`` archive with ``V`` (d, m) and ``theta`` (m,), and optionally ``theta_tilde``
        (m,), ``support`` (2,) and ``eta``.
    support : pair of int, optional
        Takes the place of the file's support.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, an array is missing or has the wrong kind or shape, an entry
        is not finite, or no support is given anywhere.
    """
    file = ArrayFile(path, "instance", str(path), "instance file")
    with file.opened() as stream, open_archive(file, stream) as archive:
        arrays = archive.arrays(required=_REQUIRED, optional=_OPTIONAL)
        origin = _origin(archive)
    V = finite_array("V", arrays["V"], 2)
    d, m = V.shape
    if d < 2 or m < 1:
        raise InvalidArgumentError("V", f"array of shape {V.shape}", "needs d >= 2 rows and m >= 1")
    theta = _query("theta", arrays["theta"], m)
    theta_tilde = -theta
    if "theta_tilde" in arrays:
        theta_tilde = _query("theta_tilde", arrays["theta_tilde"], m)
    if support is None:
        if "support" not in arrays:
            raise InvalidArgumentError(
                "support", "missing", "the file has none; give --support A B"
            )
        support = _support(arrays["support"])
    eta = float(finite_array("eta", arrays["eta"], 0)) if "eta" in arrays else None
    if origin is not None and (origin.d, origin.m) != (d, m):
        origin = None  # to draw what it says, and find that out, may take more than there is
    return Instance(V, theta, theta_tilde, check_support(support, d), eta, origin)


def save_instance(what: str, path: Path, instance: Instance) -> None:
    """Write an instance file; an interrupted write leaves no file behind.

    Parameters
    ----------
    what : str
        The argument that named the file, for the refusal.
    path : Path
        Where the file goes, whatever its suffix.
    instance : Instance
        What to write. The step size is written only if the instance has one.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be written.
    """
    arrays: dict[str, NDArray[np.generic]] = {
        "V": instance.V,
        "theta": instance.theta,
        "theta_tilde": instance.theta_tilde,
        "support": np.array(instance.support, dtype=np.int64),
    }
    if instance.eta is not None:
        arrays["eta"] = np.array(instance.eta, dtype=np.float64)

    def write(stream: IO[bytes]) -> None:
        with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
            add_arrays(archive, arrays)
            if instance.origin is not None:
                archive.writestr(zipfile.ZipInfo(_ORIGIN), json.dumps(instance.origin.as_json()))

    write_atomically(what, path, write)


def _query(what: str, array: NDArray[np.generic], m: int) -> NDArray[np.float64]:
    query = finite_array(what, array, 1)
    if query.shape != (m,):
        raise InvalidArgumentError(
            what, f"array of shape {query.shape}", f"V has {m} columns, so the shape must be ({m},)"
        )
    return query


def _support(array: NDArray[np.generic]) -> tuple[int, int]:
    if array.shape != (2,) or array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            "support", f"{array.dtype} array of shape {array.shape}", "must be two integers"
        )
    return int(array[0]), int(array[1])


def _origin(archive: Archive) -> Origin | None:
    """Return the draw that a file claims for itself; one that makes no sense is no draw."""
    text = archive.text(_ORIGIN, most=_LONGEST_ORIGIN)
    try:
        return None if text is None else Origin.from_json("instance", json.loads(text))
    except (InvalidArgumentError, RecursionError, ValueError):
        return None
