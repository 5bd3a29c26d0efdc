"""The mean of k forms against the parity of k signs is a permanent.

An index of a form must meet each relevant sign: k forms and k signs can only be matched one to
one. So the mean is the sum over all bijections from heads to relevant positions, which is what
lets one head specialise on each.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("permanents")

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import sympy as sp

from derivations.calculus.power_sums import Entry, Unit
from derivations.calculus.variation import Variation
from derivations.moments import even_partitions, moment, moment_by_coincidences
from derivations.parities.notation import attention, relevant
from derivations.printing.latex import equation
from derivations.proof.enumeration import dot, expectation
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_integers, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require

__all__ = ["bijections", "cross_moment", "derive", "forms", "permanent", "pull"]

_HEADS = (2, 3, 4)
"""The numbers of heads for which d is symbolic."""
_MORE_HEADS = (2, 3, 4, 5)
"""Those for which all inputs are visited."""


def bijections(k: int) -> tuple[tuple[int, ...], ...]:
    """Return the bijections sigma of {1..k}, as the tuples (sigma(1), ..., sigma(k))."""
    return tuple(itertools.permutations(range(1, k + 1)))


def forms(k: int) -> tuple[sp.Expr, ...]:
    """Return the k attention sequences and the k indicators of the relevant positions."""
    heads = range(1, k + 1)
    return (*(attention(h) for h in heads), *(Unit(relevant(r)) for r in heads))


def cross_moment(k: int) -> sp.Expr:
    """Return E[prod_h p_h prod_{s in S} x_s], by the moment rule."""
    return moment(forms(k))


def permanent(k: int) -> sp.Expr:
    """Return the permanent of the matrix (gamma^h_s)."""
    return sp.Add(*(_product(sigma) for sigma in bijections(k)))


def pull(k: int, h: int, r: int) -> sp.Expr:
    """Return w_hs, s = s_r: the terms of the permanent in which head h has position s_r."""
    return sp.Add(*(_product(sigma) for sigma in bijections(k) if sigma[h - 1] == r))


def _product(sigma: tuple[int, ...]) -> sp.Expr:
    return sp.Mul(*(Entry(attention(h), relevant(r)) for h, r in enumerate(sigma, start=1)))


def derive(title: str) -> Derivation:
    """Derive the cross moment for k = 2, 3, 4 and state it for every k."""
    formulas = tuple(
        Formula(
            name=f"cross_moment_{k}",
            left=rf"\mathbb{{E}} \prod_{{h=1}}^{{{k}}} p_{{h}} \prod_{{r=1}}^{{{k}}} x_{{s_{{r}}}}",
            right=cross_moment(k),
        )
        for k in _HEADS
    )
    steps = (
        Step(
            label="blocks",
            uses=("moments:cumulants", "moments:rule"),
            statement=r"|\{\pi \in \mathcal{P}_{2k}: \text{no block has two signs}\}| = k!, \quad"
            r" k = 2, 3, 4",
            reason=r"The moment rule for the $2k$ forms $p_{1}, \ldots, p_{k}, x_{s_{1}}, \ldots,"
            r" x_{s_{k}}$. A block with two of the signs contributes $0$: no position is two"
            r" relevant ones. A block of even size with one sign has an odd number of heads, so at"
            r" least one; there are as many signs as heads, so exactly one, and no head is left"
            r" over. What remains are the bijections, each with $\kappa_{2}^{k} = 1$. Counted"
            r" among all partitions for $k = 2, 3, 4$.",
            check=_check_blocks,
        ),
        *(
            Step(
                label=f"permanent-{k}",
                uses=("blocks", "moments:rule"),
                statement=equation(each.left, each.right),
                reason=rf"The permanent of $(\gamma^{{h}}_{{s}})$, ${math.factorial(k)}$ terms, for"
                r" every $d$. Checked against the count by coinciding indices too.",
                check=partial(_check_permanent, k),
            )
            for k, each in zip(_HEADS, formulas, strict=True)
        ),
        Step(
            label="permanent",
            uses=("permanent-2", "permanent-3", "permanent-4"),
            statement=r"\mathbb{E} \prod_{h=1}^{k} p_{h} \prod_{s \in S} x_{s} ="
            r" \operatorname{perm} (\gamma^{h}_{s})_{h, s} = \sum_{\sigma} \prod_{h=1}^{k}"
            r" \gamma^{h}_{\sigma(h)}",
            reason=r"For every $k$: multiplied out, the mean of $\prod_{h} x_{i_{h}} \prod_{s}"
            r" x_{s}$ is $1$ if every relevant position occurs an odd number of times among"
            r" $i_{1}, \ldots, i_{k}$ and every other one an even number of times, else $0$. With"
            r" $k$ indices for $k$ positions each occurs exactly once. Checked over all $2^{d}$"
            r" inputs in integers for $k = 2, \ldots, 5$, $d = k, \ldots, 8$.",
            check=_check_enumeration,
            method=Method.INSTANCES,
        ),
        Step(
            label="pulls",
            uses=("permanent",),
            statement=r"w_{hs} = \gamma^{h}_{s} \frac{\partial \operatorname{perm}}{\partial"
            r" \gamma^{h}_{s}} = \sum_{\sigma: \sigma(h) = s} \prod_{h'} \gamma^{h'}_{\sigma(h')},"
            r" \quad \sum_{s \in S} w_{hs} = \operatorname{perm}",
            reason=r"Every term has exactly one factor of head $h$. Checked for $k = 2, 3, 4$ and"
            r" all $h$ and $s$.",
            check=_check_pulls,
        ),
        Step(
            uses=("pulls",),
            statement=r"\gamma^{h}_{s} \mapsto c_{s} \gamma^{h}_{s} \text{ for all } h: \quad"
            r" w_{hs} \mapsto \left(\prod_{s' \in S} c_{s'}\right) w_{hs}",
            reason=r"A bijection uses every position once. So a shift of the scores that all heads"
            r" share does not change which $s$ pulls a head most. Checked for $k = 2, 3, 4$.",
            check=_check_common_factors,
        ),
    )
    return Derivation(
        name="permanents",
        title=title,
        source="ours",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$; $p_{h} = \langle \gamma^{h}, x \rangle$ for"
        r" heads $h = 1, \ldots, k$, with any weights $\gamma^{h}$; $S = \{s_{1}, \ldots, s_{k}\}$"
        r" are different positions; $\sigma$ runs over the bijections from heads to $S$.",
        steps=steps,
        formulas=formulas,
    )


def _check_blocks() -> None:
    for k in _HEADS:
        kept = [
            blocks
            for blocks in even_partitions(2 * k)
            if all(sum(form >= k for form in block) <= 1 for block in blocks)
        ]
        expected = {tuple((h, k + r - 1) for h, r in enumerate(sigma)) for sigma in bijections(k)}
        found = {tuple(sorted(blocks)) for blocks in kept}
        require(len(kept) == math.factorial(k), f"{len(kept)} partitions for k = {k}")
        require(found == expected, f"they are not the bijections for k = {k}")


def _check_permanent(k: int) -> None:
    require_equal(cross_moment(k), permanent(k), "the moment and the permanent")
    require_equal(moment_by_coincidences(forms(k)), permanent(k), "the count and the permanent")


def _product_of(rows: Sequence[Sequence[int]], k: int) -> Callable[[tuple[int, ...]], int]:
    return lambda x: math.prod(dot(row, x) for row in rows) * math.prod(x[:k])


def _check_enumeration() -> None:
    rng = seeded(31)
    for k in _MORE_HEADS:
        for d in range(k, 9):
            rows = [random_integers(rng, d) for _ in range(k)]
            found = sum(
                math.prod(rows[h][r - 1] for h, r in enumerate(sigma)) for sigma in bijections(k)
            )
            expected = expectation(_product_of(rows, k), d)
            require(found == expected, f"k = {k}, d = {d}: {found}, by enumeration {expected}")


def _check_pulls() -> None:
    for k in _HEADS:
        for h in range(1, k + 1):
            pulls = [pull(k, h, r) for r in range(1, k + 1)]
            require_equal(sp.Add(*pulls), permanent(k), f"the pulls of head {h}, the permanent")
            for r, found in enumerate(pulls, start=1):
                moving = Variation({attention(h): Unit(relevant(r)) * attention(h)})
                require_equal(found, moving(permanent(k)), f"the pull of head {h} by s_{r}")


def _check_common_factors() -> None:
    for k in _HEADS:
        factors = {r: sp.Symbol(f"factor_{r}", positive=True) for r in range(1, k + 1)}
        grown = {
            Entry(attention(h), relevant(r)): factor * Entry(attention(h), relevant(r))
            for h in range(1, k + 1)
            for r, factor in factors.items()
        }
        for r in range(1, k + 1):
            require_equal(
                pull(k, 1, r).xreplace(grown),
                sp.Mul(*factors.values()) * pull(k, 1, r),
                f"the pull by s_{r} with common factors",
            )
