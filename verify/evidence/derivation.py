"""The evidence of a derivation: every step of its ledger checked, and what the steps rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verify.claim import Cell, Evidence, Grade
from verify.seeds import Streams

if TYPE_CHECKING:
    from derivations.proof.ledger import CheckResult

__all__ = ["derivation_cell"]


def derivation_cell(name: str, *, cost: float) -> Cell:
    """Return the cell that checks every step of a derivation.

    Steps that rest on a lemma of probability, or leave a sign to ball arithmetic, are counted and
    what they rest on is named; with any of them the derivation is no exact proof by itself.

    Parameters
    ----------
    name : str
        The derivation's name in `derivations.catalogue`.
    cost : float
        Rough seconds.
    """

    def check(_: Streams) -> Evidence:
        from derivations.catalogue import load
        from derivations.proof.ledger import Method, Status

        results = load(name).check()
        failed = [result for result in results if result.status is Status.FAILED]
        counts = {method: sum(each.step.method is method for each in results) for method in Method}
        conditional = counts[Method.LEMMA] + counts[Method.OBLIGATION]
        # Comparisons at instances can only refute: without a proof among the steps there is none.
        grade = Grade.CERTIFIED if conditional else Grade.EXACT
        if counts[Method.PROOF] == 0:
            grade = Grade.UNDECIDED
        found = [
            f"{counts[Method.PROOF]} by proof",
            f"{counts[Method.INSTANCES]} at instances",
            *([f"{counts[Method.LEMMA]} by lemma"] if counts[Method.LEMMA] else []),
            *([f"{counts[Method.OBLIGATION]} up to signs"] if counts[Method.OBLIGATION] else []),
        ]
        return Evidence(
            cell=f"derivation {name}",
            subject="statement",
            method=f"symbolic derivation, d symbolic{_rests_on(results)}",
            grade=Grade.REFUTED if failed else grade,
            computed=f"{len(results) - len(failed)} of {len(results)} steps hold: "
            + ", ".join(found),
            claimed="no step fails; those by proof hold for symbolic d",
            precision="exact",
            reason="; ".join(f"step {each.number}: {each.detail}" for each in failed)
            or (None if counts[Method.PROOF] else "no step is a proof"),
        )

    return Cell(name=f"derivation {name}", check=check, cost=cost, derivation=name)


def _rests_on(results: Iterable[CheckResult]) -> str:
    """Name the lemmas and the open signs, each once, in order."""
    steps = [result.step for result in results]
    named = {
        "lemmas": dict.fromkeys(each.name for step in steps for each in step.lemmas),
        "signs left to ball arithmetic": dict.fromkeys(
            each.name for step in steps for each in step.obligations
        ),
    }
    return "".join(f"; {what}: {', '.join(names)}" for what, names in named.items() if names)
