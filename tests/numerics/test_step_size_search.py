"""The search of a step size: what is tried, what is given up, and which is the best."""

from __future__ import annotations

import itertools
import math
from operator import attrgetter

import pytest

from numerics.attention_maps import find_map
from numerics.step_size_search import Candidate, first_step_sizes, search_step_size
from numerics.training import descend, population_objective
from verify.instances.starts import draw_start
from verify.seeds import Streams

queries = attrgetter("theta", "theta_tilde")


def drawn(d: int, m: int, start: str, trial: int = 0):
    return draw_start(Streams(4).trial(trial), d, m, law="sphere", start=start)


def objective_of(instance, attention: str):
    return population_objective(instance.V, instance.support, attention=find_map(attention))


def test_the_grid_covers_what_linear_and_softmax_attention_want() -> None:
    sizes = first_step_sizes(256)
    assert sizes[0] == pytest.approx(1e-6)
    assert sizes[-2] < 1000 * 256**2 <= sizes[-1]
    ratios = [b / a for a, b in itertools.pairwise(sizes)]
    # Powers of ten in binary64 err by a unit or two.
    assert ratios == pytest.approx([10**0.5] * len(ratios), rel=1e-14)


@pytest.mark.parametrize(
    ("attention", "start", "d", "m"),
    [
        ("softmax", "antisymmetric", 24, 12),
        ("linear", "independent", 12, 24),
        ("erf", "independent", 16, 8),
    ],
)
def test_nothing_that_is_given_up_could_have_been_the_best(
    attention: str, start: str, d: int, m: int
) -> None:
    """All step sizes that were tried, in full, without giving up on any."""
    instance = drawn(d, m, start)
    objective = objective_of(instance, attention)
    steps, tolerance = 60, 0.01
    candidates = search_step_size(
        objective, *queries(instance), d=d, steps=steps, tolerance=tolerance
    )
    best = min(candidates, key=lambda each: each.rank)
    whole = []
    for each in candidates:
        end = descend(
            objective,
            instance.theta,
            instance.theta_tilde,
            eta=each.eta,
            steps=steps,
            tolerance=tolerance,
        )
        loss = math.inf if end.diverged else float(end.losses[-1])
        whole.append(Candidate(each.eta, end.steps, loss <= tolerance, loss))
    assert min(whole, key=lambda each: each.rank) == best
    assert [each.eta for each in candidates] == sorted({each.eta for each in candidates})
    first = set(first_step_sizes(d))
    finer = [each.eta for each in candidates if each.eta not in first]
    assert len(candidates) - len(finer) == len(first)
    # The refinement is around the best of the first step sizes, six to a decade.
    centre = min((each for each in whole if each.eta in first), key=lambda each: each.rank).eta
    expected = [centre * 10 ** (k / 6) for k in (-2, -1, 1, 2)]
    assert finer == pytest.approx(expected, rel=1e-14)


def test_the_rule_of_selection() -> None:
    def best(*candidates: Candidate) -> float:
        return min(candidates, key=lambda each: each.rank).eta

    slow, fast = Candidate(1, 9, True, 0.001), Candidate(2, 5, True, 0.009)
    assert best(slow, fast) == 2
    assert best(slow, Candidate(3, 1000, False, 0.02)) == 1
    assert best(Candidate(1, 1000, False, 0.5), Candidate(2, 1000, False, 0.4)) == 2
    assert best(fast, Candidate(4, 5, True, 0.001)) == 4
    assert best(fast, Candidate(1.5, 5, True, 0.009)) == 1.5
    assert best(Candidate(1, 3, False, math.inf), Candidate(2, 1000, False, 0.9)) == 2


def test_what_grows_a_thousandfold_is_given_up() -> None:
    instance = drawn(64, 128, "independent")
    candidates = search_step_size(
        objective_of(instance, "erf"), *queries(instance), d=64, steps=200, tolerance=0.01
    )
    largest = candidates[-1]
    assert largest.loss == math.inf
    assert largest.steps < 5
    assert not largest.reached
