"""The files of a run: ``results.json`` for scripts, ``report.md`` for readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from verify.claims import CLAIMS
from verify.environment import describe_environment, version
from verify.files import write_atomically
from verify.report import FILES
from verify.runner import Run

__all__ = ["results_document", "write_report"]


def results_document(run: Run) -> dict[str, Any]:
    """Return the run as the document of the command-line contract."""
    return {
        "version": version(),
        "seed": run.seed,
        "profile": run.profile,
        "environment": describe_environment(),
        "claims": [result.as_json() for result in run.results],
    }


def write_report(folder: Path, run: Run, document: dict[str, Any]) -> None:
    """Write ``results.json`` and ``report.md`` into `folder`, each whole or not at all."""
    results = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # The report is Markdown, not HTML: nothing is escaped but the bars that would end a cell.
    environment = Environment(
        loader=PackageLoader("verify.report"),
        autoescape=False,  # noqa: S701 - Markdown for readers, never served as HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda value: str(value).replace("|", "\\|")
    report = environment.get_template("report.md.j2").render(
        run=run, document=document, registered=len(CLAIMS)
    )
    for name, text in zip(FILES, (results, report), strict=True):
        write_atomically("out", folder / name, _writer(text))


def _writer(text: str) -> Callable[[IO[bytes]], object]:
    return lambda stream: stream.write(text.encode())
