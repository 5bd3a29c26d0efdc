import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.evaluation import evaluate
from derivations.instances import concentrated_attention, random_attention, seeded
from derivations.notation import alpha, alpha_prime, beta, beta_prime
from derivations.worst_case import residual_in_masses, success_value
from derivations.zonotope import boundary, branch_bracket, branch_minimum


def _instance(seed, d):
    rng = seeded(seed)
    draw = rng.choice((random_attention, concentrated_attention))
    return draw(rng, d), draw(rng, d), tuple(rng.sample(range(d), 2))


def test_residual_without_cancellation():
    assert residual_in_masses(1) == 2 * alpha * beta_prime + 2 * alpha_prime * beta
    assert residual_in_masses(-1) == 2 * alpha * beta + 2 * alpha_prime * beta_prime


@given(seed=st.integers(0, 9999), d=st.integers(2, 7))
@settings(max_examples=60, deadline=None)
def test_brackets_against_all_inputs(seed, d):
    weights, weights_tilde, support = _instance(seed, d)
    bound, attained = branch_bracket(weights, weights_tilde, support, -1)
    assert bound == attained == branch_minimum(weights, weights_tilde, support, -1)
    bound, attained = branch_bracket(weights, weights_tilde, support, 1)
    gap = max(
        (weights[j] * weights_tilde[j] for j in range(d) if j not in support),
        default=0,
    )
    assert bound <= branch_minimum(weights, weights_tilde, support, 1) <= attained <= bound + gap


@given(seed=st.integers(0, 9999))
@settings(max_examples=60, deadline=None)
def test_three_positions_close_the_bracket(seed):
    weights, weights_tilde, support = _instance(seed, 3)
    brackets = [branch_bracket(weights, weights_tilde, support, tau) for tau in (-1, 1)]
    bound, attained = (min(ends) for ends in zip(*brackets, strict=True))
    assert bound == attained


@given(seed=st.integers(0, 9999), d=st.integers(2, 7))
@settings(max_examples=60, deadline=None)
def test_success_value_where_it_applies(seed, d):
    weights, weights_tilde, support = _instance(seed, d)
    a, b = support
    on_support = weights[a] + weights[b], weights_tilde[a] + weights_tilde[b]
    found = evaluate(
        success_value(),
        sequences={"gamma": weights, "gamma_tilde": weights_tilde},
        positions={"a": a, "b": b},
    )
    least = branch_minimum(weights, weights_tilde, support, 1)
    assert least <= found
    if min(on_support) * 2 >= 1:
        assert found == least


@given(seed=st.integers(0, 999), d=st.integers(3, 7), tau=st.sampled_from((-1, 1)))
@settings(max_examples=40, deadline=None)
def test_the_boundary_is_closed_and_turns_one_way(seed, d, tau):
    weights, weights_tilde, support = _instance(seed, d)
    edges = list(boundary(weights, weights_tilde, support, tau))
    lower, upper = edges[: d - 2], edges[d - 2 :]
    assert len(upper) == d - 2
    assert lower[0][0] == upper[0][0]
    assert lower[-1][1] == upper[-1][1]
    for chain, turn in ((lower, 1), (upper, -1)):
        steps = [(end[0] - start[0], end[1] - start[1]) for start, end in chain]
        for (x, y), (X, Y) in itertools.pairwise(steps):
            assert turn * (x * Y - y * X) >= 0
