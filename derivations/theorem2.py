"""Theorem 2 with its constants: every way to fail, its bound, and their sum.

The derivation `one_step` splits the slopes, `score_bounds` bounds the weights; in
`derivations.population_step`, `score_events`, `wedge`, `far_slices` and `ambient` bound the
probability of each event. Here the events are listed, once, and added up.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("theorem2")


from derivations.population_step import ambient, far_slices, score_events, wedge
from derivations.population_step.constants import defined, formulas
from derivations.population_step.union import Event, check_union, listed
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.lemmas import UNION_BOUND

__all__ = ["EVENTS", "derive"]

EVENTS = (
    Event(name="largest score", formula="largest_score"),
    Event(name="sum of scores", formula="sum_of_scores"),
    Event(name="sum of squared scores", formula="sum_of_squares"),
    Event(name="overlap", formula="overlap"),
    Event(name="small lean", formula="small_lean"),
    Event(name="near margin", formula="near_margin", per_head=True),
    Event(name="far margin", formula="far_margin", per_head=True),
    Event(name="ambient alignment", formula="ambient_alignment", per_head=True),
    Event(name="noise along the support", formula="noise_support", per_head=True),
    Event(name="noise along an ambient position", formula="noise_ambient", per_head=True),
)
"""Every way to fail; off all of them one step succeeds."""

_NAMES = (
    *("phi_n", "tail_power", "tail_mills", "largest_score", "sum_of_scores", "sum_of_squares"),
    *("overlap", "excess", "r_lean", "I_1", "I_2", "near_margin", "small_lean", "D_slice"),
    *("P_slice", "x_slice", "far_margin", "noise_support", "noise_ambient", "nu", "t_cell"),
    *("Delta_cell", "rho_star", "rho_cell", "z_cell", "P_cell", "cells", "ambient_alignment"),
    "failure_upper",
)


def derive(title: str) -> Derivation:
    """Derive the bound of the probability that one step fails."""
    return Derivation(
        name="theorem2",
        title=title,
        source="ours; arXiv:2502.07553v2, Theorem 2, without constants",
        setting=r"$V$ has $d \ge 3$ independent rows, uniform on the unit sphere of"
        r" $\mathbb{R}^{m}$, $m \ge 6$; $\theta$ is uniform on it and independent of $V$;"
        r" $\tilde{\theta} = -\theta$; $S = \{a, b\}$ is fixed before $V$ is drawn. $A = v_{a} -"
        r" v_{b}$, $y = |\theta \cdot A| / |A|$, $\rho = v_{a} \cdot v_{b}$. Exchanging $a$ and"
        r" $b$, $\Delta \ge 0$ is assumed and both signs are counted. Constants as in derivations"
        r" score_bounds and one_step; $[y_{i}, y_{i + 1})$ are slices of $[0, 1]$, on slice $i$"
        r" all constants are taken at $D = D_{i}$, and $[r_{j}, r_{j + 1}]$ are cells of $[-1,"
        r" \rho_{0}]$. Condition: $\alpha > 0$ and $c > \rho_{0}$ on the first slice. $T_{m}(t)$"
        r" is the bound of the tail, $1$ for $t \le 0$.",
        steps=(
            *score_events.steps(),
            *wedge.steps(),
            *far_slices.steps(),
            *ambient.steps(),
            _total(),
        ),
        formulas=(),
        constants=formulas(*_NAMES),
    )


def _total() -> Step:
    return Step(
        uses=(
            "largest-score",
            "sum-of-scores",
            "sum-of-squares",
            "overlap",
            "near-margin",
            "small-lean",
            "far-margin",
            "noise-support",
            "noise-ambient",
            "ambient-alignment",
            "one_step:loss",
        ),
        statement=rf"P(\text{{one step fails}}) \le {defined('failure_upper')}",
        reason=rf"The union of all events: {listed(EVENTS)}."
        r" Off them every score bound holds; on the slice of its lean, a head has $\text{slope}"
        r" \ge \tau_{0}$ against the other position of the support and $\ge \tau_{a}$ against"
        r" every position off it; and by derivation one_step $\sup_{x} (f - y)^{2} \le T$ for all"
        r" $\eta \ge C d^{2}$ at once, head 1 being on $a$ and head 2 on $b$. Checked: the sum"
        r" is that over the list of events and heads.",
        check=lambda: check_union(EVENTS, "failure_upper"),
        method=Method.LEMMA,
        lemmas=(UNION_BOUND,),
    )
