from __future__ import annotations

import _thread
import copy
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.attention_maps import MAPS, pointwise
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.general_population import gradient as gradient_of
from numerics.population import gradient
from numerics.samples.empirical import empirical_gradient, empirical_slopes, packed_slopes
from numerics.samples.signs import TILE, row_bytes
from verify.testing.strategies import instance_at

UNIT = 2.0**-53
LENGTHS = [2, 3, 7, 8, 9, 63, 64, 65, 100, 128, 129]


def spread_heads(d, seed=0):
    """The two heads of the antisymmetric start."""
    rng = np.random.default_rng(seed)
    scores = sample_embeddings(rng, d, 16) @ uniform_direction(rng, 16)
    return softmax(scores), softmax(-scores)


def drawn_bytes(rng, d, n):
    """The first n samples that follow in a generator, by another of its functions."""
    raw = copy.deepcopy(rng.bit_generator).random_raw(-(-n * row_bytes(d) // 8))
    data = b"".join(int(word).to_bytes(8, "little") for word in raw)
    return np.frombuffer(data, np.uint8)[: n * row_bytes(d)].reshape(n, -1)


def signs_of(packed, d):
    return 2 * np.unpackbits(packed, axis=1, bitorder="little")[:, :d].astype(np.int64) - 1


def exact_slopes(gamma, gamma_tilde, support, signs):
    """Loss and slopes in rational arithmetic, from the binary64 attention as it is."""
    heads = [[Fraction(float(weight)) for weight in head] for head in (gamma, gamma_tilde)]
    # One common denominator, a power of two: rationals added as integers.
    unit = max(weight.denominator for head in heads for weight in head)
    numerators = np.array([[int(w * unit) for w in head] for head in heads], dtype=object)
    p, q = numerators @ signs.T.astype(object)
    a, b = support
    e = p * q - unit**2 * (signs[:, a] * signs[:, b]).astype(object)
    n = len(signs)
    loss = Fraction(int(e @ e), n * unit**4)
    slopes = [
        [Fraction(2 * int(total), n * unit**3) for total in (e * other) @ signs.astype(object)]
        for other in (q, p)
    ]
    return loss, *slopes


def doublings(weights):
    """The least k >= 0 with a total below 2^k."""
    total, k = sum(abs(Fraction(float(weight))) for weight in weights), 0
    while total >= 2**k:
        k += 1
    return k


def largest_error(found, exact):
    return max(abs(Fraction(float(f)) - x) for f, x in zip(found, exact, strict=True))


def assert_close_to_exact(found, exact, d):
    # The documented bound.
    tolerance = (d / 128 + 60) * UNIT
    loss, gamma, gamma_tilde = exact
    assert abs(Fraction(found.loss) - loss) <= tolerance
    assert largest_error(found.gamma, gamma) <= tolerance
    assert largest_error(found.gamma_tilde, gamma_tilde) <= tolerance


def as_lists(found):
    return found.loss, found.gamma.tolist(), found.gamma_tilde.tolist()


@pytest.mark.parametrize("d", LENGTHS)
def test_slopes_of_drawn_samples_against_rational_arithmetic(d):
    gamma, gamma_tilde = spread_heads(d)
    rng = np.random.default_rng(d)
    for support in {(0, d - 1), (d - 1, d // 2 if d > 2 else 0)}:
        n = 30
        signs = signs_of(drawn_bytes(rng, d, n), d)
        found = empirical_slopes(rng, gamma, gamma_tilde, support, n=n, threads=2)
        exact = exact_slopes(gamma, gamma_tilde, support, signs)
        assert_close_to_exact(found, exact, d)


WIDE = [
    (2, [3.0, -1.5], [0.25, 0.125]),
    (3, [-2e-3, 1e-9, 5e-4], [40.0, -17.25, 1e6]),
    (9, *np.random.default_rng(3).normal(size=(2, 9)) * [[5.0], [0.01]]),
    (70, *np.random.default_rng(4).normal(size=(2, 70))),
    (65, *np.random.default_rng(5).normal(size=(2, 65)) * [[1e9], [1e-9]]),
    (4, [1e60, 1.0, -3e59, 0.0], [1e50, 1e-50, 1.0, 0.0]),
]


@pytest.mark.parametrize(("d", "gamma", "gamma_tilde"), WIDE)
def test_slopes_of_any_weights_against_rational_arithmetic(d, gamma, gamma_tilde):
    rng = np.random.default_rng(d)
    packed = drawn_bytes(rng, d, 40)
    found = packed_slopes(gamma, gamma_tilde, (d - 1, 0), packed)
    loss, slopes, slopes_tilde = exact_slopes(gamma, gamma_tilde, (d - 1, 0), signs_of(packed, d))
    # The documented bound, multiplied by powers of two.
    unit = Fraction((d / 128 + 60) * UNIT)
    j, k = doublings(gamma), doublings(gamma_tilde)
    assert abs(Fraction(found.loss) - loss) <= unit * 4 ** (j + k)
    assert largest_error(found.gamma, slopes) <= unit * 2 ** (j + 2 * k)
    assert largest_error(found.gamma_tilde, slopes_tilde) <= unit * 2 ** (2 * j + k)
    drawn = empirical_slopes(rng, gamma, gamma_tilde, (d - 1, 0), n=40)
    assert as_lists(drawn) == as_lists(found)


@pytest.mark.parametrize("d", [128, 512, 2048])
def test_error_is_small_beside_the_largest_slope(d):
    gamma, gamma_tilde = spread_heads(d)
    packed = drawn_bytes(np.random.default_rng(0), d, 200)
    found = packed_slopes(gamma, gamma_tilde, (5, d - 1), packed)
    exact = exact_slopes(gamma, gamma_tilde, (5, d - 1), signs_of(packed, d))
    assert_close_to_exact(found, exact, d)
    for slopes, truth in zip((found.gamma, found.gamma_tilde), exact[1:], strict=True):
        # Some 1e-14; 1e-10 is what is promised.
        assert largest_error(slopes, truth) <= 1e-12 * max(map(abs, truth))


@pytest.mark.parametrize("d", LENGTHS)
def test_slopes_against_products_of_matrices_in_floating_point(d):
    gamma, gamma_tilde = spread_heads(d)
    n = TILE + 3
    packed = drawn_bytes(np.random.default_rng(d), d, n)
    x = signs_of(packed, d).astype(np.float64)
    p, q = x @ gamma, x @ gamma_tilde
    e = p * q - x[:, 0] * x[:, d - 1]
    found = packed_slopes(gamma, gamma_tilde, (0, d - 1), packed)
    # Both stay within their bounds: ours as documented; there, sums of d and n terms of at most 4.
    tolerance = (d / 128 + 60 + 8 * (d + n)) * UNIT
    np.testing.assert_allclose(found.gamma, 2 * (e * q) @ x / n, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.gamma_tilde, 2 * (e * p) @ x / n, rtol=0, atol=tolerance)
    assert found.loss == pytest.approx(np.mean(e * e), rel=0, abs=tolerance)


@pytest.mark.parametrize("d", [2, 9, 100, 128])
def test_neither_chunks_nor_threads_show(d):
    gamma, gamma_tilde = spread_heads(d)
    n = 2 * TILE + 777

    def run(seed, **options):
        rng = np.random.default_rng(seed)
        found = empirical_slopes(rng, gamma, gamma_tilde, (d - 1, 0), n=n, **options)
        return as_lists(found), rng.bit_generator.state

    once = run(0)
    assert once != run(1)
    for chunks in (1, 2, 7):
        for threads in (1, 2):
            assert run(0, chunks=chunks, threads=threads) == once
    packed = drawn_bytes(np.random.default_rng(0), d, n)
    assert as_lists(packed_slopes(gamma, gamma_tilde, (d - 1, 0), packed)) == once[0]


def test_more_chunks_than_samples():
    gamma, gamma_tilde = spread_heads(9)
    few, many = (
        empirical_slopes(np.random.default_rng(2), gamma, gamma_tilde, (8, 0), n=3, chunks=chunks)
        for chunks in (1, 50)
    )
    assert as_lists(few) == as_lists(many)


def test_blocks_do_not_show(monkeypatch):
    gamma, gamma_tilde = spread_heads(65)

    def run():
        rng = np.random.default_rng(3)
        return as_lists(empirical_slopes(rng, gamma, gamma_tilde, (64, 1), n=5 * TILE + 1))

    one_block = run()
    monkeypatch.setattr("numerics.samples.signs._BLOCK_BYTES", 1)
    assert run() == one_block


def test_more_samples_than_fit_one_sum_are_cut_into_chunks(monkeypatch):
    gamma, gamma_tilde = spread_heads(9)
    ranges = []

    def blocks(self, start, stop):
        ranges.append((start, stop))
        yield self.columns(start, 1)

    monkeypatch.setattr("numerics.samples.signs.SampleStream.blocks", blocks)
    n = (TILE << 31) + 1
    rng = np.random.default_rng(0)
    empirical_slopes(rng, gamma, gamma_tilde, (0, 1), n=n)
    ranges.sort()
    assert max(stop - start for start, stop in ranges) <= TILE << 30
    assert [ranges[0][0], *(stop for _, stop in ranges)] == [*(start for start, _ in ranges), n]


def test_the_next_samples_are_fresh():
    gamma, gamma_tilde = spread_heads(24)
    # 16 samples of 3 bytes are 6 words, so that the next sample starts where they end.
    rng, packed = np.random.default_rng(4), drawn_bytes(np.random.default_rng(4), 24, 25)
    for part in (packed[:16], packed[16:]):
        found = empirical_slopes(rng, gamma, gamma_tilde, (3, 20), n=len(part))
        assert as_lists(found) == as_lists(packed_slopes(gamma, gamma_tilde, (3, 20), part))


@pytest.mark.parametrize("d", [2, 3, 5, 8, 9, 10])
@pytest.mark.parametrize("start", ["antisymmetric", "independent"])
def test_all_inputs_once_give_the_population_gradient(d, start):
    instance = instance_at(d=d, m=4, seed=d, support=(d - 1, 0), start=start)
    V, support = instance.V, instance.support
    inputs = np.arange(2**d, dtype="<u2").view(np.uint8).reshape(-1, 2)[:, : row_bytes(d)]
    heads = softmax(V @ instance.theta), softmax(V @ instance.theta_tilde)
    found = packed_slopes(*heads, support, np.ascontiguousarray(inputs))
    population = gradient(V, instance.theta, instance.theta_tilde, support)
    # The documented error of a slope, twice for v_i - vbar, and that of the population gradient.
    tolerance = 2 * (d / 128 + 60) * UNIT + 8 * (8 * 4 + d + 30) * UNIT
    assert found.loss == pytest.approx(population.loss, rel=0, abs=tolerance)
    for gamma, slopes, expected in (
        (heads[0], found.gamma, population.theta),
        (heads[1], found.gamma_tilde, population.theta_tilde),
    ):
        terms = zip(gamma, slopes, V, strict=True)
        by_definition = sum(g * h * (v - gamma @ V) for g, h, v in terms)
        np.testing.assert_allclose(by_definition, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["linear", "erf"])
def test_all_inputs_once_give_the_population_gradient_of_other_maps(name):
    d = 8
    instance = instance_at(d=d, m=4, seed=d, support=(d - 1, 0), start="independent")
    V, support, attention = instance.V, instance.support, MAPS[name]
    scores = V @ instance.theta, V @ instance.theta_tilde
    heads = [attention.weights(each) for each in scores]
    found = packed_slopes(*heads, support, np.arange(2**d, dtype=np.uint8).reshape(-1, 1))
    population = gradient_of(V, instance.theta, instance.theta_tilde, support, attention=attention)
    # Totals below 8, so that j and k are at most 3; the pull-back sums d slopes.
    tolerance = d * 64 * (d / 128 + 60) * UNIT
    assert found.loss == pytest.approx(population.loss, rel=0, abs=8 * tolerance)
    for each, gamma, slopes, expected in zip(
        scores,
        heads,
        (found.gamma, found.gamma_tilde),
        (population.theta, population.theta_tilde),
        strict=True,
    ):
        pulled = attention.pull_back(each, gamma, slopes) @ V
        np.testing.assert_allclose(pulled, expected, rtol=0, atol=8 * tolerance)


@pytest.mark.parametrize("name", ["linear", "erf"])
def test_gradient_is_the_derivative_through_other_maps(name):
    instance = instance_at(d=21, m=5, seed=6, support=(20, 4), start="independent")
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    attention = MAPS[name]
    rng = np.random.default_rng(7)
    x = signs_of(drawn_bytes(rng, 21, 50), 21)

    def loss(theta, theta_tilde):
        p, q = (x @ attention.weights(instance.V @ query) for query in (theta, theta_tilde))
        return np.mean((-p * q - -x[:, 20] * x[:, 4]) ** 2)

    found = empirical_gradient(rng, *arguments, n=50, attention=attention)
    assert found.loss == pytest.approx(loss(*arguments[1:3]), rel=1e-12)
    # Central differences: p and q are at most 21 and move by at most 21 step, so that third
    # derivatives of the loss are below 100 times the loss of some 10; rounding is 1e-14 / step.
    step = 1e-5
    tolerance = 1000 * step**2 + 1e-13 / step
    for k, unit in enumerate(step * np.eye(5)):
        for part, moved in ((found.theta, (unit, 0)), (found.theta_tilde, (0, unit))):
            up, down = (
                loss(instance.theta + sign * moved[0], instance.theta_tilde + sign * moved[1])
                for sign in (1, -1)
            )
            assert part[k] == pytest.approx((up - down) / (2 * step), rel=0, abs=tolerance)


def test_a_gradient_that_overflows_is_refused():
    huge = pointwise("huge", "huge", lambda s: 1e30 * s, lambda _: np.full(9, 1e300))
    instance = instance_at(d=9, m=4, seed=5, support=(2, 7), start="independent")
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    with pytest.raises(InvalidArgumentError, match=r"^gradient\[0, 0\]=-?(inf|nan): must be fin"):
        empirical_gradient(np.random.default_rng(0), *arguments, n=5, attention=huge)


@pytest.mark.parametrize("n", [1, 50])
def test_gradient_is_the_derivative_through_softmax(n):
    instance = instance_at(d=21, m=5, seed=6, support=(20, 4), start="independent")
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    rng = np.random.default_rng(7)
    x = signs_of(drawn_bytes(rng, 21, n), 21)

    def loss(theta, theta_tilde):
        p, q = (x @ softmax(instance.V @ query) for query in (theta, theta_tilde))
        return np.mean((-p * q - -x[:, 20] * x[:, 4]) ** 2)

    found = empirical_gradient(rng, *arguments, n=n, threads=2)
    assert found.loss == pytest.approx(loss(*arguments[1:3]), rel=0, abs=200 * UNIT)
    # Central differences: the third derivatives are below 100, and rounding is 2 u / step.
    step = 1e-5
    tolerance = 100 * step**2 + 10 * UNIT / step
    for k, unit in enumerate(step * np.eye(5)):
        for part, moved in ((found.theta, (unit, 0)), (found.theta_tilde, (0, unit))):
            up, down = (
                loss(instance.theta + sign * moved[0], instance.theta_tilde + sign * moved[1])
                for sign in (1, -1)
            )
            assert part[k] == pytest.approx((up - down) / (2 * step), rel=0, abs=tolerance)


def test_gradient_is_the_same_from_any_threads_and_leaves_the_generator_alike():
    instance = instance_at(d=33, m=5, seed=6, support=(32, 4))
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    found = []
    for threads, chunks in ((1, None), (2, None), (2, 7)):
        rng = np.random.default_rng(8)
        part = empirical_gradient(rng, *arguments, n=9000, threads=threads, chunks=chunks)
        found.append((part.loss, *part.theta, *part.theta_tilde, rng.random()))
    assert found[0] == found[1] == found[2]


def test_many_samples_come_near_the_population_gradient():
    instance = instance_at(d=12, m=4, seed=9, support=(2, 7))
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    n = 1 << 20
    found = empirical_gradient(np.random.default_rng(10), *arguments, n=n, threads=2)
    population = gradient(*arguments)
    # Five standard deviations; one sample's gradient is at most 2 |e| |q| |v_a - v_b| <= 8.
    assert np.linalg.norm(found.theta - population.theta) < 5 * 8 / np.sqrt(n)
    assert abs(found.loss - population.loss) < 5 * 4 / np.sqrt(n)


def test_an_interrupt_stops_all_threads(monkeypatch):
    from numerics.samples import empirical

    def interrupted(*arguments):
        _thread.interrupt_main()
        return sum_samples(*arguments)

    sum_samples = empirical.sum_samples
    monkeypatch.setattr(empirical, "sum_samples", interrupted)
    gamma, gamma_tilde = spread_heads(128)
    with pytest.raises(KeyboardInterrupt):  # otherwise, this would take days
        empirical_slopes(np.random.default_rng(0), gamma, gamma_tilde, (0, 1), n=10**13, threads=2)


def test_a_failure_stops_all_threads(monkeypatch):
    from numerics.samples import empirical

    def failing(*arguments):
        if not started:
            started.append(True)
            return sum_samples(*arguments)
        raise MemoryError

    started = []
    sum_samples = empirical.sum_samples
    monkeypatch.setattr(empirical, "sum_samples", failing)
    gamma, gamma_tilde = spread_heads(128)
    with pytest.raises(MemoryError):
        empirical_slopes(np.random.default_rng(0), gamma, gamma_tilde, (0, 1), n=10**13, threads=2)


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_does_not_grow_with_the_number_of_samples(threads):
    gamma = np.full(128, 1 / 128)
    empirical_slopes(np.random.default_rng(0), gamma, gamma, (0, 1), n=1)  # compiles
    n = 1 << 22  # 64 MiB of bits
    tracemalloc.start()
    try:
        empirical_slopes(np.random.default_rng(0), gamma, gamma, (0, 1), n=n, threads=threads)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Each thread: words of one mebibyte, and their columns.
    assert peak < (2 * threads + 1) << 20


def test_refusals():
    instance = instance_at(d=9, m=4, seed=5, support=(2, 7), start="independent")
    V, theta, theta_tilde = instance.V, instance.theta, instance.theta_tilde
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    for options, message in (
        ({"n": 0}, r"^n=0: must be an integer >= 1$"),
        ({"n": 1e3}, r"^n=1000\.0: must be an integer >= 1$"),
        ({"n": 5, "threads": 0}, r"^threads=0: must be an integer >= 1$"),
        ({"n": 5, "chunks": 0}, r"^chunks=0: must be an integer >= 1$"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            empirical_gradient(rng, V, theta, theta_tilde, (0, 1), **options)
    with pytest.raises(InvalidArgumentError, match=r"^support=\(0, 9\)"):
        empirical_gradient(rng, V, theta, theta_tilde, (0, 9), n=5)
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=array of shape \(3,\)"):
        empirical_gradient(rng, V, theta, theta_tilde[:3], (0, 1), n=5)
    with pytest.raises(InvalidArgumentError, match=r"^theta=query with score -?inf at position 0"):
        empirical_gradient(rng, 1e200 * np.sign(V), 1e200 * np.sign(V[0]), theta, (0, 1), n=5)
    bad = V.copy()
    bad[1, 2] = np.nan
    with pytest.raises(InvalidArgumentError, match=r"^V\[1, 2\]=nan"):
        empirical_gradient(rng, bad, theta, theta_tilde, (0, 1), n=5)
    with pytest.raises(InvalidArgumentError, match=r"^gamma_tilde=array of shape \(3,\)"):
        empirical_slopes(rng, [0.5, 0.5], [0.5, 0.25, 0.25], (0, 1), n=5)
    with pytest.raises(InvalidArgumentError, match=r"^gamma\[1\]=nan: must be finite"):
        packed_slopes([-0.5, np.nan], [0.5, 0.5], (0, 1), np.zeros((1, 1), np.uint8))
    with pytest.raises(InvalidArgumentError, match=r"^gamma=weights of total 1e\+200"):
        packed_slopes([1e200, 0.0], [0.5, 0.5], (0, 1), np.zeros((1, 1), np.uint8))
    with pytest.raises(InvalidArgumentError, match=r"^packed=array of shape \(1, 2\)"):
        packed_slopes([0.5, 0.5], [0.5, 0.5], (0, 1), np.zeros((1, 2), np.uint8))
    other = np.random.Generator(np.random.Philox(0))
    with pytest.raises(InvalidArgumentError, match=r"^rng=generator of Philox"):
        empirical_slopes(other, [0.5, 0.5], [0.5, 0.5], (0, 1), n=5)
    assert rng.bit_generator.state == before
