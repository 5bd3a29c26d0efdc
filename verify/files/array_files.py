"""Arrays in files that others wrote: read without pickles, refused in one line."""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError
from verify.files.reading import regular_file
from verify.running.memory import refuse_beyond_memory

__all__ = ["ArrayFile"]

# What a damaged or foreign file can raise: from the zip container (unsupported or encrypted
# members), its compression, and the array header.
_READ_FAILURES = (
    ValueError,
    TypeError,
    EOFError,
    KeyError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
    MemoryError,
    OverflowError,
)

_LONGEST_HEADER = 1 << 14  # bytes; those of numbers have about a hundred
_PIECE = 1 << 20  # bytes that are read at once


@dataclass(frozen=True)
class ArrayFile:
    """A file that should hold arrays, and how to refuse it.

    Parameters
    ----------
    path : Path
        Where it is.
    what, value : str
        The argument that named it, and its value.
    kind : str
        What it should be, for example ``instance file``.
    """

    path: Path
    what: str
    value: str
    kind: str

    def unreadable(self, reason: str) -> InvalidArgumentError:
        """Return the refusal of the file, with its reason."""
        return InvalidArgumentError(self.what, self.value, f"unreadable {self.kind}: {reason}")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn whatever reading can raise into a refusal.

        Raises
        ------
        InvalidArgumentError
            If the file is missing, damaged or foreign.
        """
        try:
            yield
        except InvalidArgumentError:
            raise
        except FileNotFoundError:
            raise self.unreadable("there is no such file") from None
        except OSError as failure:
            raise self.unreadable(failure.strerror or str(failure)) from None
        except zipfile.BadZipFile:
            raise self.unreadable("not a complete npz archive") from None
        except _READ_FAILURES as failure:
            reason = " ".join(str(failure).split()) or type(failure).__name__
            raise self.unreadable(reason) from None

    @contextmanager
    def opened(self) -> Iterator[BufferedReader]:
        """Open the file, and turn whatever reading can raise into a refusal.

        Raises
        ------
        InvalidArgumentError
            As `reading`; or if the file is a folder, a pipe or a device.
        """
        with self.reading(), regular_file(self.path) as stream:
            yield stream

    def read_array(self, stream: IO[bytes], name: str, *, size: int) -> NDArray[np.generic]:
        """Return the array that a stream holds from where it is to its end.

        By its header alone it is refused if it holds objects, which only a pickle could bring
        back, would not fit in memory, or has another length than the stream. So the stream is read
        to its end, where an archive compares the checksum.

        Parameters
        ----------
        stream : binary file
            At the start of an array in NumPy's format.
        name : str
            What the array is called, for the refusal.
        size : int
            How many bytes the stream has.
        """
        header, (shape, fortran_order, dtype) = self._header(stream, name)
        if dtype.hasobject:
            raise self.unreadable(f"{name} holds Python objects, which are never loaded")
        if not all(type(length) is int and length >= 0 for length in shape):
            raise self.unreadable(f"{name} has no shape")
        count = math.prod(shape)
        refuse_beyond_memory(self.what, self.value, count * dtype.itemsize)
        if size != header + count * dtype.itemsize:
            raise self.unreadable(f"{name} is not as long as its header says")
        array = np.empty(count, dtype)
        if dtype.itemsize:
            content = array.view(np.uint8)
            for start in range(0, len(content), _PIECE):
                piece = content[start : start + _PIECE]
                read = stream.read(len(piece))
                if len(read) != len(piece):
                    raise self.unreadable(f"{name} ends early")
                piece[:] = np.frombuffer(read, np.uint8)
        return array.reshape(shape[::-1]).transpose() if fortran_order else array.reshape(shape)

    def _header(
        self, stream: IO[bytes], name: str
    ) -> tuple[int, tuple[tuple[int, ...], bool, np.dtype[np.generic]]]:
        """Return how long the header of an array is, and what it says."""
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise self.unreadable(f"{name} is of a format that is not known")
        digits = stream.read(2 if version == (1, 0) else 4)
        length = int.from_bytes(digits, "little")
        if length > _LONGEST_HEADER:
            raise self.unreadable(f"{name} has a header of {length} bytes")
        header = BytesIO(digits + stream.read(length))
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        # Whatever NumPy, or the parser of Python's literals, thinks of how it is written.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return npy.MAGIC_LEN + len(digits) + length, read(header)
