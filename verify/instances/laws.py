"""Embeddings by the name of their law: one of ours, one of a user's own, or a file.

``file:PATH`` is the law whose only matrix is the V of a file: it draws nothing, so that trials
differ by their support and start alone. ``file:PATH#sha256=DIGEST`` is the same law, as long as
the file is the same. The others are those of `numerics.embeddings`.
"""

from __future__ import annotations

import hashlib
import zipfile
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import numerics.embeddings
from numerics.arguments import InvalidArgumentError, embedding_matrix
from verify.files.archives import open_archive
from verify.files.array_files import ArrayFile

__all__ = ["check_law", "draw_embeddings", "is_pinned", "pin_law"]

_FILE = "file:"
_PIN = "#sha256="
_ARRAY = "V"


def check_law(law: str, d: int, m: int) -> None:
    """Refuse a law that does not exist or has no matrix of this shape.

    Parameters
    ----------
    law : str
        A name as in `numerics.embeddings.find_law`, or ``file:PATH``: an ``.npy`` file that holds
        V of shape (d, m), or an ``.npz`` archive with an array V, such as an instance file.
    d, m : int
        Number of positions, embedding dimension.

    Raises
    ------
    InvalidArgumentError
        If the law is unknown, or cannot be read, or has no matrix of this shape.
    """
    if law.startswith(_FILE):
        _read(law, d, m)
    else:
        numerics.embeddings.check_law(law, d, m)


def is_pinned(law: str) -> bool:
    """Tell whether the name of a law stays what it is: a hash goes with the name of a file."""
    return not law.startswith(_FILE) or _PIN in law


def pin_law(law: str) -> str:
    """Return the name of a law that stays what it is: a file is named with the hash of its content.

    A result that names its law so tells what it was computed from, and trials that are run later,
    or elsewhere, refuse a file that has changed.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, or is not the one that the name already names.
    """
    if not law.startswith(_FILE):
        return law
    return f"{_FILE}{_path(law)}{_PIN}{_digest(law)}"


def draw_embeddings(
    rng: np.random.Generator, d: int, m: int, *, law: str = "sphere"
) -> NDArray[np.float64]:
    """Draw the embedding matrix V, shape ``(d, m)``; see `check_law` for the names of laws.

    The matrix of a file is exactly what the file holds (narrower floats are widened, integers
    must be exact in binary64), read again at every draw and never changed.

    Raises
    ------
    InvalidArgumentError
        As `check_law`; or if a law of a user's own draws no such matrix.
    """
    if law.startswith(_FILE):
        return _read(law, d, m)
    return numerics.embeddings.sample_embeddings(rng, d, m, law=law)


def _path(law: str) -> Path:
    return Path(law.removeprefix(_FILE).partition(_PIN)[0])


def _file(law: str) -> ArrayFile:
    return ArrayFile(_path(law), "law", law, "file of embeddings")


def _digest(law: str) -> str:
    """Return the hash of a file's content, or refuse the file if its name has another one."""
    with _file(law).opened() as stream:
        return _checked_digest(law, stream)


def _checked_digest(law: str, stream: BufferedReader) -> str:
    found = hashlib.file_digest(stream, "sha256").hexdigest()
    _, pinned, expected = law.partition(_PIN)
    if pinned and found != expected:
        raise InvalidArgumentError("law", law, f"the file has changed: its sha256 is {found}")
    return found


def _read(law: str, d: int, m: int) -> NDArray[np.float64]:
    file = _file(law)
    with file.opened() as stream:
        _checked_digest(law, stream)
        stream.seek(0)
        if zipfile.is_zipfile(stream):
            with open_archive(file, stream) as archive:
                stored = archive.array(_ARRAY)
        else:
            size = stream.seek(0, 2)
            stream.seek(0)
            stored = file.read_array(stream, file.path.name, size=size)
    if stored.shape != (d, m):
        raise InvalidArgumentError(
            "law", law, f"holds an array of shape {stored.shape}, and (d, m) is ({d}, {m})"
        )
    try:
        return np.ascontiguousarray(embedding_matrix(stored))
    except InvalidArgumentError as refusal:
        raise InvalidArgumentError("law", law, f"{refusal.what} {refusal.fix}") from None
