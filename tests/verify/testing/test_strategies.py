from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FailedHealthCheck

from numerics.arguments import InvalidArgumentError, probability_vector
from numerics.attention import softmax
from numerics.embeddings import LAWS
from numerics.enumeration import enumerate_loss
from numerics.exact.norms import unit_norm_deviation
from numerics.one_step import one_step
from numerics.worst_case import worst_case_loss
from verify.claim import Assumption
from verify.cli import main
from verify.evidence.assumptions import ANTISYMMETRIC_START, SETTING, UNIT_START
from verify.instances.instance import Instance, load_instance
from verify.testing import strategies
from verify.testing.strategies import (
    ATTENTION_KINDS,
    CORNERS,
    AttentionPair,
    Tally,
    adversarial_instances,
    assuming,
    attention_pairs,
    corner_at,
    instance_at,
    instances,
    rational_attention,
    sizes,
    supports,
)

ROOT = Path(__file__).parents[3]
SMALLEST_NORMAL = 2.0**-1022
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")

# Only these corners are about rows, or queries, that are no unit vectors.
ROWS_OF_OTHER_LENGTH = {"denormal rows", "unequal rows"}
STARTS_OF_OTHER_LENGTH = {"theta = 0", "tiny theta", "huge theta", "underflowing attention"}

EVERY_INSTANCE = (
    st.sampled_from([*LAWS]).flatmap(lambda law: instances(law=law))
    | instances(start="independent")
    | adversarial_instances()
)


def drawn(strategy: st.SearchStrategy, count: int = 100) -> list:
    """The first examples of a strategy."""
    found = []

    @settings(max_examples=count, phases=[Phase.generate])
    @given(strategy)
    def collect(example: object) -> None:
        found.append(example)

    collect()
    return found


def shrunk(strategy: st.SearchStrategy, condition: Callable[..., bool]) -> object:
    """The simplest example with a property, without asking which of its parts matter."""
    phases = [Phase.generate, Phase.shrink]
    return find(strategy, condition, settings=settings(max_examples=2000, phases=phases))


def remade(recipe: str) -> Instance | AttentionPair:
    """What the call that a recipe shows returns."""
    call = ast.parse(recipe, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    arguments = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    return getattr(strategies, call.func.id)(**arguments)


def same(one: Instance, other: Instance) -> bool:
    """Whether two instances agree to the last bit, signs of zeros included."""
    return one.support == other.support and all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in ("V", "theta", "theta_tilde")
    )


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    if "HYPOTHESIS_PROFILE" not in variables:
        # A night's own profile is not for the projects that the tests write.
        environment.pop("HYPOTHESIS_PROFILE", None)
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )


# What is drawn is what its name says.


@given(st.sampled_from([*LAWS]).flatmap(lambda law: st.tuples(st.just(law), instances(law=law))))
def test_ordinary_instances_follow_their_law(example: tuple[str, Instance]) -> None:
    law, instance = example
    assert instance.V.shape == (instance.d, instance.m)
    assert np.all(np.any(instance.V, axis=1))
    assert ANTISYMMETRIC_START.holds(instance)
    assert UNIT_START.holds(instance)
    assert law == "gaussian" or has_unit_rows(instance)


@given(instances(start="independent"))
def test_an_independent_second_query_is_another_unit_vector(instance: Instance) -> None:
    assert UNIT_START.holds(replace(instance, theta=instance.theta_tilde))
    # In one dimension there are two unit vectors only.
    assert instance.m == 1 or not ANTISYMMETRIC_START.holds(instance)


def exponents(rows: np.ndarray) -> np.ndarray:
    """Binary exponents of the rows' largest entries; lengths could overflow.

    A unit vector in at most 8 dimensions has one in [0.35, 1], of exponent -1, 0 or 1.
    """
    return np.frexp(np.abs(rows).max(axis=-1))[1]


def has_unit_rows(instance: Instance) -> bool:
    # 1e-12 is promised; the rounding of a norm is a thousand times smaller at these sizes.
    return unit_norm_deviation(instance.V)[1] < 1e-15


def distance(instance: Instance) -> float:
    return float(np.linalg.norm(instance.V[:, np.newaxis] - instance.V, axis=2).max())


