"""The chance that k heads part in one step, to first order: an integral with one parameter.

In many dimensions the utilities of derivation parity_first_step are Gaussian. What matters of
their law is how strongly the heads are correlated; given what they share they choose independently.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("parity_chance")

import itertools
import math
from dataclasses import dataclass

import mpmath
import sympy as sp

from derivations.notation import d, declare
from derivations.parities.notation import k_heads
from derivations.parities.rest import own_gain, shared_gain
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.lemmas import Lemma
from derivations.proof.refusal import require

__all__ = ["derive", "lean_variance", "product_variance", "score_variance", "shock"]

norm = declare(sp.Symbol, "norm", r"|\theta|", positive=True)
own = declare(sp.Symbol, "own_gain", "a_{k}", positive=True)
shared = declare(sp.Symbol, "shared_gain", "b_{k}", positive=True)
k = k_heads

GAUSSIAN_LIMIT = Lemma(
    name="Gaussian limit of products",
    statement=r"For independent uniform unit vectors $v_{1}, \ldots, v_{n}$ of $\mathbb{R}^{m}$ and"
    r" fixed queries, $\sqrt{m} (v_{i} \cdot \theta_{h}, v_{i} \cdot v_{j})_{i < j}$ converges in"
    r" law, as $m \to \infty$, to centred Gaussians: those of different $i$ or of different pairs"
    r" $\{i, j\}$ are independent, $v_{i} \cdot v_{j}$ has variance $1$, and $v_{i} \cdot"
    r" \theta_{h}$, $v_{i} \cdot \theta_{h'}$ have covariance $\theta_{h} \cdot \theta_{h'}$.",
    source="Poincare and Maxwell: any fixed number of coordinates of uniform points",
)

CONDITIONING = Lemma(
    name="choices given what is shared",
    statement=r"For $\kappa \ge 0$, $U_{h} = z_{h} + \sqrt{\kappa} c$ with independent standard"
    r" Gaussian $z_{1}, \ldots, z_{k}, c$ of $k$ entries has the covariance $I + \kappa J$ over the"
    r" heads, and given $c$ head $h$ chooses $s$ with the probability $\pi_{s}(\sqrt{\kappa} c)$,"
    r" independently. For $-1/k < \kappa < 0$ the covariance is positive definite still; both sides"
    r" of the formula are analytic in $\kappa$ there, and so equal.",
    source="ours: an imaginary shift y multiplies a Gaussian density by at most the exponential of"
    " half the square of y, so the right-hand side converges; the left-hand side integrates a"
    " Gaussian density over a cone",
)


@dataclass(frozen=True)
class _Exchangeable:
    """A k x k matrix with one value on the diagonal and one off it, k symbolic."""

    diagonal: sp.Expr
    off: sp.Expr

    def __matmul__(self, other: _Exchangeable) -> _Exchangeable:
        return _Exchangeable(
            self.diagonal * other.diagonal + (k - 1) * self.off * other.off,
            self.diagonal * other.off + self.off * other.diagonal + (k - 2) * self.off * other.off,
        )

    def __add__(self, other: _Exchangeable) -> _Exchangeable:
        return _Exchangeable(self.diagonal + other.diagonal, self.off + other.off)

    def __mul__(self, factor: sp.Expr) -> _Exchangeable:
        return _Exchangeable(factor * self.diagonal, factor * self.off)

    def require_equal(self, other: _Exchangeable, what: str) -> None:
        require_equal(self.diagonal, other.diagonal, f"{what}, on the diagonal")
        require_equal(self.off, other.off, f"{what}, off the diagonal")


_ONE = _Exchangeable(sp.S.One, sp.S.Zero)
_ALL = _Exchangeable(sp.S.One, sp.S.One)
_CENTRING = _Exchangeable(1 - 1 / k, -1 / k)
_STARTS = {
    "simplex": (_Exchangeable(sp.S.One, -1 / (k - 1)), k / (k - 1), sp.S.Zero),
    "independent": (_ONE, sp.S.One, 1 / k),
}
"""Correlation of the heads' scores, lambda^2 over (|theta| a_k)^2, and the variance of their mean
over |theta|^2."""


def lean_variance(start: str) -> sp.Expr:
    """Return lambda^2 for a start, "simplex" or "independent"."""
    return (norm * own) ** 2 * _STARTS[start][1]


def score_variance(start: str) -> sp.Expr:
    """Return what the mean score of the heads adds to the covariance of any two of them."""
    return (norm * shared) ** 2 * _STARTS[start][2]


def product_variance() -> sp.Expr:
    """Return what B adds to the covariance of any two heads, for d positions."""
    return (1 - k / d) * (k - 2 + 2 * k / d)


def shock(start: str) -> sp.Expr:
    """Return kappa = beta / lambda^2 - 1/k."""
    beta = product_variance() + score_variance(start)
    return beta / lean_variance(start) - 1 / k


def derive(title: str) -> Derivation:
    """Derive the law of the utilities and the chance of k different positions."""
    return Derivation(
        name="parity_chance",
        title=title,
        source="ours; k = 2 is the law of claim theorem2-law",
        setting=r"$U_{hs} = a_{k} (s^{h}_{s} - \operatorname{mean}_{h'} s^{h'}_{s}) - b_{k}"
        r" \operatorname{mean}_{h'} s^{h'}_{s} + B_{s}$, $B_{s} = \sum_{s' \in S, s' \ne s} v_{s}"
        r" \cdot v_{s'} - k \bar{v} \cdot v_{s}$, with $a_{k}$, $b_{k}$ of the first step: all of"
        r" its first order at $d > k$ positions; $a_{k} \to k / (k - 1)$, $b_{k} \to 0$ as $d \to"
        r" \infty$. Queries of length $|\theta|$, independent uniform embeddings."
        r" Head $h$ chooses the $s$ with the largest $U_{hs}$, so what all $s$ share"
        r" does not count. $J$ is the matrix of ones, $P = I - J / k$; all variances are times"
        r" $1/m$.",
        steps=_steps(),
        formulas=tuple(
            Formula(name=f"shock_{start}", left=r"\kappa", right=shock(start)) for start in _STARTS
        ),
    )


def _steps() -> tuple[Step, ...]:
    return (
        Step(
            label="leans",
            uses=("parity_first_step:angles",),
            statement=r"a_{k}^{2} P C P = \frac{\lambda^{2}}{|\theta|^{2}} P, \quad \lambda^{2} ="
            r" \frac{k}{k-1} |\theta|^{2} a_{k}^{2} \text{ (simplex)}, \quad |\theta|^{2} a_{k}^{2}"
            r" \text{ (independent)}; \quad P C J = 0, \quad b_{k}^{2} \frac{J C J}{k^{2}} ="
            r" \frac{\beta_{s}}{|\theta|^{2}} J, \quad \beta_{s} = 0, \quad \frac{1}{k}"
            r" |\theta|^{2} b_{k}^{2}",
            reason=r"The covariance over the heads of the leans at one position, and of the mean"
            r" score, which is independent of them; $C$ is the"
            r" correlation of the scores: $-1/(k-1)$ off the diagonal at the simplex, $0$ for"
            r" independent queries, which are orthogonal in the limit. Checked for symbolic $k$.",
            check=_check_leans,
            method=Method.LEMMA,
            lemmas=(GAUSSIAN_LIMIT,),
        ),
        Step(
            label="shared",
            statement=r"\operatorname{Cov} B = \beta_{B} I + \left(1 - \frac{k}{d}\right)^{2} J,"
            r" \quad \beta_{B} = \left(1 - \frac{k}{d}\right) \left(k - 2 + \frac{2 k}{d}\right)",
            reason=r"Over the positions. Each product within the support enters with $1 - k/d$,"
            r" each of the $d - k$ others with $-k/d$. $B_{s}$ and $B_{s'}$ share $v_{s} \cdot"
            r" v_{s'}$. Checked for symbolic $k$ and $d$, and term by term for $k = 2, 3, 4$, $d ="
            r" k + 1, \ldots, 8$. The part with $J$ is shared by all positions.",
            check=_check_shared,
            method=Method.LEMMA,
            lemmas=(GAUSSIAN_LIMIT,),
        ),
        Step(
            label="utilities",
            uses=("leans", "shared"),
            statement=r"\operatorname{Cov} (U_{hs})_{h} = \lambda^{2} P + \beta J = \lambda^{2} (I"
            r" + \kappa J), \quad \beta = \beta_{B} + \beta_{s}, \quad \kappa ="
            r" \frac{\beta}{\lambda^{2}} - \frac{1}{k}, \quad 1 + k \kappa = \frac{k \beta}"
            r"{\lambda^{2}} \ge 0",
            reason=r"Over the heads at one position, up to what all positions share; $B$ is the"
            r" same for all heads, and different positions are independent. So the law of the"
            r" choices has the one parameter $\kappa$.",
            check=_check_utilities,
        ),
        Step(
            label="chance",
            uses=("utilities",),
            statement=r"P(k \text{ different positions}) = k! \; \mathbb{E} \prod_{s} \pi_{s}"
            r"(\sqrt{\kappa} c), \quad \pi_{s}(c) = \int \phi(t) \prod_{s' \ne s} \Phi(t + c_{s} -"
            r" c_{s'}) \, dt",
            reason=r"$c$ has $k$ independent standard Gaussian entries; there are $k!$ ways to"
            r" part, equally likely. $\sqrt{\kappa}$ is imaginary for $\kappa < 0$. At $\kappa ="
            r" 0$, as if the heads chose blindly, the chance is $k! / k^{k}$.",
            check=_check_blind,
            method=Method.LEMMA,
            lemmas=(CONDITIONING,),
        ),
        Step(
            label="two-heads",
            uses=("chance",),
            statement=r"k = 2: \quad 2 \mathbb{E} \Phi(\sqrt{\kappa} y) \Phi(-\sqrt{\kappa} y) ="
            r" \frac{1}{\pi} \operatorname{arccos} \frac{\kappa}{1 + \kappa}",
            reason=r"$y$ is a standard Gaussian, $\pi_{s}(c) = \Phi((c_{s} - c_{s'}) / \sqrt{2})$;"
            r" on the right, two Gaussian differences with the correlation $\kappa / (1 + \kappa)$"
            r" have different signs (Sheppard). Both sides to 12 digits at $\kappa = 1/2$ and"
            r" $-2/5$, where the integrand on the left is complex.",
            check=_check_two_heads,
            method=Method.INSTANCES,
        ),
        Step(
            uses=("leans", "shared", "utilities", "parity_first_step:whole"),
            statement=r"k = 2, d \to \infty: \quad \beta \to 0, \quad \kappa = - \frac{1}{2}, \quad"
            r" U_{1a} - U_{1b} = -(U_{2a} - U_{2b})",
            reason=r"With two heads nothing is shared, from either start and at any length: they"
            r" always part. For $k > 2$, $\beta \to k - 2 > 0$. $b_{k} \to 0$ is derivation"
            r" parity_first_step's.",
            check=_check_nothing_shared,
        ),
        Step(
            uses=("leans", "shared", "utilities", "two-heads", "parity_first_step:whole"),
            statement=r"k = 2, |\theta| = 1: \quad \frac{\kappa}{1 + \kappa} = - \frac{1 -"
            r" \tau^{2}}{1 + \tau^{2}}, \quad \tau^{2} = \frac{2 \beta}{\lambda^{2}} ="
            r" \frac{1}{d} + O(d^{-2}) \text{ (antisymmetric)}, \quad \frac{2}{d} + O(d^{-2})"
            r" \text{ (independent)}",
            reason=r"With $a_{2}$ and $b_{2}$ in full. As $(1 - \tau^{2}) / (1 + \tau^{2})$ is the"
            r" cosine of $2 \arctan \tau$, the heads fail to part with probability"
            r" $\frac{2}{\pi} \arctan(1 / \sqrt{d})$ from the antisymmetric start, the law of"
            r" Theorem 2, and $\frac{2}{\pi} \arctan \sqrt{2 / d}$ from independent ones, to"
            r" leading order in $1/d$.",
            check=_check_law,
        ),
        Step(
            uses=("leans", "shared", "utilities"),
            statement=r"\frac{\partial \kappa}{\partial |\theta|} = - \frac{2 \beta_{B}}"
            r"{\lambda^{2} |\theta|} \le 0, \quad \kappa \to \frac{\beta_{s}}{\lambda^{2}} -"
            r" \frac{1}{k} \text{ as } |\theta| \to \infty",
            reason=r"Longer queries share less. The limit, $-1/k$ as $d \to \infty$, is that of"
            r" orthonormal embeddings, where $B = 0$; it is near where $|\theta|$ is large and"
            r" $|\theta| / \sqrt{m}$ still small.",
            check=_check_length,
        ),
    )


def _check_leans() -> None:
    for start, (correlation, *_) in _STARTS.items():
        centred = _CENTRING @ correlation @ _CENTRING * (norm * own) ** 2
        centred.require_equal(_CENTRING * lean_variance(start), f"the leans at the {start} start")
        crossed = _CENTRING @ correlation @ _ALL
        crossed.require_equal(_ONE * sp.S.Zero, f"leans and mean at the {start} start")
        mean = _ALL @ correlation @ _ALL * (norm * shared / k) ** 2
        mean.require_equal(_ALL * score_variance(start), f"the mean at the {start} start")


def _check_shared() -> None:
    covariance = _Exchangeable(
        (k - 1) * (1 - k / d) ** 2 + (d - k) * (k / d) ** 2, (1 - k / d) ** 2
    )
    covariance.require_equal(
        _ONE * product_variance() + _ALL * (1 - k / d) ** 2, "the covariance of B"
    )
    for heads in (2, 3, 4):
        for positions in range(heads + 1, 9):
            forms = [_common_form(s, heads, positions) for s in range(heads)]
            for s, r in itertools.combinations_with_replacement(range(heads), 2):
                found = sum(forms[s][pair] * forms[r].get(pair, 0) for pair in forms[s])
                value = covariance.diagonal if s == r else covariance.off
                expected = value.xreplace({k: sp.Integer(heads), d: sp.Integer(positions)})
                require_equal(found, expected, f"Cov(B_{s}, B_{r}) for k = {heads}")


def _common_form(s: int, heads: int, positions: int) -> dict[tuple[int, int], sp.Rational]:
    """Return the coefficients of the products v_i.v_j, i < j, in B_s; the support is 0..k-1."""
    return {
        (min(s, j), max(s, j)): sp.Integer(int(j < heads)) - sp.Rational(heads, positions)
        for j in range(positions)
        if j != s
    }


def _check_utilities() -> None:
    lam, beta = sp.symbols("lam beta", positive=True)
    kappa = beta / lam - 1 / k
    whole = _CENTRING * lam + _ALL * beta
    whole.require_equal((_ONE + _ALL * kappa) * lam, "the covariance of U")
    require_equal(1 + k * kappa, k * beta / lam, "the smallest eigenvalue")
    for start in _STARTS:
        beta_start = product_variance() + score_variance(start)
        found = kappa.xreplace({beta: beta_start, lam: lean_variance(start)})
        require_equal(found, shock(start), f"kappa at the {start} start")


def _check_blind() -> None:
    # pi_s(0) = 1/k: the integrand phi Phi^(k-1) is the derivative of Phi^k / k.
    t = sp.Symbol("t", real=True)
    density = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)
    distribution = (1 + sp.erf(t / sp.sqrt(2))) / 2
    require_equal(sp.diff(distribution, t), density, "the derivative of Phi")
    for heads in (2, 3, 4):
        primitive = distribution**heads / heads
        blind = primitive.subs(t, sp.oo) - primitive.subs(t, -sp.oo)
        require_equal(blind, sp.Rational(1, heads), f"pi_s(0) for k = {heads}")
        chance = math.factorial(heads) * blind**heads
        require_equal(
            chance, sp.Rational(math.factorial(heads), heads**heads), f"blind choices, k = {heads}"
        )


def _check_two_heads() -> None:
    context = mpmath.MPContext()
    context.dps = 15
    for numerator, denominator in ((1, 2), (-2, 5)):
        kappa = context.mpf(numerator) / denominator
        root = context.sqrt(kappa)

        def parted(y: mpmath.mpf, root: mpmath.mpf = root) -> mpmath.mpf:
            shift = root * y / context.sqrt(2)
            both = context.erfc(-shift) * context.erfc(shift) / 2
            return both * context.exp(-y * y / 2) / context.sqrt(2 * context.pi)

        found = context.quad(parted, [-context.inf, 0, context.inf])
        expected = context.acos(kappa / (1 + kappa)) / context.pi
        require(
            abs(found - expected) < context.mpf(10) ** -12,
            f"kappa = {context.nstr(kappa)}: {context.nstr(found, 15)}, not"
            f" {context.nstr(expected, 15)}",
        )


def _check_nothing_shared() -> None:
    many = sp.limit(product_variance(), d, sp.oo)
    require_equal(many, k - 2, "beta for many positions")
    two = many.xreplace({k: sp.Integer(2)})
    require_equal(two, sp.S.Zero, "beta for two heads")
    kappa = two / sp.Symbol("lam", positive=True) - sp.Rational(1, 2)
    covariance = sp.ones(2, 2) * kappa + sp.eye(2)
    sums = sp.ones(1, 2) * covariance * sp.ones(2, 1)
    require_equal(sums[0], sp.S.Zero, "the variance of the sum of both heads' differences")


def _check_law() -> None:
    two = {k: sp.Integer(2), norm: sp.S.One, own: own_gain(2), shared: shared_gain(2)}
    tau = sp.Symbol("tau", positive=True)
    require_equal(
        sp.expand_trig(sp.cos(2 * sp.atan(tau))), (1 - tau**2) / (1 + tau**2), "the half angle"
    )
    for start, leading in (("simplex", 1), ("independent", 2)):
        kappa = shock(start).xreplace(two)
        beta = product_variance() + score_variance(start)
        square = (2 * beta / lean_variance(start)).xreplace(two)
        require_equal(kappa / (1 + kappa), -(1 - square) / (1 + square), f"the {start} start")
        # A rational function of d, so that what is left over is O(1/d^2).
        found = sp.limit(sp.cancel(square * d), d, sp.oo)
        require_equal(found, sp.Integer(leading), f"tau^2 to first order at the {start} start")


def _check_length() -> None:
    for start in _STARTS:
        require_equal(
            sp.diff(shock(start), norm),
            -2 * product_variance() / (lean_variance(start) * norm),
            f"the derivative at the {start} start",
        )
        require_equal(
            sp.limit(shock(start), norm, sp.oo),
            score_variance(start) / lean_variance(start) - 1 / k,
            f"the limit, {start} start",
        )
