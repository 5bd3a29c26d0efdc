"""The campaign: cases on worker processes, a tally by kind, and a file for whatever is unsound."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from campaigns.soundness.attack import Outcome, attack, attack_all
from campaigns.soundness.kinds import KINDS, case_at
from campaigns.soundness.questions import QUESTIONS
from campaigns.soundness.truth import Truth
from numerics.balls.arithmetic.exact import upper_digits, upper_end
from numerics.balls.binomial import clopper_pearson
from verify.console.progress import Progress
from verify.instances.instance import Instance, save_instance
from verify.running.pool import Failure, run_calls

__all__ = ["SIZES", "Campaign"]

SIZES = {"small": 2_000, "full": 100_000}
"""How many cases."""

_CHUNK = 50
_VERDICTS = ("certified", "refuted", "undecided")
# One-sided at 95%: the upper end of the two-sided interval at 90%.
_LEVEL = Fraction(9, 10)
# A kind with fewer cases says nothing about its share.
_ENOUGH = 20
# Nor does a question that was put less often, except in a campaign of so many cases.
_ENOUGH_TIMES = 100
_ENOUGH_CASES = 1_000
_ANSWERS = "How often each question was put, in how many cases, and how often it was answered:"


class Campaign:
    """A number of cases from one seed, and what came of them.

    Parameters
    ----------
    seed : int
        Root seed.
    cases : int
        How many.
    findings : Path
        Folder for unsound cases; made when there is one.
    """

    def __init__(self, seed: int, cases: int, findings: Path) -> None:
        self.seed = seed
        self.cases = cases
        self._findings = findings
        self._verdicts: Counter[tuple[str, str]] = Counter()
        self._unsound: Counter[str] = Counter()
        self._put: Counter[str] = Counter()
        self._times: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()
        self._lost: list[str] = []

    @classmethod
    def of_one(cls, seed: int, number: int, findings: Path) -> int:
        """Attack with one case, say what came of it, and return the exit code."""
        outcome = attack(case_at(seed, number))
        campaign = cls(seed, 1, findings)
        campaign.count([outcome])
        print(f"case {number}, {outcome.kind}: {outcome.verdict}")
        for text in outcome.wrong:
            print(text)
        return 1 if outcome.wrong else 0

    def run(self, *, jobs: int) -> None:
        """Attack with all cases; an interruption leaves what is finished."""
        calls = [
            (self.seed, start, min(start + _CHUNK, self.cases))
            for start in range(0, self.cases, _CHUNK)
        ]
        progress = Progress(quiet=False)
        outcomes = run_calls(attack_all, calls, jobs=jobs)
        with suppress(KeyboardInterrupt), progress.track(self.cases):
            for index, found in outcomes:
                _, start, stop = calls[index]
                if isinstance(found, Failure):
                    self._lost.append(f"cases {start} to {stop - 1}: {found.reason}")
                else:
                    self.count(found)
                progress.advance(f"{self._unsound.total()} unsound", count=stop - start)

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Tally outcomes, and save the unsound ones."""
        for outcome in outcomes:
            self._verdicts[outcome.kind, outcome.verdict] += 1
            self._put.update(outcome.answers.asked.keys())
            self._times.update(outcome.answers.asked)
            self._answered.update(outcome.answers.answered)
            if outcome.wrong:
                self._unsound[outcome.kind] += 1
                self._save(outcome)

    @property
    def finished(self) -> bool:
        """Whether every case was put to the verifier."""
        return self._verdicts.total() == self.cases

    def failures(self) -> list[str]:
        """Return why the goal is not met, a line each."""
        failures = [
            f"{kind}: {count} unsound, in {self._findings}" for kind, count in self._unsound.items()
        ]
        for kind, limit in ((name, each.undecided) for name, each in KINDS.items()):
            asked = self._asked(kind)
            undecided = self._verdicts[kind, "undecided"]
            if asked >= _ENOUGH and undecided > limit * asked:
                failures.append(
                    f"{kind}: {undecided} of {asked} undecided, more than {float(limit):.0%}:"
                    " the campaign says little"
                )
        return failures + list(self._silent()) + self._lost

    def _silent(self) -> Iterator[str]:
        """Yield the questions that were seldom put, and those that were seldom answered."""
        cases = self._verdicts.total()
        for name, question in QUESTIONS.items():
            put, times, answered = (x[name] for x in (self._put, self._times, self._answered))
            if cases >= _ENOUGH_CASES and put < question.cases * cases:
                yield (
                    f"{name}: put in {put} of {cases} cases, fewer than"
                    f" {_percent(question.cases)}: the campaign says little"
                )
            judged = times >= _ENOUGH_TIMES or cases >= _ENOUGH_CASES
            if judged and answered < question.answered * times:
                yield (
                    f"{name}: {answered} of {times} answered, fewer than"
                    f" {_percent(question.answered)}: the campaign says little"
                )

    def figures(self) -> str:
        """Return the table of the cases in Markdown, and under it that of the answers."""
        lines = [
            "| kind | what is special | cases | " + " | ".join(_VERDICTS) + " | unsound |",
            "| --- | --- | --: | --: | --: | --: | --: |",
        ]
        lines += [self._row(kind, each.title, [kind]) for kind, each in KINDS.items()]
        lines.append(self._row("**all**", "", list(KINDS)))
        total, unsound = self._verdicts.total(), self._unsound.total()
        text = f"Seed {self.seed}: {unsound} of {total} cases unsound."
        if total:
            _, end = clopper_pearson(unsound, total, level=_LEVEL)
            share = upper_end(end)
            if share is not None:
                text += (
                    f" Of cases drawn in this way, a share of at most {upper_digits(share, 2)} is"
                    " unsound, at 95% (Clopper and Pearson)."
                )
        return "\n".join([*lines, "", text, "", _ANSWERS, "", *self._answers()])

    def _answers(self) -> Iterator[str]:
        """Yield the lines of the table of what was asked and what was answered."""
        titles = ("question", "cases", "asked", "answered", "at least", "silence", "not all cases")
        yield f"| {' | '.join(titles)} |"
        yield "| --- | --: | --: | --: | --: | --- | --- |"
        for name, question in QUESTIONS.items():
            counts = (self._put[name], self._times[name], self._answered[name])
            cells = [name, *(f"{n:,}" for n in counts), _percent(question.answered)]
            yield f"| {' | '.join([*cells, question.silence, question.absence])} |"

    def _row(self, name: str, title: str, kinds: Sequence[str]) -> str:
        cells = [sum(self._asked(kind) for kind in kinds)]
        cells += [sum(self._verdicts[kind, v] for kind in kinds) for v in _VERDICTS]
        cells.append(sum(self._unsound[kind] for kind in kinds))
        return f"| {name} | {title} | " + " | ".join(f"{n:,}" for n in cells) + " |"

    def _asked(self, kind: str) -> int:
        return sum(count for (name, _), count in self._verdicts.items() if name == kind)

    def _save(self, outcome: Outcome) -> None:
        """Write the instance, and what is wrong with the commands that show it."""
        case = case_at(self.seed, outcome.number)
        truth = Truth(case)
        self._findings.mkdir(parents=True, exist_ok=True)
        stem = self._findings / f"seed-{self.seed}-case-{outcome.number}"
        instance = stem.with_suffix(".npz")
        save_instance(
            "findings", instance, Instance(case.V, case.theta, case.theta_tilde, case.support)
        )
        numbers = f"--eta {truth.eta_text} --tolerance {truth.tolerance_text}"
        document = {
            "kind": case.kind,
            "wrong": outcome.wrong,
            "repeat": f"python -m campaigns soundness --seed {self.seed} --case {case.number}",
            "certify": f"xorverify certify {instance} {numbers} --json",
            "gradient": f"xorverify gradient {instance} --digits {case.digits} --json",
        }
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):g}%"
