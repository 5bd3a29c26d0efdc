"""Data: how far Transformers leave the path of two queries, with one condition changed at a time.

Run ``python docs/figures/transformer_controls.py`` (ten seconds); it writes
``transformer_controls.csv`` beside itself. Trial 0 of seed 0 at d = 6, m = 4, h = 6, eta = d^2 / 4:
after 0, 1, 2 and 3 steps, the largest distance of a mapped query from theta or theta~, over the
length of the way that those have gone after three steps, and the largest difference of the
predictions over all 2^d inputs.
"""

from __future__ import annotations

import csv
from pathlib import Path

from numerics.transformer.variants import BROKEN, EQUIVALENT, compare_variant
from verify.instances.instance import draw_instance
from verify.seeds import Streams

SEED = 0
POSITIONS, DIMENSIONS, WIDTH = 6, 4, 6
STEPS = 3
COLUMNS = ("variant", "since", *(f"queries_{step}" for step in range(STEPS + 1)), "predictions")


def rows() -> list[list[str]]:
    """Return the table, the variants in the order of their lists."""
    table = []
    for variant in (*BROKEN, *EQUIVALENT):
        rng = Streams(SEED).trial(0)
        instance = draw_instance(rng, POSITIONS, DIMENSIONS)
        found = compare_variant(
            variant,
            rng,
            instance.V,
            instance.theta,
            instance.support,
            width=WIDTH,
            eta=POSITIONS**2 / 4,
            steps=STEPS,
        )
        since = "never" if variant.since is None else str(variant.since)
        distances = [*found.queries, found.predictions.max()]
        table.append([variant.name, since, *(_shown(distance) for distance in distances)])
    return table


def _shown(distance: float) -> str:
    # Below, rounding decides: another machine would print other digits.
    return "< 1e-12" if distance < 1e-12 else f"{distance:.2g}"


def main() -> None:
    """Run all variants and write the table."""
    with Path(__file__).with_suffix(".csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(COLUMNS)
        table.writerows(rows())


if __name__ == "__main__":
    main()
