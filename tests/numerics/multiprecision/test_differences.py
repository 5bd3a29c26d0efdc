from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings

from numerics.arguments import InvalidArgumentError
from numerics.multiprecision.differences import numeric_gradient
from verify.testing.strategies import instances

arguments = attrgetter("V", "theta", "theta_tilde", "support")


@settings(max_examples=settings().max_examples * 15 // 100)
@given(instances(max_d=7, max_m=3, start="independent"))
def test_closed_form_and_enumeration_have_the_same_derivatives(instance):
    V, theta, theta_tilde, support = arguments(instance)
    closed = numeric_gradient(V, theta, theta_tilde, support)
    literal = numeric_gradient(V, theta, theta_tilde, support, enumerated=True)
    for ours, theirs in zip(closed, literal, strict=True):
        assert all(abs(left - right) < 1e-50 for left, right in zip(ours, theirs, strict=True))


def test_enumeration_of_many_positions_is_refused():
    V = np.zeros((17, 1))
    with pytest.raises(InvalidArgumentError, match=r"^d=17: 2\^17 inputs"):
        numeric_gradient(V, [0.0], [0.0], (0, 1), enumerated=True)
