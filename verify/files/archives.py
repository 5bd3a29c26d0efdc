"""Archives of named arrays: npz files without pickles, the same arrays always the same bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError
from verify.files.array_files import ArrayFile

__all__ = ["Archive", "add_arrays", "open_archive"]

_SUFFIX = ".npy"

# An archive ends with a record of this length and a comment; two of its bytes count the members.
_END = 22
_COUNT = slice(10, 12)
# What is read at once of a member is shorter; only the list of members is as long as it says.
_LONGEST_READ = 1 << 20
# NumPy writes no others, and Python would expand others without end.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Archive:
    """An open archive whose list of members is whole.

    Parameters
    ----------
    file : ArrayFile
        Where it is, and how to refuse it.
    archive : ZipFile
        The archive.
    """

    file: ArrayFile
    archive: zipfile.ZipFile

    def array(self, name: str) -> NDArray[np.generic]:
        """Return an array, without ever running what a pickle says.

        Raises
        ------
        InvalidArgumentError
            If it is not there or damaged, holds objects, or would not fit in memory.
        """
        member = name + _SUFFIX
        if member not in self.archive.namelist():
            raise InvalidArgumentError(
                self.file.what, self.file.value, f"the array {name} is missing"
            )
        # However small it is here: not more is expanded than its header says, and memory holds.
        size = self.archive.getinfo(member).file_size
        with self.file.reading(), self.archive.open(member) as stream:
            return self.file.read_array(stream, member, size=size)

    def arrays(
        self, *, required: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, NDArray[np.generic]]:
        """Return the arrays by name.

        Parameters
        ----------
        required, optional : sequence of str
            The names of the arrays that must and may be there. Members that are no arrays are left
            alone.

        Raises
        ------
        InvalidArgumentError
            As `array`; or if there is an array of another name: a misspelt one that is silently
            left out would change the result.
        """
        known = (*required, *optional)
        present = set()
        for member in self.archive.namelist():
            name, _, suffix = member.rpartition(".")
            if f".{suffix}" == _SUFFIX:
                present.add(name)
            elif member.partition(".")[0] in known:
                raise self.file.unreadable(f"{member} is no array; their names end in {_SUFFIX}")
        if present - {*known}:
            reason = f"unknown array {min(present - {*known})}; the arrays are {', '.join(known)}"
            raise InvalidArgumentError(self.file.what, self.file.value, reason)
        return {name: self.array(name) for name in known if name in required or name in present}

    def text(self, name: str, *, most: int) -> bytes | None:
        """Return a member of at most `most` bytes that is no array; None if there is none."""
        if name not in self.archive.namelist() or self.archive.getinfo(name).file_size > most:
            return None
        with self.file.reading(), self.archive.open(name) as stream:
            return stream.read(most)


@contextmanager
def open_archive(file: ArrayFile, stream: BufferedReader) -> Iterator[Archive]:
    """Open an archive in a stream.

    Raises
    ------
    InvalidArgumentError
        If it is none, or is damaged where it lists its members, or lists one of them twice. What
        its arrays hold is compared with their checksums when they are read.
    """
    with file.reading():
        archive = zipfile.ZipFile(_Measured(stream))
    with archive:
        with file.reading():
            _refuse_damaged_list(file, archive, stream)
        yield Archive(file, archive)


def add_arrays(archive: zipfile.ZipFile, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays into an archive, in their order and with a fixed date."""
    for name, array in arrays.items():
        entry = zipfile.ZipInfo(name + _SUFFIX, date_time=(1980, 1, 1, 0, 0, 0))
        with archive.open(entry, "w", force_zip64=True) as member:
            npy.write_array(member, array, allow_pickle=False)


@dataclass(frozen=True)
class _Measured:
    """A stream of which not much is read at once."""

    stream: BufferedReader

    def read(self, size: int = -1) -> bytes:
        if size > _LONGEST_READ:
            raise zipfile.BadZipFile
        return self.stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def seekable(self) -> bool:
        return True


def _refuse_damaged_list(file: ArrayFile, archive: zipfile.ZipFile, stream: BufferedReader) -> None:
    """Refuse an archive in which a member may be lost, or be another than is read.

    The list has no checksum. One bit that changes in it can rename a member, or make a comment of
    the members that follow; an optional array would then be missing, and nobody would know.
    """
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise file.unreadable("a member stands in it twice")
    stream.seek(-_END - len(archive.comment), 2)
    if int.from_bytes(stream.read(_END)[_COUNT], "little") != len(members):
        raise zipfile.BadZipFile
    for member in members:
        if member.compress_type not in _COMPRESSIONS:
            raise file.unreadable(f"{member.filename} is compressed in a way that is not read")
        # Before each member its name stands again, and is compared.
        archive.open(member).close()
