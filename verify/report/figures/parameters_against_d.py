"""Parameters of dense nets that learned sparse XOR, beside the numbers of the attention model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numerics.baselines.dense_nets import dense_parameters
from verify.report.figures.shipped import Row, Tables, read_shipped
from verify.report.figures.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "CLAIMS",
    "NAME",
    "SHIPPED",
    "TITLE",
    "caption",
    "command",
    "draw",
    "least_dense",
    "tables",
]

NAME = "parameters_against_d"
TITLE = "Parameters against the number of positions"
CLAIMS: Sequence[str] = ("parameter-count", "feed-forward-trained", "feed-forward-floor")
SHIPPED = True


def tables(_seed: int) -> Tables:
    """Return the shipped results."""
    return {NAME: read_shipped(NAME)}


def least_dense(rows: Sequence[Row]) -> dict[int, Row]:
    """Return, for each d, the narrowest dense net that 4 in 5 trainings or more succeed with."""
    least: dict[int, Row] = {}
    for row in sorted(_of(rows, "dense"), key=lambda row: int(row["width"]), reverse=True):
        if 5 * int(row["reached"]) >= 4 * int(row["trials"]):
            least[int(row["d"])] = row
    return dict(sorted(least.items()))


def draw(tables: Tables) -> Figure:
    """Draw the numbers of each model against d."""
    from matplotlib.figure import Figure

    rows = tables[NAME]
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    least = least_dense(rows)
    axes.plot(
        list(least),
        [int(row["parameters"]) for row in least.values()],
        "o",
        color=COLOURS[0],
        label="dense net, trained",
    )
    bound = _of(rows, "positions read")
    sizes = [int(row["d"]) for row in bound]
    axes.plot(
        sizes,
        [dense_parameters(d, 2) for d in sizes],
        color=COLOURS[0],
        linestyle=":",
        label="$2d + 5$: a dense net that is the label",
    )
    axes.plot(
        sizes,
        [int(row["parameters"]) for row in bound],
        color="0.5",
        label="positions read, at least (average loss 0.01)",
    )
    for model, label, face in (
        ("attention, trained", "attention: $2m$ trained, proved", COLOURS[1]),
        ("attention, frozen", "attention: $d m$ frozen", "none"),
    ):
        chosen = _of(rows, model)
        axes.plot(
            [int(row["d"]) for row in chosen],
            [int(row["parameters"]) for row in chosen],
            "s",
            color=COLOURS[1],
            markerfacecolor=face,
            label=label,
        )
    axes.set(xscale="log", yscale="log", xlabel="number of positions $d$", ylabel="numbers")
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def caption(tables: Tables, _seed: int) -> str:
    """Say what is drawn."""
    least = least_dense(tables[NAME]).values()
    trials = [int(row["trials"]) for row in least]
    lowest = min(float(row["lower"]) for row in least)
    return (
        "Dense nets: the least width at which 4 in 5 trainings or more end with a proved loss of "
        rf"at most $0.01$, $n$ from {min(trials)} to {max(trials)} trainings at each $d$, seed 0; "
        "the 95% Clopper-Pearson intervals of their shares of success lie above "
        f"{lowest:.2f}. The attention model: at the $m$ that is proved to suffice for a failure "
        "of at most $0.1$. It trains fewer numbers than there are positions, and stores more, "
        "frozen."
    )


def command(_seed: int) -> str:
    """Return what computes the shipped results again."""
    return "python docs/figures/parameters_against_d.py"


def _of(rows: Sequence[Row], model: str) -> list[Row]:
    return [row for row in rows if row["model"] == model]
