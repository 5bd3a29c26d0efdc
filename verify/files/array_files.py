"""Arrays in files that others wrote: read without pickles, refused in one line."""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError
from verify.running.memory import refuse_beyond_memory

__all__ = ["ArrayFile"]

# What a damaged or foreign file can raise: from the operating system, the zip container
# (unsupported or encrypted members), its compression, and the array header.
_READ_FAILURES = (
    OSError,
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
        except zipfile.BadZipFile:
            raise self.unreadable("not a complete npz archive") from None
        except _READ_FAILURES as failure:
            reason = " ".join(str(failure).split()) or type(failure).__name__
            raise self.unreadable(reason) from None

    def read_array(self, stream: IO[bytes], name: str) -> NDArray[np.generic]:
        """Return the array in a stream that can be rewound.

        By its header alone it is refused if it holds objects, which only a pickle could bring
        back, or would not fit in memory.

        Parameters
        ----------
        stream : binary file
            At the start of an array in NumPy's format.
        name : str
            What the array is called, for the refusal.
        """
        start = stream.tell()
        version = npy.read_magic(stream)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(stream)
        if dtype.hasobject:
            raise self.unreadable(f"{name} holds Python objects, which are never loaded")
        refuse_beyond_memory(self.what, self.value, math.prod(shape) * dtype.itemsize)
        stream.seek(start)
        return npy.read_array(stream, allow_pickle=False)
