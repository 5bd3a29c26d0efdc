"""What a derivation is: steps, each with its statement, its reason and its check by machine.

A statement without a check has no place here. A check is a function that returns when the
statement holds and raises `CheckError` when it does not; whatever else it raises counts as a
failure too, never as a pass.

Two kinds of step rest on something outside the derivation, and say so: an obligation on the sign
of a function of one variable, which ball arithmetic decides, and a lemma of probability, which has
a source. Their checks decide what can be decided exactly.

A step says which steps it uses by their labels, so a derivation is a graph that can be printed with
its references. A label has its meaning within the derivation; a step of another derivation is
``derivation:label``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from derivations.proof.refusal import CheckError

if TYPE_CHECKING:
    from derivations.proof.lemmas import Lemma
    from derivations.proof.obligations import Obligation

__all__ = [
    "CLOSED_BY",
    "CheckResult",
    "Derivation",
    "Formula",
    "Method",
    "Status",
    "Step",
]

CLOSED_BY = "xorverify run --claim theorem2-explicit"
"""What decides the open obligations."""


class Method(Enum):
    """How a check decides.

    `PROOF` covers the statement in full generality; `INSTANCES` confronts it with an independent
    computation at finitely many instances, which can refute it but not prove it. `OBLIGATION`
    covers everything but the signs that the step's obligations state; `LEMMA` covers what the
    step adds to the lemmas it names, and not the lemmas.
    """

    PROOF = "proof"
    INSTANCES = "instances"
    OBLIGATION = "obligation"
    LEMMA = "lemma"


class Status(Enum):
    """What a check found."""

    PROVED = "proved"
    AGREES = "agrees"
    BY_LEMMA = "by lemma"
    OPEN = "open"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a derivation.

    Attributes
    ----------
    statement : str
        LaTeX, for math mode.
    reason : str
        Prose, with math between dollars: why it follows from the steps before.
    check : callable
        Returns if the statement holds; raises `CheckError` if not.
    method : Method
        How the check decides.
    obligations : tuple of Obligation
        What the step leaves to ball arithmetic; the exact part of each is checked with the step.
    lemmas : tuple of Lemma
        The lemmas that the step rests on.
    label : str
        What other steps call it; empty if none of them uses it.
    uses : tuple of str
        What it follows from, or for `INSTANCES` what it confronts: labels of earlier steps, and
        ``derivation:label`` for steps of other derivations. Empty if it stands on definitions.

    Raises
    ------
    ValueError
        If the method does not fit: `OBLIGATION` goes with obligations, `LEMMA` with lemmas.
    """

    statement: str
    reason: str
    check: Callable[[], object]
    method: Method = Method.PROOF
    obligations: tuple[Obligation, ...] = ()
    lemmas: tuple[Lemma, ...] = ()
    label: str = ""
    uses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for rests, method in ((self.obligations, Method.OBLIGATION), (self.lemmas, Method.LEMMA)):
            if bool(rests) != (self.method is method):
                raise ValueError(f"method={self.method.value}: does not fit what the step rests on")


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A result of a derivation, by name.

    Attributes
    ----------
    name : str
        Its name within the derivation.
    left : str
        LaTeX of the left-hand side.
    right : sympy.Expr
        The right-hand side; a scalar that `derivations.proof.evaluation.evaluate` can evaluate.
    """

    name: str
    left: str
    right: Any


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The outcome of one check.

    Attributes
    ----------
    number : int
        Number of the step, from 1.
    step : Step
        The step.
    status : Status
        What the check found.
    detail : str
        For a failure, what went wrong; for an obligation, what decides it; for a lemma, its name;
        else empty.
    seconds : float
        Wall time of the check.
    """

    number: int
    step: Step
    status: Status
    detail: str
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether the step does not hold."""
        return self.status is Status.FAILED


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """A result and the way to it.

    Attributes
    ----------
    name : str
        The name in `derivations.catalogue`.
    title : str
        One line.
    source : str
        The statement of the paper it belongs to, or "ours".
    setting : str
        Definitions and conventions; prose with math between dollars.
    steps : tuple of Step
        In order.
    formulas : tuple of Formula
        The results that other code evaluates and prints.
    constants : tuple of Formula
        Results that are evaluated and not printed. The named constants of a bound, in scalar
        symbols: each is called like the symbol that it is the value of, and uses the symbols of
        earlier ones, so that a chain of `derivations.proof.evaluation.evaluate_real` evaluates the
        bound. Or formulas over the positions with too many terms to be read.

    Raises
    ------
    ValueError
        If two steps have one label, or one has a colon in its.
    """

    name: str
    title: str
    source: str
    setting: str
    steps: tuple[Step, ...]
    formulas: tuple[Formula, ...]
    constants: tuple[Formula, ...] = ()

    def __post_init__(self) -> None:
        labels = [step.label for step in self.steps if step.label]
        for label in labels:
            if labels.count(label) > 1 or ":" in label:
                raise ValueError(f"label={label}: must be new in {self.name}, without a colon")

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        """What the steps leave to ball arithmetic, in order."""
        return tuple(each for step in self.steps for each in step.obligations)

    def formula(self, name: str) -> Formula:
        """Return the result or constant called `name`.

        Raises
        ------
        KeyError
            If there is none.
        """
        return {formula.name: formula for formula in (*self.formulas, *self.constants)}[name]

    def number(self, label: str) -> int:
        """Return the number of the step that has a label, from 1.

        Raises
        ------
        KeyError
            If none has.
        """
        return {step.label: number for number, step in enumerate(self.steps, start=1)}[label]

    def check(self) -> tuple[CheckResult, ...]:
        """Run all checks, in order; the derivation holds if none has failed."""
        return tuple(_run(number, step) for number, step in enumerate(self.steps, start=1))


_FOUND = {
    Method.PROOF: Status.PROVED,
    Method.INSTANCES: Status.AGREES,
    Method.OBLIGATION: Status.OPEN,
    Method.LEMMA: Status.BY_LEMMA,
}
"""What it means that a check returns."""


def _run(number: int, step: Step) -> CheckResult:
    status = _FOUND[step.method]
    detail = ", ".join(lemma.name for lemma in step.lemmas)
    if step.obligations:
        detail = f"decided in ball arithmetic by: {CLOSED_BY}"
    start = time.perf_counter()
    try:
        for obligation in step.obligations:
            obligation.check()
        step.check()
    except CheckError as failure:
        status, detail = Status.FAILED, str(failure)
    except (ImportError, MemoryError):  # the machine is in trouble, and says nothing of the rule
        raise
    except Exception as error:  # a wrong rule may break the machinery before it reaches a verdict
        status, detail = Status.FAILED, f"{type(error).__name__}: {error}"
    return CheckResult(
        number=number,
        step=step,
        status=status,
        detail=detail,
        seconds=time.perf_counter() - start,
    )
