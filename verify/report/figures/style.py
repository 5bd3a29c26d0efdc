"""How figures look, and how they become files that are the same bytes every time."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

__all__ = ["COLOURS", "check_matplotlib", "drawing", "size_ticks", "write_csv", "write_svg"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Blue, vermilion, green and purple of Okabe and Ito, told apart by all kinds of eyes."""

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
    try:
        import matplotlib as mpl  # noqa: F401 - whether it can be imported is the question
    except ImportError:
        raise InvalidArgumentError(
            what, value, "needs matplotlib; pip install 'xorverify[figures]'"
        ) from None


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
        FixedFormatter([f"{value:,}".replace(",", "\u2009") for value in values])
    )
    axis.set_minor_locator(NullLocator())
    (axes.set_xlabel if which == "x" else axes.set_ylabel)(label)


def write_svg(path: Path, figure: Figure) -> None:
    """Write a figure, without the date."""
    write_atomically(
        "out", path, lambda stream: figure.savefig(stream, format="svg", metadata={"Date": None})
    )


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write plotted data, at least one row, a column for each key of the rows."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically("out", path, lambda stream: stream.write(text.getvalue().encode()))
