"""The document made into a PDF by latexmk, where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["DEBIAN_PACKAGES", "CompilationError", "compile_document"]

DEBIAN_PACKAGES = ("latexmk", "texlive-latex-base")
"""What Debian and Ubuntu call what is needed."""

# With -file-line-error an error reads "./file.tex:12: what"; TeX's own fatal ones start with "!".
_ERROR = re.compile(r"(?:! |[^\s:]+:[0-9]+: ).*")

# latexmk runs TeX until its auxiliary files stay as they are, by sizes and times in whole seconds.
# One that is written again within a second, at the same size, can escape it; TeX then still asks.
_ASKS_AGAIN = b"Rerun to get"
_MOST_RUNS = 3


class CompilationError(Exception):
    """There is no PDF; the message is one line that says why."""


def compile_document(document: Path) -> Path:
    """Return the PDF that latexmk makes of a LaTeX file, next to it.

    Raises
    ------
    CompilationError
        If latexmk is not installed or cannot be run, or TeX fails.
    """
    program = shutil.which("latexmk")
    if program is None:
        raise CompilationError(
            f"latexmk is not installed (Debian packages: {' '.join(DEBIAN_PACKAGES)});"
            f" {document} is written but not compiled"
        )
    command = (
        program,
        "-norc",  # nobody's own settings: the same run everywhere
        "-pdf",
        "-g",  # even if nothing changed, so that an old failure cannot stand for a new one
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-file-line-error",
        document.name,
    )
    log, pdf = document.with_suffix(".log"), document.with_suffix(".pdf")
    log.unlink(missing_ok=True)
    for _ in range(_MOST_RUNS):
        code, printed = _output(command, document.parent)
        if code != 0 or not log.is_file() or _ASKS_AGAIN not in log.read_bytes():
            break
    if code == 0 and pdf.is_file():
        return pdf
    if log.is_file():
        raise CompilationError(f"TeX failed: {_first_error(_lines(log.read_bytes()))}; log: {log}")
    last = printed[-1] if printed else "no output"
    raise CompilationError(
        f"latexmk failed without a log (Debian packages: {' '.join(DEBIAN_PACKAGES)}): {last}"
    )


def _output(command: Sequence[str], folder: Path) -> tuple[int, list[str]]:
    """Run a command in a folder; return its exit code and the lines that it prints."""
    with tempfile.TemporaryFile() as output:
        try:
            finished = subprocess.run(  # noqa: S603 - the program asked for, with fixed options
                command,
                cwd=folder,
                env={**os.environ, "max_print_line": "1000"},  # TeX would break the log's lines
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as failure:
            raise CompilationError(f"{command[0]} cannot be run: {failure.strerror}") from None
        output.seek(0)
        return finished.returncode, _lines(output.read())


def _first_error(lines: list[str]) -> str:
    return next((line for line in lines if _ERROR.fullmatch(line)), "no error in the log")


def _lines(output: bytes) -> list[str]:
    """Return the lines that are not blank, without what a terminal might act on."""
    lines = output.decode("ascii", "backslashreplace").splitlines()
    return ["".join(filter(str.isprintable, line)).strip() for line in lines if line.strip()]
