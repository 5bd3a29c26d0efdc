"""What a derivation is: steps, each with its statement, its reason and its check by machine.

A statement without a check has no place here. A check is a function that returns when the
statement holds and raises `CheckError` when it does not; whatever else it raises counts as a
failure too, never as a pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = ["CheckError", "CheckResult", "Derivation", "Formula", "Method", "Status", "Step"]


class CheckError(Exception):
    """A step does not hold; the message says what was found."""


class Method(Enum):
    """How a check decides.

    `PROOF` covers the statement in full generality; `INSTANCES` confronts it with an independent
    computation at finitely many instances, which can refute it but not prove it.
    """

    PROOF = "proof"
    INSTANCES = "instances"


class Status(Enum):
    """What a check found."""

    PROVED = "proved"
    AGREES = "agrees"
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
        Whether the check is a proof or a comparison at instances.
    """

    statement: str
    reason: str
    check: Callable[[], object]
    method: Method = Method.PROOF


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
        The right-hand side; a scalar that `derivations.evaluation.evaluate` can evaluate.
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
        For a failure, what went wrong; else empty.
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
    """

    name: str
    title: str
    source: str
    setting: str
    steps: tuple[Step, ...]
    formulas: tuple[Formula, ...]

    def formula(self, name: str) -> Formula:
        """Return the formula called `name`.

        Raises
        ------
        KeyError
            If there is none.
        """
        return {formula.name: formula for formula in self.formulas}[name]

    def check(self) -> tuple[CheckResult, ...]:
        """Run all checks, in order; the derivation holds if none has failed."""
        return tuple(_run(number, step) for number, step in enumerate(self.steps, start=1))


def _run(number: int, step: Step) -> CheckResult:
    status = Status.PROVED if step.method is Method.PROOF else Status.AGREES
    detail = ""
    start = time.perf_counter()
    try:
        step.check()
    except CheckError as failure:
        status, detail = Status.FAILED, str(failure)
    except Exception as error:  # a wrong rule may break the machinery before it reaches a verdict
        status, detail = Status.FAILED, f"{type(error).__name__}: {error}"
    return CheckResult(
        number=number,
        step=step,
        status=status,
        detail=detail,
        seconds=time.perf_counter() - start,
    )
