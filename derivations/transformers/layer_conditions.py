"""What the layer computes without the conditions on keys, mask, values and readout."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.moments import moment
from derivations.notation import E, Z, a, b, d, declare, gamma, gamma_tilde, i, x
from derivations.population import loss, quartic_moment
from derivations.printing.latex import equation
from derivations.proof.enumeration import dot
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Step
from derivations.proof.refusal import require
from derivations.transformer import (
    W_K,
    W_Q,
    K,
    U,
    attention_with_cls,
    bit,
    cls_mass,
    embedding,
    query,
    scale,
    token,
    z,
)
from derivations.transformers.linear_maps import LINE, LinearMap, Rules, identity, require_same
from derivations.zero import at_zero

__all__ = ["gain", "r", "r_tilde", "residual_excess", "steps"]

r = declare(sp.Symbol, "shift", "r", real=True)
r_tilde = declare(sp.Symbol, "shift_tilde", r"\tilde{r}", real=True)
gain = declare(sp.Symbol, "gain", "g", real=True)


def steps() -> tuple[Step, ...]:
    """Return the steps that leave out a condition on what the layer computes."""
    return (
        Step(
            statement=r"W_{K} e \ne 0: \quad s_{i} = v_{i} \cdot \theta + x_{i}"
            r" \lambda (W_{K} e) \cdot (W_{Q} z)",
            reason=r"Without (1) the attention depends on the input. With $d = 2$, $v_{i} \cdot"
            r" \theta = 0$ and $\lambda (W_{K} e) \cdot (W_{Q} z) = \pm \log 2$ for the two heads,"
            r" $f(1, -1) = 9/25$ instead of $0$.",
            check=_check_key_of_the_bit,
        ),
        Step(
            uses=("transformer:mask", "population:loss", "zero:loss"),
            statement=equation(
                r"\sum_{i} \gamma_{i}", PowerSum(attention_with_cls(cls_mass)).subs(PowerSum(E), Z)
            )
            + r", \quad "
            + equation(r"L - L_{0}", sp.factor(_unmasked_loss() - at_zero(loss()))),
            reason=r"Without (2) a key of the CLS token takes its part, even if $W_{K} z = 0$, as"
            r" then $E_{\mathrm{CLS}} = 1$. The loss is that of both queries at zero; it is another"
            r" one for every $d$, as the cubic has no integer root: one would divide $2$.",
            check=_check_unmasked,
        ),
        Step(
            label="gain",
            uses=("population:square", "population:cross", "population:quartic", "population:loss"),
            statement=equation(r"L(g) - L(1)", sp.factor(_gain_excess())),
            reason=r"Without (3): readings $g p$ and $\tilde{g} q$ matter through their product $g"
            r" \tilde{g}$ alone, which is written $g$ here: gains $g$ and $1/g$ change nothing."
            r" Otherwise $f$ is multiplied. With both queries at zero the last factor is"
            r" $(3 (g + 1) - 4) / d^{2} - 2 (g + 1) / d^{3}$.",
            check=_check_gain,
        ),
        Step(
            label="residual",
            uses=("moments:rule",),
            statement=equation(
                r"w^{1} \cdot y = p + r, \; w^{2} \cdot y = q + \tilde{r}: \quad"
                r" L' - L",
                residual_excess(),
            ),
            reason=r"Without (4): a residual that the readouts see, $r = w^{1} \cdot z$ and"
            r" $\tilde{r} = w^{2} \cdot z$; or a frozen value bias; or values with a part $\pi"
            r" \cdot v_{i}$, $r = \pi \cdot \bar{v}$. It vanishes with $r = \tilde{r} = 0$ and is"
            r" positive for any other $r \tilde{r} \ge 0$.",
            check=_check_residual,
        ),
        Step(
            statement=r"(1, 0, x_{i}, 0) \to (1, -1, 1, -1) \text{ for } x_{i} = 1, \quad"
            r" (\sqrt{2}, 0, -\sqrt{2}, 0) \text{ for } x_{i} = -1",
            reason=r"Without (4): layer norm subtracts the mean of the token and divides by the"
            r" standard deviation, and both depend on the bit: its image is $1$ or $-\sqrt{2}$, not"
            r" odd in $x_{i}$, and the key is no longer that of $v_{i}$.",
            check=_check_layer_norm,
        ),
        Step(
            statement=r"z_{i} \cdot z_{i} = " + _square_of_token().latex(),
            reason=r"Division by the root mean square of a token is harmless: with unit embeddings"
            r" $z_{i} \cdot z_{i} = 2$ for every position and input, so the tokens are all"
            r" multiplied by $\sqrt{n / 2}$, which $W_{K}$ and $W_{V}$ undo, and $z$ gets the norm"
            r" $\sqrt{n}$: a change of variables.",
            check=lambda: require_same(
                _square_of_token(),
                embedding.T @ embedding + identity(LINE, Entry(x, i) ** 2),
                "the square of a token and |v_i|^2 + x_i^2",
            ),
        ),
        Step(
            uses=("population:quartic", "population:loss"),
            statement=equation(r"\gamma_{a} = \tilde{\gamma}_{a} = 0: \quad L", _dropped_loss())
            + r" \ge 1",
            reason=r"Without (4): dropout that takes the weight of $a$ from both heads leaves"
            r" nothing to be learnt, whatever the factor on the others.",
            check=_check_dropout,
        ),
        Step(
            uses=("moments:rule",),
            statement=equation(r"f = - \frac{p + q}{2}: \quad L", _loss_of_mean()) + r" > 1",
            reason=r"Without (4): a readout that is no product. The mean of the readings is odd in"
            r" $x$ and the label even, so $\mathbb{E} [f y] = 0$.",
            check=_check_mean,
        ),
    )


def _gain_excess() -> sp.Expr:
    """Return L(g) - L(1), in Q and C, if f is g times what it was."""
    Q, C = sp.symbols("Q C", real=True)
    return _loss_at_gain(gain, Q, C) - _loss_at_gain(sp.S.One, Q, C)


def residual_excess() -> sp.Expr:
    """Return L' - L if constants r and r_tilde are added to the readings p and q."""
    # f - y = x_a x_b - p q - u with u = r_tilde p + r q + r r_tilde.
    forms = {(gamma,): r_tilde, (gamma_tilde,): r, (): r * r_tilde}
    target = {(Unit(a), Unit(b)): sp.S.One, (gamma, gamma_tilde): -sp.S.One}
    return _mean(forms, forms) - 2 * _mean(target, forms)


