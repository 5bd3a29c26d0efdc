"""What gradient descent does without the conditions on keys, queries, descent and start."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.gradient import gradient_along, gradient_along_tilde
from derivations.moments import moment
from derivations.notation import E, a, b, d, declare, gamma, gamma_tilde, i, k, t
from derivations.population import cross_moment, quartic_moment
from derivations.printing.latex import equation
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Step
from derivations.proof.refusal import require
from derivations.softmax import ATTENTION, attention_velocity, in_attention, score_motion
from derivations.transformer import (
    GRADIENT,
    ISOMETRY,
    NORM,
    W_O,
    W_Q,
    W_V,
    K,
    bit,
    cls_square,
    eta_prime,
    matched_step,
    query,
    query_gradient,
    readout,
    scale,
    step,
    z,
)
from derivations.transformers.explicit_transformer import product, transpose
from derivations.transformers.layer_conditions import gain, r, r_tilde, residual_excess
from derivations.transformers.linear_maps import (
    LINE,
    LinearMap,
    Rules,
    gradient_by,
    identity,
    letter,
    require_same,
)
from derivations.zero import at_zero

__all__ = ["steps"]


OTHER_K, OTHER_W_Q = letter(r"\tilde{K}", "R^h", "R^m"), letter(r"\tilde{W}_{Q}", "R^h", "R^n")
OTHER_GRADIENT = letter(r"\nabla_{\tilde{\theta}} L", "R^m")
LAST_GRADIENT = letter(r"\nabla_{\theta} L^{-}", "R^m")
bias, direction = letter("b", "R^h"), letter("B", "R^h", "R^n")
stretch = declare(sp.Symbol, "key_stretch", r"\varkappa", positive=True)
momentum = declare(sp.Symbol, "momentum", r"\mu", positive=True)
offset = declare(sp.Symbol, "offset", "c", real=True)


def steps() -> tuple[Step, ...]:
    """Return the steps that leave out a condition on what is trained, and how."""
    stretched = query(step(eta_prime)).under(NORM)
    return (
        Step(
            uses=("transformer:gradient", "transformer:matched", "zero:circle"),
            statement=r"\theta' = " + stretched.latex(),
            reason=r"Without (1) or (6): $K^{\top} K$ stands between the gradient and the step, and"
            r" $\eta' \lambda^{2} |z|^{2}$ in the place of $\eta$. If $K^{\top} K = \varkappa$, the"
            r" step $\eta / (\varkappa \lambda^{2} |z|^{2})$ makes up for it. No step does at"
            r" $K^{\top} K = \mathrm{diag}(4, 1)$ and $\nabla_{\theta} L = (-1/8, -1/8)$, the"
            r" gradient at zero of four embeddings on a circle.",
            check=lambda: _check_stretched(stretched),
        ),
        Step(
            uses=("transformer:speeds", "transformer:matched", "zero:gradient"),
            statement=r"\tilde{K} = -K, \tilde{W}_{Q} = W_{Q}: \quad \theta' = "
            + _shared().latex(),
            reason=r"Without (5): heads with one $W_{Q}$ add their gradients. With opposite keys"
            r" $\tilde{\theta} = -\theta$ holds for ever, and nothing moves where both queries are"
            r" zero, as the gradients agree there; with two $W_{Q}$ both move.",
            check=_check_shared,
        ),
        Step(
            uses=("transformer:scores", "transformer:gradient"),
            statement=r"q = W_{Q} z + b: \quad \theta' = " + _with_bias().latex(),
            reason=r"Without (5): a trained bias of the query is a second way to move it, as if $z$"
            r" had one more entry, $1$. The step $\eta / (\lambda^{2} (|z|^{2} + 1))$ makes up for"
            r" it.",
            check=lambda: require_same(
                _with_bias(),
                query(W_Q)
                + (K.T @ bias).times(scale)
                - GRADIENT.times(eta_prime * scale**2 * (cls_square + 1)),
                "the query after the step and its closed form",
            ),
        ),
        Step(
            uses=("softmax:shift",),
            statement=r"s_{i} \to s_{i} + c: \quad \gamma_{i} \to \gamma_{i}, \quad D \gamma_{i} ="
            r" 0 \text{ if } D s_{i} \text{ is the same for all } i",
            reason=r"A bias of the keys adds $\lambda b \cdot (W_{Q} z)$ to every score: frozen or"
            r" trained, it changes nothing, and is not changed. Of the start, (7), the differences"
            r" of scores count: $\gamma_{i} / \gamma_{k} = e^{s_{i} - s_{k}}$.",
            check=_check_common_shift,
        ),
        Step(
            uses=("residual",),
            statement=equation(
                r"\frac{\partial L}{\partial r} = 0 \text{ at } r = 0, \quad"
                r" \frac{\partial^{2} L}{\partial r^{2}}",
                sp.diff(residual_excess(), r, 2).subs(r_tilde, 0),
            ),
            reason=r"A trained bias $r$ of a value stays zero, by the parity of $x$, for any"
            r" queries: harmless, in exact arithmetic. A step multiplies what rounding makes of it"
            r" by $1 - 2 \eta |\tilde{\gamma}|^{2}$, so that it grows where $\eta"
            r" |\tilde{\gamma}|^{2} > 1$.",
            check=_check_value_bias,
        ),
        Step(
            uses=("moments:rule",),
            statement=equation(
                r"f = c - p q: \quad \frac{\partial L}{\partial c}",
                sp.diff(_loss_at_offset(), offset).subs(offset, 0),
            )
            + r" < 0 \text{ at } c = 0",
            reason=r"Without (5): a trained offset of the output leaves zero in the first step, and"
            r" adds $- 2 c D \langle \gamma, \tilde{\gamma} \rangle$ to the derivative of the loss"
            r" in the second.",
            check=_check_offset,
        ),
        Step(
            uses=("gain", "population:cross", "population:quartic", "gradient:query"),
            statement=equation(
                r"\frac{\partial L}{\partial g}", sp.factor(at_zero(_slope_in_gain()))
            )
            + r" \text{ at } g = 1, \quad D L(g) - D L(1) = (g - 1) ((g + 1) D Q - 2 D C), \quad"
            r" g' = g - \eta' |W_{O}^{\top} w|^{2} \frac{\partial L}{\partial g}",
            reason=r"Without (3), its second half: training $W_{V}$, $W_{O}$ or $w$ trains, if"
            r" nothing else, the gain of the reading. The first step of the queries is not"
            r" affected, as $g = 1$; the second is. The first value is that at zero, positive for"
            r" $d > 2$; the last is for $W_{V}$.",
            check=_check_gain,
        ),
        Step(
            uses=("transformer:scores", "transformer:gradient"),
            statement=r"z \text{ trained}: \quad \theta' = " + _with_cls_trained().latex(),
            reason=r"Without (5): $z$ moves by $-\eta' \lambda (W_{Q}^{\top} K \nabla_{\theta} L +"
            r" \tilde{W}_{Q}^{\top} \tilde{K} \nabla_{\tilde{\theta}} L)$. What $W_{Q}$ does to"
            r" directions other than $z$ enters, and each head moves the other.",
            check=_check_cls_trained,
        ),
        Step(
            uses=("transformer:scores", "transformer:gradient"),
            statement=r"W_{K} \text{ trained}: \quad \theta' = " + _with_keys_trained().latex(),
            reason=r"Without (1), its last half: the gradient by $K$ is $\lambda W_{Q} z"
            r" (\nabla_{\theta} L)^{\top}$. To first order the step is longer by the factor $1 +"
            r" |W_{Q} z|^{2} / |z|^{2}$, which changes from step to step and with the head.",
            check=_check_keys_trained,
        ),
        Step(
            uses=("transformer:gradient",),
            statement=r"W_{Q}' = W_{Q} - \eta' (\nabla_{W_{Q}} L + \mu \nabla_{W_{Q}} L^{-}):"
            r" \quad \theta' = " + _with_momentum().latex(),
            reason=r"Without (6): momentum $\mu$, $L^{-}$ the loss one step before. A rule that is"
            r" linear in the gradients is the same rule for $\theta$: equivalent to descent of the"
            r" two queries with momentum, not to plain descent.",
            check=lambda: require_same(
                _with_momentum(),
                query(W_Q)
                - (GRADIENT + LAST_GRADIENT.times(momentum)).times(
                    eta_prime * scale**2 * cls_square
                ),
                "the step with momentum and its closed form",
            ),
        ),
        Step(
            uses=("transformer:gradient", "zero:circle"),
            statement=r"\theta' - \theta = (1, 1) \eta \text{ for } K = 1, \quad (1/5, 7/5) \eta"
            r" \text{ for the } K \text{ with rows } (3/5, -4/5), (4/5, 3/5)",
            reason=r"Without (6): Adam's first step moves every entry of $W_{Q}$ by $\eta$ against"
            r" the sign of its derivative, here $\nabla_{\theta} L = (-1/8, -1/8)$, $\lambda = 1$,"
            r" $z = (1, 0, \ldots)$. The move of $\theta$ depends on $K$, though $K^{\top} K = 1$:"
            r" no rule for $\theta$ alone gives it.",
            check=_check_adam,
        ),
    )


def _shared() -> LinearMap:
    """Return theta after a matched step, with one W_Q for two heads with opposite keys."""
    form = (GRADIENT.T @ K.T - OTHER_GRADIENT.T @ K.T) @ direction @ z
    by_weights = gradient_by(form.times(scale), direction)
    return query(W_Q - by_weights.times(matched_step())).under(ISOMETRY, NORM)


def _with_bias() -> LinearMap:
    """Return theta after a step of W_Q and of a bias b of the query."""
    along = letter(r"\beta", "R^h")
    by_bias = gradient_by((GRADIENT.T @ K.T @ along).times(scale), along)
    moved = (K.T @ (bias - by_bias.times(eta_prime))).times(scale)
    return (query(step(eta_prime)) + moved).under(ISOMETRY, NORM)


def _with_cls_trained() -> LinearMap:
    """Return theta after a step of both W_Q and of z."""
    along = letter(r"\zeta", "R^n")
    form = GRADIENT.T @ K.T @ W_Q @ along + OTHER_GRADIENT.T @ OTHER_K.T @ OTHER_W_Q @ along
    moved = z - gradient_by(form.times(scale), along).times(eta_prime)
    return (K.T @ step(eta_prime) @ moved).times(scale).under(ISOMETRY, NORM)


def _with_keys_trained() -> LinearMap:
    """Return theta after a step of W_Q and of K."""
    along = letter(r"\Gamma", "R^h", "R^m")
    form = (GRADIENT.T @ along.T @ W_Q @ z).times(scale)
    moved = K - gradient_by(form, along).times(eta_prime)
    return (moved.T @ step(eta_prime) @ z).times(scale).under(ISOMETRY, NORM)


def _with_momentum() -> LinearMap:
    """Return theta after a step along the gradient and mu times the last one."""
    last = (K @ LAST_GRADIENT @ z.T).times(scale * momentum)
    moved = W_Q - (query_gradient() + last).times(eta_prime)
    return query(moved).under(ISOMETRY, NORM)


def _loss_at_offset() -> sp.Expr:
    """Return E (f - y)^2 - L for f = c - p q."""
    surplus = moment((Unit(a), Unit(b))) - moment((gamma, gamma_tilde))
    return sp.expand(2 * offset * surplus + offset**2)


def _slope_in_gain() -> sp.Expr:
    """Return the derivative of 1 - 2 g C + g^2 Q at g = 1."""
    return 2 * (quartic_moment() - cross_moment())


def _check_stretched(stretched: LinearMap) -> None:
    size = eta_prime * scale**2 * cls_square
    require_same(
        stretched,
        query(W_Q) - (K.T @ K @ GRADIENT).times(size),
        "the query after the step and its closed form",
    )
    uniformly: Rules = ((K.T @ K, identity("R^m", stretch)),)
    require_same(
        query(step(matched_step() / stretch)).under(uniformly, NORM),
        query(step(matched_step())).under(ISOMETRY, NORM),
        "the step over the stretch and the matched step",
    )
    slope, gram = (Fraction(-1, 8), Fraction(-1, 8)), (4, 1)
    moves = [entry * factor for entry, factor in zip(slope, gram, strict=True)]
    require(moves[0] * slope[1] != moves[1] * slope[0], "K^T K grad is parallel to grad")


def _check_shared() -> None:
    require_same(
        _shared(),
        query(W_Q) - (GRADIENT - OTHER_GRADIENT).times(matched_step() * scale**2 * cls_square),
        "the query after the shared step and its closed form",
    )
    along, along_tilde = at_zero(gradient_along()), at_zero(gradient_along_tilde())
    require_equal(along, along_tilde, "the gradients of the two heads at zero")
    require(along != 0, "the gradients at zero vanish")


def _check_common_shift() -> None:
    factor = sp.Symbol("factor", positive=True)
    shifted = ATTENTION.xreplace({E: factor * E})
    require_equal(Entry(shifted, i), Entry(ATTENTION, i), "attention after a common shift")
    require_equal(
        Entry(ATTENTION, i) / Entry(ATTENTION, k),
        Entry(E, i) / Entry(E, k),
        "a quotient of weights",
    )
    require_equal(Entry(attention_velocity(sp.S.One), i), sp.S.Zero, "D gamma and 0")


def _check_value_bias() -> None:
    at_zero_bias = {r: 0, r_tilde: 0}
    for each in (r, r_tilde):
        slope = sp.diff(residual_excess(), each)
        require_equal(slope.subs(at_zero_bias), sp.S.Zero, "the derivative by a bias and 0")
    curvature = sp.diff(residual_excess(), r, 2).subs(r_tilde, 0)
    require_equal(curvature, 2 * PowerSum(gamma_tilde**2), "the curvature in a bias")


def _check_offset() -> None:
    overlap = PowerSum(gamma * gamma_tilde)
    require_equal(_loss_at_offset(), offset**2 - 2 * offset * overlap, "L at an offset")


def _check_gain() -> None:
    slope = at_zero(_slope_in_gain())
    require_equal(slope, 2 * (d - 2) / d**3, "the slope in the gain at zero")
    velocity = _velocity(quartic_moment()), _velocity(cross_moment())
    at_gain = gain**2 * velocity[0] - 2 * gain * velocity[1]
    require_equal(at_gain.subs(gain, 1), gradient_along(), "D L at the gain 1 and D L")
    require_equal(
        at_gain - gradient_along(),
        (gain - 1) * ((gain + 1) * velocity[0] - 2 * velocity[1]),
        "D L(g) - D L(1) and its factors",
    )
    reading = letter(r"W_{O}^{\top} w", "R^h")
    by_values = gradient_by(readout.T @ W_O @ direction @ bit, direction)
    moved = readout.T @ W_O @ (W_V - by_values.times(eta_prime)) @ bit
    gained: Rules = ((bit.T @ bit, identity(LINE)), (readout.T @ W_O, reading.T))
    require_same(
        moved.under(gained),
        reading.T @ W_V @ bit - (reading.T @ reading).times(eta_prime),
        "the gain after a step of W_V",
    )


def _velocity(expr: sp.Expr) -> sp.Expr:
    """Return the derivative of a formula in gamma along t_i = D s_i."""
    return in_attention(score_motion(t)(expr.xreplace({gamma: ATTENTION})))


def _check_cls_trained() -> None:
    size = eta_prime * scale**2
    plain = query(W_Q) - GRADIENT.times(size * cls_square)
    own = K.T @ W_Q @ W_Q.T @ K @ GRADIENT
    other = K.T @ W_Q @ OTHER_W_Q.T @ OTHER_K @ OTHER_GRADIENT
    overlap = z.T @ W_Q.T @ K @ GRADIENT + z.T @ OTHER_W_Q.T @ OTHER_K @ OTHER_GRADIENT
    require_same(
        _with_cls_trained(),
        plain - (own + other).times(size) + (GRADIENT @ overlap).times(size**2 / scale),
        "the query after the step and its closed form",
    )


def _check_keys_trained() -> None:
    size = eta_prime * scale**2
    square = (W_Q @ z).T @ (W_Q @ z)
    overlap = GRADIENT.T @ K.T @ W_Q @ z
    require_same(
        _with_keys_trained(),
        query(W_Q)
        - GRADIENT.times(size * cls_square)
        - (GRADIENT @ square).times(size)
        + (GRADIENT @ overlap).times(size**2 * cls_square / scale),
        "the query after the step and its closed form",
    )


def _check_adam() -> None:
    fifth = Fraction(1, 5)
    slope = (Fraction(-1, 8), Fraction(-1, 8))
    for rows, expected in (
        ([[1, 0], [0, 1]], [1, 1]),
        ([[3 * fifth, -4 * fifth], [4 * fifth, 3 * fifth]], [fifth, 7 * fifth]),
    ):
        signs = [(entry > 0) - (entry < 0) for entry in product(rows, slope)]
        found = [-entry for entry in product(transpose(rows), signs)]
        require(found == expected, f"theta moves by {found}, not {expected}")
