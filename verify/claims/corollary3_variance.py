"""The gradient of one sample: its mean, variance and covariance, exactly, for any queries.

Along directions A and A~, with r_i = gamma_i (v_i - vbar) . A and r~ likewise, one sample pushes
the two heads by G = 2 e q <r, x> and G~ = 2 e p <r~, x>, e = p q - x_a x_b. Multiplied out, the
second moments are moments of at most eight linear forms in independent signs, and the moment rule
gives each by sums over positions. The gradient of n samples has the same mean, and 1/n of the
covariance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.sample_kernels import sums_cell
from verify.evidence.witness_kernels import covariance_cell
from verify.instances.instance import draw_instance
from verify.instances.rational_attention import draw_support
from verify.seeds import Streams

__all__ = ["CLAIMS"]

Vector = Sequence[int]
Covariances = tuple[Fraction, Fraction, Fraction]
"""Var G, Cov(G, G~) and Var G~."""

_UNIT = 2.0**-53
_KAPPA = {2: 1, 4: -2, 6: 16, 8: -272}

_DIMENSIONS = range(2, 9)
# Instances for each d in rational arithmetic.
_EXACT_TRIALS: Mapping[Profile, int] = {"quick": 1, "standard": 4, "full": 100}


@dataclass(frozen=True)
class _Kernels:
    """How the kernels are held against enumeration and against samples.

    Attributes
    ----------
    instances : int
        Instances at which the moments are enumerated.
    draws : int
        Gradients that are drawn.
    factor : float
        Largest factor by which the interval for their variance may miss the kernel's. Stated as
        three half widths of the interval, each 2 sqrt(2/draws) in relative terms.
    """

    instances: int
    draws: int
    factor: float


_KERNELS: Mapping[Profile, tuple[_Kernels, ...]] = {
    "quick": (),
    "standard": (_Kernels(600, 1000, 1.27),),
    "full": (_Kernels(10_000, 20_000, 1.06),),
}


@dataclass(frozen=True)
class _Case:
    """Attention, support and coefficients in integers: gamma = weights / N with N their sum.

    With P = N p and Q = N~ q, the integers H = 2 (P Q - N N~ x_a x_b) Q <r, x> = N N~^2 G take the
    place of G, and H~ = N^2 N~ G~ that of G~.
    """

    weights: Vector
    weights_tilde: Vector
    support: tuple[int, int]
    r: Vector
    r_tilde: Vector

    @property
    def masses(self) -> tuple[int, int]:
        """N and N~."""
        return sum(self.weights), sum(self.weights_tilde)

    def rescaled(self, of_integers: Covariances) -> Covariances:
        """Return the covariances of G and G~ from those of H and H~."""
        N, N_tilde = self.masses
        own, mixed, other = of_integers
        square = (N * N_tilde) ** 2
        return (
            own / (square * N_tilde**2),
            mixed / (square * N * N_tilde),
            other / (square * N**2),
        )


def _moment(forms: Sequence[Vector]) -> int:
    """Return the mean of a product of linear forms in independent signs, by the moment rule.

    The first form shares its block with an odd number of others.
    """
    if not forms:
        return 1
    first, rest = forms[0], forms[1:]
    mean = 0
    for size in range(1, len(rest) + 1, 2):
        for others in combinations(range(len(rest)), size):
            block = [first, *(rest[h] for h in others)]
            total = sum(math.prod(column) for column in zip(*block, strict=True))
            if total:
                left = [form for h, form in enumerate(rest) if h not in others]
                mean += _KAPPA[len(block)] * total * _moment(left)
    return mean


def _by_the_moment_rule(case: _Case) -> Covariances:
    gamma, gamma_tilde = case.weights, case.weights_tilde
    one = math.prod(case.masses)
    sign_a, sign_b = ([int(i == at) for i in range(len(gamma))] for at in case.support)

    def mean(*forms: Vector) -> int:
        # 2 e times the forms.
        products = _moment([gamma, gamma_tilde, *forms])
        return 2 * (products - one * _moment([sign_a, sign_b, *forms]))

    def square(*forms: Vector) -> int:
        # 4 e^2 times the forms; (x_a x_b)^2 = 1.
        return 4 * (
            _moment([gamma, gamma_tilde, gamma, gamma_tilde, *forms])
            - 2 * one * _moment([gamma, gamma_tilde, sign_a, sign_b, *forms])
            + one**2 * _moment(forms)
        )

    own, other = (gamma_tilde, case.r), (gamma, case.r_tilde)
    of_integers = (
        square(*own, *own) - mean(*own) ** 2,
        square(*own, *other) - mean(*own) * mean(*other),
        square(*other, *other) - mean(*other) ** 2,
    )
    own_square, mixed, other_square = map(Fraction, of_integers)
    return case.rescaled((own_square, mixed, other_square))


def _by_enumeration(case: _Case) -> Covariances:
    a, b = case.support
    one = math.prod(case.masses)
    pushes = []
    for x in product((-1, 1), repeat=len(case.weights)):
        P, Q = _form(case.weights, x), _form(case.weights_tilde, x)
        E = P * Q - one * x[a] * x[b]
        pushes.append((2 * E * Q * _form(case.r, x), 2 * E * P * _form(case.r_tilde, x)))

    def mean(values: Iterable[int]) -> Fraction:
        return Fraction(sum(values), len(pushes))

    average, average_tilde = (mean(push[h] for push in pushes) for h in range(2))
    return case.rescaled(
        (
            mean(H * H for H, _ in pushes) - average**2,
            mean(H * H_tilde for H, H_tilde in pushes) - average * average_tilde,
            mean(H_tilde * H_tilde for _, H_tilde in pushes) - average_tilde**2,
        )
    )


def _form(c: Vector, x: Vector) -> int:
    return sum(weight * sign for weight, sign in zip(c, x, strict=True))


def _draw_case(rng: np.random.Generator, d: int) -> _Case:
    # Weights this small coincide and vanish often.
    weights, weights_tilde = (rng.integers(0, 13, size=d) for _ in range(2))
    for each in (weights, weights_tilde):
        each[rng.integers(d)] += 1  # not all zero
    r, r_tilde = (rng.integers(-9, 10, size=d).tolist() for _ in range(2))
    return _Case(weights.tolist(), weights_tilde.tolist(), draw_support(rng, d), r, r_tilde)


def _check_enumeration(trials: int, streams: Streams) -> Evidence:
    wrong = []
    for d in _DIMENSIONS:
        rng = streams.trial(d)
        for _ in range(trials):
            case = _draw_case(rng, d)
            if _by_the_moment_rule(case) != _by_enumeration(case):
                wrong.append(str(case))
    total = trials * len(_DIMENSIONS)
    return Evidence(
        cell=_ENUMERATION,
        subject="statement",
        method="exact enumeration",
        grade=Grade.REFUTED if wrong else Grade.EXACT,
        computed=f"equal at {total - len(wrong)} of {total} instances",
        claimed=f"equal at all {total}: both variances and the covariance",
        precision="exact",
        seed=streams.seed,
        trials=total,
        reason=f"witness: {wrong[0]}" if wrong else None,
    )


_ENUMERATION = "all 2^d inputs in rational arithmetic, d = 2..8"


def _kernel_error(rng: np.random.Generator) -> float:
    """Error of the kernel's quadratic form, over the sum of all its terms counted positive."""
    from numerics.samples.moments import slope_moments

    case = _draw_case(rng, int(rng.integers(2, 7)))
    gamma, gamma_tilde = (
        np.array(weights) / mass
        for weights, mass in zip((case.weights, case.weights_tilde), case.masses, strict=True)
    )
    own, mixed, other = _by_enumeration(case)
    moments = slope_moments(gamma, gamma_tilde, case.support)
    found = moments.covariance.quadratic(case.r, case.r_tilde)
    if not math.isfinite(found):
        return math.nan
    error = float(abs(Fraction(found) - (own + 2 * mixed + other)))
    # sum |r_i| sqrt(M_ii) over both heads, M the second moments.
    size = 0.0
    for i, unit in enumerate(np.eye(gamma.shape[0])):
        square = moments.second.quadratic(unit, 0 * unit)
        square_tilde = moments.second.quadratic(0 * unit, unit)
        size += abs(case.r[i]) * math.sqrt(square) + abs(case.r_tilde[i]) * math.sqrt(square_tilde)
    return error / size**2 if size else error


