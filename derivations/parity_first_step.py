"""What the first step of k heads does, to first order in the scores.

From the simplex start, or an independent one, every head is pulled towards every relevant
position by nearly the same amount. What decides is the first order: the head's own lean, and the
products of the relevant embeddings with each other, which are the same for all heads and cancel
for k = 2 only. The last steps have all of the first order, for every number of positions.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("parity_first_step")

import itertools
import math
from functools import cache

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.calculus.variation import Variation
from derivations.notation import d, i, t
from derivations.parities import rest as parity_rest
from derivations.parities.notation import (
    attention,
    exponential,
    k_heads,
    normaliser,
    relevant,
    score,
)
from derivations.parities.rest import uniform
from derivations.parity import gradient_along
from derivations.permanents import pull
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Derivation, Step
from derivations.proof.refusal import require

__all__ = ["derive"]

_HEADS = (2, 3, 4)
_MORE_HEADS = (2, 3, 4, 5)


def derive(title: str) -> Derivation:
    """Derive the first order of the first step."""
    return Derivation(
        name="parity_first_step",
        title=title,
        source="ours; k = 2 is the start of arXiv:2502.07553v2, Theorem 2",
        setting=r"$k$ heads as in derivation parity, $s^{h}_{i} = v_{i} \cdot \theta_{h}$, unit"
        r" $v_{i}$. Simplex start: $\sum_{h} \theta_{h} = 0$, all of one length and at equal"
        r" angles; $k = 2$ is $\tilde{\theta} = -\theta$. Independent start: any"
        r" $\theta_{h}$. First order: $s^{h}_{i} = \epsilon \sigma^{h}_{i}$ and $v_{i} \cdot"
        r" v_{s} = \epsilon \tau_{i s}$ for $i \ne s \in S$, up to $O(\epsilon^{2})$; both are of"
        r" order $1 / \sqrt{m}$ for queries of length $1$. $w_{hs}$ as in derivation permanents.",
        steps=(*_start_steps(), *_signal_steps(), *parity_rest.steps()),
        formulas=(),
    )


def _start_steps() -> tuple[Step, ...]:
    return (
        Step(
            label="angles",
            statement=r"\theta_{h} \cdot \theta_{h'} = - \frac{|\theta|^{2}}{k - 1}, \quad h \ne"
            r" h'",
            reason=r"$0 = \theta_{h} \cdot \sum_{h'} \theta_{h'}$ is $|\theta|^{2}$ plus $k - 1$"
            r" equal products.",
            check=_check_angles,
        ),
        Step(
            statement=r"\prod_{h} \gamma^{h}_{i} = \omega = \prod_{h} Z_{h}^{-1} \text{ for every }"
            r" i",
            reason=r"$\sum_{h} s^{h}_{i} = v_{i} \cdot \sum_{h} \theta_{h} = 0$. Checked for $k ="
            r" 2, 3, 4$ with $E^{k} = \prod_{h < k} 1 / E^{h}$.",
            check=_check_constant_product,
        ),
        Step(
            uses=("parity:gradient",),
            statement=r"\theta_{h} = 0: \quad \nabla_{\theta_{h}} L = - \frac{2 (k - 1)!}{d^{k}}"
            r" \left(\sum_{s \in S} v_{s} - k \bar{v}\right), \quad \bar{v} = \frac{1}{d} \sum_{i}"
            r" v_{i}",
            reason=r"Without a lean all heads move alike, and never part. Checked for $k = 2, 3,"
            r" 4$ and symbolic $d$; $k = 2$ is derivation zero.",
            check=_check_zero,
        ),
    )


def _signal_steps() -> tuple[Step, ...]:
    return (
        Step(
            label="first-order",
            uses=("permanents:pulls",),
            statement=r"\frac{w_{hs}}{(k - 1)! \prod_{h'} Z_{h'}^{-1}} = 1 + s^{h}_{s} + \frac{1}"
            r"{k - 1} \sum_{h' \ne h} \sum_{s' \ne s} s^{h'}_{s'} + O(\epsilon^{2})",
            reason=r"$w_{hs}$ is the sum of $\exp \sum_{h'} s^{h'}_{\sigma(h')}$ over the $(k -"
            r" 1)!$ bijections with $\sigma(h) = s$; of these $(k - 2)!$ send a given $h' \ne h$ to"
            r" a given $s' \ne s$. Checked for $k = 2, \ldots, 5$.",
            check=_check_first_order,
        ),
        Step(
            label="centring",
            statement=r"s^{h}_{s} + \frac{1}{k - 1} \sum_{h' \ne h} \sum_{s' \ne s} s^{h'}_{s'} ="
            r" \frac{k}{k - 1} \left(s^{h}_{s} - \frac{1}{k} \sum_{h'} s^{h'}_{s}\right) + c_{h},"
            r" \quad c_{h} = \frac{1}{k - 1} \sum_{h' \ne h} \sum_{s' \in S} s^{h'}_{s'}",
            reason=r"The double sum is the total over all heads and positions, less row $h$ and"
            r" column $s$, plus the entry that both contain. Checked for symbolic $k$, and for $k ="
            r" 2, \ldots, 5$ with a symbol for every score. $c_{h}$ does not depend on $s$.",
            check=_check_centring,
        ),
        Step(
            label="push",
            uses=("first-order", "centring"),
            statement=r"\sum_{s' \in S} w_{hs'} v_{s} \cdot v_{s'} = (k - 1)! \prod_{h'}"
            r" Z_{h'}^{-1} \left[1 + c_{h} + \frac{k}{k - 1} \left(s^{h}_{s} - \operatorname{mean}"
            r"_{h'} s^{h'}_{s}\right) + B_{s}\right] + O(\epsilon^{2}), \quad B_{s} = \sum_{s' \in"
            r" S, s' \ne s} v_{s} \cdot v_{s'}",
            reason=r"How fast the signal raises the score of $s$ in head $h$. The products are of"
            r" the order of the leans, so each multiplies the $1$ of its weight. As the step grows"
            r" head $h$ prefers the $s$ with the largest bracket. Checked for $k = 2, 3, 4$.",
            check=_check_push,
        ),
        Step(
            statement=r"\sum_{h} s^{h}_{s} = 0: \quad \frac{k}{k - 1} \left(s^{h}_{s} -"
            r" \operatorname{mean}_{h'} s^{h'}_{s}\right) = \frac{k}{k - 1} s^{h}_{s}",
            reason=r"From the simplex start the lean is the head's own score. Checked for $k = 2,"
            r" 3, 4$.",
            check=_check_simplex_lean,
        ),
        Step(
            uses=("push",),
            statement=r"B_{s} - B_{s'} = \sum_{r \in S, r \ne s, s'} (v_{s} - v_{s'}) \cdot v_{r}",
            reason=r"The same for all heads: it pulls them to one position. The sum is empty for $k"
            r" = 2$, where $B_{a} = B_{b} = v_{a} \cdot v_{b}$, and for no other $k$. Checked for"
            r" $k = 2, \ldots, 5$.",
            check=_check_common_term,
        ),
    )


def _check_angles() -> None:
    square = sp.Symbol("square", positive=True)
    product = -square / (k_heads - 1)
    require_equal(square + (k_heads - 1) * product, sp.S.Zero, "theta_h times the sum of all")


def _check_constant_product() -> None:
    for k in _HEADS:
        last = sp.Mul(*(exponential(h) ** -1 for h in range(1, k)))
        product = sp.Mul(*(exponential(h) / normaliser(h) for h in range(1, k))) * last
        require_equal(
            Entry(product / normaliser(k), i),
            sp.Mul(*(1 / normaliser(h) for h in range(1, k + 1))),
            f"the product of the weights of {k} heads",
        )


def _check_zero() -> None:
    for k in _HEADS:
        found = gradient_along(k).xreplace(uniform(k))
        mean = PowerSum(t) / d
        relevant_sum = sp.Add(*(Entry(t, relevant(r)) for r in range(1, k + 1)))
        expected = -2 * math.factorial(k - 1) / d**k * (relevant_sum - k * mean)
        require_equal(found, expected, f"the gradient at zero for k = {k}")


def _score(h: int, r: int) -> sp.Expr:
    return Entry(score(h), relevant(r))


@cache
def _two_orders(k: int, h: int, r: int) -> tuple[sp.Expr, sp.Expr]:
    """Return w_hs times prod_h' Z_h', s = s_r, at zero scores and its derivative along them.

    w_hs is linear in the weights of each head, so that the normalisers factor out and the weights
    are e^s, which move with velocity s from 1.
    """
    motion = {attention(g): score(g) * attention(g) for g in range(1, k + 1)}
    at_zero = dict.fromkeys(motion, sp.S.One)
    weight = pull(k, h, r)
    return weight.xreplace(at_zero), sp.expand(Variation(motion)(weight).xreplace(at_zero))


def _check_first_order() -> None:
    for k in _MORE_HEADS:
        heads = range(1, k + 1)
        for h, r in itertools.product((1, k), (1, k)):
            zeroth, first = _two_orders(k, h, r)
            others = sp.Add(*(_score(g, p) for g in heads for p in heads if g != h and p != r))
            require_equal(zeroth, sp.Integer(math.factorial(k - 1)), f"w at zero for k = {k}")
            require_equal(
                first / math.factorial(k - 1),
                _score(h, r) + others / (k - 1),
                f"w_{h}{r} to first order for k = {k}",
            )


def _check_centring() -> None:
    own, row, column, total = sp.symbols("own row column total", real=True)
    require_equal(
        own + (total - row - column + own) / (k_heads - 1),
        k_heads / (k_heads - 1) * (own - column / k_heads) + (total - row) / (k_heads - 1),
        "the two forms for symbolic k",
    )
    for k in _MORE_HEADS:
        heads = range(1, k + 1)
        for h, r in itertools.product((1, k), (1, k)):
            others = [g for g in heads if g != h]
            constant = sp.Add(*(_score(g, p) for g in others for p in heads)) / (k - 1)
            double = sp.Add(*(_score(g, p) for g in others for p in heads if p != r))
            require_equal(
                _score(h, r) + double / (k - 1),
                _lean(k, h, r) + constant,
                f"the two forms for k = {k}",
            )
            require(not constant.has(score(h)), "c_h depends on the scores of head h")


def _lean(k: int, h: int, r: int) -> sp.Expr:
    mean = sp.Add(*(_score(g, r) for g in range(1, k + 1))) / k
    return sp.Rational(k, k - 1) * (_score(h, r) - mean)


def _product(r: int, p: int) -> sp.Symbol:
    return sp.Symbol(f"tau_{min(r, p)}_{max(r, p)}", real=True)


def _common_term(k: int, r: int) -> sp.Expr:
    return sp.Add(*(_product(r, p) for p in range(1, k + 1) if p != r))


def _check_push() -> None:
    for k in _HEADS:
        positions = range(1, k + 1)
        for h, r in itertools.product((1, k), positions):
            zeroth, first = _two_orders(k, h, r)
            # The products are small: each multiplies its weight at zero.
            first += sp.Add(
                *(_two_orders(k, h, p)[0] * _product(r, p) for p in positions if p != r)
            )
            shared = sp.Add(*(_score(g, p) for g in positions if g != h for p in positions))
            require_equal(zeroth, sp.Integer(math.factorial(k - 1)), "the push at zero")
            require_equal(
                first / math.factorial(k - 1),
                shared / (k - 1) + _lean(k, h, r) + _common_term(k, r),
                f"the push of s_{r} in head {h} for k = {k}",
            )


def _check_simplex_lean() -> None:
    for k in _HEADS:
        for r in range(1, k + 1):
            last = {_score(k, r): -sp.Add(*(_score(h, r) for h in range(1, k)))}
            for h in range(1, k + 1):
                require_equal(
                    _lean(k, h, r).xreplace(last),
                    (sp.Rational(k, k - 1) * _score(h, r)).xreplace(last),
                    f"the lean of head {h} for k = {k}",
                )


def _check_common_term() -> None:
    for k in _MORE_HEADS:
        for r, p in itertools.combinations(range(1, k + 1), 2):
            others = [q for q in range(1, k + 1) if q not in {r, p}]
            difference = sp.expand(_common_term(k, r) - _common_term(k, p))
            expected = sp.Add(*(_product(r, q) - _product(p, q) for q in others))
            require_equal(difference, expected, f"B_{r} - B_{p} for k = {k}")
            require((difference == 0) == (k == 2), f"B_{r} - B_{p} = {difference} for k = {k}")
