"""How a derivation reads: as text for a terminal, and as a LaTeX fragment for a paper.

The fragment needs amsmath and amssymb, and no preamble of its own.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from derivations.printing.latex import broken_lines, equation
from derivations.printing.plain import plain
from derivations.proof.ledger import CheckResult, Derivation, Formula, Status

__all__ = ["fragment", "summary", "text"]

_WIDTH = 100
_ROWS_ON_ONE_PAGE = 12


def text(derivation: Derivation, results: Sequence[CheckResult] = ()) -> str:
    """Return a derivation as text.

    Parameters
    ----------
    derivation : Derivation
        What is printed.
    results : sequence of CheckResult, optional
        What its checks found, to be printed with the steps.
    """
    lines = [f"{derivation.name}: {derivation.title}", f"source: {derivation.source}"]
    lines += _wrapped(plain(derivation.setting), "")
    for number, step in enumerate(derivation.steps, start=1):
        lines += ["", *_wrapped(f"{number:>2}. {plain(step.statement)}", "      ", first="")]
        lines += _wrapped(plain(step.reason), "    ")
        for lemma in step.lemmas:
            lemma_text = f"Lemma, {lemma.name}: {lemma.statement} ({lemma.source})"
            lines += _wrapped(plain(lemma_text), "    ")
        lines += [f"    [{_verdict(result)}]" for result in results if result.number == number]
    return "\n".join(lines)


def fragment(derivation: Derivation, results: Sequence[CheckResult] = ()) -> str:
    """Return a derivation as LaTeX: its steps as numbered equations, then its results.

    Parameters
    ----------
    derivation : Derivation
        What is printed.
    results : sequence of CheckResult, optional
        What its checks found, printed as comments.
    """
    lines = [
        f"% {derivation.name}: {derivation.title}",
        rf"\paragraph{{{derivation.title}.}}",
        derivation.setting,
    ]
    for number, step in enumerate(derivation.steps, start=1):
        lines += ["", f"% step {number}"]
        lines += [f"% {_verdict(result)}" for result in results if result.number == number]
        named = "".join(f" Lemma: {lemma.name} ({lemma.source})." for lemma in step.lemmas)
        lines += [rf"({number}) {step.reason}{named}", *_display(step.statement)]
    for heading, formulas in (
        (("% results", "In summary,"), derivation.formulas),
        (("% constants", "The constants are"), derivation.constants),
    ):
        if formulas:
            lines += ["", *heading]
        for formula in formulas:
            lines += [f"% {formula.name}", *_formula(formula)]
    return "\n".join(lines)


def summary(results: Sequence[CheckResult]) -> str:
    """Return one line that counts the outcomes; open ones and lemmas where there are any."""
    counts = Counter(result.status for result in results)
    outcomes = ", ".join(
        f"{counts[status]} {status.value}"
        for status in Status
        if counts[status] or status not in {Status.BY_LEMMA, Status.OPEN}
    )
    return f"{len(results)} steps: {outcomes}"


def _wrapped(paragraph: str, indent: str, *, first: str | None = None) -> list[str]:
    return textwrap.wrap(
        paragraph,
        _WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _verdict(result: CheckResult) -> str:
    return f"{result.status.value}: {result.detail}" if result.detail else result.status.value


def _formula(formula: Formula) -> list[str]:
    """Return a displayed formula, in an environment that may break over pages if it is long."""
    rows = broken_lines(formula.right)
    if len(rows) <= _ROWS_ON_ONE_PAGE:
        return _display(equation(formula.left, formula.right))
    return [
        r"{\allowdisplaybreaks",
        r"\begin{align*}",
        rf"{formula.left} = {{}}& {rows[0]} \\",
        *(rf"& {row} \\" for row in rows[1:-1]),
        f"& {rows[-1]}",
        r"\end{align*}}",
    ]


def _display(statement: str) -> list[str]:
    return [r"\begin{gather*}", statement, r"\end{gather*}"]
