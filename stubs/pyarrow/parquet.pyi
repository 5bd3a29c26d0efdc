from types import TracebackType
from typing import IO

from pyarrow import RecordBatch, Schema

class ParquetWriter:
    def __init__(self, where: IO[bytes], schema: Schema) -> None: ...
    def __enter__(self) -> ParquetWriter: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def write_batch(self, batch: RecordBatch) -> None: ...
