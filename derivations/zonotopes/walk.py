"""Why two chains of flips are enough to find the worst input, for every d.

On a branch x_a x_b = tau the walk starts where all other signs are -1 and flips them one after the
other in the order of the slopes gamma_tilde_i / gamma_i: from flat to steep on the lower chain,
from steep to flat on the upper one. Nothing is taken from the geometry of convex sets: each step is
an identity for symbolic d, or a sum over the positions of which no term is negative.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.notation import Position, a, b, gamma, gamma_tilde, i, k, u, x
from derivations.printing.latex import equation
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_above, require_at_least
from derivations.proof.ledger import Step

__all__ = ["chain_lead", "flip_gain", "lean", "require_terms_nonnegative", "steps"]

_p, _q = PowerSum(gamma * x), PowerSum(gamma_tilde * x)
_x_i = Entry(x, i)

OFF_SUPPORT = {Entry(Unit(a), i): sp.S.Zero, Entry(Unit(b), i): sp.S.Zero}
"""What i not in S means."""


def flip_gain() -> sp.Expr:
    """Return p q after the sign x_i is flipped, minus p q before."""
    flipped = x - 2 * _x_i * Unit(i)
    after = PowerSum(gamma * flipped) * PowerSum(gamma_tilde * flipped)
    return sp.expand(after - _p * _q).xreplace({_x_i**2: sp.S.One})


def lean(position: Position) -> sp.Expr:
    """Return (q, p).(gamma_i, gamma_tilde_i): which sign the maximum of p q wants at a position."""
    return _q * Entry(gamma, position) + _p * Entry(gamma_tilde, position)


def turn() -> sp.Expr:
    """Return what is not negative exactly if the generator of k is at least as steep as that of i.

    The slopes gamma_tilde / gamma are compared by cross-multiplication.
    """
    return Entry(gamma, i) * Entry(gamma_tilde, k) - Entry(gamma, k) * Entry(gamma_tilde, i)


def chain_lead() -> sp.Expr:
    """Return the sequence whose sum is gamma_tilde_k (P - p) - gamma_k (Q - q).

    (P, Q) has the signs u, real numbers in [-1, 1], and (p, q) the signs x.
    """
    return (u - x) * (Entry(gamma_tilde, k) * gamma - Entry(gamma, k) * gamma_tilde)


def steps() -> tuple[Step, ...]:
    """Return the steps from single flips to the least values of both branches."""
    gain = flip_gain()
    return (
        Step(
            label="flip",
            statement=equation(r"p' q' - p q", gain),
            reason=r"$p'$, $q'$ belong to the input with $x_{i}$ flipped, $i \notin S$. Where $p q$"
            r" is greatest on its branch no flip gains, and $x_{i} (q \gamma_{i} + p"
            r" \tilde{\gamma}_{i}) \ge 2 \gamma_{i} \tilde{\gamma}_{i} > 0$. Checked for symbolic"
            r" $d$, both the identity and the sign.",
            check=lambda: _check_gain(gain),
        ),
        Step(
            label="minus-branch",
            uses=("reflection", "flip"),
            statement=equation(
                r"\gamma_{i} (q \gamma_{k} + p \tilde{\gamma}_{k})"
                r" - \gamma_{k} (q \gamma_{i} + p \tilde{\gamma}_{i})",
                r"p (\gamma_{i} \tilde{\gamma}_{k} - \gamma_{k} \tilde{\gamma}_{i})",
            )
            + r" \Rightarrow \min_{x : \tau = -1} (-p q) = \min_{\text{vertices}} (-P Q)",
            reason=r"Where $-p q$ is least, $x_{i}$ has the sign of $q \gamma_{i} + p"
            r" \tilde{\gamma}_{i}$ by the previous step. Let $k$ be at least as steep as $i$. If $p"
            r" \ge 0$, $x_{i} = 1$ entails $x_{k} = 1$; if $p \le 0$, $x_{k} = 1$ entails $x_{i} ="
            r" 1$: signs that never fall, or never grow, from flat to steep, so a vertex. The"
            r" branch $\tau = -1$ is always exact. Checked for symbolic $d$, with both signs of"
            r" $p$.",
            check=_check_order,
        ),
        Step(
            label="chains",
            statement=r"\sum_{i \notin S} -(\gamma_{i} + \tilde{\gamma}_{i}) \le"
            r" \sum_{i \notin S} x_{i} (\gamma_{i} + \tilde{\gamma}_{i}) \le"
            r" \sum_{i \notin S} (\gamma_{i} + \tilde{\gamma}_{i})",
            reason=r"So $p + q$ is between the values of $P + Q$ at the two ends of a chain. An"
            r" edge that starts with $P + Q = s \le p + q$ and ends with $P + Q = e \ge p + q$, $e"
            r" > s$, has $P + Q = p + q$ at the fraction $(p + q - s) / (e - s)$ of its length."
            r" Checked for symbolic $d$, term by term, for both signs of $x_{i}$.",
            check=_check_range,
        ),
        Step(
            label="above",
            uses=("chains",),
            statement=r"(\gamma_{k} + \tilde{\gamma}_{k}) (P - p) = \sum_{i} (u_{i} - x_{i})"
            r" (\tilde{\gamma}_{k} \gamma_{i} - \gamma_{k} \tilde{\gamma}_{i}) \ge 0",
            reason=r"for the point with $P + Q = p + q$ on the edge of the lower chain that flips"
            r" $k$. Its signs are $u_{i} = x_{i}$ on $S$, $1$ before $k$, $-1$ after $k$, and"
            r" between these at $k$, where the other factor vanishes; what is flipped before $k$ is"
            r" at most as steep, what comes after at least as steep. On the upper chain, with the"
            r" heads exchanged, $Q \ge q$. Checked for symbolic $d$, term by term, in all these"
            r" cases, for both signs of $x_{i}$ and both chains.",
            check=_check_chain,
        ),
        Step(
            label="product",
            uses=("above",),
            statement=r"p q - (p + h) (q - h) = h (p - q) + h^{2} \ge 0 \text{ for } p \ge q,"
            r" h \ge 0",
            reason=r"So for $p \ge q$ the point with $P + Q = p + q$ on the lower chain, where $h ="
            r" P - p$, has $P Q \le p q$. For $p \le q$ exchange the heads: the point on the upper"
            r" chain has.",
            check=_check_descent,
        ),
    )


def require_terms_nonnegative(summand: sp.Expr, what: str) -> None:
    """Return if a sequence vanishes on S and is nowhere negative, x a sequence of signs.

    Raises
    ------
    CheckError
        If that is not seen at a position.
    """
    for position in (a, b):
        require_equal(Entry(summand, position), sp.S.Zero, f"{what}: the term on S and 0")
    term = Entry(summand, i).xreplace(OFF_SUPPORT)
    for sign in (-1, 1):
        at_sign = sp.factor(term.xreplace({_x_i: sp.Integer(sign)}))
        require_at_least(at_sign, sp.S.Zero, at_sign, f"{what}: the term with x_i = {sign}")


def _check_gain(gain: sp.Expr) -> None:
    both = Entry(gamma, i) * Entry(gamma_tilde, i)
    require_equal(gain, 4 * both - 2 * _x_i * lean(i), "the gain of a flip and its closed form")
    lost = sp.Symbol("lost", nonnegative=True)
    require_above(
        _x_i * lean(i),
        sp.S.Zero,
        2 * both + lost / 2,
        "the sign at a maximum",
        slacks={lost: -gain},
    )


def _check_order() -> None:
    size, steeper = sp.symbols("size steeper", nonnegative=True)
    wanted = sp.Symbol("wanted", positive=True)
    require_equal(
        Entry(gamma, i) * lean(k) - Entry(gamma, k) * lean(i), _p * turn(), "the two leans"
    )
    for sign, given, other in ((1, i, k), (-1, k, i)):
        require_above(
            Entry(gamma, given) * lean(other),
            sp.S.Zero,
            Entry(gamma, other) * wanted + size * steeper,
            f"the lean at {other} where that at {given} is positive",
            slacks={wanted: lean(given), size: sign * _p, steeper: turn()},
        )


def _check_range() -> None:
    x_a, x_b = Entry(x, a), Entry(x, b)
    lowest = -1 + (1 + x_a) * Unit(a) + (1 + x_b) * Unit(b)
    highest = 1 - (1 - x_a) * Unit(a) - (1 - x_b) * Unit(b)
    require_terms_nonnegative((gamma + gamma_tilde) * (x - lowest), "above the lower end")
    require_terms_nonnegative((gamma + gamma_tilde) * (highest - x), "below the upper end")
    start, end, total = sp.symbols("start end total", real=True)
    before, after = sp.symbols("before after", nonnegative=True)
    length = sp.Symbol("length", positive=True)
    named = {before: total - start, after: end - total, length: end - start}
    fraction = (total - start) / (end - start)
    require_at_least(fraction, sp.S.Zero, before / length, "the fraction of the edge", slacks=named)
    require_at_least(sp.S.One, fraction, after / length, "the fraction of the edge", slacks=named)
    require_equal((1 - fraction) * start + fraction * end, total, "P + Q there and p + q")


def _check_chain() -> None:
    exchange = {gamma: gamma_tilde, gamma_tilde: gamma}
    for heads in ({}, exchange):
        lead, at_least_as_steep = chain_lead().xreplace(heads), turn().xreplace(heads)
        _check_lead(lead, *(c.xreplace(heads) for c in (gamma, gamma_tilde)))
        for position in (a, b):
            same = Entry(lead, position).xreplace({Entry(u, position): Entry(x, position)})
            require_equal(same, sp.S.Zero, "the term on S and 0")
        require_equal(Entry(lead, k), sp.S.Zero, "the term at k and 0")
        slope = sp.Symbol("slope", nonnegative=True)
        for sign in (-1, 1):
            # k is at least as steep as what is flipped before it, and at most as what comes after.
            for flipped, slack in ((1, at_least_as_steep), (-1, -at_least_as_steep)):
                signs = {Entry(u, i): sp.Integer(flipped), _x_i: sp.Integer(sign)}
                require_at_least(
                    Entry(lead, i).xreplace(signs),
                    sp.S.Zero,
                    (1 - flipped * sign) * slope,
                    f"the term with u_i = {flipped} and x_i = {sign}",
                    slacks={slope: slack},
                )


def _check_lead(lead: sp.Expr, ahead: sp.Expr, behind: sp.Expr) -> None:
    """Check that the sum is (gamma_k + gamma_tilde_k) (P - p) where P + Q = p + q."""
    P, Q = PowerSum(ahead * u), PowerSum(behind * u)
    p, q = PowerSum(ahead * x), PowerSum(behind * x)
    require_equal(
        PowerSum(lead).xreplace({Q: p + q - P}),
        (Entry(gamma, k) + Entry(gamma_tilde, k)) * (P - p),
        "the sum over the positions and the lead of the chain",
    )


def _check_descent() -> None:
    p, q = sp.symbols("p q", real=True)
    h, excess = sp.symbols("h excess", nonnegative=True)
    for sign, point in ((1, (p + h) * (q - h)), (-1, (p - h) * (q + h))):
        require_at_least(
            p * q,
            point,
            h * excess + h**2,
            "p q and the product on the chain",
            slacks={excess: sign * (p - q)},
        )
