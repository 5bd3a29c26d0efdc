"""Figure and data: parameters of dense nets that learned sparse XOR, beside the attention model's.

Run ``python docs/figures/parameters_against_d.py`` with the extra ``figures`` installed (about two
minutes on one core); it writes ``parameters_against_d.csv`` into ``verify/report/data``, where
reports read it, and ``parameters_against_d.svg`` beside itself. Dense ReLU nets with one hidden
layer are trained by L-BFGS on 64 d samples from at most 8 random starts, seed 0. A net counts if
its loss over all 2^d inputs is proved to be at most 0.01; the least width at which 4 in 5 do is
drawn. Beside it: 2m trained and d m frozen numbers of the attention model at the m that is proved
to suffice at d = 10^3, ..., 10^6, and the number of positions that a net must read for an average
loss of 0.01, if they are chosen before the support.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from numerics.baselines.dense_nets import dense_parameters, loss_bracket
from numerics.baselines.juntas import least_positions
from numerics.baselines.trained_nets import draw_sample, train
from verify.claims.explicit_theorem2 import sufficient_width
from verify.evidence.sampling import Proportion
from verify.report.figures.parameters_against_d import NAME, draw, tables
from verify.report.figures.shipped import DATA
from verify.report.figures.style import drawing, write_figure
from verify.seeds import Streams

TRIALS = {16: 60, 32: 60, 64: 40, 128: 20, 256: 10}
WIDTHS = (1, 2, 3, 4)
SAMPLES = 64
STARTS = 8
LOSS = Fraction(1, 100)
CERTIFIED = [10**exponent for exponent in range(3, 7)]
BOUND = [2**exponent for exponent in range(4, 21)]


@dataclass(frozen=True)
class Trained:
    """What was seen at one d and width."""

    d: int
    width: int
    reached: Proportion
    starts: int

    @property
    def parameters(self) -> int:
        """All parameters of such a net."""
        return dense_parameters(self.d, self.width)


def trained(d: int, width: int, trials: int) -> Trained:
    """Train nets, and count those with a proved loss."""
    streams = Streams(0, f"figure/{d}/{width}")
    reached = starts = 0
    for i in range(trials):
        rng = streams.trial(i)
        sample = draw_sample(rng, d, SAMPLES * d)
        found = train(rng, sample, width=width, starts=STARTS)
        reached += loss_bracket(found.net, sample.support)[1] <= LOSS
        starts += found.starts
    return Trained(d, width, Proportion(reached, trials), starts)


def main() -> None:
    """Train, write the data and draw the figure."""
    # One unit cannot, whatever d is: a few nets at the least d show it.
    found = [trained(16, 1, 10)]
    found += [trained(d, width, trials) for d, trials in TRIALS.items() for width in WIDTHS[1:]]
    with (DATA / f"{NAME}.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        columns = ["d", "width", "parameters", "trials", "starts", "reached", "lower", "upper"]
        writer.writerow(["model", *columns])
        for each in found:
            counts = [each.reached.trials, each.starts, each.reached.count]
            ends = [f"{end:.4f}" for end in each.reached.interval]
            writer.writerow(["dense", each.d, each.width, each.parameters, *counts, *ends])
        for d in CERTIFIED:
            m = sufficient_width(d)
            writer.writerow(["attention, trained", d, m, 2 * m, "", "", "", "", ""])
            writer.writerow(["attention, frozen", d, m, d * m, "", "", "", "", ""])
        for d in BOUND:
            writer.writerow(["positions read", d, "", least_positions(d, LOSS), "", "", "", "", ""])
    with drawing():
        write_figure(Path(__file__).with_suffix(".svg"), draw(tables(0)), ["svg"])


if __name__ == "__main__":
    main()
