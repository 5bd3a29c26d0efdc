"""Odd concave attention: what the loss of linear, erf or tanh attention cannot fall below.

No query makes such a head concentrate: where one score is large, concavity keeps the weights of
all others in proportion. How large one score can be beside the others is the leverage of its
position, a property of V alone. Where all leverages are small there is a floor, the same for every
support and all queries, and no training gets below it.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("concave_attention")

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import sympy as sp

from derivations.attention import pointwise_attention, softmax_reach
from derivations.attention.pointwise_attention import OF_ANY_SIGN, weight, weight_tilde
from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Sequence as PositionSequence
from derivations.notation import a, b, declare
from derivations.population import cross_moment, quartic_moment
from derivations.printing.latex import equation, latex
from derivations.proof.enumeration import dot, expectation
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_above, require_at_least
from derivations.proof.instances import random_fractions, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require

__all__ = ["derive", "floor", "h", "sigma"]

h = declare(sp.Symbol, "leverage", "h", positive=True)
"""A bound of all leverages, below 1/2."""

sigma = declare(sp.Symbol, "least_singular", r"\sigma", positive=True)
"""The least singular value of V."""

_score = declare(PositionSequence, "score", "s", real=True)
_column = declare(PositionSequence, "column", r"H_{k}", real=True)

_M = cross_moment().xreplace(OF_ANY_SIGN)
_Q = quartic_moment().xreplace(OF_ANY_SIGN)
_SQUARE, _SQUARE_TILDE = PowerSum(weight**2), PowerSum(weight_tilde**2)


def floor() -> sp.Expr:
    """Return the bound of the loss from below, in terms of the largest leverage."""
    return 1 - 4 * h**2 / (1 - 2 * h)


def derive(title: str) -> Derivation:
    """Derive the floor of the loss."""
    in_sigma = 1 - 4 / (sigma**2 * (sigma**2 - 2))
    return Derivation(
        name="concave_attention",
        title=title,
        source="ours",
        setting=r"$\gamma_{i} = \phi(s_{i})$, $s = V \theta$, and $\tilde{\gamma}$ likewise;"
        r" $\phi$ is odd, and on $[0, \infty)$ it is concave, not negative, and does not decrease."
        r" $f = -c p q$ with any output gain $c$, trained or not. $H$ is the orthogonal projector"
        r" on the range of $V$ and $h_{k} = H_{kk}$ the leverage of position $k$, the same for all"
        r" matrices with that range; $h < 1/2$ is at least every $h_{k}$. $M = \mathbb{E} [p q"
        r" x_{a} x_{b}]$, $Q = \mathbb{E} [p^{2} q^{2}]$. The rows of $V$ may have any lengths.",
        steps=(*pointwise_attention.steps(), *_steps(in_sigma), *softmax_reach.steps()),
        formulas=(),
        constants=(
            Formula(name="floor", left=r"L_{\min}", right=floor()),
            Formula(name="floor_sigma", left=r"L_{\min}", right=in_sigma),
            *softmax_reach.CONSTANTS,
        ),
    )


def _steps(in_sigma: sp.Expr) -> tuple[Step, ...]:
    return (
        Step(
            label="leverage",
            statement=r"s_{k}^{2} \le h_{k} |s|^{2} \text{ for every } s = V \theta",
            reason=r"$s = H s$, so $s_{k} = \langle H_{k}, s \rangle$ with the column $H_{k} = H"
            r" e_{k}$, and $|H_{k}|^{2} = h_{k}$. Cauchy's inequality; if $h_{k} = 0$, $s_{k} ="
            r" 0$.",
            check=_check_leverage,
        ),
        Step(
            label="share",
            uses=("sizes", "leverage"),
            statement=r"\gamma_{a}^{2} \le h |\gamma|^{2}, \quad \gamma_{b}^{2} \le h |\gamma|^{2},"
            r" \quad \tilde{\gamma}_{a}^{2}, \tilde{\gamma}_{b}^{2} \le h |\tilde{\gamma}|^{2}",
            reason=r"Let $k$ be the position with the largest $|s_{k}|$; if that is $0$, so is"
            r" $\gamma$. By step 2, $|\gamma|^{2} \ge \gamma_{k}^{2} |s|^{2} / s_{k}^{2} \ge"
            r" \gamma_{k}^{2} / h_{k} \ge \gamma_{k}^{2} / h$, and no weight is larger than that of"
            r" $k$. The same for head 2, and for every other position.",
            check=_check_share,
        ),
        Step(
            label="correlation",
            uses=("share", "population:cross"),
            statement=r"M^{2} \le (\gamma_{a}^{2} + \gamma_{b}^{2}) (\tilde{\gamma}_{a}^{2} +"
            r" \tilde{\gamma}_{b}^{2}) \le 4 h^{2} |\gamma|^{2} |\tilde{\gamma}|^{2}",
            reason=r"The difference is $(\gamma_{a} \tilde{\gamma}_{a} - \gamma_{b}"
            r" \tilde{\gamma}_{b})^{2}$; then the previous step.",
            check=_check_correlation,
        ),
        Step(
            label="size",
            uses=("share", "population:quartic"),
            statement=r"Q \ge (1 - 2 h) |\gamma|^{2} |\tilde{\gamma}|^{2}",
            reason=r"$Q = |\gamma|^{2} |\tilde{\gamma}|^{2} + 2 \langle \gamma, \tilde{\gamma}"
            r" \rangle^{2} - 2 \sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2}$, and $\gamma_{i}^{2}"
            r" \le h |\gamma|^{2}$ for every $i$.",
            check=_check_size,
        ),
        Step(
            label="floor",
            uses=("correlation", "size", "population:square"),
            statement=equation(r"L \ge 1 - \frac{M^{2}}{Q} \ge L_{\min}", floor())
            + r" \text{ for every support, all } \theta, \tilde{\theta} \text{ and every } c",
            reason=r"$L = 1 - 2 c M + c^{2} Q$, and $L - 1 + M^{2} / Q = (c Q - M)^{2} / Q$. If $Q"
            r" = 0$, one head is $0$ by the previous step, and $L = 1$.",
            check=_check_floor,
        ),
        Step(
            uses=("floor",),
            statement=equation(r"\frac{d}{d h} L_{\min}", sp.factor(sp.diff(floor(), h)))
            + r" < 0, \quad L_{\min} > 0 \Leftrightarrow h < \frac{\sqrt{5} - 1}{4}",
            reason=r"So any upper bound of the leverages below $1/2$ gives a floor. They sum to"
            r" the rank of $V$, so that $h$ is at least the rank over $d$: the floor is empty for"
            r" every $V$ whose rank is $0.31 d$ or more, $m$ if the columns are independent.",
            check=_check_monotone,
        ),
        Step(
            uses=("floor",),
            statement=r"h_{k} \le \frac{|v_{k}|^{2}}{\sigma^{2}}, \quad"
            rf" |v_{{i}}| = 1 \Rightarrow L \ge {latex(in_sigma)} \text{{ if }} \sigma^{{2}} > 2",
            reason=r"With $w = (V^{T} V)^{-1} v_{k}$, $h_{k} = v_{k} \cdot w = |V w|^{2} \ge"
            r" \sigma^{2} |w|^{2}$ and $h_{k} \le |v_{k}| |w|$; $\sigma$ is the least singular"
            r" value of $V$. Rows of other lengths: $\sigma^{2} / \max_{k} |v_{k}|^{2}$ in the"
            r" place of $\sigma^{2}$, for $V$ as well as for any $V W$ with invertible $W$.",
            check=lambda: _check_singular(in_sigma),
        ),
        Step(
            uses=("floor",),
            statement=r"\min_{c} L = 1 - \frac{(\mathbb{E} [p q x_{a} x_{b}])^{2}}{\mathbb{E}"
            r" [p^{2} q^{2}]} \ge L_{\min} \text{ at instances}",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic, $\phi(s) ="
            r" s$, $s / (1 + |s|)$ and $s$ cut off at $\pm 1$; $d = 5, 7$, $m = 1, 2$, leverages"
            r" from $(V^{T} V)^{-1}$; queries at random, and those whose scores are $3 H_{a}$, $3"
            r" H_{b}$.",
            check=_check_instances,
            method=Method.INSTANCES,
        ),
    )


def _check_leverage() -> None:
    h_k, terms = sp.Symbol("h_k", positive=True), sp.Symbol("terms", nonnegative=True)
    score_k = sp.Symbol("score_k", real=True)
    # What a symmetric H with H H = H and H s = s says of its column H_k.
    of_projector = {PowerSum(_column * _score): score_k, PowerSum(_column**2): h_k}
    require_at_least(
        h_k * PowerSum(_score**2),
        score_k**2,
        h_k * terms,
        "Cauchy's inequality",
        slacks={terms: PowerSum((_score - score_k / h_k * _column) ** 2).xreplace(of_projector)},
    )


def _check_share() -> None:
    score_k, h_k = sp.symbols("score_k h_k", positive=True)
    weight_k, square_of_scores = sp.symbols("weight_k square_of_scores", nonnegative=True)
    in_proportion, cauchy, largest, room = sp.symbols(
        "in_proportion cauchy largest room", nonnegative=True
    )
    require_at_least(
        h * _SQUARE,
        Entry(weight, a) ** 2,
        h * in_proportion + weight_k**2 / score_k**2 * (cauchy + room * square_of_scores) + largest,
        "the share of a position",
        slacks={
            in_proportion: _SQUARE - weight_k**2 * square_of_scores / score_k**2,
            cauchy: h_k * square_of_scores - score_k**2,
            room: h - h_k,
            largest: weight_k**2 - Entry(weight, a) ** 2,
        },
    )


def _check_correlation() -> None:
    (g_a, g_b), (t_a, t_b) = ((Entry(head, a), Entry(head, b)) for head in (weight, weight_tilde))
    require_at_least(
        (g_a**2 + g_b**2) * (t_a**2 + t_b**2), _M**2, (g_a * t_a - g_b * t_b) ** 2, "Cauchy"
    )
    room, room_tilde = sp.symbols("room room_tilde", nonnegative=True)
    require_at_least(
        2 * h * _SQUARE * 2 * h * _SQUARE_TILDE,
        (g_a**2 + g_b**2) * (t_a**2 + t_b**2),
        room * (t_a**2 + t_b**2) + room_tilde * (room + g_a**2 + g_b**2),
        "both shares",
        slacks={
            room: 2 * h * _SQUARE - g_a**2 - g_b**2,
            room_tilde: 2 * h * _SQUARE_TILDE - t_a**2 - t_b**2,
        },
    )


def _check_size() -> None:
    room = sp.Symbol("room", nonnegative=True)
    overlap = PowerSum(weight * weight_tilde)
    require_at_least(
        _Q,
        (1 - 2 * h) * _SQUARE * _SQUARE_TILDE,
        2 * overlap**2 + 2 * room,
        "E p^2 q^2 and its bound",
        slacks={room: PowerSum(weight_tilde**2 * (h * _SQUARE - weight**2))},
    )


def _check_floor() -> None:
    c, cross = sp.symbols("c cross", real=True)
    quartic, sizes, left = sp.symbols("quartic sizes left", positive=True)
    above, below = sp.symbols("above below", nonnegative=True)
    require_at_least(
        1 - 2 * c * cross + c**2 * quartic,
        1 - cross**2 / quartic,
        (c * quartic - cross) ** 2 / quartic,
        "the loss and that at the best gain",
    )
    require_at_least(
        1 - cross**2 / quartic,
        floor(),
        (4 * h**2 * above + left * below) / (left * quartic),
        "the loss at the best gain and the floor",
        slacks={
            above: quartic - (1 - 2 * h) * sizes,
            below: 4 * h**2 * sizes - cross**2,
            left: 1 - 2 * h,
        },
    )


def _check_monotone() -> None:
    left = sp.Symbol("left", positive=True)  # 1 - 2h
    require_above(
        sp.S.Zero,
        sp.diff(floor(), h),
        8 * h * (h + left) / left**2,
        "the derivative of the floor",
        slacks={left: 1 - 2 * h},
    )
    root = (sp.sqrt(5) - 1) / 4
    numerator = sp.cancel(floor() * (1 - 2 * h))
    require(sp.expand(numerator.subs(h, root)) == 0, f"the floor does not vanish at {root}")
    require(numerator.subs(h, 0) == 1, "the floor is not 1 without leverage")
    require(bool(sp.Rational(309, 1000) < root < sp.Rational(31, 100)), f"it vanishes at {root}")


def _check_singular(in_sigma: sp.Expr) -> None:
    length, size, h_k = sp.symbols("length size h_k", positive=True)  # |v_k|, |w|
    cauchy, spread = sp.symbols("cauchy spread", nonnegative=True)
    require_at_least(
        length**2,
        h_k * sigma**2,
        (h_k * spread + cauchy) / size**2,
        "the leverage and the least singular value",
        slacks={cauchy: length**2 * size**2 - h_k**2, spread: h_k - sigma**2 * size**2},
    )
    require_equal(floor().subs(h, sigma**-2), in_sigma, "the floor in h and in sigma")


_MAPS: tuple[Callable[[Fraction], Fraction], ...] = (
    lambda s: s,
    lambda s: s / (1 + abs(s)),
    lambda s: max(Fraction(-1), min(s, Fraction(1))),
)


def _check_instances() -> None:
    rng = seeded(65)
    for d, m in ((5, 1), (7, 2)):
        V = sp.Matrix(d, m, [rng.choice((-3, -2, 2, 3)) for _ in range(d * m)])
        dual = V * (V.T * V).inv()  # its row k is the query whose scores are H_k
        largest = max((dual * V.T).diagonal())
        require(bool(largest < sp.Rational(1, 2)), f"d = {d}, m = {m}: a leverage of {largest}")
        queries = [random_fractions(rng, m), random_fractions(rng, m)]
        queries += [_fractions(3 * dual.row(position)) for position in (0, 1)]
        for phi in _MAPS:
            heads = [[phi(Fraction(dot(row, query))) for row in V.tolist()] for query in queries]
            for gamma, gamma_tilde in itertools.combinations(heads, 2):
                found = _least_loss(gamma, gamma_tilde)
                bound = floor().subs(h, largest)
                require(bool(found >= bound), f"d = {d}, m = {m}: {found} below {bound}")


def _fractions(row: sp.Matrix) -> list[Fraction]:
    return [Fraction(int(each.p), int(each.q)) for each in row]


def _least_loss(gamma: Sequence[Fraction], gamma_tilde: Sequence[Fraction]) -> Fraction:
    """Return the loss at the best gain, by enumeration of all inputs."""

    def product(x: tuple[int, ...]) -> Fraction:
        return Fraction(dot(gamma, x) * dot(gamma_tilde, x))

    d = len(gamma)
    cross = expectation(lambda x: product(x) * x[0] * x[1], d)
    return 1 - cross**2 / expectation(lambda x: product(x) ** 2, d)