def least_attention(instance: Instance) -> float:
    """The least weight of either head, the larger of the two."""
    queries = (instance.theta, instance.theta_tilde)
    return max(float(softmax(instance.V @ query).min()) for query in queries)


HOLDS: dict[str, Callable[[Instance], bool]] = {
    "d = 2": lambda i: i.d == 2,
    "m = 1": lambda i: i.m == 1 and set(np.abs(i.V).ravel().tolist()) == {1},
    "v_a = v_b": lambda i: np.array_equal(*i.V[[*i.support]]),
    "v_a = -v_b": lambda i: np.array_equal(*([[1], [-1]] * i.V[[*i.support]])),
    "duplicate rows": lambda i: len({row.tobytes() for row in i.V}) < i.d,
    "nearly parallel rows": lambda i: distance(i) <= 2 * 2.0**-10,
    "theta = 0": lambda i: not np.any([i.theta, i.theta_tilde]),
    "equal queries": lambda i: np.array_equal(i.theta, i.theta_tilde),
    "tiny theta": lambda i: exponents(i.theta) <= -29,
    "huge theta": lambda i: exponents(i.theta) >= 6,
    "underflowing attention": lambda i: least_attention(i) < SMALLEST_NORMAL,
    "denormal rows": lambda i: np.abs(i.V).max(axis=1).min() < SMALLEST_NORMAL,
    "unequal rows": lambda i: np.ptp(exponents(i.V)) >= 58,
}


@pytest.mark.parametrize("name", CORNERS)
@given(data=st.data())
def test_a_corner_is_what_its_name_says(name: str, data: st.DataObject) -> None:
    instance = data.draw(adversarial_instances(name))
    assert HOLDS[name](instance)
    assert np.all(np.any(instance.V, axis=1))
    assert has_unit_rows(instance) == (name not in ROWS_OF_OTHER_LENGTH)
    with np.errstate(over="ignore"):
        assert UNIT_START.holds(instance) == (name not in STARTS_OF_OTHER_LENGTH)
    assert ANTISYMMETRIC_START.holds(instance) == (name != "equal queries")


# Rounding of the least subnormal, and of rows to multiples of 2^-53, is in the constants.
DEGREES: dict[str, Callable[[Instance, int], bool]] = {
    "nearly parallel rows": lambda i, e: 2.0**e / 4 <= distance(i) <= 4 * 2.0**e,
    "tiny theta": lambda i, e: abs(exponents(i.theta) - e) <= 1,
    "huge theta": lambda i, e: abs(exponents(i.theta) - e) <= 1,
    "underflowing attention": lambda i, e: (
        2.0**e / i.d - 2.0**-1074 <= least_attention(i) <= 2.0**e * (1 + 1e-12) + 2.0**-1074
    ),
    "denormal rows": lambda i, e: abs(np.diff(np.sort(exponents(i.V))).max() + e) <= 2,
    "unequal rows": lambda i, e: abs(np.diff(np.sort(exponents(i.V))).max() - 2 * e) <= 2,
}


@pytest.mark.parametrize(
    ("name", "exponent"),
    [(name, e) for name, corner in CORNERS.items() for e in corner.exponents if e != 0],
)
def test_an_exponent_is_the_degree(name: str, exponent: int) -> None:
    for seed in range(20):
        instance = corner_at(d=6, m=3, seed=seed, support=(0, 1), corner=name, exponent=exponent)
        assert DEGREES[name](instance, exponent)


def two_values(gamma: np.ndarray) -> bool:
    return np.unique(gamma).size <= 2 and gamma.max() <= 2 * gamma.min()


