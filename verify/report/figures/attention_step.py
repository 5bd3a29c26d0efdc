"""Attention of both heads before and after one step, at the first draw of a run's seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from numerics.attention import softmax
from numerics.one_step import one_step
from verify.instances.instance import draw_trial
from verify.report.figures.shipped import Row, Tables
from verify.report.figures.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "NAME", "SHIPPED", "TITLE", "caption", "command", "draw", "tables"]

NAME = "attention_step"
TITLE = "Attention before and after the step"
CLAIMS: Sequence[str] = ("theorem2-heads", "interpretability")
SHIPPED = False

_D, _M, _SCALE = 64, 256, 1000
_ETA = _SCALE * _D**2
_HEADS = (
    ("first head", "gamma", r"$\gamma_i$"),
    ("second head", "gamma_tilde", r"$\tilde{\gamma}_i$"),
)
_OTHER = "0.6"


def tables(seed: int) -> Tables:
    """Draw the instance, take the step, and return the attention at each position."""
    drawn = draw_trial(_D, _M, law="sphere", seed=seed, trial=0)
    step = one_step(drawn.V, drawn.theta, drawn.support, _ETA)
    columns = {
        "gamma_start": softmax(drawn.V @ drawn.theta),
        "gamma_tilde_start": softmax(drawn.V @ drawn.theta_tilde),
        "gamma": step.gamma,
        "gamma_tilde": step.gamma_tilde,
    }
    names = dict(zip(drawn.support, "ab", strict=True))
    return {
        NAME: [
            {
                "position": str(i),
                "relevant": names.get(i, ""),
                **{name: repr(float(values[i])) for name, values in columns.items()},
            }
            for i in range(_D)
        ]
    }


def draw(tables: Tables) -> Figure:
    """Draw a column for each head: its attention at the start above, after the step below."""
    from matplotlib.figure import Figure

    rows = tables[NAME]
    figure = Figure(figsize=(7.4, 3.9), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True, sharey="row")
    for column, (title, name, symbol) in enumerate(_HEADS):
        for row, (when, suffix) in enumerate((("at the start", "_start"), ("after one step", ""))):
            axes = grid[row][column]
            for relevant, colour in (("", _OTHER), ("a", COLOURS[0]), ("b", COLOURS[1])):
                chosen = [each for each in rows if each["relevant"] == relevant]
                axes.bar(
                    [int(each["position"]) for each in chosen],
                    [float(each[f"{name}{suffix}"]) for each in chosen],
                    width=0.8 if not relevant else 1.3,
                    color=colour,
                    label=f"position ${relevant}$" if relevant else "other positions",
                )
            axes.set_title(f"{title}, {when}")
            axes.set_ylabel(symbol)
            axes.grid(visible=True, axis="y", alpha=0.3)
        grid[1][column].set_xlabel("position $i$")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def caption(tables: Tables, seed: int) -> str:
    """Say what is drawn, and where the heads went."""
    rows = tables[NAME]
    support = {each["relevant"]: each["position"] for each in rows if each["relevant"]}
    heads = "; ".join(f"the {title} has {_most(rows, name)}" for title, name, _ in _HEADS)
    same = 2 / math.pi * math.atan(1 / math.sqrt(_D))
    return (
        f"One draw ($n = 1$, seed {seed}, trial 0), $d = {_D}$, $m = {_M}$, relevant positions "
        f"$a = {support['a']}$ and $b = {support['b']}$, before and after one population step with "
        rf"$\eta = {_SCALE} d^2$. Mind the two scales. After the step {heads}. "
        "A single draw has no interval; by the law of large steps both heads take the same "
        f"position in {100 * same:.1f}% of the draws at this $d$."
    )


def command(seed: int) -> str:
    """Return what proves or refutes, at this draw, that every loss is small after the step."""
    return (
        f"xorverify instance --d {_D} --m {_M} --seed {seed} --trial 0 --out draw.npz\n"
        f"xorverify certify draw.npz --eta {_ETA}"
    )


def _most(rows: Sequence[Row], name: str) -> str:
    """Say which position has the most attention, and how much it is."""
    most = max(rows, key=lambda row: float(row[name]))
    where = f"${most['relevant']}$" if most["relevant"] else f"position {most['position']}"
    # Rounded down, and never up to everything.
    share = min(math.floor(1e4 * float(most[name])), 9999) / 1e4
    return f"at least {share:.4f} of its attention on {where}"
