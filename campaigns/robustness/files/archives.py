"""Hostile archives of arrays: of every type and shape, and made to deceive whoever opens them."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from campaigns.robustness.attack import Attack
from campaigns.robustness.files.reader import MARKER, Reader, attack

__all__ = [
    "Marking",
    "hostile_archives",
    "hostile_arrays",
    "hostile_members",
    "member_of",
    "write_archive",
]

Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]
Place: TypeAlias = Callable[[Path, np.random.Generator], None]


class Marking:
    """What makes the marker when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        """Return the call that a pickle is to make."""
        return open, (MARKER, "w")


def hostile_archives(reader: Reader, arrays: Arrays) -> Iterator[Attack]:
    """Yield attacks in which one array of an archive is another one, or its file is made up.

    Parameters
    ----------
    reader : Reader
        What is attacked.
    arrays : mapping of str to ndarray
        The arrays that belong into the archive.
    """
    good = {f"{name}.npy": member_of(array) for name, array in arrays.items()}

    def placed(name: str, member: bytes) -> Place:
        return lambda path, _: write_archive(path, good | {f"{name}.npy": member})

    for name, array in arrays.items():
        for kind, same in _same_numbers(array).items():
            place = placed(name, member_of(same))
            yield attack(reader, f"{name}: the same numbers {kind}", place, may_differ=False)
        for kind, other in hostile_arrays(array).items():
            yield attack(reader, f"{name}: {kind}", placed(name, member_of(other)))
    for kind, member in hostile_members(arrays["V"]).items() if "V" in arrays else ():
        yield attack(reader, f"V: {kind}", placed("V", member), may_differ=False)


def _same_numbers(array: NDArray[np.generic]) -> dict[str, NDArray[np.generic]]:
    """Return arrays of the same numbers that may be refused, but not read as others."""
    kinds = "iuf" if array.dtype.kind == "f" else "iu"
    types = ("<f2", "<f4", ">f8", ">f4", ">i4", "<i2", "<u8")
    found: dict[str, NDArray[np.generic]] = {
        f"as {name}": array.astype(name)
        for name in types
        if np.dtype(name).kind in kinds and (array.astype(name) == array).all()
    }
    return found | {"by columns": np.asfortranarray(array)}


def hostile_arrays(array: NDArray[np.generic]) -> dict[str, NDArray[np.generic]]:
    """Return arrays of other types, shapes and numbers."""
    types = ("?", "<g", "<c16", "<c8", "<U3", "S3", "<M8[s]", "<m8[ns]", "V8", "<u8", "<i8", "i1")
    found: dict[str, NDArray[np.generic]] = {
        f"of type {name}": np.zeros(array.shape, name) for name in types
    }
    found["of objects"] = np.full(array.shape, Marking(), dtype=object)
    found["of records"] = np.zeros(array.shape, [("a", "<f8"), ("b", "<f8")])
    found["of records of objects"] = np.zeros(array.shape, [("a", "<f8"), ("b", "O")])
    found["of integers that binary64 does not have"] = np.full(array.shape, 2**63 - 1)
    for shape in ((), (0,), (1,), (2,), (7,), (0, 3), (4, 0), (1, 3), (3, 4), (2, 2, 2), (1,) * 32):
        found[f"of shape {shape}"] = np.zeros(shape)
    for number in (np.nan, np.inf, -np.inf, 5e-324, 1.7e308, -0.0):
        found[f"with {number}"] = _with_number(array, number)
        found[f"of {number} alone"] = np.full(array.shape, number)
    return found


def _with_number(array: NDArray[np.generic], number: float) -> NDArray[np.float64]:
    changed = np.array(array, np.float64)
    changed.flat[-1] = number
    return changed


def member_of(array: NDArray[np.generic]) -> bytes:
    """Return an array in NumPy's format, objects as a pickle."""
    stream = io.BytesIO()
    npy.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def hostile_members(array: NDArray[np.generic]) -> dict[str, bytes]:
    """Return files of a (4, 3) array of binary64 whose header does not fit, or is none."""
    content = array.tobytes()

    def headed(header: str, version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
        text = header.encode("latin-1")
        if not length and len(text) > 2**16 - 1:
            version = (2, 0)
        size = struct.pack("<H" if version == (1, 0) else "<I", length or len(text))
        return npy.magic(*version) + size + text + content

    def described(shape: str, descr: str = "'<f8'", order: str = "False") -> str:
        return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"

    shapes = {
        "far beyond memory": "(1000000000000, 1000000)",
        "beyond 64 bits": "(18446744073709551616, 3)",
        "of 400 digits": f"({'9' * 400}, 3)",
        "of 10^5 digits": f"({'9' * 100_000}, 3)",
        "of which one is 0": "(0, 1000000000000000000)",
        "negative": "(-4, -3)",
        "one of them negative": "(4, -3)",
        "true": "(4, True)",
        "a float": "(4.0, 3)",
        "a list": "[4, 3]",
        "of many axes": f"({'1, ' * 70})",
        "of ten thousand axes": f"({'1, ' * 3000})",
        "nested": "(" * 4000 + ")" * 4000,
        "a sum without end": "(4, " + "+".join("1" * 2000) + ")",
        "negated without end": "(4, " + "-" * 4000 + "3)",
        "of Python 2": "(4L, 3L)",
        "an escape that Python does not know": r"('\d', 3)",
        "missing a row": "(3, 3)",
        "a row too many": "(5, 3)",
        "a few bytes too many": "(12,)",
    }
    types = {
        "objects": "'|O'",
        "a table": "('<f8', (1000000,))",
        "nothing": "'V0'",
        "no text": "'U0'",
        "a call": f"__import__('pathlib').Path('{MARKER}').touch()",
        "no type": "'abc'",
        "a number": "8",
        "old text": "'a8'",
        "ten thousand fields": str([(f"f{number}", "<f8") for number in range(500)]),
        "a field of objects": "[('a', 'O')]",
    }
    good = described("(4, 3)")
    found = {f"a shape {name}": headed(described(shape)) for name, shape in shapes.items()}
    found |= {f"a type: {name}": headed(described("(4, 3)", text)) for name, text in types.items()}
    return found | {
        "a header of 4 GiB": headed(good, (2, 0), 2**32 - 1) + bytes(1 << 20),
        "a header of 65535 bytes": headed(good, (1, 0), 65535) + bytes(1 << 17),
        "a header without end": headed("{" * 60_000, (2, 0)),
        "a header that is no dictionary": headed("1"),
        "a header with an entry more": headed(good.replace("}", "'x': 1}")),
        "an order that is no bool": headed(described("(4, 3)", order="1")),
        "format 2": headed(good, (2, 0)),
        "format 3": headed(good, (3, 0)),
        "format 9": headed(good, (9, 9)),
        "no format": content,
        "a pickle": pickle.dumps(Marking()),
        "a header, then a pickle": headed(described("(1, 1)", "'|O'"))[: -len(content)]
        + pickle.dumps(Marking()),
    }


def write_archive(
    path: Path, members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED
) -> None:
    """Write an archive of members by name."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
