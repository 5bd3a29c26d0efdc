"""The figures of the campaign: of each wing and operator, what was made, drawn, killed, left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from campaigns.mutants.explained import KINDS, Explanation
from campaigns.mutants.formula_files import WINGS, wing
from campaigns.mutants.judge import KILLS, REFUTED, Verdict
from campaigns.mutants.mutant import Mutant, squeezed
from campaigns.mutants.operators import OPERATORS

__all__ = ["GOAL", "Figures", "as_markdown", "change_in_short", "print_figures"]

GOAL = 0.95
"""The share of the mutants that count which the claims must kill."""

_ALIVE = "alive"
_LOOSER = "looser"
# With a bound that holds, or a search that finds less, a cell may end like this: nothing is false.
_NOT_PROVED = ("regraded", "undecided", "timeout")
_HEADINGS = ("", "mutants", "drawn", *KILLS, _ALIVE, *KINDS)
_SHOWN = 70  # characters of a change, and some around it


@dataclass(frozen=True)
class Figures:
    """The verdicts over a sample.

    Parameters
    ----------
    generated : sequence of Mutant
        All mutants there are.
    sample : sequence of Mutant
        Those that were drawn.
    verdicts : mapping of str to Verdict
        By id; without those that were not finished.
    explained : mapping of str to Explanation
        By id.
    """

    generated: Sequence[Mutant]
    sample: Sequence[Mutant]
    verdicts: Mapping[str, Verdict]
    explained: Mapping[str, Explanation]

    @property
    def finished(self) -> list[Mutant]:
        """The mutants of the sample that have a verdict."""
        return [mutant for mutant in self.sample if mutant.id in self.verdicts]

    @property
    def killed(self) -> int:
        """How many the claims killed."""
        return sum(self.outcome(mutant) in KILLS for mutant in self.finished)

    @property
    def refuted(self) -> int:
        """How many the claims killed by a counter-example, and not by an end without one."""
        return sum(self.outcome(mutant) == REFUTED for mutant in self.finished)

    @property
    def counting(self) -> int:
        """How many count: those that are killed, and those that are alive."""
        return sum(self.outcome(mutant) not in KINDS for mutant in self.finished)

    @property
    def all_finished(self) -> bool:
        """Whether all of the sample have a verdict."""
        return len(self.finished) == len(self.sample)

    @property
    def goal_met(self) -> bool:
        """Whether all have a verdict, some count, and enough of those that count are killed."""
        enough = self.counting > 0 and self.killed >= GOAL * self.counting
        return self.all_finished and enough

    @property
    def survivors(self) -> list[Mutant]:
        """The mutants that are not counted as killed: alive, or left out."""
        return [mutant for mutant in self.finished if self.outcome(mutant) not in KILLS]

    def outcome(self, mutant: Mutant) -> str:
        """Return how the mutant was killed, ``alive``, or why it is left out.

        A kill, or a test that fails, shows a mutant to be no equivalent one, whatever is said of
        it. But a looser one stays looser if cells come to less with it and refute nothing, or if
        tests pin the value of a bound.
        """
        verdict = self.verdicts[mutant.id]
        explanation = self.explained.get(mutant.id)
        looser = explanation is not None and explanation.kind == _LOOSER
        if verdict.kill is not None:
            return _LOOSER if looser and verdict.kill.kind in _NOT_PROVED else verdict.kill.kind
        if explanation is None or (verdict.test is not None and not looser):
            return _ALIVE
        return explanation.kind

    def explanation(self, mutant: Mutant) -> str:
        """Return why a survivor is left out, or what shows it to be false."""
        if self.outcome(mutant) in KINDS:
            return self.explained[mutant.id].reason
        test = self.verdicts[mutant.id].test
        return f"fails: {test}" if test else "not explained"

    def rows(self) -> Iterable[tuple[str, ...]]:
        """Yield the rows of the table: the wings, the operators, all."""
        for name in (*WINGS, *OPERATORS, "all"):
            outcomes = Counter(map(self.outcome, _members(name, self.finished)))
            yield (
                name,
                str(len(_members(name, self.generated))),
                str(len(_members(name, self.sample))),
                *(str(outcomes[heading] or "") for heading in (*KILLS, _ALIVE, *KINDS)),
            )

    def summary(self) -> str:
        """Return the result in a line."""
        unfinished = len(self.sample) - len(self.finished)
        left = len(self.finished) - self.counting
        return (
            f"{self.killed} of the {self.counting} mutants that count are killed"
            f"{self._share(self.killed)}, {self.refuted} by a refutation"
            f"{self._share(self.refuted)}; goal {GOAL:.0%}; {left} are left out"
            + (f"; {unfinished} are not finished" if unfinished else "")
        )

    def _share(self, part: int) -> str:
        return f" ({part / self.counting:.1%})" if self.counting else ""


def _members(group: str, mutants: Iterable[Mutant]) -> list[Mutant]:
    """Return the mutants of a wing or of an operator, or all."""
    return [
        mutant for mutant in mutants if group in (wing(mutant.file), mutant.change.operator, "all")
    ]


def change_in_short(mutant: Mutant) -> str:
    """Return the change on one line, without most of what is the same on both sides."""
    before, after = squeezed(mutant.change.before), squeezed(mutant.change.after)
    if max(len(before), len(after)) <= _SHOWN:
        return f"{before} -> {after}"
    start = next(
        (i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0
    )
    start = max(0, start - _SHOWN // 3)
    shown = (
        "..." * (start > 0) + text[start : start + _SHOWN] + "..." * (len(text) > start + _SHOWN)
        for text in (before, after)
    )
    return " -> ".join(shown)


def print_figures(figures: Figures, console: Console) -> None:
    """Print the table, the survivors and the result."""
    table = Table(title="Mutants", title_justify="left")
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if not heading else "right")
    for row in figures.rows():
        table.add_row(*row, end_section=row[0] in (WINGS[-1], list(OPERATORS)[-1]))
    console.print(table)
    if figures.survivors:
        survivors = Table(title="Survivors", title_justify="left", show_lines=True)
        for heading in ("id", "place", "change", "outcome", "why"):
            survivors.add_column(heading, overflow="fold")
        for mutant in figures.survivors:
            survivors.add_row(*map(Text, _survivor(figures, mutant)))
        console.print(survivors)
    console.print(figures.summary(), highlight=False)


def as_markdown(figures: Figures, *, seed: int) -> str:
    """Return the same as Markdown."""
    lines = [
        f"{len(figures.sample)} mutants of {len(figures.generated)}, seed {seed}: "
        f"{figures.summary()}.",
        "",
        *_markdown_table(_HEADINGS, figures.rows()),
    ]
    if figures.survivors:
        rows = (
            (f"`{id_}`", place, f"`{change}`", outcome, why)
            for id_, place, change, outcome, why in (
                _survivor(figures, mutant) for mutant in figures.survivors
            )
        )
        lines += [
            "",
            "What is not counted as killed:",
            "",
        ]
        lines += _markdown_table(("id", "place", "change", "outcome", "why"), rows)
    return "\n".join(lines)


def _survivor(figures: Figures, mutant: Mutant) -> tuple[str, str, str, str, str]:
    return (
        mutant.id,
        mutant.place,
        change_in_short(mutant),
        figures.outcome(mutant),
        figures.explanation(mutant),
    )


def _markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(headings)} |",
        f"|{' --- |' * len(headings)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]
