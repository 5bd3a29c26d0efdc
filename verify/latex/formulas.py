r"""The formulas of the derivations as fragments.

The table below is what can be said without SymPy: the name of every formula, its title, and the
qualification without which the formula would not be true or not be understood. Wherever L is
shown its convention is stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from verify.latex.displays import display, paragraph
from verify.latex.fragment import Fragment
from verify.latex.notation import OWN, Notation

if TYPE_CHECKING:
    from derivations.proof.ledger import Derivation, Formula

__all__ = ["FORMULAS", "Described", "derivation", "formula_fragment", "formula_of"]


@dataclass(frozen=True)
class Described:
    """A formula in words.

    Parameters
    ----------
    title : str
        What the formula is, in plain words without an article.
    qualification : str
        What follows the formula in the same sentence: LaTeX, math delimited by ``$``.
    """

    title: str
    qualification: str


_SIGNS = r"for $x$ uniform on $\{-1, +1\}^{d}$"
_CONVENTION = r"$L = \mathbb{E} (f - y)^{2}$"
_LOSS = rf"where {_CONVENTION}"
_ALONG = (
    rf"for every $A \in \mathbb{{R}}^{{m}}$, where $t_{{i}} = v_{{i}} \cdot A$ and {_CONVENTION}"
)
_ANTISYMMETRIC = r"at $\tilde{\theta} = -\theta$"
_POINTWISE = (
    r"where $\gamma_{i} = \phi(s_{i})$, $\tilde{\gamma}_{i} = \phi(\tilde{s}_{i})$, $\phi'_{i} ="
    rf" \phi'(s_{{i}})$ and $\tilde{{\phi}}'_{{i}} = \phi'(\tilde{{s}}_{{i}})$, {_ALONG}"
)
_REST = (
    r"where $\sum_{i} c_{i} v_{i}$ is what the first step subtracts from its signal"
    r" $e^{\Delta} v_{a} + e^{-\Delta} v_{b}$"
)
_ZERO = r"at $\theta = \tilde{\theta} = 0$"
_MASSES = (
    r"where $\alpha$, $\alpha'$ are the weights that $\gamma$ puts on the positions with"
    r" $x_{i} = -1$ and with $x_{i} = +1$, and $\beta$, $\beta'$ are those of $\tilde{\gamma}$"
)

_HEADS = (
    r"where $p_{h} = \langle \gamma^{h}, x \rangle$ and $s_{1}, s_{2}, \ldots$ are different"
    rf" positions, {_SIGNS}"
)
_PARITY = (
    r"where $\gamma^{h}$ is the attention of head $h$, $s_{1}, s_{2}, \ldots$ are the relevant"
    rf" positions and {_CONVENTION}"
)
_CHANCE = (
    r"where $\lambda^{2} (I + \kappa J)$ is the covariance over the $k$ heads of their gains at one"
    r" relevant position, up to what all positions share, $J$ is the matrix of ones, $|\theta|$ is"
    r" the length of the queries, and $a_{k}$, $b_{k}$ are the factors of the first step"
)

FORMULAS: Mapping[str, Described] = MappingProxyType(
    {
        "moments.two_forms": Described("mean of a product of two linear forms", _SIGNS),
        "moments.four_forms": Described("mean of a product of four linear forms", _SIGNS),
        "moments.six_forms": Described("mean of a product of six linear forms", _SIGNS),
        "moments.eight_forms": Described("mean of a product of eight linear forms", _SIGNS),
        "moments.fourth_power": Described("fourth moment of a linear form", _SIGNS),
        "moments.sixth_power": Described("sixth moment of a linear form", _SIGNS),
        "moments.eighth_power": Described("eighth moment of a linear form", _SIGNS),
        "softmax.attention_velocity": Described(
            "derivative of the attention along a direction of the query",
            r"where $D$ is the derivative along $\theta + h A$ at $h = 0$, and"
            r" $t_{i} = v_{i} \cdot A$",
        ),
        "softmax.jacobian": Described(
            "derivative of the attention by the scores",
            r"where $\gamma_{k} = e^{s_{k}} / \sum_{j} e^{s_{j}}$",
        ),
        "population.cross_moment": Described(
            "correlation of the prediction with the label", rf"{_SIGNS} and $a \ne b$"
        ),
        "population.quartic_moment": Described("second moment of the prediction", _SIGNS),
        "population.loss": Described("population loss", _LOSS),
        "gradient.attention": Described(
            "derivative of the population loss by the attention", _LOSS
        ),
        "gradient.theta": Described(
            "derivative of the population loss along a direction of the query", _ALONG
        ),
        "gradient.theta_tilde": Described(
            "derivative of the population loss along a direction of the other query", _ALONG
        ),
        "antisymmetric.loss": Described(
            "population loss at the antisymmetric start", f"{_ANTISYMMETRIC}, {_LOSS}"
        ),
        "antisymmetric.kappa": Described("constant kappa of the first step's rest", _ANTISYMMETRIC),
        "antisymmetric.push": Described(
            "first step of the query: signal minus rest", f"{_ANTISYMMETRIC} and {_ALONG}"
        ),
        "antisymmetric.push_tilde": Described(
            "first step of the other query: signal minus rest", f"{_ANTISYMMETRIC} and {_ALONG}"
        ),
        "antisymmetric.rest_weight": Described(
            "weights of the first step's rest",
            f"{_ANTISYMMETRIC}, {_REST}",
        ),
        "antisymmetric.sum_of_rest_weights": Described(
            "sum of the weights of the first step's rest",
            f"{_ANTISYMMETRIC}, {_REST}",
        ),
        "zero.loss": Described("population loss where both queries vanish", f"{_ZERO}, {_LOSS}"),
        "zero.gradient": Described(
            "derivative along the query, where both vanish", f"{_ZERO} and {_ALONG}"
        ),
        "zero.gradient_tilde": Described(
            "derivative along the other query, where both vanish", f"{_ZERO} and {_ALONG}"
        ),
        "worst_case.residual_plus": Described(
            "residual of an input with a negative label, without a difference", _MASSES
        ),
        "worst_case.residual_minus": Described(
            "residual of an input with a positive label, without a difference", _MASSES
        ),
        "worst_case.edge_peak": Described(
            "largest residual inside an edge of the zonotope",
            r"if $|R_{e} - R_{s}| < R_{2}$, where $R = 1 - P Q$ runs from $R_{s}$ to $R_{e}$ along"
            r" an edge of the branch $x_{a} x_{b} = 1$, and"
            r" $R_{2} = 4 \gamma_{i} \tilde{\gamma}_{i}$",
        ),
        "worst_case.success_value": Described(
            "least product of the heads once each has half its weight on the support",
            r"if $\gamma_{a} + \gamma_{b} \ge 1/2$ and"
            r" $\tilde{\gamma}_{a} + \tilde{\gamma}_{b} \ge 1/2$, where $\tau = x_{a} x_{b}$",
        ),
        "attention_maps.theta": Described(
            "derivative of the population loss by the query of a pointwise attention map",
            _POINTWISE,
        ),
        "attention_maps.theta_tilde": Described(
            "derivative of the population loss by the other query of a pointwise attention map",
            _POINTWISE,
        ),
        "permanents.cross_moment_2": Described("mean of two heads times two inputs", _HEADS),
        "permanents.cross_moment_3": Described("mean of three heads times three inputs", _HEADS),
        "permanents.cross_moment_4": Described("mean of four heads times four inputs", _HEADS),
        "parity.loss_2": Described("loss of two heads on the parity of two inputs", _PARITY),
        "parity.loss_3": Described("loss of three heads on the parity of three inputs", _PARITY),
        "parity_chance.shock_simplex": Described(
            "share of the heads' common shock, from a simplex of queries", _CHANCE
        ),
        "parity_chance.shock_independent": Described(
            "share of the heads' common shock, from independent queries", _CHANCE
        ),
    }
)
"""Every formula by name, in the order of the derivations."""


def formula_fragment(name: str, notation: Notation = OWN) -> Fragment:
    """Return the fragment of a formula in `FORMULAS`."""
    from derivations.printing.latex import latex

    described, formula = FORMULAS[name], formula_of(name)
    equation = notation.math(f"{formula.left} = {latex(formula.right)}", name)
    lines = [
        *display(f"{equation},", label=f"eq:{name}"),
        *paragraph(f"{notation.prose(described.qualification, name)}."),
    ]
    source = derivation(name.partition(".")[0]).source
    return Fragment(name=name, title=described.title, source=source, body="\n".join(lines))


def formula_of(name: str) -> Formula:
    """Return the formula that a name in `FORMULAS` stands for."""
    origin, _, within = name.partition(".")
    return derivation(origin).formula(within)


@cache
def derivation(name: str) -> Derivation:
    """Return a derivation; it is derived once."""
    from derivations.catalogue import load

    return load(name)
