"""Feed-forward nets on parities: what a net misses that reads r of the d positions.

A net whose first layer touches r positions is a function of r signs, whatever it does with them.
If the positions were chosen before the support, most supports do not lie within them, and then
the label is a fair coin to the net.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("feed_forward")

import itertools
import math
from fractions import Fraction

import sympy as sp

from derivations.notation import d
from derivations.parities.orthonormal import mean_outside, orthonormality, parity, share_of_supports
from derivations.proof.enumeration import inputs
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.refusal import require

__all__ = ["average_loss", "best_loss", "conditional_loss", "derive", "relu", "two_units"]

_r, _k = sp.symbols("r k", integer=True, positive=True)
_eps = sp.Symbol("eps", nonnegative=True)

_TARGET = sp.Rational(2, 3)
"""The least loss of a single hidden unit."""


def conditional_loss(mean: sp.Expr, prediction: sp.Expr) -> sp.Expr:
    """Return E (g - y)^2 for a sign y of the given mean and a constant g."""
    up, down = (1 + mean) / 2, (1 - mean) / 2
    return up * (1 - prediction) ** 2 + down * (1 + prediction) ** 2


def best_loss(missed: sp.Expr) -> sp.Expr:
    """Return the least loss for a support of which `missed` positions are not read."""
    return 1 - mean_outside(missed) ** 2


def average_loss(r: sp.Expr, k: sp.Expr) -> sp.Expr:
    """Return the best loss of a reader of r positions, averaged over all supports of size k."""
    return 1 - share_of_supports(r, d, k)


def relu(value: int | Fraction) -> int | Fraction:
    """Return the positive part."""
    return max(value, 0)


def two_units(x_a: int, x_b: int) -> int | Fraction:
    """Return the net with two hidden units that is the label."""
    return 1 - relu(x_a + x_b) - relu(-x_a - x_b)


def derive(title: str) -> Derivation:
    """Derive the bound, what it asks for, and what is enough."""
    steps = (
        orthonormality(),
        Step(
            label="conditional",
            uses=("orthonormal",),
            statement=r"\mathbb{E} [\chi_{S} | x_{T}] = \chi_{S} \text{ if } S \subset T, \quad"
            r" \mathbb{E} [\chi_{S} | x_{T}] = 0 \text{ otherwise}",
            reason=r"Given the signs $x_{T}$ at the positions of $T$, the others are independent"
            r" and uniform: each position of $S$ outside $T$ contributes $\mathbb{E} x_{i} = 0$."
            r" As $\chi_{S}$ is a sign, it is then a fair coin, independent of $x_{T}$: whatever"
            r" the measure of loss, no function of $x_{T}$ does better than a constant.",
            check=_check_conditional_mean,
        ),
        Step(
            label="predictor",
            statement=r"\mathbb{E} [(g - y)^{2} | x_{T}] = 1 - e^{2} + (g - e)^{2} \ge 1 - e^{2},"
            r" \quad e = \mathbb{E} [y | x_{T}]",
            reason=r"Given $x_{T}$, $g$ is a number and $y$ a sign, $1$ with probability $(1 + e)"
            r" / 2$. The conditional mean is the best predictor.",
            check=_check_best_predictor,
        ),
        Step(
            label="best",
            uses=("conditional", "predictor"),
            statement=r"\min_{g} \mathbb{E} (g - y)^{2} = 0 \text{ if } S \subset T, \quad"
            r" \min_{g} \mathbb{E} (g - y)^{2} = 1 \text{ otherwise}",
            reason=r"$e^{2}$ is $1$ or $0$. There is nothing in between: off the supports within"
            r" $T$ every loss is at least $1$, which $g = 0$ has.",
            check=_check_best_loss,
        ),
        Step(
            label="share",
            statement=r"P(S \subset T) = \prod_{i = 0}^{k - 1} \frac{r - i}{d - i} ="
            r" \frac{\binom{r}{k}}{\binom{d}{k}}",
            reason=r"Draw the positions of $S$ one at a time: each of the first $k$ must be one"
            r" of those of $T$ that are left. By induction in $k$.",
            check=_check_share,
        ),
        Step(
            label="average",
            uses=("best", "share"),
            statement=r"\mathbb{E}_{S} \min_{g} \mathbb{E} (g - y)^{2} = 1 -"
            r" \frac{\binom{r}{k}}{\binom{d}{k}}, \quad k = 2: \quad 1 - \frac{r (r - 1)}{d (d -"
            r" 1)}",
            reason=r"The mean over the supports of a loss that is $0$ or $1$. It is attained, by"
            r" $g = e$ for each support; any net that reads $T$ has this average or more. If $T$"
            r" is drawn, independently of $S$, the same holds given $T$.",
            check=_check_average,
        ),
        Step(
            statement=r"1 - \frac{r (r - 1)}{d (d - 1)} \le \epsilon \Leftrightarrow r \ge"
            r" \frac{1}{2} + \frac{1}{2} \sqrt{1 + 4 (1 - \epsilon) d (d - 1)}",
            reason=r"The right-hand side is the positive root of $r (r - 1) = (1 - \epsilon) d (d"
            r" - 1)$, larger than $1$ for $0 \le \epsilon < 1$; $r (r - 1)$ is $0$ at $r = 0$ and"
            r" increases from $r = 1$ on.",
            check=_check_root,
        ),
        Step(
            uses=("share",),
            statement=r"1 - \frac{\binom{r}{k}}{\binom{d}{k}} \le \epsilon \Rightarrow r \ge (1 -"
            r" \epsilon)^{1 / k} d",
            reason=r"$(r - i) / (d - i) \le r / d$ for $0 \le i < d$ and $r \le d$, so that $1 -"
            r" \epsilon \le (r / d)^{k}$. If no weight of the first layer is shared between"
            r" positions, each touches one, and it has at least $r$.",
            check=_check_linear_growth,
        ),
        Step(
            statement=r"-x_{a} x_{b} = 1 - \text{ReLU}(x_{a} + x_{b}) - \text{ReLU}(-x_{a} -"
            r" x_{b})",
            reason=r"$|x_{a} + x_{b}| = 1 + x_{a} x_{b}$. So two hidden units are enough. A"
            r" dense net with one hidden layer of $n$ units has $n (d + 2) + 1$ parameters, here"
            r" $2 d + 5$; a net built once $S$ is known reads $r = 2$ positions. Checked at all"
            r" four values.",
            check=_check_two_units,
        ),
        Step(
            statement=r"\mathbb{E} (c_{0} + c_{1} \text{ReLU}(w \cdot x + w_{0}) + x_{a} x_{b})^{2}"
            r" \ge \frac{2}{3}",
            reason=r"One hidden unit is not enough. Hold all signs but $x_{a}$ and $x_{b}$:"
            r" along $w \cdot x$ the net is monotone, so that of its four values one is the least"
            r" and one the largest, at opposite corners, which have the same label; the other"
            r" label is at the two corners between them. Whichever label it is, the mean square"
            r" over the four is at least $2 / 3$, a sum of squares away. Attained by the unit"
            r" $\text{ReLU}(x_{a} + x_{b} - 1)$.",
            check=_check_one_unit,
        ),
        Step(
            uses=("average",),
            statement=r"\binom{d}{k}^{-1} \sum_{S} \min_{g} 2^{-d} \sum_{x} (g(x_{T}) -"
            r" \chi_{S}(x))^{2} = 1 - \frac{\binom{r}{k}}{\binom{d}{k}}, \quad d = 2, \ldots, 6",
            reason=r"Independent check: all $2^{d}$ inputs, sorted by what is read, and all"
            r" supports of size $k = 1, \ldots, 4$, for every $r$; the best $g$ is the mean of"
            r" the labels that it cannot tell apart.",
            check=_check_enumeration,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="feed_forward",
        title=title,
        source="ours; arXiv:2502.07553v2 sets its model against feed-forward nets",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$, $\chi_{S}$ is the product of the $x_{i}$"
        r" with $i$ in $S$, and the label is $y = \chi_{S}$ or $y = -\chi_{S}$; for $k = 2$ the"
        r" paper's $y = -x_{a} x_{b}$. The support $S$ is uniform among the sets of $k$"
        r" positions. $T$ is a set of $r \le d$ positions that is fixed before $S$ is drawn, and"
        r" $g$ any function of the signs at $T$, which may depend on $S$: a net that reads $T$,"
        r" of any depth and width, after any training. The loss is $\mathbb{E} (g - y)^{2}$,"
        r" with no factor $1/2$.",
        steps=steps,
        formulas=(),
    )


def _check_conditional_mean() -> None:
    missed = sp.Symbol("missed", integer=True, positive=True)
    require_equal(mean_outside(sp.S.Zero), sp.S.One, "no position missed")
    require(mean_outside(missed) == 0, "a position missed")


def _check_best_predictor() -> None:
    mean, prediction = sp.symbols("mean prediction", real=True)
    require_at_least(
        conditional_loss(mean, prediction),
        1 - mean**2,
        (prediction - mean) ** 2,
        "the loss given what is read",
    )
    # What the two probabilities are: of total 1, and of the given mean.
    values = [conditional_loss(mean, sp.Integer(sign)) for sign in (1, -1)]
    require_equal(sum(values) / 4, sp.S.One, "the total probability")
    require_equal((values[1] - values[0]) / 4, mean, "the mean of the label")


def _check_best_loss() -> None:
    missed = sp.Symbol("missed", integer=True, positive=True)
    require_equal(best_loss(sp.S.Zero), sp.S.Zero, "within T")
    require_equal(best_loss(missed), sp.S.One, "a position missed")
    require_equal(conditional_loss(sp.S.Zero, sp.S.Zero), sp.S.One, "the loss of g = 0")


def _check_share() -> None:
    require_equal(sp.expand_func(share_of_supports(_r, d, sp.S.One)), _r / d, "k = 1")
    growth = sp.combsimp(share_of_supports(_r, d, _k + 1) / share_of_supports(_r, d, _k))
    require_equal(growth, (_r - _k) / (d - _k), "one position more")


def _check_average() -> None:
    chance = share_of_supports(_r, d, _k)
    missed = sp.Symbol("missed", integer=True, positive=True)
    mean = chance * best_loss(sp.S.Zero) + (1 - chance) * best_loss(missed)
    require(average_loss(_r, _k) == mean, "the mean over the supports")
    pairs = sp.expand_func(average_loss(_r, sp.Integer(2)))
    require_equal(pairs, 1 - _r * (_r - 1) / (d * (d - 1)), "k = 2")
    require_equal(average_loss(d, sp.Integer(2)), sp.S.Zero, "everything read")


def _check_root() -> None:
    half = sp.Symbol("half", positive=True)  # the square root
    root = sp.Rational(1, 2) + half / 2
    square = 1 + 4 * (1 - _eps) * d * (d - 1)
    require_equal((root * (root - 1)).expand().subs(half**2, square), (square - 1) / 4, "the root")
    require_equal((square - 1) / 4, (1 - _eps) * d * (d - 1), "the number of pairs")
    # Two numbers of positions from 1 on: the larger has the more pairs.
    low, more = sp.symbols("low more", nonnegative=True)
    small = 1 + low
    large = small + more
    require_at_least(
        large * (large - 1), small * (small - 1), more * (2 * low + 1 + more), "pairs increase"
    )


def _check_linear_growth() -> None:
    read, total = sp.symbols("read total", positive=True)
    before = sp.Symbol("before", nonnegative=True)
    unread = sp.Symbol("unread", nonnegative=True)
    left = sp.Symbol("left", positive=True)
    require_at_least(
        read / total,
        (read - before) / (total - before),
        before * unread / (total * left),
        "r/d and (r - i)/(d - i)",
        slacks={unread: total - read, left: total - before},
    )


def _check_two_units() -> None:
    for x_a, x_b in itertools.product((-1, 1), repeat=2):
        require(two_units(x_a, x_b) == -x_a * x_b, f"the net at ({x_a}, {x_b})")
    width, positions = sp.symbols("width positions", positive=True)
    # A row of weights, a bias and a weight for each unit; one bias more.
    parameters = width * (positions + 1) + width + 1
    require_equal(parameters, width * (positions + 2) + 1, "the parameters of a dense net")
    require_equal(parameters.subs({width: 2, positions: d}), 2 * d + 5, "width 2")


def _check_one_unit() -> None:
    least, first, second, largest = sp.symbols("least first second largest", real=True)
    p, q = sp.symbols("p q", nonnegative=True)
    third = sp.Rational(1, 3)
    for label, end, other_end, gaps in (
        (1, least, largest, {p: first - least, q: second - least}),
        (-1, largest, least, {p: largest - first, q: largest - second}),
    ):
        squares = sum((value - label) ** 2 for value in (least, largest)) + sum(
            (value + label) ** 2 for value in (first, second)
        )
        require_at_least(
            squares / 4,
            _TARGET,
            (other_end - label) ** 2 / 4
            + sum((value + label * third) ** 2 for value in (end, first, second)) / 4
            + third * (p + q),
            f"the mean square with the label {label} at both ends",
            slacks=gaps,
        )
    attained = [
        (Fraction(4, 3) * relu(x_a + x_b - 1) - Fraction(1, 3) - x_a * x_b) ** 2
        for x_a, x_b in itertools.product((-1, 1), repeat=2)
    ]
    require(sum(attained) / 4 == Fraction(2, 3), "the loss of the unit that attains the bound")


def _check_enumeration() -> None:
    for size in range(2, 7):
        for r in range(size + 1):
            # Positions at both ends of the row, not only the first ones.
            read = [(h // 2) if h % 2 == 0 else size - 1 - h // 2 for h in range(r)]
            for k in range(1, min(size, 4) + 1):
                found = _enumerated_average(size, read, k)
                expected = 1 - Fraction(math.comb(r, k), math.comb(size, k))
                require(
                    found == expected,
                    f"d = {size}, r = {r}, k = {k}: {expected}, by enumeration {found}",
                )


def _enumerated_average(size: int, read: list[int], k: int) -> Fraction:
    """Return the mean over all supports of the least loss, from the definition."""
    supports = list(itertools.combinations(range(size), k))
    squares = Fraction(0)
    for support in supports:
        labels: dict[tuple[int, ...], list[int]] = {}
        for x in inputs(size):
            labels.setdefault(tuple(x[i] for i in read), []).append(parity(x, support))
        for alike in labels.values():
            best = Fraction(sum(alike), len(alike))
            squares += sum((best - label) ** 2 for label in alike)
    return Fraction(squares, 2**size * len(supports))
