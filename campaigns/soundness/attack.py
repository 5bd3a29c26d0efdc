"""One case put to everything that can say "certified" of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from campaigns.soundness.answers import Answers
from campaigns.soundness.cases import Case
from campaigns.soundness.checks.certificate import (
    decision,
    wrong_at_low_precision,
    wrong_pushes,
)
from campaigns.soundness.checks.gradient import wrong_digits
from campaigns.soundness.checks.other_attention import wrong_descent, wrong_floor, wrong_reach
from campaigns.soundness.checks.worst_case import wrong_ball_bracket, wrong_binary64_bracket
from campaigns.soundness.kinds import KINDS, case_at
from campaigns.soundness.questions import RARELY
from campaigns.soundness.truth import Truth
from verify.running.pool import describe

__all__ = ["CHECKS", "RARE_CHECKS", "Outcome", "attack", "attack_all"]

Check = Callable[[Case, Truth, Answers], Iterable[str]]

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "low precision": wrong_at_low_precision,
        "pushes": wrong_pushes,
        "gradient": wrong_digits,
        "binary64 bracket": wrong_binary64_bracket,
        "ball bracket": wrong_ball_bracket,
    }
)
"""What every case is put to, besides the certificate."""

RARE_CHECKS: Mapping[str, Check] = MappingProxyType(
    {"descent": wrong_descent, "floor": wrong_floor, "reach": wrong_reach}
)
"""What one case in `RARELY` of every kind is put to: they take as long as all others together."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes
    ----------
    kind : str
        Its kind.
    number : int
        Its number.
    verdict : str
        "certified", "refuted", "undecided", or "error" if there was none.
    wrong : tuple of str
        What is unsound.
    answers : Answers
        What was asked and what was answered.
    """

    kind: str
    number: int
    verdict: str
    wrong: tuple[str, ...]
    answers: Answers = field(default_factory=Answers)


def attack(case: Case) -> Outcome:
    """Put a case to all checks.

    An exception counts as unsound: instances of finite numbers are answered.
    """
    truth, answers = Truth(case), Answers()
    try:
        verdict, wrong = decision(case, truth, answers)
    except Exception as failure:
        verdict, wrong = "error", [f"certify raised {describe(failure)}"]
    checks = dict(CHECKS)
    if case.number // len(KINDS) % RARELY == 0:
        checks |= RARE_CHECKS
    for name, check in checks.items():
        try:
            wrong += check(case, truth, answers)
        except Exception as failure:
            wrong.append(f"{name} raised {describe(failure)}")
    return Outcome(case.kind, case.number, verdict, tuple(wrong), answers)


def attack_all(seed: int, start: int, stop: int) -> list[Outcome]:
    """Attack with the cases of a range of numbers."""
    return [attack(case_at(seed, number)) for number in range(start, stop)]
