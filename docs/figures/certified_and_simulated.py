"""Figure and data: how often large steps fail, certified from both sides, simulated, and the law.

Run ``python docs/figures/certified_and_simulated.py`` with the extra ``docs`` installed (about ten
minutes on an idle core); it writes ``certified_and_simulated.csv`` into ``verify/report/data``,
where reports read it, and the ``.svg`` beside itself. A draw fails if, as the step grows, both
heads prefer the same position of the support. The slopes that decide it are drawn in O(d), exactly
in law; ambient positions, which hardly ever win at these sizes, are left out, so that what is
simulated lies between the two certified bounds. Seed 0, 95% Clopper-Pearson intervals, numbers of
draws in the data.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from numerics.balls.arithmetic.exact import lower_digits, upper_digits
from numerics.balls.bounds.explicit_theorem2 import ExplicitTheorem2, explicit_theorem2
from numerics.theorem2.support_slopes import draw_support_slopes
from verify.evidence.sampling import Proportion
from verify.report.figures.certified_and_simulated import NAME, draw, tables
from verify.report.figures.shipped import DATA
from verify.report.figures.style import drawing, write_figure
from verify.seeds import Streams

TRIALS = {100: 100_000, 316: 100_000, 1000: 100_000, 3162: 50_000, 10**4: 50_000, 10**5: 20_000}
DIMENSIONS = (128, 512)
POSITIONS = 1 << 18  # of one batch


@dataclass(frozen=True)
class Point:
    """What was proved and what was seen at one (d, m)."""

    proved: ExplicitTheorem2
    seen: Proportion


def law(d: int) -> float:
    """Return (2/pi) arctan(1/sqrt d)."""
    return 2 / math.pi * math.atan(1 / math.sqrt(d))


def simulate(d: int, m: int, trials: int) -> Proportion:
    """Count the draws in which exactly one slope is negative."""
    streams = Streams(0, f"figure/{d}/{m}")
    batch = max(1, POSITIONS // d)
    failures = 0
    for i, start in enumerate(range(0, trials, batch)):
        draws = min(batch, trials - start)
        wrong = draw_support_slopes(streams.trial(i), d, m, draws=draws) < 0
        failures += int((wrong[:, 0] != wrong[:, 1]).sum())
    return Proportion(failures, trials)


def main() -> None:
    """Prove, simulate, write the data and draw the figure."""
    found = {
        m: [Point(explicit_theorem2(d, m), simulate(d, m, trials)) for d, trials in TRIALS.items()]
        for m in DIMENSIONS
    }
    with (DATA / f"{NAME}.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        columns = ["d", "m", "failure_lower", "failure_limit", "law", "trials", "failures"]
        writer.writerow([*columns, "point", "lower", "upper"])
        for point in (each for row in found.values() for each in row):
            proved, seen = point.proved, point.seen
            writer.writerow(
                [
                    proved.d,
                    proved.m,
                    lower_digits(proved.failure_lower, 6),
                    upper_digits(proved.failure_limit, 6),
                    f"{law(proved.d):.6g}",
                    seen.trials,
                    seen.count,
                    f"{seen.count / seen.trials:.6g}",
                    *(f"{end:.6g}" for end in seen.interval),
                ]
            )
    with drawing():
        write_figure(Path(__file__).with_suffix(".svg"), draw(tables(0)), ["svg"])


if __name__ == "__main__":
    main()