def _check_draws(draws: int, factor: float, streams: Streams) -> Evidence:
    """Hold the variance of gradients drawn from samples against the kernel's, along A and A~."""
    from scipy.stats import chi2

    from numerics.samples.covariance import sample_variance
    from numerics.samples.empirical import empirical_gradient

    d, m, n = 48, 24, 512
    instance = draw_instance(streams.trial(0), d, m)
    at = instance.arguments
    a, b = instance.support
    A = instance.V[a] - instance.V[b]
    expected = sample_variance(*at, A, -A) / n
    found = []
    rng = streams.trial(1)
    for _ in range(draws):
        drawn = empirical_gradient(rng, *at, n=n)
        found.append(float(A @ (drawn.theta - drawn.theta_tilde)))
    ratio = float(np.var(found, ddof=1)) / expected
    # A mean of 512 samples is as good as Gaussian here, so that the ratio is chi squared over its
    # degrees of freedom.
    degrees = draws - 1
    lower, upper = (ratio * degrees / float(chi2.ppf(tail, degrees)) for tail in (0.975, 0.025))
    grade = Grade.SAMPLED if 1 / factor <= lower and upper <= factor else Grade.UNDECIDED
    if lower > factor or upper < 1 / factor:
        grade = Grade.REFUTED
    return Evidence(
        cell=_DRAWN,
        subject="cross-check",
        method="variance of gradients drawn from samples, chi-squared interval",
        grade=grade,
        computed=f"{ratio:.4f} times the kernel's, 95% in [{lower:.4f}, {upper:.4f}]",
        claimed=f"within a factor {factor:g}",
        margin=1 - max(upper, 1 / lower) / factor,
        precision="binary64",
        seed=streams.seed,
        trials=draws,
    )


