"""All of the first order of the first step of k heads, beyond the signal of derivation permanents.

The square of the prediction and the mean embedding take part too: against the signal they are
smaller by 1/d, and what they do to the lean of a head is exact in d.
"""

from __future__ import annotations

import math
from functools import cache

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit, density
from derivations.calculus.variation import Variation
from derivations.notation import Sequence, d, declare, i, t, u
from derivations.parities.notation import attention, lean, relevant
from derivations.parity import gradient_along, square_moment
from derivations.permanents import pull
from derivations.printing.latex import latex
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step

__all__ = ["own_gain", "rest_factor", "shared_gain", "steps", "uniform"]

_HEADS = (2, 3, 4)

# v_i.v_s over epsilon, for a relevant position s.
_overlap = declare(Sequence, "tau", r"\tau", real=True)


@cache
def rest_factor(k: int) -> sp.Expr:
    """Return r_k with gamma^1_i (q_i - sum_j gamma^1_j q_j) = r_k (u^1_i + 2 sum_{h > 1} u^h_i).

    To first order, where q_i is half the derivative of E prod_h p_h^2 by gamma^1_i.
    """
    return sp.factor(_rest_to_first_order(k).coeff(Entry(lean(1), i)))


def own_gain(k: int) -> sp.Expr:
    """Return a_k, what multiplies the score of s in head h less its mean over the heads."""
    return sp.Rational(k, k - 1) - k / d + _relative_rest(k)


def shared_gain(k: int) -> sp.Expr:
    """Return b_k, minus what multiplies that mean."""
    return k / d + (2 * k - 1) * _relative_rest(k)


def _relative_rest(k: int) -> sp.Expr:
    """Return rho_k, r_k over the weight (k-1)! / d^k of the signal."""
    return rest_factor(k) * d**k / math.factorial(k - 1)


@cache
def _rest(k: int) -> sp.Expr:
    """Return gamma^1_i (q_i - sum_j gamma^1_j q_j)."""
    head = attention(1)
    slope = density(Variation({head: u})(square_moment(k)), u)
    weight = sp.expand(head * slope - head * PowerSum(head * slope))
    return Entry(weight / 2, i)


@cache
def _rest_to_first_order(k: int) -> sp.Expr:
    """Return its derivative as all heads leave uniform attention along u^h / d."""
    motion = {attention(h): lean(h) / d for h in range(1, k + 1)}
    moved = Variation(motion)(_rest(k)).xreplace(uniform(k))
    centred = {PowerSum(lean(h)): sp.S.Zero for h in range(1, k + 1)}
    return sp.expand(sp.expand(moved).xreplace(centred))


def uniform(k: int) -> dict[sp.Expr, sp.Expr]:
    """Return uniform attention in the place of that of each head."""
    return {attention(h): 1 / d for h in range(1, k + 1)}


def steps() -> tuple[Step, ...]:
    """Return the steps on what is not the signal, and on the whole."""
    factors = ", ".join(latex(rest_factor(k)) for k in _HEADS)
    return (
        Step(
            label="split",
            uses=("parity:attention", "parity:gradient", "permanents:pulls"),
            statement=r"- \frac{1}{2} \nabla_{\theta_{h}} L = \sum_{s \in S} w_{hs} (v_{s} -"
            r" \bar{v}_{h}) - \sum_{i} q^{h}_{i} v_{i}, \quad q^{h}_{i} = \gamma^{h}_{i} (q_{i} -"
            r" \sum_{j} \gamma^{h}_{j} q_{j})",
            reason=r"Signal and rest; $q_{i}$ is half the derivative of $\mathbb{E} \prod_{h}"
            r" p_{h}^{2}$ by $\gamma^{h}_{i}$. Checked for $k = 2, 3, 4$ and symbolic $d$.",
            check=_check_split,
        ),
        Step(
            label="rest",
            uses=("split", "parity:moment"),
            statement=r"q^{h}_{i} = r_{k} \left(u^{h}_{i} + 2 \sum_{h' \ne h} u^{h'}_{i}\right) +"
            rf" O(\epsilon^{{2}}), \quad r_{{2}}, r_{{3}}, r_{{4}} = {factors}, \quad u^{{h}}_{{i}}"
            r" = s^{h}_{i} - \frac{1}{d} \sum_{j} s^{h}_{j}",
            reason=r"Exact in $d$: the derivative as all heads leave uniform attention, where"
            r" $q^{h}_{i} = 0$. From the simplex start the bracket is $-u^{h}_{i}$.",
            check=_check_rest,
        ),
        Step(
            uses=("rest",),
            statement=r"0 \le r_{k} \le \frac{(2 k - 3)!!}{d^{k+1}}, \quad k = 2, 3, 4, \quad d"
            r" \ge k",
            reason=r"Against the signal $(k - 1)! / d^{k}$ the rest has weights smaller by $1/d$,"
            r" times a lean. Summed over all positions it moves the score of $s$ by a multiple of"
            r" $r_{k} \sum_{i} s^{h}_{i} v_{i} \cdot v_{s}$, which for random embeddings is about"
            r" $1/d + 1/m$ times the lean of $s$.",
            check=_check_rest_bound,
        ),
        Step(
            label="whole",
            uses=("push", "split", "rest", "parity:gradient"),
            statement=r"- \frac{1}{2} v_{s} \cdot \nabla_{\theta_{h}} L = \frac{(k - 1)!}{d^{k}}"
            r" \left[C_{h} + a_{k} \left(s^{h}_{s} - \operatorname{mean}_{h'} s^{h'}_{s}\right) -"
            r" b_{k} \operatorname{mean}_{h'} s^{h'}_{s} + B_{s} - k \bar{v} \cdot v_{s}\right] +"
            r" O(\epsilon^{2}), \quad a_{k} = \frac{k}{k - 1} - \frac{k}{d} + \rho_{k}, \quad"
            r" b_{k} = \frac{k}{d} + (2 k - 1) \rho_{k}, \quad \rho_{k} = \frac{d^{k} r_{k}}"
            r"{(k - 1)!}",
            reason=r"All that raises the score of $s$: signal, mean and rest, at any $d$. $-k"
            r" \bar{v}_{h} \cdot v_{s}$ holds $-k \gamma^{h}_{s} = -k (1 + u^{h}_{s}) / d$, which"
            r" takes $k/d$ from every head's own lean; its other terms are those of $-k \bar{v}"
            r" \cdot v_{s}$, up to $O(\epsilon^{2})$. $C_{h}$ does not depend on $s$; as $d \to"
            r" \infty$, $a_{k} \to k / (k - 1)$ and $b_{k} \to 0$. Checked from the gradient as"
            r" it stands in derivation parity, for $k = 2, 3, 4$ and symbolic $d$: its derivative"
            r" as all heads leave uniform attention along $u^{h} / d$, and the products leave $0$,"
            r" at $h = 1$ and $s = s_{1}$; heads and relevant positions may be exchanged.",
            check=_check_whole_push,
        ),
    )