def _mean(
    left: dict[tuple[sp.Expr, ...], sp.Expr], right: dict[tuple[sp.Expr, ...], sp.Expr]
) -> sp.Expr:
    """Return the mean of a product of two sums of products of forms."""
    return sp.expand(
        sum(
            one * other * moment(forms + more)
            for forms, one in left.items()
            for more, other in right.items()
        )
    )


def _loss_at_gain(size: sp.Expr, Q: sp.Expr, C: sp.Expr) -> sp.Expr:
    return 1 - 2 * size * C + size**2 * Q


def _unmasked_loss() -> sp.Expr:
    weight = attention_with_cls(sp.S.One).xreplace({E: sp.S.One})
    return loss().xreplace({gamma: weight, gamma_tilde: weight})


def _square_of_token() -> LinearMap:
    return (token().T @ token()).under(_TOKEN)


def _dropped_loss() -> sp.Expr:
    return loss().subs({Entry(gamma, a): 0, Entry(gamma_tilde, a): 0})


def _loss_of_mean() -> sp.Expr:
    half = {(gamma,): sp.Rational(1, 2), (gamma_tilde,): sp.Rational(1, 2)}
    label = {(Unit(a), Unit(b)): sp.S.One}
    return 1 - 2 * _mean(half, label) + _mean(half, half)


_TOKEN: Rules = (
    (U.T @ U, identity("R^m")),
    (bit.T @ bit, identity(LINE)),
    (U.T @ bit, (U.T @ bit).times(0)),
)


def _check_key_of_the_bit() -> None:
    score = ((W_K @ token()).T @ W_Q @ z).times(scale).under(((W_K @ U, K),))
    reads = ((W_K @ bit).T @ W_Q @ z).times(scale * Entry(x, i))
    require_same(score, embedding.T @ query(W_Q) + reads, "the score and its two parts")
    signs = (1, -1)
    readings = []
    for growth in (Fraction(2), Fraction(1, 2)):
        masses = [growth**sign for sign in signs]
        readings.append(dot(masses, signs) / sum(masses))
    found = -readings[0] * readings[1]
    require(found == Fraction(9, 25), f"f(1, -1) = {found}, not 9/25")


def _check_unmasked() -> None:
    require_equal(
        PowerSum(attention_with_cls(cls_mass)) * (PowerSum(E) + cls_mass), PowerSum(E), "the mass"
    )
    uniform = sp.S.One / (d + 1)
    direct = 1 - 4 * uniform**2 + (3 * d**2 - 2 * d) * uniform**4
    require_equal(_unmasked_loss(), direct, "the loss with a key of the CLS token")
    numerator, _ = sp.fraction(sp.factor(direct - at_zero(loss())))
    cubic = 2 * d**3 - 6 * d**2 - 5 * d - 2
    require_equal(numerator, -(2 * d + 1) * cubic, "the numerator and its factors")
    require(all(cubic.subs(d, root) != 0 for root in (1, 2)), "the cubic has an integer root")


def _check_gain() -> None:
    Q, C = quartic_moment(), moment((gamma, gamma_tilde, Unit(a), Unit(b)))
    require_equal(_loss_at_gain(sp.S.One, Q, C), loss(), "the loss at the gain 1")
    names = dict(zip(sp.symbols("Q C", real=True), (Q, C), strict=True))
    excess = _gain_excess().subs(names)
    require_equal(excess, (gain - 1) * ((gain + 1) * Q - 2 * C), "L(g) - L(1) and its factors")
    at_start = (3 * (gain + 1) - 4) / d**2 - 2 * (gain + 1) / d**3
    require_equal(at_zero(excess), (gain - 1) * at_start, "L(g) - L(1) with uniform attention")


def _check_residual() -> None:
    written = (
        r_tilde**2 * PowerSum(gamma**2)
        + r**2 * PowerSum(gamma_tilde**2)
        + 4 * r * r_tilde * PowerSum(gamma * gamma_tilde)
        + r**2 * r_tilde**2
    )
    require_equal(residual_excess(), written, "L' - L and its terms")


def _check_layer_norm() -> None:
    expected = {1: (1, -1, 1, -1), -1: (sp.sqrt(2), 0, -sp.sqrt(2), 0)}
    for sign, image in expected.items():
        entries = (1, 0, sign, 0)
        mean = sp.Rational(sum(entries), 4)
        centred = [entry - mean for entry in entries]
        deviation = sp.sqrt(sum(entry**2 for entry in centred) / 4)
        for entry, wanted in zip(centred, image, strict=True):
            require(entry / deviation == wanted, f"x_i = {sign}: {entry / deviation}, not {wanted}")


def _check_dropout() -> None:
    require_equal(_dropped_loss(), 1 + quartic_moment(), "the loss without a and 1 + E[p^2 q^2]")


def _check_mean() -> None:
    total = PowerSum((gamma + gamma_tilde) ** 2) / 4
    require_equal(_loss_of_mean(), 1 + total, "the loss of the mean and 1 + E f^2")