_DRAWN = "gradients drawn from 512 samples, d = 48, m = 24"


def _variance_cells(profile: Profile) -> tuple[Cell, ...]:
    trials = _EXACT_TRIALS[profile]
    return (
        Cell(name=_ENUMERATION, check=partial(_check_enumeration, trials), cost=0.1 * trials),
        *(cell for kernels in _KERNELS[profile] for cell in _kernel_cells(kernels)),
        covariance_cell(),
        sums_cell(),
    )


def _kernel_cells(kernels: _Kernels) -> tuple[Cell, ...]:
    return (
        agreement_cell(
            "kernel at random attention, d = 2..6",
            method="exact enumeration of all 2^d inputs",
            error=_kernel_error,
            # What the kernel's documentation states, 300 u where heads concentrate, and u for the
            # rounding of each of at most eight factors gamma_i.
            bound=308 * _UNIT,
            trials=kernels.instances,
            cost=kernels.instances * 1.5e-3,
        ),
        Cell(
            name=_DRAWN,
            check=partial(_check_draws, kernels.draws, kernels.factor),
            cost=2 + kernels.draws * 1e-3,
        ),
    )


CLAIMS = (
    Claim(
        id="corollary3-variance",
        title="the variance of one sample's gradient, exactly, for any queries",
        statement=(
            r"With $G = 2 e q \langle r, x \rangle$, $\tilde G = 2 e p \langle \tilde r, x \rangle$"
            r" and $e = p q - x_a x_b$, the pushes of one sample: $\mathbb{E} G^2 = 4 (\mathbb{E}"
            r" p^2 q^4 \langle r, x \rangle^2 - 2 \mathbb{E} p q^3 x_a x_b \langle r, x \rangle^2 +"
            r" \mathbb{E} q^2 \langle r, x \rangle^2)$, and $\mathbb{E} G \tilde G$, $\mathbb{E}"
            r" \tilde G^2$ and the means likewise, each by the moment rule: so are $\mathrm{Var}\,"
            r" G$, $\mathrm{Cov}(G, \tilde G)$ and $\mathrm{Var}\, \tilde G$, of which the gradient"
            r" of $n$ samples has $1/n$. At the attention, support and $r, \tilde r$ of the cells."
        ),
        source="ours",
        cells=_variance_cells,
        dependencies=("moment-rule", "population-gradient"),
    ),
)
