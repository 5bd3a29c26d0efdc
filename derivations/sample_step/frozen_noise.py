"""What changes in the noise of a head when the lean y is put to 0.

Steps of `derivations.corollary3`.

One sample's gradient G is a polynomial in linear forms, each of which changes little.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import d
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import m, symbol, y_high
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import HOELDER_PRODUCTS, MINKOWSKI, SUB_GAMMA, SUB_GAUSSIAN
from derivations.sample_step.notation import l_F, n_samples
from derivations.sample_step.sub_gamma import check_moments

__all__ = ["steps"]


def steps() -> tuple[Step, ...]:
    """Return the steps from one sample's gradient to the noise of a head."""
    return (
        Step(
            label="sample-split",
            statement=r"G - G^{\circ} = (p q - x_{a} x_{b}) X + (p q - p^{\circ} q^{\circ})"
            r" \frac{q^{\circ} \langle r^{\circ}, x \rangle}{\omega^{\circ}}, \quad X = \frac{q"
            r" \langle r, x \rangle}{\omega} - \frac{q^{\circ} \langle r^{\circ}, x"
            r" \rangle}{\omega^{\circ}}",
            reason=r"And $|p q - p^{\circ} q^{\circ}| \le |p - p^{\circ}| + |q - q^{\circ}|$, as"
            r" $|q|, |p^{\circ}| \le 1$; $X = (q - q^{\circ}) \langle r, x \rangle / \omega +"
            r" q^{\circ} \langle r - r^{\circ}, x \rangle / \omega + q^{\circ} \langle r^{\circ},"
            r" x \rangle (1 / \omega - 1 / \omega^{\circ})$.",
            check=_check_difference,
        ),
        Step(
            label="moved-moments",
            uses=(
                "attention-norm",
                "moved-products",
                "moved-attention",
                "centred-bounds",
                "moved-centred",
                "sample-split",
                "sample_noise:bounds",
            ),
            statement=r"\mathbb{E} |G - G^{\circ}|^{k} \le \kappa_{k} b_{D}^{k}, \quad"
            rf" {defined('b_move')}",
            reason=r"Each part of the previous step is a product of two forms, times at most $2$"
            r" or $1$ ($|q^{\circ}| \le 1$ in the last), and $|1 / \omega - 1 / \omega^{\circ}|"
            r" \le \varpi d^{2}$. The same for head 2, with $p$ and $q$ exchanged.",
            check=_check_product,
            method=Method.LEMMA,
            lemmas=(MINKOWSKI, HOELDER_PRODUCTS),
        ),
        Step(
            label="freezing-slice",
            uses=("moved-weights", "moved-moments"),
            statement=r"P(F \ge F^{\circ} + \theta(y_{i + 1})) \le e^{-l_{F}} \text{ on slice } i,"
            rf" \quad {defined('theta_lean')}, \quad {defined('v_move')}",
            reason=r"Given the scores, $v_{a}$ and $v_{b}$. $\kappa_{k} b_{D}^{k} \le (k! / 2) (3"
            r" b_{D}^{2}) (2 b_{D})^{k - 2}$: $15 \le 18$ at $k = 3$, and $2 k + 1 \le 2 (k + 1)$"
            r" beyond. The orthogonal noise has $Y - Y^{\circ} = \sum_{j \notin S} (\sqrt{1 -"
            r" y^{2}} c_{j} - c_{j}^{\circ}) v_{j}^{\perp} \cdot n'$ with weights of norm at most"
            r" $\lambda_{y} / \sqrt{d} + y^{2} w$. (The event of the energy enters as an indicator"
            r" under the expectation of $e^{l (F - F^{\circ})}$.)",
            check=_check_threshold,
            method=Method.LEMMA,
            lemmas=(SUB_GAMMA, SUB_GAUSSIAN),
        ),
    )


def _check_difference() -> None:
    p, q_, spread, rate = sp.symbols("p q_ spread rate")
    p_f, q_f, spread_f, rate_f, label = sp.symbols("p_f q_f spread_f rate_f label")
    now, then = q_ * spread / rate, q_f * spread_f / rate_f
    require_equal(
        (p * q_ - label) * now - (p_f * q_f - label) * then,
        (p * q_ - label) * (now - then) + (p * q_ - p_f * q_f) * then,
        "G less its frozen value",
    )
    require_equal(p * q_ - p_f * q_f, (p - p_f) * q_ + p_f * (q_ - q_f), "the change of p q")
    require_equal(
        now - then,
        (q_ - q_f) * spread / rate
        + q_f * (spread - spread_f) / rate
        + q_f * spread_f * (1 / rate - 1 / rate_f),
        "X",
    )


def _check_product() -> None:
    # Lengths: moves of gamma and gamma~, of r, and of 1/omega; |gamma~^o|, |r|, |r^o|.
    move, move_tilde, turn, jump = sp.symbols("move move_tilde turn jump", nonnegative=True)
    norm, spread, spread_frozen, inverse, inverse_frozen = sp.symbols(
        "norm spread spread_frozen inverse inverse_frozen", nonnegative=True
    )
    most = d**2 / symbol("omega_low")
    N_move, R_move, varpi = symbol("N_move"), symbol("R_move"), symbol("pi_lean")
    bounds = {
        move: N_move,
        move_tilde: N_move,
        turn: R_move,
        jump: varpi * d**2,
        norm: symbol("N_norm"),
        spread: symbol("R_high"),
        spread_frozen: symbol("R_high"),
        inverse: most,
        inverse_frozen: most,
    }
    products = (
        (2, (move_tilde, spread, inverse)),
        (2, (norm, turn, inverse)),
        (2, (norm, spread_frozen, jump)),
        (1, (move, spread_frozen, inverse_frozen)),
        (1, (move_tilde, spread_frozen, inverse_frozen)),
    )
    found = sp.Add(*(factor * sp.Mul(*sizes) for factor, sizes in products))
    slack = {size: sp.Symbol(f"room_{size}", nonnegative=True) for size in bounds}
    margin = []
    for factor, sizes in products:
        # x y z <= X Y Z one factor after the other.
        for place, size in enumerate(sizes):
            before = sp.Mul(*sizes[:place])
            after = sp.Mul(*(bounds[other] for other in sizes[place + 1 :]))
            margin.append(factor * before * slack[size] * after)
    require_at_least(
        value("b_move"),
        found,
        sp.Add(*margin),
        "b_D and the norm of the change",
        slacks={slack[size]: bound - size for size, bound in bounds.items()},
    )


def _check_threshold() -> None:
    check_moments(base=1, variance=3, scale=sp.Integer(2))
    b_move, v_move, w = symbol("b_move"), symbol("v_move"), symbol("w")
    weights = symbol("lambda_lean") / sp.sqrt(d) + y_high**2 * w
    require_equal(
        value("v_move"), weights**2 / (m - 1) + 3 * b_move**2 / n_samples, "both variances"
    )
    expected = sp.sqrt(2 * v_move * l_F) + 2 * b_move * l_F / n_samples
    require_equal(value("theta_lean"), expected, "the threshold at its level")
    change, length, fall, y = sp.symbols("change length fall y", nonnegative=True)
    room, curve, lean, longer = sp.symbols("room curve lean longer", nonnegative=True)
    require_at_least(
        weights,
        change + fall * length,
        room + lean * (y_high + y) * w + curve * w + fall * longer,
        "the norm of the weights",
        slacks={
            room: symbol("lambda_lean") / sp.sqrt(d) - change,
            lean: y_high - y,
            curve: y**2 - fall,
            longer: w - length,
        },
    )
