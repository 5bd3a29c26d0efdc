"""The files of a run: ``results.json`` for scripts, the reports for readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from numerics.arguments import InvalidArgumentError
from verify.claims import CLAIMS
from verify.environment import describe_environment, version
from verify.files.writing import write_atomically
from verify.report import FILES
from verify.report.figures.report_figures import FIGURES, ReportedFigure, make_report_figures
from verify.report.figures.style import check_matplotlib
from verify.report.html import render_page
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


def write_report(
    folder: Path, run: Run, document: dict[str, Any], *, formats: Sequence[str] = ("svg",)
) -> None:
    """Write the files of a report and its figures into `folder`, each whole or not at all.

    Parameters
    ----------
    folder : Path
        Where they go, which exists.
    run : Run
        What was found.
    document : dict
        The same as `results_document` returns it.
    formats : sequence of str
        What the figures are written as, beside the SVG that the page holds; members of
        `verify.report.figures.style.FORMATS`.

    Raises
    ------
    InvalidArgumentError
        If a file cannot be written.
    """
    results, markdown, page = (folder / name for name in FILES)
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    write_atomically("out", results, _writer(text))
    write_atomically("out", markdown, _writer(_markdown(run, document)))
    figures, missing = _figures(folder / "figures", run, formats)
    html = render_page(run, document, figures, missing=missing)
    write_atomically("out", page, _writer(html))


def _markdown(run: Run, document: dict[str, Any]) -> str:
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
    template = environment.get_template("report.md.j2")
    return template.render(run=run, document=document, registered=len(CLAIMS))


def _figures(
    folder: Path, run: Run, formats: Sequence[str]
) -> tuple[list[ReportedFigure], str | None]:
    """Return the figures of a run, and why there are none if they cannot be drawn."""
    claims = {result.claim.id for result in run.results}
    if not any(claims.intersection(figure.CLAIMS) for figure in FIGURES):
        return [], None
    try:
        check_matplotlib("figures", "missing")
    except InvalidArgumentError:
        return [], "they need matplotlib; pip install 'xorverify[figures]'"
    return make_report_figures(folder, claims, seed=run.seed, formats=formats), None


def _writer(text: str) -> Callable[[IO[bytes]], object]:
    return lambda stream: stream.write(text.encode())
