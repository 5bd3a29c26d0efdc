"""The slopes, bounded by the weights: a step of `derivations.score_bounds`."""

from __future__ import annotations

import sympy as sp

from derivations.notation import rho
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step

__all__ = ["steps"]


def steps() -> tuple[Step, ...]:
    """Return the step from the weights to the slopes."""
    return (
        Step(
            label="slope",
            uses=(
                "sinh-tangent",
                "structured",
                "own-weights",
                "one_step:slope-pair",
                "one_step:slope-pair-tilde",
            ),
            statement=r"\text{slope} \ge \Delta (2 \alpha (1 - \rho) - 2 \beta) - X ="
            rf" 2 \alpha \Delta (c - \rho) - X, \quad {defined('alpha_slope')}, \quad"
            rf" {defined('c_margin')}",
            reason=r"$X$ is the orthogonal noise of derivation one_step, $W \cdot A$ for head 1."
            r" $\sinh \Delta \ge \Delta$, $f_{a} - f_{b} \le c' \Delta$, and the structured part"
            r" is at least $-2 \beta \Delta$. Head 2 by reflection. With $\Delta = |A| y$ and $X ="
            r" |A| Y$: the slope is at least $|A| (g(\rho) y - Y)$, $g(\rho) = 2 \alpha (c -"
            r" \rho)$.",
            check=_check_slope,
        ),
    )


def _check_slope() -> None:
    own, structured, noise, sinh = sp.symbols("own structured noise sinh", real=True)
    convex, own_room, structured_room, apart, lean = sp.symbols(
        "convex own_room structured_room apart lean", nonnegative=True
    )
    alpha, beta, up = symbol("alpha_slope"), symbol("beta_slope"), symbol("c_up")
    slope = 2 * sinh * (1 - rho) - own * (1 - rho) - lean * structured - noise
    require_at_least(
        slope,
        lean * (2 * value("alpha_slope") * (1 - rho) - 2 * beta) - noise,
        (2 * convex + own_room) * apart + lean * structured_room,
        "the slope and its bound",
        slacks={
            convex: sinh - lean,
            own_room: up * lean - own,
            structured_room: 2 * beta - structured,
            apart: 1 - rho,
        },
    )
    require_equal(
        2 * alpha * (value("c_margin") - rho), 2 * alpha * (1 - rho) - 2 * beta, "g and its root"
    )
