"""How figures look, and how they become files that are the same bytes every time."""

from __future__ import annotations

import csv
import io
import logging
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.files.writing import write_atomically
from verify.latex.claims import escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

__all__ = [
    "COLOURS",
    "FORMATS",
    "check_formats",
    "check_matplotlib",
    "drawing",
    "size_ticks",
    "write_csv",
    "write_figure",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Blue, vermilion, green and purple of Okabe and Ito, told apart by all kinds of eyes."""

FORMATS = ("svg", "pdf", "pgf")
"""Formats of a figure: for pages, for papers, and for papers that set its text themselves."""

# The entry of a file's metadata that would differ each time.
_DATE = {"svg": "Date", "pdf": "CreationDate"}

# Programs that can measure the text of a PGF file, the commonest first.
_TEX = ("pdflatex", "xelatex", "lualatex")

_SETTINGS: dict[RcKeyType, Any] = {
    # Ids inside the file, which matplotlib otherwise draws at random.
    "svg.hashsalt": "xorverify",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "legend.framealpha": 0.9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
}


def check_matplotlib(what: str, value: object) -> None:
    """Make sure that figures can be drawn.

    Raises
    ------
    InvalidArgumentError
        If matplotlib is missing; the message names the argument `what`.
    """
    # Where it keeps its list of fonts, if it has no folder for that, is of no interest here.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib as mpl  # noqa: F401 - whether it can be imported is the question
    except ImportError:
        raise InvalidArgumentError(
            what, value, "needs matplotlib; pip install 'xorverify[figures]'"
        ) from None


def check_formats(what: str, formats: Sequence[str]) -> None:
    """Make sure that figures can be written in some formats.

    Raises
    ------
    InvalidArgumentError
        If one other than SVG, which a report does without, is asked for and matplotlib is missing;
        or PGF and TeX, or its package pgf, is missing: matplotlib has TeX measure the text of a
        PGF file. The message names the argument `what`.
    """
    for each in formats:
        if each != "svg":
            check_matplotlib(what, each)
    if "pgf" in formats and _tex_with_pgf() is None:
        raise InvalidArgumentError(
            what, "pgf", "needs LaTeX with its package pgf (Debian: texlive-pictures)"
        )


def _tex_with_pgf() -> str | None:
    """Return a TeX that can measure text, None without any or without what it needs."""
    program = next((name for name in _TEX if shutil.which(name)), None)
    finder = shutil.which("kpsewhich")
    if program is None or finder is None:
        return None
    found = subprocess.run(  # noqa: S603 - a fixed question to the finder of TeX's own files
        [finder, "pgf.sty"], capture_output=True, text=True, check=False
    )
    return program if found.stdout.strip() else None


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with the settings of this module, whatever the user's own are."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph")
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def size_ticks(axes: Axes, which: str, values: Sequence[int], label: str) -> None:
    """Make an axis logarithmic, with ticks at the sizes of a sweep and nowhere else."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=2)
    axis.set_major_locator(FixedLocator(values))
    axis.set_major_formatter(
        FixedFormatter([f"${value:,}$".replace(",", r"\,") for value in values])
    )
    axis.set_minor_locator(NullLocator())
    (axes.set_xlabel if which == "x" else axes.set_ylabel)(label)


def write_figure(path: Path, figure: Figure, formats: Iterable[str]) -> list[Path]:
    """Write a figure in some of `FORMATS`, without the date, and return the files.

    Parameters
    ----------
    path : Path
        Where its SVG goes, or would go; other formats have other suffixes.
    figure : Figure
        The figure.
    formats : iterable of str
        The formats, each once.
    """
    files = []
    for each in formats:
        target = path.with_suffix(f".{each}")
        write_atomically("out", target, _saver(figure, each))
        files.append(target)
    return files


def _saver(figure: Figure, format_: str) -> Callable[[IO[bytes]], object]:
    if format_ == "pgf":
        return lambda stream: _save_pgf(figure, stream)
    return lambda stream: figure.savefig(stream, format=format_, metadata={_DATE[format_]: None})


def _save_pgf(figure: Figure, stream: IO[bytes]) -> None:
    """Write a figure as PGF that a paper can input with the package pgf alone."""
    import matplotlib as mpl
    from matplotlib.text import Text

    # TeX reads every text; those that are no math to matplotlib, titles that name what a user
    # named, are to be none to TeX either.
    plain = {
        text: text.get_text()
        for text in figure.findobj(Text)
        if isinstance(text, Text) and not text.get_parse_math()
    }
    for text, words in plain.items():
        text.set_text(escaped(words).replace("η", r"$\eta$").replace("²", "$^2$"))
    mpl.rcParams["pgf.texsystem"] = _tex_with_pgf() or _TEX[0]
    stream.write(b"\\providecommand{\\mathdefault}[1]{#1}\n")
    try:
        figure.savefig(stream, format="pgf")
    except (RuntimeError, ValueError):
        raise InvalidArgumentError(
            "formats", "pgf", "LaTeX cannot set a text of this figure; leave pgf out"
        ) from None
    finally:
        for text, words in plain.items():
            text.set_text(words)


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write plotted data, at least one row, a column for each key of the rows."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically("out", path, lambda stream: stream.write(text.getvalue().encode()))
