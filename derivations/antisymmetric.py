"""The antisymmetric start, theta_tilde = -theta: closed loss, and what the first step does.

Here gamma_i gamma_tilde_i has one value omega for all positions. Everything is substitution into
the general loss and gradient: gamma = E / Z and gamma_tilde = E^-1 / Z_tilde turn each power sum
into a sum of powers of E. The gradient splits into a signal that pushes head 1 towards a by
e^Delta and towards b by e^-Delta, and a rest that is small.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("antisymmetric")


import sympy as sp

from derivations.antisymmetric_start.at_instances import check_loss, check_numeric
from derivations.calculus.power_sums import Entry, PowerSum, density
from derivations.gradient import attention_gradient, gradient_along, gradient_along_tilde
from derivations.notation import (
    Z_2,
    Delta,
    E,
    Z,
    Z_tilde,
    Z_tilde_2,
    a,
    b,
    eta,
    gamma,
    gamma_tilde,
    i,
    kappa,
    omega,
    rho,
    t,
)
from derivations.population import loss
from derivations.printing.latex import equation, latex
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.softmax import vectorial

__all__ = [
    "MIRROR",
    "at_start",
    "closed_loss",
    "derive",
    "kappa_value",
    "push",
    "push_tilde",
    "rest",
    "rest_weights",
    "signal",
]

START = {gamma: E / PowerSum(E), gamma_tilde: E**-1 / PowerSum(E**-1)}
"""Both attentions in the exponentials of the scores of theta; those of theta_tilde are -s."""

SUMS = {
    PowerSum(E): Z,
    PowerSum(E**-1): Z_tilde,
    PowerSum(E**2): Z_2,
    PowerSum(E**-2): Z_tilde_2,
    Entry(E, a): sp.exp(Delta) * Entry(E, b),
}
"""The names of the sums; Delta = s_a - s_b."""

MIRROR = {Z: Z_tilde, Z_tilde: Z, Z_2: Z_tilde_2, Z_tilde_2: Z_2, Delta: -Delta, E: E**-1}
"""The reflection s -> -s, which exchanges the two heads."""


def at_start(expr: sp.Expr) -> sp.Expr:
    """Write a formula in gamma and gamma_tilde at the antisymmetric start."""
    in_sums = sp.expand(expr.xreplace(START)).xreplace(SUMS)
    return sp.expand(in_sums.xreplace({Z_tilde: 1 / (omega * Z)}))


def closed_loss() -> sp.Expr:
    """Return the loss at the antisymmetric start."""
    return sp.collect(_with_cosh(at_start(loss())), omega)


def push() -> sp.Expr:
    """Return -A.grad_theta L / (2 omega), in terms of t_i = v_i.A: the direction of the step."""
    return sp.expand(-at_start(gradient_along()) / (2 * omega))


def push_tilde() -> sp.Expr:
    """Return -A.grad_theta_tilde L / (2 omega)."""
    return sp.expand(-at_start(gradient_along_tilde()) / (2 * omega))


def signal() -> sp.Expr:
    """Return the part of the push that reads the support: the terms in t_a and t_b."""
    return sp.Add(*(term for term in push().args if term.has(Entry(t, a), Entry(t, b))))


def rest() -> sp.Expr:
    """Return what is subtracted from the signal: the terms with a sum of all t_j."""
    return sp.expand(signal() - push())


def kappa_value() -> sp.Expr:
    """Return kappa: Z times the coefficient of sum_j E_j t_j in the rest."""
    return sp.collect(_with_cosh(sp.expand(Z * rest().coeff(PowerSum(E * t)))), omega)


def rest_weights() -> sp.Expr:
    """Return the sequence c with rest = sum_j c_j t_j."""
    return density(rest(), t)


def derive(title: str) -> Derivation:
    """Derive the closed loss and the signal of the first step."""
    start_loss, value_of_kappa = closed_loss(), kappa_value()
    named_rest = _with_kappa(rest())
    pushed = sp.expand(signal() - named_rest)
    weight = Entry(density(named_rest, t), i)
    formulas = (
        Formula(name="loss", left="L", right=start_loss),
        Formula(name="kappa", left=r"\kappa", right=value_of_kappa),
        Formula(name="push", left=r"-\frac{1}{2 \omega} A \cdot \nabla_{\theta} L", right=pushed),
        Formula(
            name="push_tilde",
            left=r"-\frac{1}{2 \omega} A \cdot \nabla_{\tilde{\theta}} L",
            right=pushed.xreplace(MIRROR),
        ),
        Formula(name="rest_weight", left="c_{i}", right=weight),
        Formula(name="sum_of_rest_weights", left=r"\sum_{i} c_{i}", right=_sum_of_weights()),
    )
    cross = Entry(gamma, a) * Entry(gamma_tilde, b) + Entry(gamma, b) * Entry(gamma_tilde, a)
    norms = PowerSum(gamma**2) * PowerSum(gamma_tilde**2)
    squares = PowerSum(gamma**2 * gamma_tilde**2)
    steps = (
        Step(
            label="products",
            statement=equation(
                r"\gamma_{i} \tilde{\gamma}_{i}", at_start(Entry(gamma * gamma_tilde, i))
            )
            + r" \text{ for every } i, \quad "
            + equation(
                r"\langle \gamma, \tilde{\gamma} \rangle", at_start(PowerSum(gamma * gamma_tilde))
            ),
            reason=r"$\gamma_{i} \tilde{\gamma}_{i} = e^{s_{i}} e^{-s_{i}} / (Z \tilde{Z})$."
            r" Checked with the sums in the place of $\omega$.",
            check=lambda: _check_restored(
                Entry(gamma * gamma_tilde, i), PowerSum(gamma * gamma_tilde)
            ),
        ),
        Step(
            label="sums",
            uses=("products",),
            statement=r", \quad ".join(
                (
                    equation(
                        r"\gamma_{a} \tilde{\gamma}_{b} + \gamma_{b} \tilde{\gamma}_{a}",
                        _with_cosh(at_start(cross)),
                    ),
                    equation(r"|\gamma|^{2} |\tilde{\gamma}|^{2}", at_start(norms)),
                    equation(r"\sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2}", at_start(squares)),
                )
            ),
            reason=r"Substitution of $\gamma = E / Z$ and $\tilde{\gamma} = E^{-1} / \tilde{Z}$;"
            r" $E_{a} / E_{b} = e^{\Delta}$. Checked with the sums in the place of their names.",
            check=lambda: _check_restored(cross, norms, squares),
        ),
        Step(
            label="loss",
            uses=("products", "sums", "population:loss"),
            statement=equation("L", start_loss),
            reason=r"Substitution into the population loss. Checked with the sums in the place of"
            r" their names.",
            check=lambda: require_equal(_restored(start_loss), loss().xreplace(START)),
        ),
        Step(
            uses=("loss",),
            statement=r"L = 2^{-d} \sum_{x} (f(x) - y(x))^{2}, \quad d = 2, \ldots, 8",
            reason=r"Independent check: all $2^{d}$ inputs in exact arithmetic, with rational $E$.",
            check=lambda: check_loss(start_loss),
            method=Method.INSTANCES,
        ),
        Step(
            label="push",
            uses=("products", "sums", "gradient:query"),
            statement=_bracket(r"-\frac{1}{2 \omega} \nabla_{\theta} L", signal(), named_rest),
            reason=r"Substitution into the gradient. The terms in $v_{a}$ and $v_{b}$ alone are"
            r" the signal, those with a sum over all positions the rest. Checked with the sums in"
            r" the place of their names against the general gradient.",
            check=lambda: _check_gradient(formulas[2].right, gradient_along()),
        ),
        Step(
            label="kappa",
            uses=("push", "gradient:attention"),
            statement=equation(r"\kappa", value_of_kappa),
            reason=r"$\kappa / Z$ is the coefficient of $\sum_{i} E_{i} v_{i}$ in the rest. Only"
            r" the mean $\bar{v}$ contributes to it, so $\kappa = -\langle g, \gamma \rangle / (2"
            r" \omega)$ with $g_{i} = \partial L / \partial \gamma_{i}$; checked against that.",
            check=lambda: require_equal(
                value_of_kappa, at_start(-PowerSum(attention_gradient() * gamma)) / (2 * omega)
            ),
        ),
        Step(
            label="push-tilde",
            uses=("push", "kappa", "gradient:other-query"),
            statement=_bracket(
                r"-\frac{1}{2 \omega} \nabla_{\tilde{\theta}} L",
                signal().xreplace(MIRROR),
                named_rest.xreplace(MIRROR),
            ),
            reason=r"The reflection $s \mapsto -s$ exchanges the heads and keeps $\omega$ and"
            r" $\kappa$. Checked against substitution into the gradient for $\tilde{\theta}$.",
            check=lambda: _check_reflection(formulas[3].right),
        ),
        Step(
            label="weights",
            uses=("push",),
            statement=equation("c_{i}", weight),
            reason=r"The rest is $\sum_{i} c_{i} v_{i}$; its weights are read off.",
            check=lambda: require_equal(
                rest(), PowerSum(rest_weights() * t), "the rest and sum_i c_i t_i"
            ),
        ),
        Step(
            label="sum-of-weights",
            uses=("kappa", "weights"),
            statement=equation(r"\sum_{i} c_{i}", _sum_of_weights()),
            reason=r"Adding the weights up, $\kappa$ cancels everything but $e^{\Delta} +"
            r" e^{-\Delta}$. Checked also without adding: softmax does not see a common shift of"
            r" the scores, so signal and rest cancel when all $v_{i}$ are equal.",
            check=_check_sum_of_weights,
        ),
        Step(
            label="gain",
            uses=("push", "weights"),
            statement=r"S_{a} - S_{k} = s_{a} - s_{k} + 2 \eta \omega (e^{\Delta} v_{a} \cdot A"
            r" + e^{-\Delta} v_{b} \cdot A - \sum_{j} c_{j} v_{j} \cdot A), \quad"
            r" A = v_{a} - v_{k}",
            reason=r"$S_{j} = v_{j} \cdot \theta^{1}$ with $\theta^{1} = \theta - \eta"
            r" \nabla_{\theta} L$ are the scores after one step, so the gain is $-\eta A \cdot"
            r" \nabla_{\theta} L$. Checked against that.",
            check=_check_scores_after_step,
        ),
        Step(
            label="signal",
            uses=("gain",),
            statement=equation(r"e^{\Delta} v_{a} \cdot A + e^{-\Delta} v_{b} \cdot A", _margin())
            + r", \quad A = v_{a} - v_{b}, \quad \rho = v_{a} \cdot v_{b}",
            reason=r"For unit vectors $v_{a} \cdot A = 1 - \rho = -v_{b} \cdot A$: the head that"
            r" leans to $a$ at the start wins $a$, its mirror image wins $b$.",
            check=lambda: require_equal(
                _margin(), (sp.exp(Delta) - sp.exp(-Delta)) * (1 - rho), "the margin"
            ),
        ),
        Step(
            uses=("push", "push-tilde"),
            statement=r"-A \cdot \nabla_{\theta} L = \lim_{h \to 0}"
            r" \frac{L(\theta, \tilde{\theta}) - L(\theta + h A, \tilde{\theta})}{h}, \quad"
            r" \tilde{\theta} = -\theta",
            reason=r"Independent check: numeric derivatives of the enumerated loss with 50 digits"
            r" at random points, for both queries, $(d, m) = (2, 1), (4, 2), (6, 3)$.",
            check=lambda: check_numeric(*(formula.right for formula in formulas[1:4])),
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="antisymmetric",
        title=title,
        source="arXiv:2502.07553v2, the initialisation of Theorem 2; closed forms ours",
        setting=r"$\tilde{\theta} = -\theta$; $s_{i} = v_{i} \cdot \theta$, $E_{i} = e^{s_{i}}$,"
        r" $Z = \sum_{i} e^{s_{i}}$, $\tilde{Z} = \sum_{i} e^{-s_{i}}$, $Z_{2} = \sum_{i} e^{2"
        r" s_{i}}$, $\tilde{Z}_{2} = \sum_{i} e^{-2 s_{i}}$, $\omega = 1 / (Z \tilde{Z})$, $\Delta"
        r" = s_{a} - s_{b}$; $t_{i} = v_{i} \cdot A$ for an arbitrary direction $A$. $L ="
        r" \mathbb{E} (f - y)^{2}$, with no factor $1/2$.",
        steps=steps,
        formulas=formulas,
    )


def _with_cosh(expr: sp.Expr) -> sp.Expr:
    """Write x (e^Delta + e^-Delta) as 2 x cosh(Delta), where both occur with the same factor."""
    factor = expr.coeff(sp.exp(Delta))
    if factor != expr.coeff(sp.exp(-Delta)):
        return expr
    exponentials = sp.expand(factor * (sp.exp(Delta) + sp.exp(-Delta)))
    return expr - exponentials + 2 * factor * sp.cosh(Delta)


def _with_kappa(expr: sp.Expr) -> sp.Expr:
    """Name the coefficient of sum_i E_i t_i, and collect that of sum_i t_i."""
    first = PowerSum(E * t)
    others = sp.expand(expr - expr.coeff(first) * first)
    return sp.collect(others, PowerSum(t), sp.factor) + kappa / Z * first


def _sum_of_weights() -> sp.Expr:
    return _with_cosh(at_start(PowerSum(rest_weights())))


def _margin() -> sp.Expr:
    """Return the signal along v_a - v_b, for unit vectors."""
    along = signal().xreplace({Entry(t, a): 1 - rho, Entry(t, b): rho - 1})
    growth = along.coeff(sp.exp(Delta))
    require_equal(growth, -along.coeff(sp.exp(-Delta)), "the two coefficients")
    return 2 * growth * sp.sinh(Delta)


def _bracket(left: str, pushed: sp.Expr, subtracted: sp.Expr) -> str:
    """Return ``left = signal - [rest]`` with v in the place of t."""
    right = latex(vectorial(pushed)), latex(vectorial(subtracted))
    return rf"{left} = {right[0]} - \left[ {right[1]} \right]"


def _restored(expr: sp.Expr) -> sp.Expr:
    """Put the sums in the place of their names: a rational function of sums and entries."""
    ratio = Entry(E, a) / Entry(E, b)
    cosh = (sp.exp(Delta) + sp.exp(-Delta)) / 2
    expr = expr.xreplace({kappa: kappa_value()}).xreplace({sp.cosh(Delta): cosh})
    return expr.xreplace(
        {
            sp.exp(Delta): ratio,
            sp.exp(-Delta): 1 / ratio,
            omega: 1 / (PowerSum(E) * PowerSum(E**-1)),
            Z: PowerSum(E),
            Z_tilde: PowerSum(E**-1),
            Z_2: PowerSum(E**2),
            Z_tilde_2: PowerSum(E**-2),
        }
    )


def _check_restored(*exprs: sp.Expr) -> None:
    for expr in exprs:
        require_equal(_restored(at_start(expr)), expr.xreplace(START), f"{expr} and its value")


def _check_gradient(pushed: sp.Expr, gradient: sp.Expr) -> None:
    require_equal(_restored(-2 * omega * pushed), gradient.xreplace(START), "the two gradients")


def _check_reflection(pushed_tilde: sp.Expr) -> None:
    require_equal(kappa_value().xreplace(MIRROR), kappa_value(), "kappa reflected and kappa")
    _check_gradient(pushed_tilde, gradient_along_tilde())
    in_omega = pushed_tilde.xreplace({kappa: kappa_value(), Z_tilde: 1 / (omega * Z)})
    require_equal(in_omega, push_tilde(), "the reflected push and the push for theta_tilde")


def _check_sum_of_weights() -> None:
    require_equal(_sum_of_weights(), sp.exp(Delta) + sp.exp(-Delta), "the sum of the weights")
    for pushed in (push(), push_tilde()):
        require_equal(at_start(pushed.xreplace({t: sp.S.One})), sp.S.Zero, "a common shift and 0")


def _check_scores_after_step() -> None:
    gain = -eta * at_start(gradient_along())
    slope_in_bracket = (
        sp.exp(Delta) * Entry(t, a) + sp.exp(-Delta) * Entry(t, b) - PowerSum(rest_weights() * t)
    )
    require_equal(gain, 2 * eta * omega * slope_in_bracket, "the gain and the slope")
