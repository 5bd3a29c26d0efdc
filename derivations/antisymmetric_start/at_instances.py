"""The antisymmetric start at instances: the independent checks of `antisymmetric`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from derivations.notation import kappa, omega
from derivations.proof.differentiation import NumericModel
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.evaluation import evaluate, evaluate_over
from derivations.proof.instances import random_fractions, seeded
from derivations.proof.refusal import require

__all__ = ["check_loss", "check_numeric"]


def check_loss(expr: sp.Expr) -> None:
    """Check the loss at the start against all inputs, in exact arithmetic."""
    rng = seeded(17)
    for size in range(2, 9):
        exponentials = random_fractions(rng, size)
        sums = _sums(exponentials)
        found = evaluate(
            expr,
            sequences={"E": exponentials},
            scalars=sums,
            exponentials={"Delta": exponentials[0] / exponentials[1]},
        )
        expected = enumerated_loss(
            [x / sums["Z"] for x in exponentials], [1 / (x * sums["Z_tilde"]) for x in exponentials]
        )
        require(found == expected, f"d = {size}: {found}, by enumeration {expected}")


def check_numeric(kappa_formula: sp.Expr, pushed: sp.Expr, pushed_tilde: sp.Expr) -> None:
    """Check the pushes of both queries against numeric derivatives of the enumerated loss."""
    rng = seeded(19)
    for size, m in ((2, 1), (4, 2), (6, 3)):
        model = NumericModel(rng, d=size, m=m, antisymmetric=True)
        exponentials = model.exponentials(model.theta)
        found, found_tilde = (
            evaluate_over(
                -2 * omega * expr.xreplace({kappa: kappa_formula}),
                rational=model.rational,
                sequences={"E": exponentials, "t": model.t},
                positions={"a": 0, "b": 1},
                scalars=_sums(exponentials),
                exponentials={"Delta": exponentials[0] / exponentials[1]},
            )
            for expr in (pushed, pushed_tilde)
        )
        model.require_close(found, model.slope_of_loss(), "the derivative by theta")
        model.require_close(found_tilde, model.slope_of_loss_tilde(), "that by theta_tilde")


def _sums(exponentials: Sequence[Any]) -> dict[str, Any]:
    """Return the values of Z, Z_tilde, Z_2, Z_tilde_2 and omega."""
    total, total_tilde = sum(exponentials), sum(1 / x for x in exponentials)
    return {
        "Z": total,
        "Z_tilde": total_tilde,
        "Z_2": sum(x * x for x in exponentials),
        "Z_tilde_2": sum(1 / (x * x) for x in exponentials),
        "omega": 1 / (total * total_tilde),
    }
