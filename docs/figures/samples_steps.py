"""Data: what several steps on the same samples do, where one step does not part the heads.

Run ``python docs/figures/samples_steps.py`` (half a minute on two cores); it writes
``samples_steps.csv`` beside itself. Full-batch gradient descent on one sample of n = c d ln d
inputs, m = 4 d, eta = d^2, 100 trials at each (d, c), seed 0: how often, after each number of
steps, every one of the 2^d losses is at most 0.01, and how often each head has a position of the
support of its own, with 95% Clopper-Pearson intervals.
"""

from __future__ import annotations

import csv
from pathlib import Path

from verify.claims.corollary3_steps import linear_samples, train
from verify.claims.theorem2 import TOLERANCE
from verify.evidence.sampling import Proportion
from verify.seeds import Streams

TRIALS = 100
SEED = 0
POSITIONS = (64, 128, 256)
FACTORS = (1, 2, 5)
STEPS = (1, 2, 4, 8, 16)
COLUMNS = ("d", "m", "n", "factor", "steps", "reached", "count", "trials", "low", "high")


def main() -> None:
    """Run all trials and write the table."""
    with Path(__file__).with_suffix(".csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        for d in POSITIONS:
            for factor in FACTORS:
                n = linear_samples(d, factor)
                runs = [train(Streams(SEED), i, d, n, steps=max(STEPS)) for i in range(TRIALS)]
                for steps in STEPS:
                    judged = [run[steps - 1] for run in runs]
                    counts = {
                        "one_to_one": sum(each.one_to_one for each in judged),
                        "success": sum(each.succeeds(TOLERANCE) for each in judged),
                    }
                    for reached, count in counts.items():
                        share = Proportion(count, TRIALS)
                        ends = (f"{end:.4f}" for end in share.interval)
                        row = (d, 4 * d, n, factor, steps, reached, count, TRIALS, *ends)
                        table.writerow(row)


if __name__ == "__main__":
    main()
