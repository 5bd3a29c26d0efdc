"""A linear model on a fixed embedding of D dimensions: what it misses of the parities of k bits.

The best linear model is a projection, and parities are orthonormal: a space of D dimensions cannot
be close to many of them.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("fixed_embedding")

import itertools
from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from derivations.calculus.power_sums import PowerSum
from derivations.notation import coefficient, d
from derivations.parities.orthonormal import mean_of_product, orthonormality, parity
from derivations.proof.enumeration import dot, inputs
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.instances import random_integers, seeded
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.refusal import require

__all__ = ["captured", "derive", "projection_loss"]

# The weights of a linear model on an orthonormal basis, and the means of its functions times y. A
# power sum has no bound index, and how many terms it has is not used: it is over the basis here.
_c, _e = coefficient(1), coefficient(2)

_k = sp.Symbol("k", integer=True, positive=True)
_N = sp.Symbol("N", positive=True)  # the number of supports, C(d, k)


def projection_loss() -> sp.Expr:
    """Return E (sum_j c_j h_j - y)^2 for orthonormal h_j with E y h_j = e_j, multiplied out."""
    return 1 - 2 * PowerSum(_c * _e) + PowerSum(_c**2)


def captured() -> sp.Expr:
    """Return what the best weights take away from the loss 1."""
    return PowerSum(_e**2)


def derive(title: str) -> Derivation:
    """Derive the loss averaged over supports, exactly and by the dimension."""
    steps = (
        orthonormality(),
        Step(
            label="projection",
            uses=("orthonormal",),
            statement=r"\mathbb{E} (\sum_{j} c_{j} h_{j} - y)^{2} = 1 - \sum_{j} e_{j}^{2} +"
            r" \sum_{j} (c_{j} - e_{j})^{2}, \quad e_{j} = \mathbb{E} y h_{j}",
            reason=r"$h_{0} = 1, h_{1}, \ldots, h_{D'}$ is an orthonormal basis of the span of"
            r" the constants and of the $D$ features, so $D' \le D$; a linear model with a free"
            r" intercept is any $\sum_{j} c_{j} h_{j}$. Multiply out: $\mathbb{E} y^{2} = 1$,"
            r" $\mathbb{E} h_{j} h_{l} = \delta_{j l}$. The least loss is $1 - \sum_{j}"
            r" e_{j}^{2}$, at $c_{j} = e_{j}$: the projection of $y$.",
            check=_check_projection,
        ),
        Step(
            label="intercept",
            uses=("orthonormal",),
            statement=r"e_{0} = \mathbb{E} \chi_{S} = 0",
            reason=r"Parities have mean $0$: the intercept is of no use, and counts for nothing.",
            check=_check_intercept,
        ),
        Step(
            label="bessel",
            uses=("orthonormal", "projection"),
            statement=r"W_{j} = \sum_{|S| = k} (\mathbb{E} \chi_{S} h_{j})^{2} \le 1",
            reason=r"Bessel's inequality: by the identity above with the parts exchanged, the"
            r" parities being orthonormal, $0 \le \mathbb{E} (h_{j} - \sum_{S} e_{S}"
            r" \chi_{S})^{2} = 1 - \sum_{S} e_{S}^{2}$ at $e_{S} = \mathbb{E} \chi_{S} h_{j}$."
            r" $W_{j}$ is the share of $h_{j}$ that lies in degree $k$.",
            check=_check_bessel,
        ),
        Step(
            label="average",
            uses=("projection", "intercept", "bessel"),
            statement=r"\mathbb{E}_{S} \min_{c} \mathbb{E} (\sum_{j} c_{j} h_{j} - y)^{2} = 1 -"
            r" \binom{d}{k}^{-1} \sum_{j = 1}^{D'} W_{j}",
            reason=r"The least loss is $1 - \sum_{j} e_{j}^{2}$ for each of the $\binom{d}{k}$"
            r" supports, and finite sums may be exchanged (checked on tables of symbols up to $4"
            r" \times 4$). $\sum_{j} W_{j}$ is the trace of the"
            r" product of two projections, on the features less their means and on the parities"
            r" of degree $k$: it does not depend on the basis.",
            check=_check_average,
            method=Method.INSTANCES,
        ),
        Step(
            label="bound",
            uses=("bessel", "average"),
            statement=r"\mathbb{E}_{S} \min_{c} \mathbb{E} (\sum_{j} c_{j} h_{j} - y)^{2} \ge 1 -"
            r" \frac{D'}{\binom{d}{k}} \ge 1 - \frac{D}{\binom{d}{k}}",
            reason=r"$W_{j} \le 1$ and $D' \le D$.",
            check=_check_bound,
        ),
        Step(
            uses=("orthonormal", "projection", "average", "bound"),
            statement=r"W_{1} = \ldots = W_{D} = 1 \text{ if the features are } D \text{ parities"
            r" of degree } k",
            reason=r"So the bound is attained, $D$ losses being $0$ and all others $1$; it is by"
            r" any $D$ features which, less their means, are independent combinations of such"
            r" parities: the $h_{j}$ are then combinations too, and lie in degree $k$ entirely.",
            check=_check_attained,
        ),
        Step(
            uses=("projection", "bound"),
            statement=r"|\{S : \min_{c} \mathbb{E} (\sum_{j} c_{j} h_{j} - y)^{2} \le"
            r" \epsilon\}| \le \frac{D}{1 - \epsilon}",
            reason=r"The losses are at most $1$ and miss it by at most $D$ in total; each of these"
            r" supports takes $1 - \epsilon$ of that.",
            check=_check_count,
        ),
        Step(
            uses=("bound",),
            statement=r"\text{an average of at most } \epsilon \text{ needs } D \ge (1 -"
            r" \epsilon) \binom{d}{k} \ge (1 - \epsilon) \left(\frac{d}{k}\right)^{k}",
            reason=r"$(d - i) / (k - i) \ge d / k$ for $0 \le i < k \le d$. For $d \ge 2 k$ that is"
            r" exponential in $k$.",
            check=_check_growth,
        ),
        Step(
            uses=("average", "bound"),
            statement=r"\binom{d}{k}^{-1} \sum_{S} \min_{w, w_{0}} 2^{-d} \sum_{x} (w \cdot"
            r" \phi(x) + w_{0} - \chi_{S}(x))^{2} = 1 - \binom{d}{k}^{-1} \sum_{j} W_{j} \ge 1 -"
            r" \frac{D'}{\binom{d}{k}}, \quad d = 3, 4, 5",
            reason=r"Independent check, in rational arithmetic: the normal equations are solved"
            r" for every support, and the loss of their solution is the mean over all $2^{d}$"
            r" inputs; $W_{j}$ comes from a basis that is made orthogonal feature by feature."
            r" Random features in integers, a dependent one among them.",
            check=_check_enumeration,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="fixed_embedding",
        title=title,
        source="ours; arXiv:2502.07553v2 sets its model against fixed embeddings",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$, $\chi_{S}$ is the product of the $x_{i}$"
        r" with $i$ in $S$, and the label is $y = \chi_{S}$ or $y = -\chi_{S}$. The support $S$"
        r" is uniform among the sets of $k \ge 1$ positions. $\phi$ is any map from the inputs to"
        r" $\mathbb{R}^{D}$ that is fixed before $S$ is drawn; the model is $w \cdot \phi(x) +"
        r" w_{0}$, where $w$ and $w_{0}$ may depend on $S$. The loss is the population's, with no"
        r" factor $1/2$.",
        steps=steps,
        formulas=(),
    )


def _check_projection() -> None:
    square = PowerSum((_c - _e) ** 2)
    terms = sp.Symbol("terms", nonnegative=True)
    require_at_least(
        projection_loss(), 1 - captured(), terms, "the loss and its least", slacks={terms: square}
    )
    best = projection_loss().xreplace({_c: _e})
    require_equal(best, 1 - captured(), "the loss at c = e")


def _check_intercept() -> None:
    size = sp.Symbol("size", integer=True, positive=True)
    require(mean_of_product(sp.S.Zero, size, sp.S.Zero) == 0, "the mean of a parity")


def _check_bessel() -> None:
    # h in place of y and the parities in place of the basis.
    mean_square = sp.Symbol("mean_square", nonnegative=True)
    require_at_least(
        sp.S.One,
        captured(),
        mean_square,
        "Bessel's inequality",
        slacks={mean_square: projection_loss().xreplace({_c: _e})},
    )


def _check_average() -> None:
    for supports, functions in itertools.product(range(1, 5), repeat=2):
        table = [[sp.Symbol(f"e_{j}_{s}") for j in range(functions)] for s in range(supports)]
        losses = [1 - sum(each**2 for each in row) for row in table]
        weights = [sum(row[j] ** 2 for row in table) for j in range(functions)]
        require_equal(
            sum(losses) / supports,
            1 - sum(weights) / supports,
            f"{supports} supports, {functions} functions",
        )


def _check_bound() -> None:
    weights, rank, dimension = sp.symbols("weights rank dimension", nonnegative=True)
    missing, spare = sp.symbols("missing spare", nonnegative=True)
    require_at_least(
        1 - weights / _N,
        1 - rank / _N,
        missing / _N,
        "the average and the rank",
        slacks={missing: rank - weights},
    )
    require_at_least(
        1 - rank / _N,
        1 - dimension / _N,
        spare / _N,
        "the rank and the dimension",
        slacks={spare: dimension - rank},
    )


def _check_attained() -> None:
    size = sp.Symbol("size", integer=True, positive=True)
    other = sp.Symbol("other", integer=True, positive=True)
    same = mean_of_product(size, sp.S.Zero, sp.S.Zero)
    different = mean_of_product(sp.S.Zero, other, other)
    require_equal(same**2 + different**2, sp.S.One, "the weight of a parity in its degree")
    # A combination of parities of degree k, of norm 1, has all its weight there.
    require_equal(1 - captured(), projection_loss().xreplace({_c: _e}), "what is left of it")


def _check_count() -> None:
    dimension, taken, supports = sp.symbols("dimension taken supports", nonnegative=True)
    eps = sp.Symbol("eps", nonnegative=True)
    spare, more = sp.symbols("spare more", nonnegative=True)
    require_at_least(
        dimension,
        supports * (1 - eps),
        spare + more,
        "the dimension and the supports",
        slacks={spare: dimension - taken, more: taken - supports * (1 - eps)},
    )


def _check_growth() -> None:
    size, i = sp.symbols("size i", nonnegative=True)
    degree = sp.Symbol("degree", positive=True)
    more = sp.Symbol("more", nonnegative=True)
    left = sp.Symbol("left", positive=True)
    require_at_least(
        (size - i) / (degree - i),
        size / degree,
        i * more / (degree * left),
        "(d - i)/(k - i) and d/k",
        slacks={more: size - degree, left: degree - i},
    )
    growth = sp.combsimp(sp.binomial(d, _k + 1) / sp.binomial(d - 1, _k))
    require_equal(growth, d / (_k + 1), "the factors of C(d, k)")


def _check_enumeration() -> None:
    rng = seeded(66)
    for size in (3, 4, 5):
        points = list(inputs(size))
        for dimension in (1, 2, 4):
            features = [random_integers(rng, len(points)) for _ in range(dimension)]
            features.append([3 - 2 * value for value in features[0]])
            basis = _orthogonal([[1] * len(points), *features])[1:]
            for k in range(1, size):
                supports = list(itertools.combinations(range(size), k))
                labels = [[parity(x, support) for x in points] for support in supports]
                average = sum(_least_loss(features[:-1], y) for y in labels) / len(supports)
                weights = sum(
                    Fraction(dot(h, y)) ** 2 / (dot(h, h) * len(points))
                    for h in basis
                    for y in labels
                )
                expected = 1 - weights / len(supports)
                require(
                    average == expected >= 1 - Fraction(len(basis), len(supports)),
                    f"d = {size}, k = {k}: {expected}, by least squares {average}",
                )


def _orthogonal(functions: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """Return an orthogonal basis of the span; what depends on those before drops out."""
    basis: list[list[Fraction]] = []
    for function in functions:
        rest = [Fraction(value) for value in function]
        for h in basis:
            share = dot(rest, h) / dot(h, h)
            rest = [value - share * other for value, other in zip(rest, h, strict=True)]
        if any(rest):
            basis.append(rest)
    return basis


def _least_loss(features: Sequence[Sequence[int]], labels: Sequence[int]) -> Fraction:
    """Return the mean square of what the solution of the normal equations leaves."""
    columns = [[1] * len(labels), *features]
    gram = sp.Matrix([[dot(left, right) for right in columns] for left in columns])
    weights = gram.LUsolve(sp.Matrix([dot(column, labels) for column in columns]))
    left = [
        dot(weights, row) - y for row, y in zip(zip(*columns, strict=True), labels, strict=True)
    ]
    mean = sum(value**2 for value in left) / len(left)
    return Fraction(int(mean.p), int(mean.q))
