"""Attention applied to each score by itself: gamma_i = phi(s_i).

Steps of `derivations.concave_attention`.

The weights may have any sign and any sum, which the positive sequences `gamma`, `gamma_tilde` of
softmax attention may not; so they are sequences of their own here, printed alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import sympy as sp

from derivations.notation import Sequence, declare, gamma, gamma_tilde
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step
from derivations.proof.refusal import require

__all__ = ["OF_ANY_SIGN", "steps", "weight", "weight_tilde"]

weight = declare(Sequence, "weight", r"\gamma", real=True)
weight_tilde = declare(Sequence, "weight_tilde", r"\tilde{\gamma}", real=True)

OF_ANY_SIGN = {gamma: weight, gamma_tilde: weight_tilde}
"""From the formulas of the loss, which hold for any weights, to weights of any sign."""

_u = sp.Symbol("u", real=True)
_size = sp.Symbol("size", nonnegative=True)

_Function: TypeAlias = Callable[[sp.Expr], sp.Expr]

_MAPS: tuple[tuple[str, _Function, _Function, _Function], ...] = (
    ("the identity", lambda u: u, lambda _: sp.S.One, lambda _: sp.S.Zero),
    ("erf", sp.erf, lambda u: 2 * sp.exp(-(u**2)) / sp.sqrt(sp.pi), lambda u: 2 * u),
    (
        "tanh",
        lambda u: sp.sinh(u) / sp.cosh(u),
        lambda u: sp.cosh(u) ** -2,
        lambda u: 2 * sp.sinh(u) / sp.cosh(u),
    ),
    ("arctan", sp.atan, lambda u: 1 / (1 + u**2), lambda u: 2 * u / (1 + u**2)),
    (
        "s/(1 + |s|)",
        lambda u: u / (1 + sp.Abs(u)),
        lambda u: (1 + u) ** -2,
        lambda u: 2 / (1 + u),
    ),
)
"""Maps phi, with phi' and -phi''/phi' at scores that are not negative."""


def steps() -> tuple[Step, ...]:
    """Return what odd and concave maps have in common, and that the usual ones are such maps."""
    return (
        Step(
            label="chord",
            statement=r"\phi(0) = 0, \quad \phi(\lambda t) \ge \lambda \phi(t), \quad 0 \le"
            r" \lambda \le 1, \; t \ge 0",
            reason=r"$\phi$ is odd, so $\phi(0) = - \phi(0)$; and concave on $[0, \infty)$, so"
            r" $\phi(\lambda t + (1 - \lambda) 0) \ge \lambda \phi(t) + (1 - \lambda) \phi(0)$. No"
            r" derivative is needed: $\phi$ may have kinks, and may jump at $0$.",
            check=_check_chord,
        ),
        Step(
            label="sizes",
            uses=("chord",),
            statement=r"\gamma_{i}^{2} \ge \frac{s_{i}^{2}}{s_{k}^{2}} \gamma_{k}^{2}, \quad"
            r" \gamma_{i}^{2} \le \gamma_{k}^{2} \text{ if } |s_{i}| \le |s_{k}| \ne 0",
            reason=r"$|\gamma_{i}| = \phi(|s_{i}|)$, as $\phi$ is odd and not negative on $[0,"
            r" \infty)$. The first is the previous step with $t = |s_{k}|$, $\lambda = |s_{i}| /"
            r" |s_{k}|$, squared; the second holds as $\phi$ does not decrease.",
            check=_check_sizes,
        ),
        Step(
            statement=r"\phi(s) = s, \quad \operatorname{erf}(s), \quad \tanh(s), \quad"
            r" \arctan(s), \quad \frac{s}{1 + |s|}",
            reason=r"Such maps. Each is odd, and for $s \ge 0$ has $\phi' > 0$ and $\phi'' ="
            r" -\beta \phi'$ with $\beta = 0$, $2 s$, $2 \tanh(s)$, $2 s / (1 + s^{2})$, $2 / (1 +"
            r" s)$, none of which is negative: it increases and is concave.",
            check=_check_maps,
        ),
    )


def _check_chord() -> None:
    zero, value, inside = sp.symbols("phi_zero phi_t phi_inside", real=True)
    share, rest, bent = sp.symbols("share rest bent", nonnegative=True)
    (at_zero,) = sp.solve(sp.Eq(zero, -zero), zero)
    require(at_zero == 0, f"an odd function is {at_zero} at 0")
    chord = share * value + rest * zero
    require_at_least(
        inside,
        share * value,
        bent,
        "the value and its share of the value at the end",
        slacks={bent: (inside - chord).xreplace({zero: at_zero})},
    )


def _check_sizes() -> None:
    score, largest = sp.symbols("score largest", positive=True)
    weight_k, above, room = sp.symbols("weight_k above room", nonnegative=True)
    size = sp.Symbol("weight_i", nonnegative=True)
    share = score / largest
    require_at_least(
        size**2,
        share**2 * weight_k**2,
        above * (size + share * weight_k),
        "the square and its share",
        slacks={above: size - share * weight_k},
    )
    require_at_least(
        weight_k**2,
        size**2,
        room * (weight_k + size),
        "the largest square and another",
        slacks={room: weight_k - size},
    )


def _check_maps() -> None:
    for name, phi, slope, bend in _MAPS:
        at = phi(_u)
        require_equal(phi(-_u), -at, f"{name} at -u and at u")
        require(at.subs(_u, 0) == 0, f"{name} at 0 is {at.subs(_u, 0)}")
        require(slope(_size).is_positive is True, f"{name}: {slope(_size)} may not be positive")
        require(bend(_size).is_nonnegative is True, f"{name}: {bend(_size)} may be negative")
        first, second = (sp.diff(phi(_size), _size, order) for order in (1, 2))
        require_equal(first / slope(_size), sp.S.One, f"{name}: the derivative and what is stated")
        require_equal(second / slope(_size), -bend(_size), f"{name}: the second derivative")
