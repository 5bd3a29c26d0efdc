import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.notation import alpha, alpha_prime, beta, beta_prime
from derivations.proof.evaluation import evaluate
from derivations.worst_case import residual_in_masses, success_value
from derivations.zonotopes.zonotope import boundary, branch_bracket, branch_minimum
from verify.testing.strategies import rational_attention, supports


def _heads(d):
    # Weights of similar sizes, and of very different ones.
    head = rational_attention(d, smallest=1) | rational_attention(d, smallest=1, largest=256)
    return st.tuples(head, head, supports(d))


def test_residual_without_cancellation():
    assert residual_in_masses(1) == 2 * alpha * beta_prime + 2 * alpha_prime * beta
    assert residual_in_masses(-1) == 2 * alpha * beta + 2 * alpha_prime * beta_prime


@given(st.integers(2, 7).flatmap(_heads))
@settings(max_examples=settings().max_examples * 60 // 100)
def test_brackets_against_all_inputs(heads):
    weights, weights_tilde, support = heads
    bound, attained = branch_bracket(weights, weights_tilde, support, -1)
    assert bound == attained == branch_minimum(weights, weights_tilde, support, -1)
    bound, attained = branch_bracket(weights, weights_tilde, support, 1)
    gap = max(
        (weights[j] * weights_tilde[j] for j in range(len(weights)) if j not in support),
        default=0,
    )
    assert bound <= branch_minimum(weights, weights_tilde, support, 1) <= attained <= bound + gap


@given(_heads(3))
@settings(max_examples=settings().max_examples * 60 // 100)
def test_three_positions_close_the_bracket(heads):
    weights, weights_tilde, support = heads
    brackets = [branch_bracket(weights, weights_tilde, support, tau) for tau in (-1, 1)]
    bound, attained = (min(ends) for ends in zip(*brackets, strict=True))
    assert bound == attained


@given(st.integers(2, 7).flatmap(_heads))
@settings(max_examples=settings().max_examples * 60 // 100)
def test_success_value_where_it_applies(heads):
    weights, weights_tilde, support = heads
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


@given(heads=st.integers(3, 7).flatmap(_heads), tau=st.sampled_from((-1, 1)))
@settings(max_examples=settings().max_examples * 40 // 100)
def test_the_boundary_is_closed_and_turns_one_way(heads, tau):
    weights, weights_tilde, support = heads
    d = len(weights)
    edges = list(boundary(weights, weights_tilde, support, tau))
    lower, upper = edges[: d - 2], edges[d - 2 :]
    assert len(upper) == d - 2
    assert lower[0][0] == upper[0][0]
    assert lower[-1][1] == upper[-1][1]
    for chain, turn in ((lower, 1), (upper, -1)):
        steps = [(end[0] - start[0], end[1] - start[1]) for start, end in chain]
        for (x, y), (X, Y) in itertools.pairwise(steps):
            assert turn * (x * Y - y * X) >= 0
