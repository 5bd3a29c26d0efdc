"""The evidence of a derivation: every step of its ledger, checked by machine."""

from __future__ import annotations

from verify.claim import Cell, Evidence, Grade
from verify.seeds import Streams

__all__ = ["derivation_cell"]


def derivation_cell(name: str, *, cost: float) -> Cell:
    """Return the cell that checks every step of a derivation.

    Parameters
    ----------
    name : str
        The derivation's name in `derivations.catalogue`.
    cost : float
        Rough seconds.
    """

    def check(_: Streams) -> Evidence:
        from derivations.catalogue import load
        from derivations.ledger import Method, Status

        results = load(name).check()
        failed = [result for result in results if result.status is Status.FAILED]
        proofs = sum(result.step.method is Method.PROOF for result in results)
        # Comparisons at instances can only refute: without a proof among the steps there is none.
        grade = Grade.UNDECIDED if proofs == 0 else Grade.EXACT
        return Evidence(
            cell=f"derivation {name}",
            subject="statement",
            method="symbolic derivation, d symbolic",
            grade=Grade.REFUTED if failed else grade,
            computed=(
                f"{len(results) - len(failed)} of {len(results)} steps hold: "
                f"{proofs} by proof, {len(results) - proofs} at instances"
            ),
            claimed="every step holds, for symbolic d",
            precision="exact",
            reason="; ".join(f"step {each.number}: {each.detail}" for each in failed)
            or (None if proofs else "no step is a proof"),
        )

    return Cell(name=f"derivation {name}", check=check, cost=cost)
