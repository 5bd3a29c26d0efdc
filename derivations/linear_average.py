"""Linear attention: the mean over all supports of the best loss it can reach.

Whatever the queries and the output gain, the prediction of linear attention is one of the quadratic
forms x^T V A V^T x. These are a linear space, and the targets x_a x_b are orthonormal: the squared
lengths of their projections cannot add up to more than its dimension.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("linear_average")

import itertools

import sympy as sp

from derivations.calculus.power_sums import Unit
from derivations.moments import moment
from derivations.notation import a, b, d, declare, i, k
from derivations.population_step.notation import m
from derivations.printing.latex import latex
from derivations.proof.enumeration import dot, inputs
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.instances import seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require

__all__ = ["derive", "loose_bound", "mean_bound"]

r = declare(sp.Symbol, "r_forms", "r", integer=True, nonnegative=True)
"""Dimension of the space of quadratic forms."""

lambda_0 = declare(sp.Symbol, "lambda_0", r"\lambda_{0}", nonnegative=True)
"""Squared length of the projection of the constant 1 on it."""

_supports = d * (d - 1) / 2


def mean_bound() -> sp.Expr:
    """Return the mean over all supports of the best loss over all quadratic forms."""
    return 1 - (r - lambda_0) / _supports


def loose_bound() -> sp.Expr:
    """Return the bound of that mean which needs m and d only."""
    return 1 - m * (m + 1) / (d * (d - 1))


def derive(title: str) -> Derivation:
    """Derive the mean over supports."""
    return Derivation(
        name="linear_average",
        title=title,
        source="ours",
        setting=r"$\gamma = V \theta$, $\tilde{\gamma} = V \tilde{\theta}$, $f = -c p q$ with any"
        r" output gain $c$; $V$ is any matrix with $d$ rows, of rank $k \le m$. $F$ is the space of"
        r" the functions $x^{T} V A V^{T} x$ on $\{-1, +1\}^{d}$, $A$ symmetric, $r$ its dimension"
        r" and $P$ the orthogonal projector on it, for the inner product $\mathbb{E} [g h]$."
        r" $\lambda_{ab} = \mathbb{E} [(P x_{a} x_{b})^{2}]$, $\lambda_{0} = \mathbb{E} [(P"
        r" 1)^{2}]$. $L^{*}_{ij}$ is the infimum of the loss with the support $\{i, j\}$ over"
        r" $\theta$, $\tilde{\theta}$ and $c$.",
        steps=_steps(),
        formulas=(),
        constants=(
            Formula(name="mean", left=r"\bar{L}_{\min}", right=mean_bound()),
            Formula(name="loose", left=r"\bar{L}_{\min}", right=loose_bound()),
        ),
    )


def _steps() -> tuple[Step, ...]:
    return (
        Step(
            label="forms",
            statement=r"p q = x^{T} V A V^{T} x \in F, \quad A = \frac{1}{2} (\theta"
            r" \tilde{\theta}^{T} + \tilde{\theta} \theta^{T})",
            reason=r"$p = x^{T} V \theta$ and $q = x^{T} V \tilde{\theta}$. Checked for every"
            r" entry a symbol, $(d, m) = (2, 1), (3, 2), (3, 3)$.",
            check=_check_forms,
            method=Method.INSTANCES,
        ),
        Step(
            label="orthonormal",
            uses=("moments:four-forms", "moments:signs"),
            statement=r"\mathbb{E} [x_{a} x_{b} \cdot x_{i} x_{k}] = \delta_{ia} \delta_{kb} +"
            r" \delta_{ib} \delta_{ka}, \quad \mathbb{E} [x_{a} x_{b}] = 0",
            reason=r"The moment rule, for $a \ne b$ and any $i$, $k$: $1$ and the $x_{i} x_{j}$, $i"
            r" < j$, are orthonormal. As $x_{i}^{2} = 1$, they span a space that holds $F$.",
            check=_check_orthonormal,
        ),
        Step(
            label="projection",
            uses=("forms", "orthonormal"),
            statement=r"\mathbb{E} (x_{a} x_{b} - g)^{2} = 1 - \lambda_{ab} + \mathbb{E} (P x_{a}"
            r" x_{b} - g)^{2} \ge 1 - \lambda_{ab}, \quad g \in F",
            reason=r"$x_{a} x_{b} - P x_{a} x_{b}$ is orthogonal to $F$. So for a single support"
            r" $L \ge 1 - \lambda_{ab}$.",
            check=_check_projection,
        ),
        Step(
            label="trace",
            uses=("orthonormal",),
            statement=r"\lambda_{0} + \sum_{i < j} \lambda_{ij} = r",
            reason=r"With an orthonormal basis $u_{1}, \ldots, u_{r}$ of $F$, $\lambda_{ij} ="
            r" \sum_{l} \mathbb{E} [u_{l} x_{i} x_{j}]^{2}$, and for each $l$ the squares add up to"
            r" $\mathbb{E} [u_{l}^{2}] = 1$ by the second step. Checked for functions of two to"
            r" four positions, every coefficient a symbol.",
            check=_check_trace,
            method=Method.INSTANCES,
        ),
        Step(
            uses=("projection", "trace"),
            statement=r"\frac{2}{d (d - 1)} \sum_{i < j} L^{*}_{ij} \ge"
            rf" {latex(mean_bound())} \ge {latex(loose_bound())}",
            reason=r"The mean of the two previous steps; $r \le m (m + 1) / 2$, the dimension of"
            r" the symmetric matrices $A$, and $\lambda_{0} \ge 0$.",
            check=_check_mean,
        ),
        Step(
            uses=("orthonormal",),
            statement=r"r = \frac{k (k + 1)}{2} - \max(n_{1} - 1, 0), \quad n_{1} = \text{number of"
            r" leverages equal to } 1",
            reason=r"Let the columns of $V$ be independent, $k = m$: $A \mapsto V A V^{T}$ is"
            r" injective. The function vanishes if and only if $V A V^{T}$ is diagonal of trace"
            r" $0$. A diagonal $D$ is of the form $V A V^{T}$ if and only if its range is in that"
            r" of $V$: it lives on positions with $e_{i}$ in the range of $V$, those with leverage"
            r" $1$. Checked at matrices with $n_{1} = 0, 1, 2, 3$ and with $k < m$.",
            check=_check_dimension,
            method=Method.INSTANCES,
        ),
        Step(
            uses=("projection", "trace"),
            statement=r"\text{the number of supports } \{i, j\} \text{ with } L^{*}_{ij} \le"
            r" \epsilon \text{ is at most } \frac{r - \lambda_{0}}{1 - \epsilon}",
            reason=r"For each of them $\lambda_{ij} \ge 1 - \epsilon$, all others are not negative,"
            r" and they add up to $r - \lambda_{0}$.",
            check=_check_count,
        ),
        Step(
            uses=("projection", "trace"),
            statement=r"\lambda_{0} + \sum_{i < j} \lambda_{ij} = r, \quad L \ge 1 - \lambda_{ab}"
            r" \text{ at instances}",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic, the"
            r" projections by solving the normal equations, $(d, m) = (5, 2), (6, 2), (6, 3)$, and"
            r" the best output gain for random queries.",
            check=_check_instances,
            method=Method.INSTANCES,
        ),
    )


def _check_forms() -> None:
    for size, width in ((2, 1), (3, 2), (3, 3)):
        V = sp.Matrix(size, width, sp.symbols(f"v_0:{size * width}", real=True))
        theta = sp.Matrix(sp.symbols(f"theta_0:{width}", real=True))
        theta_tilde = sp.Matrix(sp.symbols(f"theta_tilde_0:{width}", real=True))
        A = (theta * theta_tilde.T + theta_tilde * theta.T) / 2
        for x in map(sp.Matrix, inputs(size)):
            (p,), (q,), (form,) = x.T * V * theta, x.T * V * theta_tilde, x.T * V * A * V.T * x
            require_equal(form, p * q, f"p q at x = {tuple(x)}")


def _check_orthonormal() -> None:
    delta = sp.KroneckerDelta
    same = delta(i, a) * delta(k, b) + delta(i, b) * delta(k, a)
    require_equal(moment((Unit(a), Unit(b), Unit(i), Unit(k))), same, "E x_a x_b x_i x_k")
    require_equal(moment((Unit(a), Unit(b), Unit(a), Unit(b))), sp.S.One, "E (x_a x_b)^2")
    require_equal(moment((Unit(a), Unit(b))), sp.S.Zero, "E x_a x_b")


def _check_projection() -> None:
    cross = sp.Symbol("cross", real=True)  # E[x_a x_b g] = E[(P x_a x_b) g]
    leverage, square, distance = sp.symbols("leverage square distance", nonnegative=True)
    require_at_least(
        1 - 2 * cross + square,
        1 - leverage,
        distance,
        "the loss and its part outside",
        slacks={distance: leverage - 2 * cross + square},
    )


def _check_trace() -> None:
    for size in (2, 3, 4):
        monomials = _monomials(size)
        coefficients = sp.symbols(f"c_0:{len(monomials)}", real=True)
        function = [dot(coefficients, values) for values in zip(*monomials, strict=True)]
        mean_square = sp.expand(sum(value**2 for value in function) / sp.Integer(2**size))
        require_equal(mean_square, sum(c**2 for c in coefficients), f"E u^2 at d = {size}")


def _monomials(size: int) -> list[list[int]]:
    """Return the values of 1 and of x_i x_j, i < j, at all inputs."""
    pairs = itertools.combinations(range(size), 2)
    return [[1] * 2**size, *([x[j] * x[k] for x in inputs(size)] for j, k in pairs)]


def _check_mean() -> None:
    total = sp.Symbol("total", real=True)
    mean = (_supports - total) / _supports  # of 1 - lambda_ij, which sum to `total`
    require_equal(mean.subs(total, r - lambda_0), mean_bound(), "the mean of the best losses")
    room, constant = sp.symbols("room constant", nonnegative=True)
    pairs = sp.Symbol("pairs", positive=True)
    require_at_least(
        mean_bound(),
        loose_bound(),
        (room + constant) / pairs,
        "the mean and the loose bound",
        slacks={room: m * (m + 1) / 2 - r, constant: lambda_0, pairs: _supports},
    )


def _check_count() -> None:
    count, epsilon, others, room = sp.symbols("count epsilon others room", nonnegative=True)
    kept = sp.Symbol("kept", positive=True)  # 1 - epsilon
    require_at_least(
        (r - lambda_0) / (1 - epsilon),
        count,
        (others + room) / kept,
        "the number of supports",
        slacks={
            kept: 1 - epsilon,
            room: r - lambda_0 - others - count * (1 - epsilon),
        },
    )


def _check_dimension() -> None:
    rng = seeded(23)
    for size, rank, alone in ((6, 2, 0), (6, 3, 0), (6, 3, 1), (6, 3, 2), (6, 4, 3), (5, 2, 2)):
        # `alone` positions have a coordinate to themselves, and with it the leverage 1.
        rest = [rng.choice((-2, -1, 1, 2)) for _ in range((size - alone) * (rank - alone))]
        V = sp.diag(sp.eye(alone), sp.Matrix(size - alone, rank - alone, rest))
        V = V * sp.Matrix(rank, rank + 1, lambda k, j: sp.Integer((k + 1) ** j))  # one column more
        require(V.rank() == rank, f"d = {size}: a rank of {V.rank()}, not {rank}")
        found = _forms(V).rank()
        expected = rank * (rank + 1) // 2 - max(alone - 1, 0)
        require(found == expected, f"d = {size}, k = {rank}, n_1 = {alone}: {found} forms")


def _forms(V: sp.Matrix) -> sp.Matrix:
    """Return the coefficients of all x^T V A V^T x, a row for each of 1 and x_i x_j."""
    size, width = V.shape
    columns = []
    for left, right in itertools.combinations_with_replacement(range(width), 2):
        products = V.col(left) * V.col(right).T
        pairs = itertools.combinations(range(size), 2)
        columns.append([products.trace(), *(products[p, q] + products[q, p] for p, q in pairs)])
    return sp.Matrix(columns).T


def _check_instances() -> None:
    rng = seeded(24)
    for size, width in ((5, 2), (6, 2), (6, 3)):
        V = sp.Matrix(size, width, [rng.choice((-2, -1, 1, 2)) for _ in range(size * width)])
        along_columns = [[int(dot(V.col(k), x)) for x in inputs(size)] for k in range(width)]
        forms = [
            [p * q for p, q in zip(left, right, strict=True)]
            for left, right in itertools.combinations_with_replacement(along_columns, 2)
        ]
        gram = sp.Matrix([[dot(left, right) for right in forms] for left in forms])
        shares = []
        for monomial in _monomials(size):
            along = sp.Matrix([dot(form, monomial) for form in forms])
            shares.append((along.T * gram.LUsolve(along))[0] / sp.Integer(2**size))
        require(sum(shares) == gram.rank(), f"d = {size}, m = {width}: shares of {sum(shares)}")
        heads = [V * sp.Matrix([rng.randint(-3, 3) or 1 for _ in range(width)]) for _ in range(2)]
        product = [int(dot(heads[0], x) * dot(heads[1], x)) for x in inputs(size)]
        for share, monomial in zip(shares[1:], _monomials(size)[1:], strict=True):
            loss = 1 - sp.Rational(dot(product, monomial) ** 2, dot(product, product) * 2**size)
            require(bool(loss >= 1 - share), f"d = {size}, m = {width}: {loss} below {1 - share}")
