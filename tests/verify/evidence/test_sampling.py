import pytest

from verify.claim import Grade
from verify.evidence.sampling import Proportion, bonferroni_level, grade_at_most


def test_no_failure_in_a_thousand_is_not_certainty() -> None:
    found = Proportion(0, 1000).as_json()
    assert found["lower"] == pytest.approx(0.0, abs=0.0)
    assert found["upper"] == pytest.approx(0.0036820839, abs=5e-11)  # the digits given
    assert found["level"] == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("count", "trials", "bound", "grade"),
    [
        (0, 1000, 0.004, Grade.SAMPLED),
        (0, 1000, 0.003, Grade.UNDECIDED),
        (500, 1000, 0.3, Grade.REFUTED),
        (30, 1000, 0.03, Grade.UNDECIDED),
        (1000, 1000, 1.0, Grade.SAMPLED),
    ],
)
def test_the_rule_of_a_sampled_claim(count: int, trials: int, bound: float, grade: Grade) -> None:
    assert grade_at_most(Proportion(count, trials), bound) is grade


def test_bonferroni_spends_the_five_per_cent_over_the_cells() -> None:
    assert bonferroni_level(1) == pytest.approx(0.95)
    assert bonferroni_level(5) == pytest.approx(0.99)
    wide, narrow = Proportion(5, 100, bonferroni_level(10)), Proportion(5, 100)
    assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]
