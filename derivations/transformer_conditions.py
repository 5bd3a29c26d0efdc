"""What each condition of the equivalence is for: without it, something else is computed or trained.

A condition is left out by itself; what remains is derived for symbolic sizes, and is seen to differ
at an exact instance or by a sign. Where leaving it out is a mere change of variables, the step says
which.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("transformer_conditions")

from derivations.proof.ledger import Derivation
from derivations.transformer import CONDITIONS
from derivations.transformers import layer_conditions, training_conditions

__all__ = ["derive"]


def derive(title: str) -> Derivation:
    """Derive what becomes of the equivalence without each of its conditions."""
    return Derivation(
        name="transformer_conditions",
        title=title,
        source="ours",
        setting=r"As in the derivation of the equivalence, with its conditions "
        + "; ".join(f"({number}) {text}" for number, text in enumerate(CONDITIONS, start=1))
        + r". $L_{0} = 1 - 1/d^{2} - 2/d^{3}$ is the loss where both queries vanish, and $Q ="
        r" \mathbb{E} [p^{2} q^{2}]$, $C = \mathbb{E} [p q x_{a} x_{b}]$.",
        steps=(*layer_conditions.steps(), *training_conditions.steps()),
        formulas=(),
    )