KINDS: dict[str, Callable[[AttentionPair], bool]] = {
    "smooth": lambda p: min(p.gamma.min(), p.gamma_tilde.min()) > 0,
    "spiky": lambda p: min(p.gamma.min(), p.gamma_tilde.min()) > 0,
    "ties": lambda p: two_values(p.gamma) and two_values(p.gamma_tilde),
    "zeros": lambda p: max(p.gamma.min(), p.gamma_tilde.min()) <= 0,
    "one-hot": lambda p: min(p.gamma.max(), p.gamma_tilde.max()) >= 1,
    # Each softmax errs by (d + 10) u at most, d <= 8.
    "antisymmetric": lambda p: (
        np.ptp(p.gamma * p.gamma_tilde) <= 1e-14 * np.max(p.gamma * p.gamma_tilde)
    ),
    "underflow": lambda p: max(p.gamma.min(), p.gamma_tilde.min()) < SMALLEST_NORMAL,
    "concentrated": lambda p: min(p.gamma[p.support[0]], p.gamma_tilde[p.support[1]]) > 0.5,
}


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@given(data=st.data())
def test_a_kind_of_attention_is_what_its_name_says(kind: str, data: st.DataObject) -> None:
    pair = data.draw(attention_pairs(kind))
    assert KINDS[kind](pair)
    a, b = pair.support
    assert a != b
    for gamma in (pair.gamma, pair.gamma_tilde):
        assert probability_vector("gamma", gamma, pair.d) is gamma
        # A quotient each, and a sum: d + 2 roundings.
        assert gamma.sum() == pytest.approx(1, abs=(pair.d + 2) * 2.0**-53)


@given(st.integers(2, 9).flatmap(rational_attention), rational_attention(4, smallest=1, largest=3))
def test_rational_attention_sums_to_exactly_one(free: tuple, positive: tuple) -> None:
    assert all(isinstance(weight, Fraction) for weight in free + positive)
    assert sum(free) == sum(positive) == 1
    assert min(free) >= 0
    assert Fraction(1, 10) <= min(positive) <= max(positive) <= Fraction(3, 6)


@given(sizes(law="orthonormal", min_d=3, max_d=9, min_m=5, max_m=7))
def test_sizes_fit_the_law_and_the_limits(size: tuple[int, int]) -> None:
    d, m = size
    assert 3 <= d <= m <= 7
    assert m >= 5


def test_every_size_and_every_support_is_drawn() -> None:
    found = drawn(sizes(max_d=4, max_m=3), 300)
    assert set(found) == {(d, m) for d in (2, 3, 4) for m in (1, 2, 3)}
    found = drawn(supports(4), 300)
    assert set(found) == {(a, b) for a in range(4) for b in range(4) if a != b}


@pytest.mark.parametrize("strategy", [instances(), adversarial_instances("huge theta")])
def test_coordinates_are_dense_and_varied(strategy: st.SearchStrategy) -> None:
    found = drawn(strategy, 200)
    assert len({instance.d for instance in found}) >= 12
    assert len({instance.m for instance in found}) >= 7
    # In one dimension every coordinate is +1 or -1.
    entries = np.concatenate([each.V.ravel() for each in found if each.m > 1])
    assert np.all(entries != 0)
    # Hypothesis tries a seed again at other sizes, which share rows: about two in five entries.
    assert np.unique(entries).size > 0.4 * entries.size
    assert 0.4 < np.mean(entries > 0) < 0.6


# The recipe makes the example again.


@given(EVERY_INSTANCE)
def test_an_instance_is_shown_as_the_call_that_makes_it(instance: Instance) -> None:
    again = remade(repr(instance))
    assert same(again, instance)
    assert repr(again) == repr(instance)


@given(attention_pairs())
def test_attention_is_shown_as_the_call_that_makes_it(pair: AttentionPair) -> None:
    again = remade(repr(pair))
    assert again == pair
    assert np.array_equal([again.gamma, again.gamma_tilde], [pair.gamma, pair.gamma_tilde])


@pytest.mark.parametrize("law", LAWS)
def test_the_command_line_draws_the_same_instance(tmp_path: Path, law: str) -> None:
    out = tmp_path / "instance.npz"
    integers = ["--d", "5", "--m", "6", "--seed", "77", "--support", "3", "1"]
    assert main(["instance", *integers, "--law", law, "--out", str(out)]) == 0
    assert same(load_instance(out), instance_at(d=5, m=6, seed=77, support=(3, 1), law=law))


def test_a_changed_copy_has_no_recipe() -> None:
    instance = instance_at(d=3, m=2, seed=4, support=(2, 0))
    changed = replace(instance, theta=np.array([0.25, 0.5]))
    assert "instance_at" not in repr(changed)
    assert "array([0.25, 0.5" in repr(changed)


