"""Corollary 3 with its constants: how likely a step from n samples is to fail, from above.

The modules of `derivations.sample_step` are its sections: `sub_gamma` bounds one sample's gradient
and the mean of n; `frozen_lean`, `frozen_attention` and `frozen_noise` what changes when the lean
is put to 0; `near_noise` the chance of a miss at small leans; `events` the other events. Those on
the scores and off the support are Theorem 2's.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("corollary3")

from collections.abc import Mapping
from types import MappingProxyType

from derivations.population_step.constants import defined, formulas, value
from derivations.population_step.notation import symbol
from derivations.population_step.union import Event, check_union, listed
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.lemmas import HOEFFDING, UNION_BOUND
from derivations.proof.refusal import require
from derivations.sample_step import events as sample_events
from derivations.sample_step import (
    frozen_attention,
    frozen_lean,
    frozen_noise,
    near_noise,
    sub_gamma,
)
from derivations.sample_step.notation import c_tail, t_tail, v_tail

__all__ = ["BY_RANGE", "EVENTS", "derive"]

EVENTS = (
    Event(name="largest score", formula="largest_score_0"),
    Event(name="sum of scores", formula="sum_of_scores"),
    Event(name="sum of squared scores", formula="sum_of_squares"),
    Event(name="overlap", formula="overlap_both"),
    Event(name="energy along the support", formula="energy_support"),
    Event(name="near margin", formula="near_sampled", per_head=True),
    Event(name="innermost slice", formula="innermost", per_head=True),
    Event(name="freezing", formula="freezing", per_head=True),
    Event(name="far margin", formula="far_sampled", per_head=True),
    Event(name="ambient alignment", formula="ambient_alignment", per_head=True),
    Event(name="noise along the support", formula="noise_support", per_head=True),
    Event(name="noise along an ambient position", formula="noise_ambient", per_head=True),
    Event(name="energy along an ambient position", formula="energy_ambient", per_head=True),
    Event(
        name="sampling noise along an ambient position", formula="sampling_ambient", per_head=True
    ),
)
"""Every way to fail; off all of them the step succeeds.

The formulas "sum_of_scores", "sum_of_squares", "ambient_alignment", "noise_support" and
"noise_ambient" are constants of derivation theorem2.
"""

BY_RANGE: Mapping[str, str | None] = MappingProxyType(
    {
        "V_square": "H_square",
        "v_support": "H_square",
        "v_ambient": "H_square_ambient",
        "far_scale": None,
        "sampling_scale": None,
    }
)
"""Hoeffding's form: which constant takes the place of which, None being 0; freezing stays."""

_NAMES = (
    *("sigma", "N_norm", "gamma_high", "sub_gamma_tail", "q_E", "E_support", "b_support"),
    *("v_support", "H_square", "q_k", "E_ambient", "b_ambient", "v_ambient", "H_square_ambient"),
    *("delta_s", "zeta", "zeta_2", "pi_lean", "k_lean", "K_lean", "M_lean", "lambda_lean"),
    *("N_move", "s_move", "R_high", "tau_mean", "tau_move", "R_move", "b_move", "v_move"),
    *("theta_lean", "Lambda_slice", "R_square", "V_square", "w_1", "beta_near", "c_near"),
    *("excess_near", "r_near", "I_near", "largest_score_0", "overlap_both", "energy_support"),
    *("near_joint", "near_apart", "near_sampled", "innermost", "freezing", "far_variance"),
    *("far_scale", "far_sampled", "energy_ambient", "sampling_variance", "sampling_scale"),
    *("sampling_ambient", "failure_sampled"),
)


