from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.binomial import clopper_pearson


def upper_tail(count, trials, p):
    """P(at least `count` events) as an exact rational number."""
    p = Fraction(p)
    return sum(
        math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(count, trials + 1)
    )


def test_no_failure_in_a_thousand_trials():
    lower, upper = clopper_pearson(0, 1000)
    assert lower == 0
    # The upper end solves (1 - p)^1000 = 0.025.
    assert upper == pytest.approx(0.0036820839, abs=5e-11)
    lower, upper = clopper_pearson(1000, 1000)
    assert upper == 1
    assert lower == pytest.approx(1 - 0.0036820839, abs=5e-11)


@given(trials=st.integers(1, 40), data=st.data(), level=st.sampled_from([0.5, 0.95, 0.999]))
def test_each_end_leaves_its_share_of_probability(trials, data, level):
    count = data.draw(st.integers(0, trials))
    lower, upper = clopper_pearson(count, trials, level=level)
    assert 0 <= lower <= count / trials <= upper <= 1
    # The definition, with a relative tolerance for quantiles good to about 1e-13 whose tail
    # probability has log-derivative at most trials / p.
    if count > 0:
        assert float(upper_tail(count, trials, lower)) == pytest.approx((1 - level) / 2, rel=1e-10)
    if count < trials:
        left = float(1 - upper_tail(count + 1, trials, upper))
        assert left == pytest.approx((1 - level) / 2, rel=1e-10)


@pytest.mark.parametrize(
    ("count", "trials", "level", "what"),
    [(2, 1, 0.95, "count"), (-1, 5, 0.95, "count"), (0, 0, 0.95, "trials"), (0, 5, 1.0, "level")],
)
def test_refusals(count, trials, level, what):
    with pytest.raises(InvalidArgumentError, match=f"^{what}="):
        clopper_pearson(count, trials, level=level)
