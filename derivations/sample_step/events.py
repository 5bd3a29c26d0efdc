"""The other events of n samples: larger leans, the energies, positions off the support.

Steps of `derivations.corollary3`.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import PowerSum, Unit
from derivations.notation import a, b, d
from derivations.one_step import k_out
from derivations.population_step.constants import defined, right_side, value
from derivations.population_step.notation import T_rho, m, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import (
    COORDINATE_TAIL,
    INVARIANCE,
    SQUARES,
    SUB_GAMMA,
    SUB_GAUSSIAN,
    UNION_BOUND,
)
from derivations.proof.refusal import require
from derivations.sample_step.notation import (
    T_sigma_0,
    c_tail,
    l_E,
    l_k,
    n_samples,
    t_a,
    t_tail,
    v_tail,
)

__all__ = ["steps"]

_OFF = PowerSum(1 - Unit(a) - Unit(b))
"""The number of positions off the support."""


def steps() -> tuple[Step, ...]:
    """Return the steps, one for each event."""
    return (
        Step(
            label="largest-score",
            uses=("theorem2:largest-score", "theorem2:overlap"),
            statement=r"P(\max_{j} |s_{j}| > \sigma_{0}) \le"
            rf" {right_side('largest_score_0')}, \quad P(|\rho| > \rho_{{0}}) \le"
            rf" {right_side('overlap_both')}",
            reason=r"As in derivation theorem2, where $\sigma_{0}$ is called $\sigma$; the overlap"
            r" counts on both sides. The sums of scores and of their squares are bounded there.",
            check=_check_scores,
            method=Method.LEMMA,
            lemmas=(COORDINATE_TAIL, UNION_BOUND),
        ),
        Step(
            label="energy-support",
            uses=("theorem2:sum-of-squares",),
            statement=r"P(\sum_{i \notin S} t_{i}^{2} > q_{E} d) \le"
            rf" {right_side('energy_support')}, \quad {defined('q_E')}",
            reason=r"Along $A$, given $v_{a}$ and $v_{b}$: $d - 2$ independent coordinates.",
            check=lambda: _check_energy("q_E", "energy_support", l_E, _OFF, sp.S.One),
            method=Method.LEMMA,
            lemmas=(SQUARES,),
        ),
        Step(
            label="far-margin",
            uses=("attention-norm", "tail", "energy", "theorem2:far-margin"),
            statement=r"P(\text{far margin}) \le \sum_{i \ge 1} P_{i} \Psi(\max(0, x_{i});"
            r" v_{\text{far}}, c_{\text{far}}) \text{ for each head}, \quad"
            rf" {defined('far_variance')}, \quad {defined('far_scale')}, \quad"
            rf" {defined('v_support')}, \quad {defined('b_support')}",
            reason=r"As in derivation theorem2, with $\tau_{0} = 0$ in $x_{i}$: a miss asks for"
            r" $Y + \Xi \ge x_{i}$. Given the scores, $v_{a}$ and $v_{b}$, $Y$ is sub-Gaussian of"
            r" variance $w^{2} / (m - 1)$, and $\Xi$, given all of $V$, sub-gamma of variance"
            r" $v_{b} / n$ and scale $40 b / (3 n)$ wherever $\sum_{i} t_{i}^{2} \le"
            r" \mathcal{E}$, which enters as an indicator under the expectation of $e^{l (Y +"
            r" \Xi)}$.",
            check=_check_far,
            method=Method.LEMMA,
            lemmas=(SUB_GAMMA, SUB_GAUSSIAN, INVARIANCE),
        ),
        Step(
            label="energy-ambient",
            uses=("theorem2:sum-of-squares",),
            statement=r"P(\sum_{i \notin S \cup k} (v_{i} \cdot A_{k})^{2} > 4 q_{k} d \text{ for"
            rf" some }} k) \le {right_side('energy_ambient')} \text{{ for each head}}, \quad"
            rf" {defined('q_k')}",
            reason=r"$|A_{k}| \le 2$, and given $v_{a}$ (head 2: $v_{b}$) and $v_{k}$ there are $d"
            r" - 3$ independent coordinates along it; $d - 2$ positions $k$.",
            check=_check_ambient_energy,
            method=Method.LEMMA,
            lemmas=(SQUARES, UNION_BOUND),
        ),
        Step(
            label="ambient-sum",
            uses=("energy-ambient",),
            statement=r"\sum_{i} (v_{i} \cdot A_{k})^{2} \le \mathcal{E}_{k}, \quad"
            rf" {defined('E_ambient')}",
            reason=r"$(v_{a} \cdot A_{k})^{2} = (v_{k} \cdot A_{k})^{2} = (1 - v_{a} \cdot"
            r" v_{k})^{2} \le 4$ and $(v_{b} \cdot A_{k})^{2} \le |A_{k}|^{2} \le 4$.",
            check=_check_ambient_total,
        ),
        Step(
            label="sampling-ambient",
            uses=("attention-norm", "tail", "ambient-sum", "theorem2:slope-ambient"),
            statement=r"P(\Xi_{k} \ge t_{a} \text{ for some } k) \le"
            rf" {right_side('sampling_ambient')} \text{{ for each head}}, \quad"
            rf" {defined('sampling_variance')}, \quad {defined('sampling_scale')}, \quad"
            rf" {defined('v_ambient')}, \quad {defined('b_ambient')}",
            reason=r"$\Xi_{k}$ is what the samples take from the slope along $A_{k}$; given $V$ it"
            r" is sub-gamma. Off this event the sampled slope is above $\text{slope}_{k} -"
            r" t_{a}$, which is not negative if $\text{slope}_{k} \ge \tau_{a}$ with $\tau_{a} ="
            r" t_{a}$ in the $\nu$ of derivation theorem2: ambient alignment and the two noises"
            r" are bounded as there.",
            check=_check_sampling,
            method=Method.LEMMA,
            lemmas=(SUB_GAMMA, UNION_BOUND),
        ),
    )


def _check_scores() -> None:
    count = PowerSum(sp.S.One)
    require_equal(value("largest_score_0"), 2 * count * T_sigma_0, "the bound and the union")
    require_equal(value("overlap_both"), 2 * T_rho, "two sides")


def _check_energy(
    name: str, event: str, level: sp.Symbol, positions: sp.Expr, union: sp.Expr
) -> None:
    threshold = value(name) * d * m
    expected = positions + 2 * sp.sqrt(positions * level) + 2 * level
    require_equal(threshold, expected, f"{name} d m and the threshold")
    require(value(event) == union * sp.exp(-level), f"{event}: not the tail at the level")


def _check_far() -> None:
    positive_part = sp.Max(0, symbol("x_slice"))
    tail = value("sub_gamma_tail").subs(
        {t_tail: positive_part, v_tail: symbol("far_variance"), c_tail: symbol("far_scale")},
        simultaneous=True,
    )
    require(value("far_sampled") == symbol("P_slice") * tail, "not the slice times the tail")
    w, v = symbol("w"), symbol("v_support")
    require_equal(value("far_variance"), w**2 / (m - 1) + v / n_samples, "the two variances")


def _check_ambient_energy() -> None:
    _check_energy("q_k", "energy_ambient", l_k, PowerSum(1 - Unit(a) - Unit(b) - Unit(k_out)), _OFF)
    overlap, room = sp.Symbol("overlap", real=True), sp.Symbol("room", nonnegative=True)
    # |A_k|^2 = 2 - 2 v_a.v_k.
    require_at_least(
        sp.Integer(4), 2 - 2 * overlap, 2 * room, "the square of |A_k|", slacks={room: 1 + overlap}
    )


def _check_ambient_total() -> None:
    others, at_b, length = sp.symbols("others at_b length", nonnegative=True)
    room, below, apart, cauchy = sp.symbols("room below apart cauchy", nonnegative=True)
    overlap = sp.Symbol("overlap", real=True)  # v_a.v_k
    inside = sp.Symbol("inside", nonnegative=True)
    require_at_least(
        value("E_ambient"),
        others + 2 * (1 - overlap) ** 2 + at_b,
        room + 2 * below * (inside + 2) + apart + cauchy,
        "the energy along A_k",
        slacks={
            room: 4 * symbol("q_k") * d - others,
            below: 1 + overlap,
            inside: 1 - overlap,
            apart: 4 - length,
            cauchy: length - at_b,
        },
    )


def _check_sampling() -> None:
    tail = value("sub_gamma_tail").subs(
        {
            t_tail: t_a,
            v_tail: symbol("sampling_variance"),
            c_tail: symbol("sampling_scale"),
        },
        simultaneous=True,
    )
    require(value("sampling_ambient") == _OFF * tail, "not the union of the tails")
    require_equal(
        value("sampling_variance"), symbol("v_ambient") / n_samples, "the variance of the mean"
    )
