"""Figure and data: the step size of the explicit Theorem 2, against m and d.

Run ``python docs/figures/step_size.py`` with the extra ``docs`` installed (about half a minute on
one core); it writes ``step_size.csv`` and ``step_size.svg`` beside itself. The step size is the
least found at which failure is proved to have at most 1.5 times the probability that it has for
large steps. The lines are ln(1/x) sqrt(pi) / 4 * sqrt(d m), to leading order what that takes: x is
the attention that the heads may leave elsewhere, and only the small lean depends on the step.
"""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from numerics.balls.arithmetic.exact import upper_digits
from numerics.balls.bounds.explicit_theorem2 import ExplicitTheorem2, explicit_theorem2

DIMENSIONS = {128: "o", 512: "s", 2048: "^", 8192: "v"}
EXPONENTS = range(3, 16, 2)
TOLERANCE = Fraction(1, 100)


def constant() -> float:
    """Return eta/d^2 over sqrt(d m), to leading order."""
    product = 1 - math.sqrt(TOLERANCE)
    spare = (1 - math.sqrt(product)) / (1 + math.sqrt(product))
    return -math.log(spare) * math.sqrt(math.pi) / 4


def scale(found: ExplicitTheorem2) -> Fraction:
    """Return C in eta >= C d^2."""
    if found.scale is None:
        raise SystemExit(f"no step size at d={found.d}, m={found.m}")
    return found.scale


def main() -> None:
    """Compute, write the data and draw the figure."""
    grid = {
        m: [explicit_theorem2(10**exponent, m, tolerance=TOLERANCE) for exponent in EXPONENTS]
        for m in DIMENSIONS
    }
    with Path(__file__).with_suffix(".csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["d", "m", "eta_scale", "over_sqrt_dm", "failure_upper", "failure_limit"])
        for found in (each for row in grid.values() for each in row):
            bounds = (found.failure_upper, found.failure_limit)
            ratio = float(scale(found)) / math.sqrt(found.d * found.m)
            writer.writerow(
                [found.d, found.m, upper_digits(scale(found), 4), f"{ratio:.4f}"]
                + [upper_digits(bound, 6) for bound in bounds]
            )
    mpl.rcParams["svg.hashsalt"] = "step_size"
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for m, marker in DIMENSIONS.items():
        sizes = [found.d for found in grid[m]]
        axes.plot(sizes, [float(scale(found)) for found in grid[m]], marker, label=f"$m = {m}$")
        axes.plot(sizes, [constant() * math.sqrt(d * m) for d in sizes], color="0.5", zorder=0)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="number of positions $d$",
        ylabel=r"least $\eta / d^2$ found",
    )
    axes.legend(title=rf"lines: ${constant():.2f} \sqrt{{d m}}$")
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
