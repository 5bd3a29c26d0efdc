"""Archives of named arrays: npz files without pickles, the same arrays always the same bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError
from verify.files.array_files import ArrayFile

__all__ = ["add_arrays", "read_archive"]

_SUFFIX = ".npy"


def read_archive(
    file: ArrayFile, *, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an archive by name, without ever running what a pickle says.

    Parameters
    ----------
    file : ArrayFile
        The archive, and how to refuse it.
    required, optional : sequence of str
        The names of the arrays that must and may be there. Members that are no arrays are left
        alone.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, an array is missing, or there is one of another name: a
        misspelt one that is silently left out would change the result.
    """
    known = (*required, *optional)
    arrays: dict[str, NDArray[np.generic]] = {}
    with file.reading(), zipfile.ZipFile(file.path) as archive:
        members = [name for name in archive.namelist() if name.endswith(_SUFFIX)]
        present = {name.removesuffix(_SUFFIX) for name in members}
        if present - {*known}:
            reason = f"unknown array {min(present - {*known})}; the arrays are {', '.join(known)}"
            raise InvalidArgumentError(file.what, file.value, reason)
        for name in known:
            if name in present:
                with archive.open(name + _SUFFIX) as stream:
                    arrays[name] = file.read_array(stream, name + _SUFFIX)
    for name in required:
        if name not in arrays:
            raise InvalidArgumentError(file.what, file.value, f"the array {name} is missing")
    return arrays


def add_arrays(archive: zipfile.ZipFile, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays into an archive, in their order and with a fixed date."""
    for name, array in arrays.items():
        entry = zipfile.ZipInfo(name + _SUFFIX, date_time=(1980, 1, 1, 0, 0, 0))
        with archive.open(entry, "w", force_zip64=True) as member:
            npy.write_array(member, array, allow_pickle=False)
