from __future__ import annotations

import pytest

from verify.claim import Grade
from verify.evidence.band import Band, band_evidence
from verify.evidence.sampling import Proportion

RARE = Proportion(3, 1000)  # 95% in [0.0006, 0.0087]
OFTEN = Proportion(800, 1000)  # 95% in [0.7738, 0.8244]


@pytest.mark.parametrize(
    ("band", "shown"),
    [
        (Band("rain", high=0.1), "P(rain) <= 0.1"),
        (Band("rain", low=0.25), "P(rain) >= 0.25"),
        (Band("rain", 0.25, 1 / 3), "P(rain) in [0.25, 0.3333]"),
    ],
)
def test_a_band_is_an_inequality(band: Band, shown: str) -> None:
    assert str(band) == shown


@pytest.mark.parametrize(
    ("band", "found", "grade"),
    [
        (Band("rain", high=0.01), RARE, Grade.SAMPLED),
        (Band("rain", high=0.005), RARE, Grade.UNDECIDED),
        (Band("rain", high=0.01), OFTEN, Grade.REFUTED),
        (Band("rain", low=0.7), OFTEN, Grade.SAMPLED),
        (Band("rain", low=0.8), OFTEN, Grade.UNDECIDED),
        (Band("rain", low=0.5), RARE, Grade.REFUTED),
        (Band("rain", 0.75, 0.85), OFTEN, Grade.SAMPLED),
        (Band("rain", 0.75, 0.82), OFTEN, Grade.UNDECIDED),
        (Band("rain", 0.83, 0.85), OFTEN, Grade.REFUTED),
    ],
)
def test_the_interval_lies_in_the_band_or_misses_it(band: Band, found: Proportion, grade) -> None:
    evidence = band_evidence("cell", band, found, method="watching", seed=0)
    assert evidence.grade is grade
    assert evidence.margin is not None
    assert (evidence.margin >= 0) == (grade is Grade.SAMPLED)
    assert evidence.met == evidence.trials == 1000


def test_the_margin_is_the_least_share_of_a_bound_that_is_left() -> None:
    lower, upper = OFTEN.interval
    assert Band("rain", high=0.9).margin(OFTEN) == pytest.approx(1 - upper / 0.9, rel=1e-14)
    assert Band("rain", low=0.7).margin(OFTEN) == pytest.approx(lower / 0.7 - 1, rel=1e-14)
    both = Band("rain", 0.7, 0.83).margin(OFTEN)
    assert both == pytest.approx(1 - upper / 0.83, rel=1e-14)
