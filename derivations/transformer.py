"""The single-layer Transformer with a CLS token is the model of two queries, and trains like it.

The matrices are words of unspecified sizes: that W_K keeps inner products of embeddings, K^T K = 1,
is a rule that shortens words. The positions are power sums. Both meet in one sequence, t_i = v_i.A,
the speed of the scores, through which alone a motion of the queries is felt.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("transformer")

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, density
from derivations.gradient import gradient_along
from derivations.notation import E, declare, eta, i, t, x
from derivations.printing.latex import latex
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Derivation, Method, Step
from derivations.softmax import ATTENTION, attention_velocity
from derivations.transformers.explicit_training import check_training
from derivations.transformers.linear_maps import (
    LINE,
    LinearMap,
    Rules,
    gradient_by,
    identity,
    letter,
    require_same,
)

__all__ = [
    "CONDITIONS",
    "GRADIENT",
    "ISOMETRY",
    "NORM",
    "W_K",
    "W_O",
    "W_Q",
    "W_V",
    "K",
    "U",
    "attention_with_cls",
    "bit",
    "cls_mass",
    "cls_square",
    "derive",
    "embedding",
    "eta_prime",
    "head_width",
    "matched_step",
    "query",
    "query_gradient",
    "readout",
    "scale",
    "step",
    "token",
    "z",
]

_M, _H, _N = "R^m", "R^h", "R^n"

scale = declare(sp.Symbol, "lambda_", r"\lambda", positive=True)
cls_square = declare(sp.Symbol, "z_square", "|z|^{2}", positive=True)
eta_prime = declare(sp.Symbol, "eta_prime", r"\eta'", positive=True)
head_width = declare(sp.Symbol, "head_width", "h", integer=True, positive=True)
cls_mass = declare(sp.Symbol, "E_CLS", r"E_{\mathrm{CLS}}", nonnegative=True)

U = letter("U", _N, _M)
"""Where a token holds its embedding."""
bit = letter("e", _N)
"""Where it holds its bit."""
z = letter("z", _N)
W_Q, W_K = letter("W_{Q}", _H, _N), letter("W_{K}", _H, _N)
W_V, W_O = letter("W_{V}", _H, _N), letter("W_{O}", _N, _H)
readout, other_readout = letter("w", _N), letter(r"\tilde{w}", _N)
K = letter("K", _H, _M)
embedding = letter("v_{i}", _M)
GRADIENT = letter(r"\nabla_{\theta} L", _M)
theta = letter(r"\theta", _M)
direction = letter("B", _H, _N)

_KEYS: Rules = ((W_K @ U, K), (W_K @ bit, (W_K @ bit).times(0)))
ISOMETRY: Rules = ((K.T @ K, identity(_M)),)
NORM: Rules = ((z.T @ z, identity(LINE, cls_square)),)
_VALUES: Rules = (
    (readout.T @ W_O @ W_V @ U, (readout.T @ U).times(0)),
    (readout.T @ W_O @ W_V @ bit, identity(LINE)),
    (other_readout.T @ W_O @ W_V @ U, (readout.T @ U).times(0)),
    (other_readout.T @ W_O @ W_V @ bit, identity(LINE, 0)),
)

CONDITIONS = (
    r"$W_{K} = K$ on the embeddings with $K^{\top} K = 1$, and $W_{K} = 0$ on the bit; frozen",
    "the CLS token is masked out as a key",
    r"$w^{g'} \cdot W_{O}^{g} W_{V}^{g} z_{i} = x_{i}$ for $g' = g$, and $0$ for $g' \ne g$;"
    r" $W_{V}$, $W_{O}$, $w$ frozen",
    "$f$ is minus the product of the two readings of $y$: no norm, no residual that $w$ sees, no"
    " dropout",
    r"each head has its own $W_{Q}$; it alone is trained: no bias is, and $z$ is frozen",
    r"plain gradient descent, the step $\eta' = \eta / (\lambda^{2} |z|^{2})$",
    r"$\lambda K^{\top} W_{Q} z = \theta^{0}$ at the start",
)
"""Under which the Transformer is the model of two queries, numbered from 1."""


def token() -> LinearMap:
    """Return the token of position i: its embedding, and its bit."""
    return U @ embedding + bit.times(Entry(x, i))


def query(W: LinearMap) -> LinearMap:
    """Return what theta is to a Transformer with W_Q = `W`: lambda K^T W z."""
    return (K.T @ W @ z).times(scale)


def query_gradient() -> LinearMap:
    """Return the gradient of the loss by W_Q.

    Along W_Q + h B the scores move with t_i = v_i.A, A = lambda K^T B z, so the loss has the
    derivative A.grad_theta L there, for every B.
    """
    return gradient_by(GRADIENT.T @ query(direction), direction)


def step(size: sp.Expr) -> LinearMap:
    """Return W_Q after a step of plain gradient descent."""
    return W_Q - query_gradient().times(size)


def matched_step() -> sp.Expr:
    """Return the step that corresponds to a step eta of theta."""
    return eta / (scale**2 * cls_square)


def attention_with_cls(mass: sp.Expr) -> sp.Expr:
    """Return the attention to the positions, in E_i, if the CLS token has `mass` in the sum."""
    return E / (PowerSum(E) + mass)


def derive(title: str) -> Derivation:
    """Derive that output and training are those of two queries."""
    by_weights = query_gradient()
    after = query(step(eta_prime)).under(ISOMETRY, NORM)
    steps = (
        Step(
            label="key",
            statement=r"W_{K} z_{i} = " + _key().latex(),
            reason=r"The token of position $i$ is $z_{i} = U v_{i} + x_{i} e$: its embedding, its"
            r" bit, zeros. Uses (1): $W_{K} U = K$ and $W_{K} e = 0$. What $W_{K}$ does to the CLS"
            r" token does not enter.",
            check=lambda: require_same(_key(), K @ embedding, "the key and K v_i"),
        ),
        Step(
            label="scores",
            uses=("key",),
            statement=r"s_{i} = \lambda (W_{Q} z) \cdot (W_{K} z_{i}) = v_{i} \cdot \theta,"
            r" \quad \theta = " + query(W_Q).latex(),
            reason=r"The same scores as those of the query $\theta$ with the embeddings $V$,"
            r" whatever the input is. Uses (1).",
            check=lambda: require_same(
                (_key().T @ W_Q @ z).times(scale),
                embedding.T @ query(W_Q),
                "the score and v_i.theta",
            ),
        ),
        Step(
            label="mask",
            statement=r"\gamma_{i} = \frac{E_{i}}{Z + E_{\mathrm{CLS}}} = \frac{E_{i}}{Z}"
            r" \text{ with } E_{\mathrm{CLS}} = 0",
            reason=r"The softmax runs over the positions and the CLS token, which the mask gives"
            r" the weight $0$. Uses (2).",
            check=lambda: require_equal(
                Entry(attention_with_cls(cls_mass), i).subs(cls_mass, 0), Entry(ATTENTION, i)
            ),
        ),
        Step(
            label="reading",
            uses=("scores", "mask"),
            statement=r"w^{1} \cdot y = \sum_{i} \gamma_{i} x_{i} = p, \quad w^{2} \cdot y ="
            r" \sum_{i} \tilde{\gamma}_{i} x_{i} = q, \quad f = - p q",
            reason=r"$y = \sum_{g} W_{O}^{g} \sum_{i} \gamma_{i}^{g} W_{V}^{g} z_{i}$, and a"
            r" readout finds $x_{i}$ in its own head and nothing in the other. Uses (3) and (4)."
            r" So, with the steps before, $f(x)$ is the prediction of $(\theta, \tilde{\theta})$"
            r" for every input.",
            check=_check_reading,
        ),
        Step(
            label="speeds",
            uses=("scores", "reading", "softmax:attention", "gradient:query"),
            statement=r"W_{Q} + h B: \quad D s_{i} = v_{i} \cdot A, \quad A = "
            + query(direction).latex(),
            reason=r"The scores are linear in $W_{Q}$, for every direction $B$, as those of the"
            r" other model are in $\theta$. Uses (1) and (5). Checked, too: the derivatives of $p$"
            r" and of $L$ are linear in $t_{i} = D s_{i}$, so that nothing else of $B$ enters."
            r" This holds for the loss of every single input, whatever function of $f(x)$ it is.",
            check=_check_speeds,
        ),
        Step(
            label="gradient",
            uses=("speeds",),
            statement=r"\nabla_{W_{Q}} L = " + by_weights.latex(),
            reason=r"$\langle \nabla_{W_{Q}} L, B \rangle = A \cdot \nabla_{\theta} L$ for every"
            r" $B$: the matrix of a linear form. Uses (5).",
            check=lambda: require_same(
                by_weights, (K @ GRADIENT @ z.T).times(scale), "the gradient and lambda K grad z^T"
            ),
        ),
        Step(
            label="descent",
            uses=("gradient",),
            statement=r"\lambda K^{\top} (W_{Q} - \eta' \nabla_{W_{Q}} L) z = " + after.latex(),
            reason=r"One step of plain gradient descent, seen from $\theta$. Uses (1), $K^{\top} K"
            r" = 1$, (5), as $z$ and $K$ stand still, and (6), as the step is linear in the"
            r" gradient.",
            check=lambda: require_same(
                after,
                query(W_Q) - GRADIENT.times(eta_prime * scale**2 * cls_square),
                "the query after the step and its closed form",
            ),
        ),
        Step(
            label="matched",
            uses=("descent",),
            statement=r"\theta' = \theta - \eta \nabla_{\theta} L \text{ with } \eta' = "
            + latex(matched_step()),
            reason=r"Uses (6). The same for the other head, whose matrices are its own.",
            check=lambda: require_same(
                query(step(matched_step())).under(ISOMETRY, NORM),
                query(W_Q) - GRADIENT.times(eta),
                "the two steps",
            ),
        ),
        Step(
            label="start",
            uses=("gradient", "matched"),
            statement=r"W_{Q} z = \lambda^{-1} K \theta + r, \; K^{\top} r = 0 \quad \Rightarrow"
            r" \quad \lambda K^{\top} W_{Q} z = \theta, \quad W_{Q}' z = \lambda^{-1} K \theta' +"
            r" r, \quad W_{Q}' y = W_{Q} y \text{ for } y \perp z",
            reason=r"Uses (1) and (7). A part $r$ that no key sees stays as it is; so does what"
            r" $W_{Q}$ does to other directions than $z$.",
            check=_check_start,
        ),
        Step(
            uses=("matched", "start"),
            statement=r"\lambda = h^{-1/2}: \quad W_{Q}^{0} z = \sqrt{h} K \theta^{0}, \quad"
            r" \eta' = h \eta / |z|^{2}",
            reason=r"The scale of libraries, $h$ the number of entries of a query: start and step"
            r" have to be scaled, in opposite directions. Uses (6) and (7).",
            check=_check_library_scale,
        ),
        Step(
            uses=("reading", "gradient", "matched", "start"),
            statement=r"\lambda K^{\top} W_{Q}^{\tau} z = \theta^{\tau} \text{ and }"
            r" f^{\tau}(x) = f(x; \theta^{\tau}, \tilde{\theta}^{\tau}) \text{ for all } x, \tau",
            reason=r"By induction on the steps $\tau$. Independent check: the layer written out in"
            r" explicit matrices, its loss over all inputs differentiated numerically by every"
            r" entry of $W_{Q}$ with 50 digits, for two steps, at $(d, m, h, n) = (3, 2, 3, 4)$"
            r" with $\lambda = 2/3$ and $|z| = 3$; beside it the closed form of the gradient.",
            check=check_training,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="transformer",
        title=title,
        source="arXiv:2502.07553v2, section 2, the reduction to two queries; conditions ours",
        setting=r"Tokens $z_{i} = (v_{i}, x_{i}, 0) \in \mathbb{R}^{n}$ and a CLS token $z$. In"
        r" each of two heads, queries $W_{Q} z$, keys $W_{K} z_{i}$, values $W_{V} z_{i}$ with $h$"
        r" entries; the scores are $\lambda$ times inner products, $y = \sum_{g} W_{O}^{g}"
        r" \sum_{i} \gamma_{i}^{g} W_{V}^{g} z_{i}$ at the CLS token, $f = - (w^{1} \cdot y)"
        r" (w^{2} \cdot y)$. Conditions: "
        + "; ".join(f"({number}) {text}" for number, text in enumerate(CONDITIONS, start=1))
        + r". The sizes $d$, $m$, $h \ge m$, $n$ are open. One head is written without index; a"
        r" prime marks what comes after a step.",
        steps=steps,
        formulas=(),
    )


def _key() -> LinearMap:
    return (W_K @ token()).under(_KEYS)


def _check_reading() -> None:
    for seen_by, expected in ((readout, Entry(x, i)), (other_readout, sp.S.Zero)):
        found = (seen_by.T @ W_O @ W_V @ token()).under(_VALUES)
        require_same(found, identity(LINE, expected), "what a readout finds, and x_i or 0")


def _check_speeds() -> None:
    require_same(
        (_key().T @ direction @ z).times(scale), embedding.T @ query(direction), "D s_i and v_i.A"
    )
    for derivative in (PowerSum(x * attention_velocity(t)), gradient_along()):
        linear = density(derivative, t)  # refuses what is not a linear form in t
        require_equal(PowerSum(linear * t), derivative, "the linear form and the derivative")


def _check_start() -> None:
    rest, other = letter("r", _H), letter("y", _N)
    start: Rules = ((W_Q @ z, (K @ theta).times(1 / scale) + rest), (K.T @ rest, theta.times(0)))
    across: Rules = ((z.T @ other, identity(LINE, 0)),)
    require_same(query(W_Q).under(start, ISOMETRY), theta, "the query at the start and theta")
    moved = step(matched_step())
    require_same(
        (moved @ z).under(start, NORM),
        (K @ (theta - GRADIENT.times(eta))).times(1 / scale) + rest,
        "the query after the step and K theta'",
    )
    require_same((moved @ other).under(across), W_Q @ other, "W_Q y before and after")


def _check_library_scale() -> None:
    at_scale = {scale: 1 / sp.sqrt(head_width)}
    require_equal(
        matched_step().subs(at_scale), head_width * eta / cls_square, "the step at scale 1/sqrt(h)"
    )
    require_equal((1 / scale).subs(at_scale), sp.sqrt(head_width), "the factor of the start")