# Shrinking.


@pytest.mark.parametrize(
    ("strategy", "condition", "least"),
    [
        (
            instances(),
            lambda i: i.d >= 5 and i.m >= 3,
            "instance_at(d=5, m=3, seed=0, support=(0, 1))",
        ),
        (
            instances(),
            lambda i: i.support[0] > i.support[1] >= 2,
            "instance_at(d=4, m=1, seed=0, support=(3, 2))",
        ),
        (
            adversarial_instances(),
            lambda i: not np.all(np.isin(np.abs(i.V), [0, 1])) and has_unit_rows(i),
            "corner_at(d=2, m=2, seed=0, support=(0, 1), corner='d = 2')",
        ),
        (
            adversarial_instances(),
            lambda i: not has_unit_rows(i),
            "corner_at(d=2, m=1, seed=0, support=(0, 1), corner='denormal rows', exponent=-1023)",
        ),
        (
            adversarial_instances("tiny theta", "huge theta"),
            lambda i: exponents(i.theta) > 20,
            "corner_at(d=2, m=1, seed=0, support=(0, 1), corner='huge theta', exponent=52)",
        ),
        (
            attention_pairs(),
            lambda p: p.d > 4 and p.gamma.min() <= 0,
            "AttentionPair(kind='zeros', d=5, seed=0, support=(0, 1))",
        ),
    ],
)
def test_examples_shrink_to_the_least_integers(
    strategy: st.SearchStrategy, condition: Callable[..., bool], least: str
) -> None:
    assert repr(shrunk(strategy, condition)) == least


def test_the_numbers_keep_their_properties_while_the_sizes_shrink() -> None:
    # With the same seed, a smaller V has the first rows of a larger one.
    V = instance_at(d=7, m=3, seed=5, support=(0, 1)).V
    assert np.array_equal(V[:4], instance_at(d=4, m=3, seed=5, support=(2, 0)).V)
    seeds = [instance_at(d=2, m=1, seed=seed, support=(0, 1)).V[0, 0] < 0 for seed in range(9)]
    found = shrunk(instances(), lambda instance: instance.V[0, 0] < 0)
    assert repr(found) == f"instance_at(d=2, m=1, seed={seeds.index(True)}, support=(0, 1))"


def test_rational_attention_shrinks_weight_by_weight() -> None:
    found = shrunk(rational_attention(4), lambda gamma: gamma[1] > Fraction(1, 4))
    assert found == (0, 1, 0, 0)


def test_a_failing_test_reports_the_call() -> None:
    @settings(phases=[Phase.generate, Phase.shrink])
    @given(instance=adversarial_instances("tiny theta"))
    def d_is_never_3(instance: Instance) -> None:
        assert instance.d < 3

    with pytest.raises(AssertionError) as failure:
        d_is_never_3()
    report = re.sub(r"\s", "", failure.value.__notes__[0])
    call = "corner_at(d=3, m=1, seed=0, support=(0, 1), corner='tiny theta', exponent=-30,)"
    assert call.replace(" ", "") in report


# The kernels take everything that is drawn, and no warning is left (they are errors here).


@given(instance=EVERY_INSTANCE, scale=st.sampled_from([0.0, 1.0, 1000.0, -1.0, 5e-324, 1e300]))
def test_one_step_takes_every_instance(instance: Instance, scale: float) -> None:
    step = one_step(
        instance.V,
        instance.theta,
        instance.support,
        scale * instance.d**2,
        theta_tilde=instance.theta_tilde,
    )
    assert 0 <= step.start.loss <= 2
    bracket = worst_case_loss(step.gamma, step.gamma_tilde, instance.support)
    assert 0 <= bracket.lower <= bracket.upper <= 4


def exact(weights: np.ndarray) -> list[Fraction]:
    """The probability vector a bracket is about: the given binary64 entries over their sum."""
    entries = [Fraction(float(weight)) for weight in weights]
    return [entry / sum(entries) for entry in entries]


