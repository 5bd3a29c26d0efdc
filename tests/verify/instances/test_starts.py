from __future__ import annotations

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import uniform_direction
from verify.instances.instance import draw_instance
from verify.instances.starts import draw_start, read_start
from verify.seeds import Streams


def test_the_order_of_the_draws_is_support_V_theta_theta_tilde() -> None:
    rng = Streams(4).trial(2)
    first = draw_instance(rng, 5, 3, law="gaussian")
    other = uniform_direction(rng, 3)
    found = draw_start(Streams(4).trial(2), 5, 3, law="gaussian", start="independent")
    assert found.support == first.support
    assert np.array_equal(found.V, first.V)
    assert np.array_equal(found.theta, first.theta)
    assert np.array_equal(found.theta_tilde, other)
    opposite = draw_start(Streams(4).trial(2), 5, 3, law="gaussian", start="antisymmetric")
    assert np.array_equal(opposite.theta_tilde, -first.theta)


def test_other_starts_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^start=zero: must be one of antisymmetric"):
        read_start("start", "zero")
