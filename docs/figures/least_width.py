"""Figure and data: the least embedding dimension with a proved failure probability of 0.1.

Run ``python docs/figures/least_width.py`` with the extra ``docs`` installed (about two minutes on
one core); it writes ``least_width.csv`` and ``least_width.svg`` beside itself and prints the line
that fits best. Nothing is drawn at random. The least m is the least that bisection finds for the
search of budgets as it is; a better proof, or a better search, would do with less.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from numerics.balls.arithmetic.exact import upper_digits
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.events import total
from numerics.balls.bounds.explicit_theorem2 import ExplicitTheorem2, explicit_theorem2
from numerics.balls.bounds.theorem2 import failure_events
from numerics.balls.bounds.theorem2_search import best_budget

FAILURE = Fraction(1, 10)
TOLERANCE = Fraction(1, 100)
EXPONENTS = range(3, 16)
BITS = 192


@dataclass(frozen=True)
class LeastWidth:
    """The least m found at one d.

    Attributes
    ----------
    m_limit : int
        With a failure of at most 0.1 for all large enough steps.
    found : ExplicitTheorem2
        At the least m with a failure of at most 0.1 at the step size found.
    """

    m_limit: int
    found: ExplicitTheorem2


def suffices(d: int, m: int) -> bool:
    """Whether a failure of at most 0.1 is proved for all large enough steps."""
    budget = best_budget(d, m, scale=None, tolerance=TOLERANCE)
    with working_precision(BITS):
        bound = total(failure_events(d, m, budget, scale=None, tolerance=TOLERANCE))
        return bool(bound * FAILURE.denominator <= FAILURE.numerator)


def least_width(d: int) -> LeastWidth:
    """Find both least dimensions at one d."""
    low, high = 6, 4 * d.bit_length() + 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(d, middle) else (middle, high)
    m = high
    while (found := explicit_theorem2(d, m, tolerance=TOLERANCE)).failure_upper > FAILURE:
        m += 1
    return LeastWidth(high, found)


def main() -> None:
    """Measure, fit, write the data and draw the figure."""
    found = {10**exponent: least_width(10**exponent) for exponent in EXPONENTS}
    logarithms = np.log2(np.array([float(d) for d in found]))
    widths = np.array([each.m_limit for each in found.values()])
    # The smallest d has a corner of its own, where the sum of scores is what costs.
    asymptotic = slice(1, None)
    slope, intercept = np.polyfit(logarithms[asymptotic], widths[asymptotic], 1)
    residuals = widths - (intercept + slope * logarithms)
    print(f"m = {intercept:.2f} + {slope:.3f} log2 d for d >= 10^4")
    print("residuals from d = 10^3 on:", ", ".join(f"{each:+.2f}" for each in residuals))
    _write(found, residuals)
    _draw(found, intercept, slope)


def _write(found: dict[int, LeastWidth], residuals: np.ndarray) -> None:
    with Path(__file__).with_suffix(".csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            [
                "d",
                "m_limit",
                "fit_residual",
                "m_step",
                "failure_upper",
                "failure_limit",
                "eta_scale",
                "parameters",
            ]
        )
        for (d, each), residual in zip(found.items(), residuals, strict=True):
            proved = each.found
            if proved.scale is None:
                raise SystemExit(f"no step size at d={d}, m={proved.m}")
            bounds = (proved.failure_upper, proved.failure_limit, proved.scale)
            writer.writerow(
                [d, each.m_limit, f"{residual:.3f}", proved.m]
                + [upper_digits(bound, 6) for bound in bounds]
                + [2 * proved.m]
            )


def _draw(found: dict[int, LeastWidth], intercept: float, slope: float) -> None:
    mpl.rcParams["svg.hashsalt"] = "least_width"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    sizes = list(found)
    left.plot(sizes, [each.m_limit for each in found.values()], "o", label="large steps")
    left.plot(sizes, [each.found.m for each in found.values()], "s", label=r"$\eta$ as found")
    left.plot(
        sizes,
        [intercept + slope * math.log2(d) for d in sizes],
        color="0.5",
        label=rf"${intercept:.1f} + {slope:.2f} \log_2 d$",
    )
    left.set(
        xscale="log", xlabel="number of positions $d$", ylabel=r"least $m$, failure $\leq 0.1$"
    )
    right.plot(sizes, [2 * each.found.m for each in found.values()], "s", label="$2m$, proved here")
    right.plot(sizes, sizes, color="0.5", label="$d$: a feed-forward net, up to a constant")
    right.set(
        xscale="log", yscale="log", xlabel="number of positions $d$", ylabel="trained parameters"
    )
    for axes in (left, right):
        axes.legend()
        axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