def assert_bracketed(gamma: np.ndarray, gamma_tilde: np.ndarray, support: tuple[int, int]) -> None:
    bracket = worst_case_loss(gamma, gamma_tilde, support)
    supremum = enumerate_loss(exact(gamma), exact(gamma_tilde), support).supremum
    assert bracket.lower <= supremum <= bracket.upper


@pytest.mark.parametrize("name", CORNERS)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data())
def test_the_bracket_holds_the_supremum_in_every_corner(name: str, data: st.DataObject) -> None:
    instance = data.draw(adversarial_instances(name, max_d=6, max_m=4))
    heads = [softmax(instance.V @ query) for query in (instance.theta, instance.theta_tilde)]
    assert_bracketed(heads[0], heads[1], instance.support)
    step = one_step(instance.V, instance.theta, instance.support, 10.0 * instance.d**2)
    assert_bracketed(step.gamma, step.gamma_tilde, instance.support)


@given(attention_pairs(max_d=6))
def test_the_bracket_holds_the_supremum_of_every_kind_of_attention(pair: AttentionPair) -> None:
    assert_bracketed(pair.gamma, pair.gamma_tilde, pair.support)


# Assumptions.


def test_the_share_rejected_is_that_of_the_draws() -> None:
    asked = []

    def even(instance: Instance) -> bool:
        asked.append((instance.d % 2 == 0, instance.m > 2))
        return instance.d % 2 == 0

    tally = Tally()
    assumptions = (
        Assumption("even", "$d$ is even", even),
        Assumption("wide", "$m > 2$", lambda instance: instance.m > 2),
    )
    kept = drawn(assuming(instances(), *assumptions, tally=tally))
    assert len(kept) == asked.count((True, True))
    assert all(instance.d % 2 == 0 and instance.m > 2 for instance in kept)
    assert tally.offered == len(asked)
    assert tally.rejected == len(asked) - len(kept) > 0
    assert tally.share_rejected == pytest.approx(1 - len(kept) / len(asked), rel=1e-14)
    failures = {"even": [met for met, _ in asked], "wide": [met for _, met in asked]}
    assert tally.violations == {name: met.count(False) for name, met in failures.items()}
    assert str(tally).startswith(f"{tally.rejected} of {len(asked)} draws rejected (")


def test_the_setting_of_the_paper_sorts_the_corners() -> None:
    tally = Tally()
    kept = drawn(assuming(adversarial_instances(), *SETTING, tally=tally), 200)
    met = {name for name in CORNERS if any(f"corner={name!r}" in repr(each) for each in kept)}
    violated = ROWS_OF_OTHER_LENGTH | STARTS_OF_OTHER_LENGTH | {"equal queries"}
    assert met == set(CORNERS) - violated
    assert set(tally.violations) == {assumption.name for assumption in SETTING}
    # Seven of the thirteen corners are rejected, and the corners are drawn about equally often.
    assert 0.35 < tally.share_rejected < 0.75


STATISTICS = """
from hypothesis import given
from verify.evidence.assumptions import SETTING
from verify.testing.strategies import adversarial_instances, assuming

@given(assuming(adversarial_instances(), *SETTING))
def test(instance):
    pass
"""


def test_the_statistics_name_what_was_violated(tmp_path: Path) -> None:
    (tmp_path / "test_statistics.py").write_text(STATISTICS, encoding="utf-8")
    report = run(sys.executable, *PYTEST, "--hypothesis-show-statistics", cwd=tmp_path).stdout
    for assumption in SETTING:
        assert re.search(rf"%, violates the assumption: {assumption.name}$", report, re.MULTILINE)


def test_a_predicate_may_overflow() -> None:
    bounded = Assumption("bounded", r"$\theta_1^2 < 2$", lambda i: bool(i.theta[0] ** 2 < 2))
    tally = Tally()
    draws = instances() | adversarial_instances("huge theta")
    kept = drawn(assuming(draws, bounded, tally=tally))
    assert max(abs(instance.theta[0]) for instance in kept) <= 1
    assert 0 < tally.rejected < tally.offered