def _check_split() -> None:
    for k in _HEADS:
        head = attention(1)
        pulls = [pull(k, 1, r) for r in range(1, k + 1)]
        towards = sp.Add(
            *(
                weight * (Entry(t, relevant(r)) - PowerSum(head * t))
                for r, weight in enumerate(pulls, start=1)
            )
        )
        slope = density(Variation({head: u})(square_moment(k)), u) / 2
        weights = head * slope - head * PowerSum(head * slope)
        require_equal(
            -gradient_along(k) / 2,
            sp.expand(towards) - PowerSum(sp.expand(weights * t)),
            f"the gradient and its parts for k = {k}",
        )


def _check_rest() -> None:
    for k in _HEADS:
        require_equal(_rest(k).xreplace(uniform(k)), sp.S.Zero, f"the rest at zero, k = {k}")
        others = sp.Add(*(Entry(lean(h), i) for h in range(2, k + 1)))
        own = Entry(lean(1), i)
        found = _rest_to_first_order(k)
        require_equal(found, rest_factor(k) * (own + 2 * others), f"the rest for k = {k}")
        centred = {Entry(lean(k), i): -own - sp.Add(*(Entry(lean(h), i) for h in range(2, k)))}
        at_simplex = found.xreplace(centred)
        require_equal(at_simplex, -rest_factor(k) * own, f"the rest at the simplex, k = {k}")


def _check_rest_bound() -> None:
    beyond = sp.Symbol("beyond", nonnegative=True)
    for k in _HEADS:
        most = sp.Integer(math.prod(range(1, 2 * k - 2, 2)))
        factor, more = rest_factor(k) * d ** (2 * k), {d: k + beyond}
        for left, right, what in (
            (factor, sp.S.Zero, "r_k"),
            (most * d ** (k - 1), factor, "the bound of r_k"),
        ):
            margin = sp.expand((left - right).xreplace(more))
            require_at_least(left, right, margin, what, slacks={beyond: d - k})


def _check_whole_push() -> None:
    here = relevant(1)
    for k in _HEADS:
        heads = range(1, k + 1)
        motion = {t: _overlap} | {attention(h): lean(h) / d for h in heads}
        at = {t: Unit(here)} | uniform(k)
        moved = Variation(motion)(gradient_along(k)).xreplace(at)
        # Leans are centred, and of v_s.v_s = 1 nothing is small.
        given = {PowerSum(lean(h)): sp.S.Zero for h in heads} | {Entry(_overlap, here): sp.S.Zero}
        found = -sp.expand(moved).xreplace(given) * d**k / (2 * math.factorial(k - 1))
        leans = {(h, r): Entry(lean(h), relevant(r)) for h in heads for r in heads}
        constant = sp.Add(*(leans[h, r] for h in heads[1:] for r in heads)) / (k - 1)
        constant -= sp.Add(*leans.values()) / d
        mean = sp.Add(*(leans[h, 1] for h in heads)) / k
        common = sp.Add(*(Entry(_overlap, relevant(r)) for r in heads[1:]))
        common -= k * PowerSum(_overlap) / d
        require_equal(
            found,
            constant + own_gain(k) * (leans[1, 1] - mean) - shared_gain(k) * mean + common,
            f"the whole push to first order for k = {k}",
        )
        require_equal(sp.limit(own_gain(k), d, sp.oo), sp.Rational(k, k - 1), f"a_{k}")
        require_equal(sp.limit(shared_gain(k), d, sp.oo), sp.S.Zero, f"b_{k}")
