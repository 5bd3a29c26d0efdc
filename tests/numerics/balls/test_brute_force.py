"""The certificate against brute force in mpmath, on random and on adversarial instances."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from mpmath import MPContext

from numerics.balls.certificate import certify_step, reevaluate_witness
from numerics.decimals import rational_digits
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.enumeration import enumerate_loss
from verify.strategies import instance_at

MAX_POSITIONS = 10
# Brute force is right to 60 digits and more; its errors are far below a unit of the 17th.
TRUTH_BITS = 240
NEGLIGIBLE = Fraction(1, 10**60)
NEAR_TIE = Fraction(1, 1 << 60)


@dataclass(frozen=True)
class Instance:
    V: np.ndarray
    theta: np.ndarray
    theta_tilde: np.ndarray
    support: tuple[int, int]
    eta: Fraction

    def certify(self, tolerance, **options):
        return certify_step(
            self.V,
            self.theta,
            self.theta_tilde,
            self.support,
            eta=self.eta,
            tolerance=tolerance,
            **options,
        )

    def reevaluate(self, witness, **options):
        return reevaluate_witness(
            self.V,
            self.theta,
            self.theta_tilde,
            self.support,
            np.array(witness),
            eta=self.eta,
            **options,
        )


@dataclass(frozen=True)
class Truth:
    """Attention after the step to 60 digits beyond every digit that a loss can lose."""

    gamma: list[Fraction]
    gamma_tilde: list[Fraction]
    supremum: Fraction


def brute_force(instance):
    """Scores in Fractions, exponentials in mpmath, and all inputs visited in integers.

    Shares neither a formula nor a line with the certificate: the gradient is d/dgamma of
    E (tau - p q)^2 by its second and fourth moments, contracted with the softmax's Jacobian.
    """
    a, b = instance.support
    d = len(instance.V)
    bits = TRUTH_BITS
    while True:
        context = MPContext()
        context.prec = bits
        rows = [[context.mpf(x) for x in row] for row in instance.V.tolist()]
        queries = [
            [context.mpf(x) for x in query.tolist()]
            for query in (instance.theta, instance.theta_tilde)
        ]
        gamma, gamma_tilde = (softmax(context, rows, query) for query in queries)
        rate = context.mpf(instance.eta.numerator) / instance.eta.denominator
        after = []
        for query, own, other in (
            (queries[0], gamma, gamma_tilde),
            (queries[1], gamma_tilde, gamma),
        ):
            slope = slopes(context, own, other, a, b)
            mean = context.fdot(own, slope)
            gradient = [
                context.fsum(own[i] * (slope[i] - mean) * rows[i][k] for i in range(d))
                for k in range(len(query))
            ]
            after.append([x - rate * g for x, g in zip(query, gradient, strict=True)])
        spread = max(
            max(scores) - min(scores)
            for query in after
            for scores in [[context.fdot(row, query) for row in rows]]
        )
        size = max(
            abs(x * y) for query in after for row in rows for x, y in zip(row, query, strict=True)
        )
        # Scores lose log2(size) bits, and a loss can be as small as exp(-2 spread).
        needed = TRUTH_BITS + int(3 * spread) + int(context.mag(1 + size)) + 64
        if bits >= needed:
            break
        bits = needed
    heads = []
    for query in after:
        weights = [
            Fraction(int(context.ldexp(x, bits)), 1 << bits) for x in softmax(context, rows, query)
        ]
        # All mass accounted for, so that 1 - p q errs by no more than the entries do.
        weights[weights.index(max(weights))] += 1 - sum(weights)
        heads.append(weights)
    found = enumerate_loss(heads[0], heads[1], instance.support)
    return Truth(heads[0], heads[1], found.supremum)


def softmax(context, rows, query):
    scores = [context.fdot(row, query) for row in rows]
    powers = [context.exp(s - max(scores)) for s in scores]
    total = context.fsum(powers)
    return [power / total for power in powers]


def slopes(context, own, other, a, b):
    d = len(own)
    slope = []
    for i in range(d):
        # d/dgamma_i of E p^2 q^2 = 2 E x_i p q^2, term by term over pairs of positions.
        moment = own[i] * context.fsum(t * t for t in other)
        moment += 2 * other[i] * context.fsum(own[j] * other[j] for j in range(d) if j != i)
        slope.append(2 * moment)
    slope[a] -= 2 * other[b]
    slope[b] -= 2 * other[a]
    return slope


def input_loss(x, truth, support):
    p = sum(g * s for g, s in zip(truth.gamma, x, strict=True))
    q = sum(t * s for t, s in zip(truth.gamma_tilde, x, strict=True))
    return (x[support[0]] * x[support[1]] - p * q) ** 2


def sphere(rng, d, m):
    V = sample_embeddings(rng, d, m)
    scale = 10.0 ** rng.integers(-1, 2)
    theta = scale * uniform_direction(rng, m)
    return V, theta, -theta if rng.random() < 0.5 else scale * uniform_direction(rng, m)


def grid(rng, d, m):
    # Repeated rows, equal scores, exact ties; theta = 0 now and then.
    V = rng.integers(-2, 3, (d, m)).astype(float)
    theta = rng.integers(-1, 2, m) / 2
    return V, theta, -theta if rng.random() < 0.7 else rng.integers(-1, 2, m) / 2


def parallel(rng, d, m):
    V = np.outer(rng.integers(-3, 4, d), rng.integers(1, 4, m)) / 4
    theta = rng.integers(-3, 4, m) / 4
    return V, theta, -theta


def prescribed(rng, d, m):  # noqa: ARG001 (one column for each head is all it needs)
    # Attention proportional to small integers and hardly moved by the step. One head is on the
    # support and the other off it, where p and q differ in sign and edges can exceed vertices.
    weights = np.stack([rng.integers(1, 16, d), rng.integers(1, 5, d)], axis=1)
    rest = int(weights[2:, 1].sum())
    weights[:2, 0] = 1
    weights[:2, 1] = 1 + rng.integers(rest // 2, 2 * rest + 1, 2)
    return np.log(weights), np.array([1.0, 0.0]), np.array([0.0, 1.0])


def offset(rng, d, m):
    # A common score of about 2^60 in each head: differences of rounded scores would be noise.
    V = np.concatenate([np.full((d, 2), 2.0**60), rng.normal(size=(d, m))], axis=1)
    theta = np.concatenate([[1.0, 0.0], rng.normal(size=m)])
    theta_tilde = np.concatenate([[0.0, -1.0], rng.normal(size=m)])
    return V, theta, theta_tilde


def scattered(rng, d, m):
    V = rng.normal(size=(d, m)) * 10.0 ** rng.integers(-40, 1, (d, m))
    theta = rng.normal(size=m) * 10.0 ** rng.integers(-20, 1, m)
    return V, theta, -theta


def equal_support(rng, d, m):
    V, theta, _ = sphere(rng, d, m)
    V[1] = V[0]
    return V, theta * rng.integers(0, 2), -theta * rng.integers(0, 2)


FAMILIES = [sphere, grid, parallel, prescribed, offset, scattered, equal_support]


def drawn(seed):
    rng = np.random.default_rng([seed, 20])
    family = FAMILIES[seed % len(FAMILIES)]
    d, m = int(rng.integers(2, MAX_POSITIONS + 1)), int(rng.integers(1, 5))
    V, theta, theta_tilde = family(rng, d, m)
    first_two = family in {prescribed, equal_support}
    support = (0, 1) if first_two else tuple(rng.permutation(d)[:2].tolist())
    low, high = {prescribed: (-12, -3), offset: (-5, 1)}.get(family, (-2, 2))
    exponent = int(rng.integers(low, high))
    eta = Fraction(d * d) * Fraction(10) ** exponent * Fraction(int(rng.integers(1, 10)), 3)
    return Instance(V, np.asarray(theta, float), np.asarray(theta_tilde, float), support, eta)


def check_instance(seed):
    instance = drawn(seed)
    truth = brute_force(instance)
    below, above = (
        Fraction(rational_digits(truth.supremum, 17, rounding=rounding))
        for rounding in (decimal.ROUND_FLOOR, decimal.ROUND_CEILING)
    )
    allowance = truth.supremum * NEGLIGIBLE
    certificates = []
    if below < truth.supremum - allowance:
        refuted = instance.certify(below)
        assert refuted.verdict == "refuted"
        assert input_loss(refuted.witness, truth, instance.support) > below
        low, high = instance.reevaluate(refuted.witness, bits=max(refuted.bits, 128))
        attained = input_loss(refuted.witness, truth, instance.support)
        assert low - allowance <= attained <= high + allowance
        certificates.append(refuted)
    else:
        below = truth.supremum
    if above > truth.supremum + allowance:
        certified = instance.certify(above)
        assert certified.verdict == "certified"
        assert certified.witness is None
        certificates.append(certified)
    elif abs(above - truth.supremum) <= allowance:
        # Equal to the tolerance as far as brute force can tell: proved, or left open.
        equal = instance.certify(above, max_bits=128)
        assert equal.verdict in {"certified", "undecided"}
        certificates.append(equal)
    for found in certificates:
        low, high = found.sup_loss
        assert low - allowance <= truth.supremum <= high + allowance
        for head, share, gamma in zip(
            found.heads, found.attention, (truth.gamma, truth.gamma_tilde), strict=True
        ):
            if head is None:
                assert share is None
                # A tie to within what decided the verdict; a tolerance of 4 decides at once.
                assert sorted(gamma)[-1] - sorted(gamma)[-2] <= NEAR_TIE or above >= 4
            else:
                assert gamma[head] == max(gamma)
                assert share[0] - NEGLIGIBLE <= gamma[head] <= share[1] + NEGLIGIBLE
    return certificates


@pytest.mark.parametrize("chunk", range(6))
def test_no_wrong_verdict_and_none_missing_against_brute_force(chunk):
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        check_instance(seed)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100))
def test_no_wrong_verdict_among_ten_thousand(chunk):
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        check_instance(seed)


def random_instance(seed, d, m, eta):
    drawn = instance_at(d=d, m=m, seed=seed, support=(0, 1))
    return Instance(drawn.V, drawn.theta, drawn.theta_tilde, drawn.support, eta)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("bits", [8, 14, 24])
def test_low_precision_is_undecided_rather_than_wrong(seed, bits):
    # Here the radii are as large as the numbers: whatever is dropped or rounded inwards shows.
    instance = random_instance(seed, 5, 3, Fraction(40 + seed))
    truth = brute_force(instance)
    supremum = truth.supremum
    for nearness in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**5), Fraction(1, 10**9)):
        below, above = supremum * (1 - nearness), supremum * (1 + nearness)
        assert instance.certify(below, max_bits=bits).verdict in {"refuted", "undecided"}
        found = instance.certify(above, max_bits=bits)
        assert found.verdict in {"certified", "undecided"}
        if found.sup_loss is not None:
            assert found.sup_loss[0] <= supremum * (1 + NEGLIGIBLE)
            assert supremum * (1 - NEGLIGIBLE) <= found.sup_loss[1]
        for head, share, gamma in zip(
            found.heads, found.attention, (truth.gamma, truth.gamma_tilde), strict=True
        ):
            assert head is None or gamma[head] == max(gamma)
            if share is not None:
                assert share[0] - NEGLIGIBLE <= gamma[head] <= share[1] + NEGLIGIBLE
    for x in ((1, 1, 1, 1, 1), (1, -1, 1, 1, 1), (1, 1, -1, -1, 1), (1, -1, -1, 1, -1)):
        loss = input_loss(x, truth, instance.support)
        enclosure = instance.reevaluate(x, bits=bits)
        if enclosure is not None:
            assert enclosure[0] - NEGLIGIBLE <= loss <= enclosure[1] + NEGLIGIBLE


def test_the_reference_instance_learns():
    V = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    instance = Instance(V, np.array([1.0, 0.0]), np.array([-1.0, 0.0]), (0, 1), Fraction(1000))
    truth = brute_force(instance)
    found = instance.certify(truth.supremum * 2)
    assert found.verdict == "certified"
    assert found.heads == tuple(g.index(max(g)) for g in (truth.gamma, truth.gamma_tilde))


def test_heads_within_the_slack_of_each_other_are_not_told_apart():
    # Two rows that differ by 2^-40: a step at 20 bits cannot know which score is larger.
    rng = np.random.default_rng(5)
    V = sample_embeddings(rng, 5, 3)
    V[3] = V[2] + 2.0**-40
    theta = 3 * V[2]
    instance = Instance(V, theta, -theta, (0, 1), Fraction(1, 10))
    assert instance.certify(Fraction(1, 100), max_bits=20).heads[0] is None
    truth = brute_force(instance)
    found = instance.certify(Fraction(1, 100), max_bits=256)
    assert found.heads[0] == truth.gamma.index(max(truth.gamma))