def test_an_assumption_that_is_never_met_fails_the_test() -> None:
    tally = Tally()

    @given(assuming(instances(), Assumption("never", "false", lambda _: False), tally=tally))
    def passes_whatever_comes(instance: Instance) -> None:
        del instance

    with pytest.raises(FailedHealthCheck, match="filter"):
        passes_whatever_comes()
    n = tally.offered
    assert n > 0
    assert str(tally) == f"{n} of {n} draws rejected (100.0%): never {n}"


def test_a_tally_that_was_offered_nothing_has_met_nothing() -> None:
    assert Tally().share_rejected == pytest.approx(1)


# Refusals.

ORIGIN = {"d": 2, "m": 1, "seed": 0, "support": (0, 1)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: supports(1), "d=1: must be an integer >= 2"),
        (lambda: sizes(min_d=1), "min_d=1: must be an integer >= 2"),
        (lambda: instances(max_d=1), "max_d=1: must be an integer >= 2"),
        (lambda: instances(min_m=9), "max_m=8: must be an integer >= 9"),
        (lambda: instances(law="cube"), "law=cube: must be one of sphere, "),
        (lambda: instances(law="orthonormal", min_d=9), "law=orthonormal: needs d <= m"),
        (lambda: adversarial_instances("dark"), "corner=dark: must be one of d = 2, m = 1, "),
        (lambda: adversarial_instances("d = 2", min_d=3), "corners=d = 2: no instance has these"),
        (lambda: attention_pairs("dark"), "kind=dark: must be one of smooth, spiky, "),
        (lambda: attention_pairs(min_d=5, max_d=4), "max_d=4: must be an integer >= 5"),
        (lambda: rational_attention(1), "d=1: must be an integer >= 2"),
        (lambda: rational_attention(3, largest=0), "largest=0: must be an integer >= 1"),
        (lambda: rational_attention(3, smallest=2, largest=1), "largest=1: must be an integer >="),
        (lambda: instance_at(**ORIGIN | {"seed": -1}), "seed=-1: must be an integer >= 0"),
        (lambda: instance_at(**ORIGIN | {"support": (0, 2)}), "support=(0, 2): positions must be"),
        (lambda: instance_at(**ORIGIN, start="warm"), "start=warm: must be antisymmetric or ind"),
        (
            lambda: corner_at(**ORIGIN | {"d": 3}, corner="d = 2"),
            "d=3: must be at most 2 in the corner d = 2",
        ),
        (
            lambda: corner_at(**ORIGIN, corner="tiny theta", exponent=7),
            "exponent=7: must be one of -30, -540, -1040",
        ),
        (
            lambda: AttentionPair(kind="ties", d=2, seed=0, support=(1, 1)),
            "support=(1, 1): the two positions must differ",
        ),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        call()
    assert str(refusal.value).startswith(message)


def test_corners_without_the_sizes_are_left_out() -> None:
    found = drawn(adversarial_instances(min_d=3, min_m=2), 200)
    assert min(instance.d for instance in found) == 3
    assert min(instance.m for instance in found) == 2
    left_out = ("corner='d = 2'", "corner='m = 1'")
    assert not any(corner in repr(instance) for instance in found for corner in left_out)


# Other processes, and no Hypothesis at all.

FINGERPRINT = """
import hashlib
from hypothesis import given, settings
from verify.testing.strategies import adversarial_instances, attention_pairs, instances

digest = hashlib.sha256()

@settings(derandomize=True, database=None, deadline=None)
@given(instances(), adversarial_instances(), attention_pairs())
def collect(instance, hard, pair):
    digest.update(f"{instance} {hard} {pair}".encode())
    for array in (instance.V, instance.theta, hard.V, hard.theta, pair.gamma, pair.gamma_tilde):
        digest.update(array.tobytes())

collect()
print(digest.hexdigest())
"""


def test_draws_are_the_same_in_every_process(tmp_path: Path) -> None:
    runs = [
        run(sys.executable, "-c", FINGERPRINT, cwd=tmp_path, PYTHONHASHSEED=seed)
        for seed in ("0", "4321")
    ]
    assert [each.stderr for each in runs] == ["", ""]
    assert re.fullmatch(r"[0-9a-f]{64}\n", runs[0].stdout)
    assert runs[0].stdout == runs[1].stdout


