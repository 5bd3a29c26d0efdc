"""Archives whose members are lost, doubled, longer or shorter than they say."""

import io
import pickle
import struct
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import format as npy

from numerics.arguments import InvalidArgumentError
from verify.files.archives import add_arrays, open_archive
from verify.files.array_files import ArrayFile

ARRAYS = {"x": np.arange(6.0).reshape(2, 3), "y": np.array([1.0, 2.0])}


def member(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    npy.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def read(path: Path) -> dict[str, np.ndarray]:
    file = ArrayFile(path, "what", "value", "kind")
    with file.opened() as stream, open_archive(file, stream) as archive:
        return archive.arrays(required=("x",), optional=("y",))


def refusal(path: Path) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        read(path)
    return caught.value.fix


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "a.npz"
    with zipfile.ZipFile(target, "w") as archive:
        add_arrays(archive, ARRAYS)
    return target


def write(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("array", [ARRAYS["x"], np.asfortranarray(ARRAYS["x"]), np.zeros((0, 3))])
def test_arrays_are_read_as_they_are(path: Path, array, method: int) -> None:
    write(path, {"x.npy": member(array)}, method)
    found = read(path)["x"]
    assert found.shape == array.shape
    assert found.tolist() == array.tolist()


def test_a_member_renamed_in_the_list_is_not_left_out(path: Path) -> None:
    content = path.read_bytes()
    start = content.index(b"PK\x01\x02")
    path.write_bytes(content[:start] + content[start:].replace(b"y.npy", b"y.nqy"))
    assert "not a complete npz archive" in refusal(path)
    path.write_bytes(content.replace(b"y.npy", b"y.nqy"))
    assert "y.nqy is no array" in refusal(path)


def test_a_member_in_the_comment_of_another_is_not_left_out(path: Path) -> None:
    content = bytearray(path.read_bytes())
    last, end = content.rindex(b"PK\x01\x02"), content.rindex(b"PK\x05\x06")
    struct.pack_into("<H", content, content.rindex(b"PK\x01\x02", 0, last) + 32, end - last)
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:  # as the standard library sees it
        assert archive.namelist() == ["x.npy"]
    assert "not a complete npz archive" in refusal(path)


def test_a_name_that_stands_twice_is_refused(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("x.npy", member(np.ones((2, 3))))
    assert "twice" in refusal(path)


def test_every_bit_of_the_numbers_counts(path: Path) -> None:
    content = path.read_bytes()
    start = content.index(ARRAYS["x"].tobytes())
    for bit in range(8 * ARRAYS["x"].nbytes):
        changed = bytearray(content)
        changed[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        assert "not a complete npz archive" in refusal(path)


@pytest.mark.parametrize("change", [-8, -1, 1, 8])
def test_an_array_is_as_long_as_its_header_says(path: Path, change: int) -> None:
    content = member(ARRAYS["x"])
    content = content[:change] if change < 0 else content + bytes(change)
    write(path, {"x.npy": content})
    assert "not as long as its header says" in refusal(path)


def test_only_what_numpy_writes_is_expanded(path: Path) -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        write(path, {"x.npy": member(ARRAYS["x"])}, method)
        assert "compressed in a way that is not read" in refusal(path)


def pack(path: Path, content: bytes, declared: int) -> None:
    """Write an archive whose compressed member says how long it is."""
    entry = zipfile.ZipInfo("x.npy")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(content) + packer.flush()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, data)
        entry.compress_type, entry.file_size = zipfile.ZIP_DEFLATED, declared
        entry.CRC = zlib.crc32(content)


def test_a_bomb_is_refused_by_what_it_says(path: Path) -> None:
    zeros = member(np.zeros(1000))
    pack(path, zeros, len(zeros))
    assert read(path)["x"].tolist() == [0.0] * 1000
    # Longer than its array; as long as its array, which does not fit; longer than both say.
    pack(path, zeros, 10 << 30)
    assert "not as long as its header says" in refusal(path)
    header = io.BytesIO()
    shape = (1 << 44,)
    npy.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    pack(path, header.getvalue() + bytes(1000), len(header.getvalue()) + (8 << 44))
    assert "GiB of memory" in refusal(path)
    pack(path, zeros + bytes(10**6), len(zeros))
    assert "not a complete npz archive" in refusal(path)


def test_sparse_arrays_may_shrink_as_much_as_they_do(path: Path) -> None:
    one_hot = np.eye(6000)
    np.savez_compressed(path, x=one_hot)
    assert one_hot.nbytes > 500 * path.stat().st_size
    assert np.array_equal(read(path)["x"], one_hot)


def test_a_long_list_of_members_is_not_read(path: Path) -> None:
    write(path, {f"{number}": b"" for number in range(25_000)})
    assert "not a complete npz archive" in refusal(path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{" * 60_000, "header of 60000 bytes"),
        (b"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -3)}", "has no shape"),
        (b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 6)}", "has no shape"),
        (b"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "Python objects"),
        (b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L)}", ""),
        (b"{'descr': '<f8', 'fortran_order': False, 'shape': ('\\d',)}", ""),
    ],
)
def test_headers_are_read_with_care_and_without_warnings(path: Path, header, message) -> None:
    text = npy.magic(2, 0) + struct.pack("<I", len(header)) + header + ARRAYS["x"].tobytes()
    write(path, {"x.npy": text})
    if b"2L" in header:  # as Python 2 wrote it
        assert read(path)["x"].tolist() == ARRAYS["x"].tolist()
    else:
        assert message in refusal(path)


class Marking:
    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple:
        return open, (self.marker, "w")


def test_nothing_is_ever_unpickled(path: Path, tmp_path: Path) -> None:
    marking = Marking(str(tmp_path / "executed"))
    for content in (member(np.array([marking], dtype=object)), pickle.dumps(marking)):
        write(path, {"x.npy": content})
        assert refusal(path)
        assert not (tmp_path / "executed").exists()
