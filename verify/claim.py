"""What a claim is, what counts as evidence for it, and the verdict that evidence earns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from verify.instances.instance import Instance
    from verify.seeds import Streams

__all__ = [
    "ASSERTED",
    "PROFILES",
    "UNSETTLED",
    "Assumption",
    "Cell",
    "Claim",
    "Evidence",
    "Grade",
    "Profile",
    "Stance",
    "conclude",
]

Profile = Literal["quick", "standard", "full"]
PROFILES: Mapping[str, Profile] = {"quick": "quick", "standard": "standard", "full": "full"}

Stance = Literal["asserted", "disputed"]
ASSERTED: Stance = "asserted"


class Grade(StrEnum):
    """What a piece of evidence amounts to. There is no "passed".

    Only `EXACT` and `CERTIFIED` are proofs. `SAMPLED` is a confidence interval inside an
    inequality that was stated before the draw. The last three establish nothing.
    """

    EXACT = "exact"
    CERTIFIED = "certified"
    SAMPLED = "sampled"
    REFUTED = "refuted"
    VACUOUS = "vacuous"
    UNDECIDED = "undecided"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One computed value beside what the claim says of it.

    Parameters
    ----------
    cell : str
        What was looked at, for example ``d=1024, m=256``.
    subject : {"statement", "cross-check"}
        Whether this establishes the claim's statement, or holds one computation of the toolkit
        against another at instances. A cross-check that disagrees turns its claim red; one
        that agrees proves nothing about the statement.
    method : str
        How the value was obtained, for example ``exact enumeration``.
    grade : Grade
        What it amounts to.
    computed, claimed : str
        The value found, and the value or inequality the claim states.
    margin : float, optional
        The share of the claimed bound that is left: 1 at 0, 0 at the bound, negative beyond.
    precision : str, optional
        The arithmetic used.
    seed, trials : int, optional
        Root seed and number of random draws, where there were any.
    met : int, optional
        How many of the draws met the claim's assumptions.
    reason : str, optional
        Why nothing better could be said; always given for vacuous, undecided and error.
    """

    cell: str
    subject: Literal["statement", "cross-check"]
    method: str
    grade: Grade
    computed: str
    claimed: str
    margin: float | None = None
    precision: str | None = None
    seed: int | None = None
    trials: int | None = None
    met: int | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, str | float]:
        """Return the fields that are set, in the order they are declared."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Assumption:
    """A condition of a claim, in words, in LaTeX and as a predicate on instances."""

    name: str
    statement: str
    holds: Callable[[Instance], bool]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One independent piece of work: a place at which a claim is looked at.

    Parameters
    ----------
    name : str
        Names the cell within its claim; ``claim.id/name`` seeds its random streams.
    check : callable
        Does the work and returns its evidence. An exception is recorded as an error.
    cost : float
        Rough seconds of work; the runner starts the costliest cells first.
    derivation : str, optional
        Name in `derivations.catalogue` of the derivation whose steps it checks, if that is what
        it does.
    """

    name: str
    check: Callable[[Streams], Evidence]
    cost: float = 0.1
    derivation: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement that can fail.

    Parameters
    ----------
    id : str
        Permanent; papers and scripts may refer to it.
    title : str
        The claim in a line.
    statement : str
        The claim in LaTeX, math delimited by ``$``.
    source : str
        Paper, version and number, or ``ours``.
    cells : callable
        Maps a profile to the cells to look at. A sampled claim fixes its inequality, its number
        of trials and its confidence level here, before anything is drawn.
    stance : {"asserted", "disputed"}
        A disputed claim is a literal wording that the evidence contradicts.
    assumptions : tuple of Assumption
        Draws that violate one are not counted.
    dependencies : tuple of str
        Ids of the claims this one rests on.
    bundles : tuple of str
        Files of the repository that hold what was found here, for ``replay`` to decide again.
    """

    id: str
    title: str
    statement: str
    source: str
    cells: Callable[[Profile], tuple[Cell, ...]]
    stance: Stance = ASSERTED
    assumptions: tuple[Assumption, ...] = ()
    dependencies: tuple[str, ...] = ()
    bundles: tuple[str, ...] = ()

    @property
    def derivations(self) -> tuple[str, ...]:
        """Names of the derivations whose steps the cells check, at one profile or another."""
        cells = (cell for profile in PROFILES.values() for cell in self.cells(profile))
        return tuple(dict.fromkeys(cell.derivation for cell in cells if cell.derivation))


UNSETTLED = frozenset({Grade.UNDECIDED, Grade.VACUOUS, Grade.ERROR})

# From the worst news to the best: the first grade present decides.
_DECISIVE = (Grade.REFUTED, Grade.ERROR, Grade.UNDECIDED)
_WEAKEST_FIRST = (Grade.SAMPLED, Grade.CERTIFIED, Grade.EXACT)


def conclude(evidence: Iterable[Evidence]) -> tuple[Grade, Evidence | None]:
    """Return the verdict a claim's evidence earns, and the piece that decides it.

    Any refutation, error or undecided piece decides, whatever it speaks of. Otherwise the
    verdict is the weakest grade among the pieces about the statement: vacuous pieces count for
    nothing, and without any other the claim is vacuous. Of several pieces with the deciding
    grade, the one with the least margin is returned.
    """
    pieces = tuple(evidence)
    statement = tuple(piece for piece in pieces if piece.subject == "statement")
    for grades, eligible in ((_DECISIVE, pieces), (_WEAKEST_FIRST, statement)):
        for grade in grades:
            candidates = [piece for piece in eligible if piece.grade is grade]
            if candidates:
                return grade, min(candidates, key=_margin)
    return Grade.VACUOUS, statement[0] if statement else None


def _margin(piece: Evidence) -> float:
    return 1.0 if piece.margin is None else piece.margin
