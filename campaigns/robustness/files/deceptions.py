"""Archives that are made to deceive whoever opens them: bombs, hidden and doubled members."""

from __future__ import annotations

import io
import pickle
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.lib import format as npy

from campaigns.robustness.attack import Attack
from campaigns.robustness.files.archives import Marking, member_of, write_archive
from campaigns.robustness.files.originals import arrays
from campaigns.robustness.files.reader import Reader, attack
from verify.running.memory import usable_bytes

__all__ = ["deceiving_archives"]

Write: TypeAlias = Callable[[Path], None]

_GIBIBYTE = 1 << 30
_BLOCK = 1 << 26

# The draw that an instance file may claim for itself.
_ORIGINS = {
    "is nested": b"[" * 4000,
    "is endless": b"[" + b"1," * 10**6,
    "is no JSON": b"\xff\xfe",
    "is of a draw beyond memory": b'{"d":1000000,"m":1000000,"law":"sphere","seed":0,"trial":0}',
    "names a program": b'{"d":4,"m":3,"law":"os:system","seed":0,"trial":0}',
    "names a file": b'{"d":4,"m":3,"law":"file:/dev/zero","seed":0,"trial":0}',
    "is of other types": b'{"d":true,"m":[],"law":{},"seed":"0","trial":null}',
    "has a long number": b'{"d":4,"m":3,"law":"sphere","trial":0,"seed":%b}' % (b"9" * 3900),
}


def deceiving_archives(reader: Reader) -> Iterator[Attack]:
    """Yield attacks on a reader of instances.

    In none of them V, theta and theta_tilde may be taken for others, or be left out.
    """
    good = {f"{name}.npy": member_of(array) for name, array in arrays().items()}

    def packed(method: int) -> Write:
        return lambda path: write_archive(path, good, method)

    def with_more(members: Mapping[str, bytes]) -> Write:
        return lambda path: write_archive(path, {**good, **members})

    archives: dict[str, Write] = {
        "compressed": packed(zipfile.ZIP_DEFLATED),
        "compressed by bzip2": packed(zipfile.ZIP_BZIP2),
        "compressed by LZMA": packed(zipfile.ZIP_LZMA),
        "an array twice": lambda path: _doubled(path, good),
        "an array that is not known": with_more({"W.npy": good["V.npy"]}),
        "an array of another case": with_more({"v.npy": good["V.npy"]}),
        "members that are no arrays": with_more({"note.txt": b"x", "folder/": b""}),
        "a member that is a pickle": with_more({"data.pkl": pickle.dumps(Marking())}),
        "an array above its folder": with_more({"../../escaped.npy": good["V.npy"]}),
        "a member above its folder": with_more({"../../escaped": b"x"}),
        "a member with an absolute name": with_more({"/escaped": b"x"}),
        "ten thousand members": with_more({f"{number}": b"" for number in range(10_000)}),
        "twenty-five thousand members": with_more({f"{number}": b"" for number in range(25_000)}),
        "archives in archives": with_more({"inner.zip": _nested(good, depth=5)}),
        "theta_tilde by another name": lambda path: _renamed(path, good, listed_only=False),
        "theta_tilde by another name in the list": lambda path: _renamed(
            path, good, listed_only=True
        ),
        "theta_tilde in a comment": lambda path: _commented_out(path, good),
        "a bomb beyond memory": lambda path: _bomb(path, good, 2 * usable_bytes()),
        "a bomb that says it is small": lambda path: _bomb(path, good, 2400),
        "a bomb behind an array": lambda path: _bomb(path, good, 10 * _GIBIBYTE, rows=4),
        "a bomb of which one row is listed": lambda path: _bomb(path, good, 2400, rows=10**6),
        **{f"a draw that {kind}": with_more({"origin.json": _ORIGINS[kind]}) for kind in _ORIGINS},
    }
    for name, write in archives.items():
        yield _attack(reader, name, write)


def _attack(reader: Reader, name: str, write: Write) -> Attack:
    return attack(reader, name, lambda path, _: write(path), may_differ=False)


def _doubled(path: Path, good: Mapping[str, bytes]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name stands there twice is what is wanted
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in [*good.items(), ("V.npy", member_of(np.zeros((4, 3))))]:
                archive.writestr(name, content)


def _nested(good: Mapping[str, bytes], *, depth: int) -> bytes:
    content = b""
    for _ in range(depth):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, member in {**good, "inner.zip": content}.items():
                archive.writestr(name, member)
        content = stream.getvalue()
    return content


def _renamed(path: Path, good: Mapping[str, bytes], *, listed_only: bool) -> None:
    """Write an archive in which the name of an array that may be missing is another in one bit."""
    write_archive(path, good)
    content = path.read_bytes()
    start = content.index(b"PK\x01\x02") if listed_only else 0  # the list comes last
    changed = content[start:].replace(b"theta_tilde.npy", b"theta_tilde.nqy")
    path.write_bytes(content[:start] + changed)


def _commented_out(path: Path, good: Mapping[str, bytes]) -> None:
    """Write an archive whose last entry, that of theta_tilde, is a comment of the one before."""
    write_archive(path, good)
    content = bytearray(path.read_bytes())
    last = content.rindex(b"PK\x01\x02")
    before = content.rindex(b"PK\x01\x02", 0, last)
    end = content.rindex(b"PK\x05\x06")
    struct.pack_into("<H", content, before + 32, end - last)
    path.write_bytes(content)


def _bomb(path: Path, good: Mapping[str, bytes], declared: int, *, rows: int | None = None) -> None:
    """Write an archive whose V expands to 10 GiB of zeros.

    Parameters
    ----------
    path : Path
        Where it goes.
    good : mapping of str to bytes
        The other members.
    declared : int
        The length that the list of members has for V.
    rows : int, optional
        How many rows V has by its header; else as many as `declared` holds.
    """
    header = io.BytesIO()
    shape = (declared // 24 if rows is None else rows, 3)
    npy.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush the same bytes stand for the same zeros, however often they are repeated.
    head = packer.compress(header.getvalue()) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(_BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    data = head + block * (10 * _GIBIBYTE // _BLOCK) + packer.flush(zlib.Z_FINISH)
    entry = zipfile.ZipInfo("V.npy")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, data)
        for name, content in good.items():
            if name != entry.filename:
                archive.writestr(name, content)
        # It was stored as it is; the list, which is written last, says that it is compressed.
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.file_size = declared // 24 * 24 + len(header.getvalue())