def test_only_the_strategies_need_hypothesis(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['hypothesis'] = None; import "
    others = run(
        sys.executable,
        "-c",
        hidden + "verify.cli, verify.testing.hard_instances",
        cwd=tmp_path,
    )
    assert (others.returncode, others.stderr) == (0, "")
    refused = run(sys.executable, "-c", hidden + "verify.testing.strategies", cwd=tmp_path)
    assert refused.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: verify.testing.strategies needs Hypothesis: "
        "install xorverify[strategies]"
    )


PROFILES = """
from hypothesis import HealthCheck, settings
from hypothesis.errors import InvalidArgument
import verify.testing.strategies

try:
    settings.get_profile("nightly")
except InvalidArgument:
    print("not registered")
verify.testing.strategies.register_profiles()
for name in ("ci", "nightly"):
    profile = settings.get_profile(name)
    assert profile.deadline is None and profile.database is None and profile.print_blob
    assert profile.suppress_health_check == ()
    print(name, profile.derandomize, profile.max_examples)
print(settings().max_examples)
"""


@pytest.mark.parametrize("service", [{}, {"GITHUB_ACTIONS": "true"}])
def test_profiles_are_registered_on_request_and_not_loaded(
    tmp_path: Path, service: dict[str, str]
) -> None:
    # Hypothesis has a profile of its own for CI services, told by this variable: none of it
    # may leak into ours.
    found = run(sys.executable, "-c", PROFILES, cwd=tmp_path, **service)
    assert found.stdout.splitlines() == [
        "not registered",
        "ci True 100",
        "nightly False 10000",
        "100",
    ]


# The page for users.

PAGE = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))


def write_project(folder: Path, *, without: str = "") -> None:
    """Write the files of the page, without some text of theirs."""
    assert any(without in content for content in FILES.values())
    for name, content in FILES.items():
        (folder / name).write_text(content.replace(without, ""), encoding="utf-8")


def test_the_tables_of_the_page_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \|(?: ([-0-9, ]+) \|)?", PAGE, re.MULTILINE)
    listed = {name: (title.replace("\\|", "|"), degrees) for name, title, degrees in rows}
    for name, corner in CORNERS.items():
        degrees = "" if corner.exponents == (0,) else ", ".join(map(str, corner.exponents))
        assert listed[name] == (corner.title, degrees)
    for name, kind in ATTENTION_KINDS.items():
        assert listed[name] == (kind.title, "")


def test_the_conftest_of_the_page_is_that_of_this_project() -> None:
    text = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    ours = iter(map(ast.dump, ast.parse(text).body))
    # In the same order; ours does more.
    assert all(ast.dump(each) in ours for each in ast.parse(FILES["conftest.py"]).body)


def test_the_example_of_the_page_passes_and_can_fail(tmp_path: Path) -> None:
    write_project(tmp_path)
    assert "2 passed" in run(sys.executable, *PYTEST, cwd=tmp_path).stdout
    write_project(tmp_path, without=" - scores.max()")
    report = run(sys.executable, *PYTEST, cwd=tmp_path).stdout
    assert "1 failed, 1 passed" in report
    # What the page shows is one such failure; another version of Hypothesis may report another, and
    # may write it over several lines, with remarks.
    call = re.compile(r"instance ?= ?(corner_at\((?:[^()]|\([^()]*\))*\))")
    shown, reported = (call.findall(text)[0] for text in (PAGE, re.sub("(?m)^E ", "", report)))
    for culprit in (remade(shown), remade(reported)):
        assert np.max(culprit.V @ culprit.theta) > 709.8  # where exp overflows


@pytest.mark.parametrize(
    ("variables", "loaded"), [({}, "100 True"), ({"HYPOTHESIS_PROFILE": "nightly"}, "10000 False")]
)
def test_a_profile_is_loaded_by_its_name(
    tmp_path: Path, variables: dict[str, str], loaded: str
) -> None:
    write_project(tmp_path)
    code = (
        "import conftest; print(conftest.settings().max_examples, conftest.settings().derandomize)"
    )
    assert run(sys.executable, "-c", code, cwd=tmp_path, **variables).stdout.strip() == loaded