def derive(title: str) -> Derivation:
    """Derive the bound of the probability that one step from n samples fails."""
    return Derivation(
        name="corollary3",
        title=title,
        source="ours; arXiv:2502.07553v2, Corollary 3, without constants",
        setting=r"As in derivation theorem2, with $C = \infty$, and one step on the mean loss of"
        r" $n$ samples $x$, uniform on $\{-1, +1\}^{d}$ and independent of each other, of $V$ and"
        r" of $\theta$. $t_{j} = v_{j} \cdot A / |A|$ with $A = v_{a} - v_{b}$ unless another"
        r" direction is named, $\bar{t} = \langle \gamma, t \rangle$, $r_{i} = \gamma_{i} (t_{i} -"
        r" \bar{t})$, $p = \langle \gamma, x \rangle$, $q = \langle \tilde{\gamma}, x \rangle$; as"
        r" a threshold, $q$ bounds the squared scores. $G = (p q - x_{a} x_{b}) q \langle r, x"
        r" \rangle / \omega$ is one sample's gradient in units of a slope, $\Xi$ the mean of $n$"
        r" less its expectation, in the sign that hurts; a head misses if $g(\rho) y \le F = Y"
        r" + \Xi$. $\sigma_{0}$ bounds the scores of the draw, and $\sigma$, which follows from"
        r" it, is at most $1$. $|\rho| \le \rho_{0}$. $(y_{i}, y_{i + 1}]$ are near slices of $(0,"
        r" y_{I}]$, the innermost being $(0, y_{0}]$, or later slices as in derivation theorem2,"
        r" from $y_{I}$ or less on."
        r" Constants that change with $D$ are read at $D = 2 y_{i + 1}$ on a near slice, at $0$"
        r" where the lean is frozen ($w_{1}$, $|\kappa^{\circ}|$) and at $2 y_{I}$ in $I$."
        r" Conditions: those of derivation score_bounds, $0 < y_{I} < 1$, $\alpha > 0$ and $c_{I} >"
        r" \rho_{0}$.",
        steps=(
            *sub_gamma.steps(),
            *frozen_lean.steps(),
            *frozen_attention.steps(),
            *frozen_noise.steps(),
            *near_noise.steps(),
            *sample_events.steps(),
            _total(),
            _by_range(),
        ),
        formulas=(),
        constants=formulas(*_NAMES),
    )


def _total() -> Step:
    return Step(
        label="total",
        uses=(
            "near-margin",
            "innermost",
            "freezing",
            "largest-score",
            "energy-support",
            "far-margin",
            "energy-ambient",
            "sampling-ambient",
            "theorem2:sum-of-scores",
            "theorem2:sum-of-squares",
            "theorem2:ambient-alignment",
            "theorem2:noise-support",
            "theorem2:noise-ambient",
            "one_step:loss",
        ),
        statement=rf"P(\text{{one step from }} n \text{{ samples fails}}) \le"
        rf" {defined('failure_sampled')}",
        reason=rf"The union of all events: {listed(EVENTS)}."
        r" Off them each head's sampled slope is positive against the other position of the"
        r" support, by the near slices for $y \le y_{I}$ and by the others beyond, and against"
        r" every position off it; by derivation one_step $\sup_{x} (f - y)^{2} \le T$ for every $T"
        r" > 0$ and all large enough $\eta$. Checked: the sum is that over the list of events and"
        r" heads.",
        check=lambda: check_union(EVENTS, "failure_sampled"),
        method=Method.LEMMA,
        lemmas=(UNION_BOUND,),
    )


def _by_range() -> Step:
    return Step(
        uses=("range", "total"),
        statement=r"\text{the same with } V = v_{b} = H^{2}, \quad v_{k} = H_{k}^{2}, \quad"
        rf" c_{{\text{{far}}}} = c_{{\text{{sampling}}}} = 0, \quad {defined('H_square')}, \quad"
        rf" {defined('H_square_ambient')}",
        reason=r"If of one sample nothing is used but its range, $\Xi$ is sub-Gaussian of variance"
        r" $H^{2} / n$, and its second moment is at most that on the event of the frozen energy,"
        r" which contains that of the energy and does not see the sign of $n'$. Checked: the"
        r" constants replaced are variances and scales of the sampling noise, of which freezing"
        r" uses none, and at scale $0$ the tails are those of a Gaussian.",
        check=_check_by_range,
        method=Method.LEMMA,
        lemmas=(HOEFFDING,),
    )


def _check_by_range() -> None:
    uses = {name: {each for each in _NAMES if value(each).has(symbol(name))} for name in BY_RANGE}
    expected = {
        "V_square": {"near_joint", "near_apart"},
        "v_support": {"far_variance"},
        "v_ambient": {"sampling_variance"},
        "far_scale": {"far_sampled"},
        "sampling_scale": {"sampling_ambient"},
    }
    require(uses == expected, f"the constants replaced occur in {uses}")
    scales = {name for name, other in BY_RANGE.items() if other is None}
    require(scales == {"far_scale", "sampling_scale"}, f"of no scale: {scales}")
    for name, energy in (("v_support", "E_support"), ("v_ambient", "E_ambient")):
        other = BY_RANGE[name]
        fits = other is not None and value(other).has(symbol(energy))
        require(fits, f"{other} in the place of {name}")
    require(BY_RANGE["V_square"] == BY_RANGE["v_support"], "not the same range for V")
    exponent = -value("sub_gamma_tail").subs(c_tail, 0).args[0]
    require_equal(exponent, t_tail**2 / (2 * v_tail), "the exponent at scale 0")
