"""The rows of a sweep as a file that other programs read: CSV or Parquet.

Rows are streamed, by cell and trial, from one consistent view of the database; the file is written
whole or not at all. In CSV a missing value is empty and a real number has the shortest digits that
give it back exactly, so that equal rows are equal bytes.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from numerics.arguments import InvalidArgumentError
from verify.files.writing import check_writable, write_atomically
from verify.sweep.parameters import Field

if TYPE_CHECKING:
    from verify.sweep.store import Store

__all__ = ["FORMATS", "Exported", "check_export", "export_rows"]

FORMATS = ("csv", "parquet")
"""What a sweep can be exported to; also the ending of the file."""

_BATCH = 1 << 14  # rows turned into columns at a time, some megabytes


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Parameters
    ----------
    path : Path
        ``trials.csv`` or ``trials.parquet`` in the folder of the sweep.
    rows, errors : int
        Rows written; those among them that hold an error and no result.
    expected : int
        Rows of the complete sweep.
    """

    path: Path
    rows: int
    errors: int
    expected: int

    @property
    def incomplete(self) -> str | None:
        """What is missing, in a line; None if nothing is."""
        if self.rows == self.expected and not self.errors:
            return None
        errors = f", {self.errors} of them with an error for a result" if self.errors else ""
        return f"{self.path} holds {self.rows} of {self.expected} trials{errors}"


def check_export(form: str, out: Path) -> None:
    """Make sure before any work that a sweep can be exported.

    Parameters
    ----------
    form : {"csv", "parquet"}
        A member of `FORMATS`.
    out : Path
        Folder of the sweep, which exists.

    Raises
    ------
    InvalidArgumentError
        If the library for it is missing, or the file cannot be written.
    """
    if form == "parquet":
        try:
            import pyarrow  # noqa: F401 - whether it can be imported is the question
        except ImportError:
            raise InvalidArgumentError(
                "export", form, "needs pyarrow; pip install 'xorverify[parquet]', or export to csv"
            ) from None
    check_writable("export", _path(form, out))


def export_rows(store: Store, form: str, out: Path) -> Exported:
    """Write every row of a sweep to a file in its folder.

    Parameters
    ----------
    store : Store
        The sweep, open.
    form : {"csv", "parquet"}
        A member of `FORMATS`.
    out : Path
        Folder of the sweep.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be written; one that was there before is left as it is.
    StoreFailedError, StoreLockedError
        If the rows cannot be read.
    """
    rows = _Counted(store)
    write = _write_parquet if form == "parquet" else _write_csv
    path = _path(form, out)
    # This run holds the folder: what begins like this is half a file, of a run that was killed.
    for half in out.glob(f".{path.name}.*"):
        half.unlink(missing_ok=True)
    write_atomically("export", path, lambda stream: write(stream, store, iter(rows)))
    expected = len(store.sweep.cells) * store.sweep.trials
    return Exported(path, rows.count, rows.errors, expected)


class _Counted:
    """The rows of a store, counted as they pass."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._error = store.columns.index("error")
        self.count = 0
        self.errors = 0

    def __iter__(self) -> Iterator[Sequence[Field]]:
        for row in self._store.rows():
            self.count += 1
            self.errors += row[self._error] is not None
            yield row


def _path(form: str, out: Path) -> Path:
    return out / f"trials.{form}"


def _write_csv(stream: IO[bytes], store: Store, rows: Iterator[Sequence[Field]]) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(store.columns)
    # The writer asks repr for the digits of a float, and writes nothing for None.
    writer.writerows(rows)
    # Flushes, and leaves the stream itself to its owner.
    text.detach()


def _write_parquet(stream: IO[bytes], store: Store, rows: Iterator[Sequence[Field]]) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    arrow = {"INTEGER": pa.int64(), "REAL": pa.float64(), "TEXT": pa.string()}
    declared = {
        "cell": "TEXT",
        "trial": "INTEGER",
        **{axis: parameter.sql for axis, parameter in store.kind.AXES.items()},
        **store.kind.COLUMNS,
        "error": "TEXT",
    }
    types = [arrow[declared[name]] for name in store.columns]
    schema = pa.schema(zip(store.columns, types, strict=True))
    with ParquetWriter(stream, schema) as writer:
        while batch := list(itertools.islice(rows, _BATCH)):
            columns = zip(*batch, strict=True)
            arrays = [pa.array(each, type_) for each, type_ in zip(columns, types, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema))
