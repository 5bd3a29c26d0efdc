r"""A derivation as a proof: an article that stands by itself and can be handed to a referee.

Every step is a numbered statement with its reason, the steps and lemmas it uses, how it was decided
and what its check found when the article was written. What a derivation takes from others is
quoted, with the number it has there. A sign that is left to ball arithmetic is listed with the
certificate found: the bound that encloses it, the number of cells and the precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from derivations.printing.layout import summary
from derivations.proof.ledger import Method, Status
from verify.environment import version
from verify.latex.claims import escaped
from verify.latex.displays import display, paragraph
from verify.latex.document import template
from verify.latex.formulas import derivation as derived
from verify.latex.notation import OWN, Notation
from verify.latex.statements import flat, laid_out, listed
from verify.latex.symbols import BUDGET, GROUPS, Group, occurring

if TYPE_CHECKING:
    from derivations.proof.ledger import CheckResult, Derivation, Step
    from derivations.proof.lemmas import Lemma
    from derivations.proof.obligations import Obligation
    from verify.ledgers.obligations import Discharge

__all__ = ["Proof", "file_of", "prove"]

_TEMPLATE = "proof.tex"
_BITS = 128
_DIGITS = 8

# A source with a year is a publication, and goes to the references; else it is a proof in brief.
_PRINTED = re.compile(r"\([0-9]{4}\)")
_FOUND = {
    Status.PROVED: "proved",
    Status.AGREES: "agrees at instances",
    Status.BY_LEMMA: "proved, given the lemmas",
    Status.OPEN: r"proved, given the sign (Section~\ref{signs})",
    Status.FAILED: r"\textbf{failed}",
}
"""What the check of a step found, as it stands beside the step."""

_PAPER = (
    "Y. Han and D. Ghoshdastidar, Transformers Provably Learn Sparse XOR with Polylogarithmic"
    " Parameters, arXiv:2502.07553v2; the statements called Theorem 2 and Corollary 3 here are its."
)


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A derivation, checked and printed.

    Parameters
    ----------
    name : str
        The derivation's.
    text : str
        The article.
    results : tuple of CheckResult
        What the checks of the steps found.
    discharges : mapping of str to Discharge
        What ball arithmetic found, by the name of the obligation.
    """

    name: str
    text: str
    results: tuple[CheckResult, ...]
    discharges: Mapping[str, Discharge]

    @property
    def holds(self) -> bool:
        """Whether no check failed and every sign was proved."""
        from verify.ledgers.obligations import Verdict

        signs = all(each.verdict is Verdict.PROVED for each in self.discharges.values())
        return signs and not any(result.failed for result in self.results)


def file_of(name: str) -> str:
    """Return the name of the file that the proof of a derivation is written to."""
    return f"proof-{name}.tex"


def prove(name: str, notation: Notation = OWN) -> Proof:
    """Check a derivation and print it.

    Parameters
    ----------
    name : str
        One of `derivations.catalogue`.
    notation : Notation, optional
        The notation it is printed in.

    Raises
    ------
    InvalidArgumentError
        If the notation clashes with what is printed.
    """
    from verify.ledgers.obligations import discharge

    derivation = derived(name)
    results = derivation.check()
    discharges = {each.name: discharge(each, bits=_BITS) for each in derivation.obligations}
    text = _Article(derivation, results, discharges, notation).text()
    return Proof(name=name, text=text, results=results, discharges=discharges)


class _Article:
    """One derivation on its way to LaTeX."""

    def __init__(
        self,
        derivation: Derivation,
        results: Sequence[CheckResult],
        discharges: Mapping[str, Discharge],
        notation: Notation,
    ) -> None:
        self._derivation = derivation
        self._results = results
        self._discharges = discharges
        self._notation = notation
        steps = derivation.steps
        lemmas = dict.fromkeys(lemma for step in steps for lemma in step.lemmas)
        self._lemmas: dict[Lemma, int] = {each: n for n, each in enumerate(lemmas, start=1)}
        others = dict.fromkeys(used for step in steps for used in step.uses if ":" in used)
        self._others = {used: f"E{n}" for n, used in enumerate(others, start=1)}
        printed = (lemma.source for lemma in self._lemmas if _PRINTED.search(lemma.source))
        sources = dict.fromkeys([_PAPER, *printed])
        self._sources = {source: f"source:{n}" for n, source in enumerate(sources, start=1)}

    def text(self) -> str:
        derivation = self._derivation
        return template(_TEMPLATE).render(
            version=version(),
            name=derivation.name,
            title=derivation.title,
            source=derivation.source,
            notation=self._notation.fingerprint,
            setting=self._prose(derivation.setting),
            groups=self._groups(),
            others=[self._other(used) for used in self._others],
            lemmas=[
                {
                    "number": number,
                    "name": lemma.name,
                    "statement": self._prose(lemma.statement),
                    "cited": self._sources.get(lemma.source, ""),
                    "proof": "" if lemma.source in self._sources else self._prose(lemma.source),
                }
                for lemma, number in self._lemmas.items()
            ],
            steps=[self._step(result) for result in self._results],
            signs=[self._sign(each) for each in derivation.obligations],
            bits=_BITS,
            formulas=[
                "\n".join(display(f"{self._equation(each.left, each.right)}."))
                for each in derivation.formulas
            ],
            constants=self._constants([each.name for each in derivation.constants]),
            inherited=self._constants(self._inherited()),
            outcome=summary(self._results),
            sources=[(key, self._prose(source)) for source, key in self._sources.items()],
        )

    def _math(self, formula: str) -> str:
        return self._notation.math(flat(formula), self._derivation.name)

    def _prose(self, prose: str) -> str:
        return "\n".join(paragraph(_text(self._notation.prose(prose, self._derivation.name))))

    def _equation(self, left: str, right: object) -> str:
        from derivations.printing.latex import latex

        return self._math(f"{left} = {latex(right)}")

    def _step(self, result: CheckResult) -> dict[str, object]:
        step = result.step
        number = result.number
        # A reason that goes on in the middle of the statement's sentence is not cut off from it.
        stop = "" if step.reason[:1].islower() else "."
        statement = self._math(step.statement) + stop
        return {
            "number": number,
            "statement": "\n".join(laid_out(statement, label=f"step:{number}")),
            "reason": self._prose(step.reason),
            "uses": self._used(step),
            "found": _FOUND[result.status],
            "failure": result.detail if result.failed else "",
        }

    def _used(self, step: Step) -> str:
        own = sorted(self._derivation.number(used) for used in step.uses if ":" not in used)
        other = [used for used in self._others if used in step.uses]
        items = [
            *(rf"\eqref{{step:{number}}}" for number in own),
            *(rf"\eqref{{{_label(used)}}}" for used in other),
            *(f"Lemma~{self._lemmas[lemma]}" for lemma in step.lemmas),
        ]
        if not items:
            return ""
        verb = "Refers to" if step.method is Method.INSTANCES else "Uses"
        return f"{verb} {_enumerated(items)}."

    def _other(self, used: str) -> dict[str, object]:
        """Return a step of another derivation as it is quoted."""
        name, _, label = used.partition(":")
        other = derived(name)
        number = other.number(label)
        statement = self._math(other.steps[number - 1].statement)
        return {
            "name": name,
            "number": number,
            "statement": "\n".join(
                laid_out(f"{statement}.", label=_label(used), tag=self._others[used])
            ),
        }

    def _sign(self, obligation: Obligation) -> dict[str, object]:
        from derivations.printing.latex import latex

        variable = latex(obligation.variable)
        zero = "without a zero"
        if obligation.zero is not None:
            zero = f"with a zero of order {obligation.order} at ${latex(obligation.zero)}$"
        steps = enumerate(self._derivation.steps, start=1)
        statement = self._math(
            rf"{latex(obligation.expression)} \ge 0, \quad {latex(obligation.lower)} \le {variable}"
            rf" \le {latex(obligation.upper)}"
        )
        return {
            "name": obligation.name,
            "step": next(number for number, step in steps if obligation in step.obligations),
            "statement": "\n".join(laid_out(f"{statement},")),
            "zero": self._prose(zero),
            "certificate": self._prose(_certificate(obligation, self._discharges[obligation.name])),
        }

    def _groups(self) -> list[Group]:
        """Return the notation table with what the derivation speaks of, in this notation."""
        steps = self._derivation.steps
        texts = [flat(step.statement) for step in steps]
        prose = [self._derivation.setting, *(step.reason for step in steps)]
        texts += [math for each in prose for math in re.findall(r"\$([^$]*)\$", each)]
        texts += [each.left for each in self._derivation.formulas]
        bounds = [BUDGET] if self._inherited() or self._own_constants() else []
        return [
            Group(
                self._prose(group.heading),
                tuple(
                    type(row)(self._prose(row.symbols), self._prose(row.meaning), row.marks)
                    for row in group.rows
                ),
            )
            for group in occurring([*GROUPS, *bounds], texts)
        ]

    def _constants(self, names: Iterable[str]) -> str:
        """Return the definitions of named constants, or of the formulas that are not printed."""
        from derivations.notation import LATEX
        from derivations.population_step.constants import CONSTANTS, SAMPLE_CONSTANTS

        values = {**CONSTANTS, **SAMPLE_CONSTANTS}
        equations = [self._equation(LATEX[each], values[each]) for each in names if each in values]
        return "\n".join(listed(equations)) if equations else ""

    def _own_constants(self) -> list[str]:
        return [each.name for each in self._derivation.constants]

    def _inherited(self) -> list[str]:
        """Return the constants of other derivations that the constants here are made of."""
        from derivations.population_step.constants import CONSTANTS, SAMPLE_CONSTANTS

        own = set(self._own_constants())
        # What the population's bounds are given, as sigma, the samples' may derive.
        values = {**CONSTANTS, **(SAMPLE_CONSTANTS if own & set(SAMPLE_CONSTANTS) else {})}
        needed = {name for name in own if name in values}
        open_ = list(needed)
        while open_:
            for symbol in values[open_.pop()].free_symbols:
                if symbol.name in values and symbol.name not in needed:
                    needed.add(symbol.name)
                    open_.append(symbol.name)
        return [name for name in values if name in needed - own]


def _certificate(obligation: Obligation, found: Discharge) -> str:
    """Return in words what ball arithmetic found."""
    from verify.ledgers.obligations import Verdict

    if found.verdict is Verdict.REFUTED:
        return f"Refuted: it is negative at ${found.witness}$."
    if found.verdict is Verdict.UNDECIDED:
        return rf"Undecided: {escaped(found.reason)}."
    bounds = []
    if found.least is not None:
        bounds.append(f"it is at least ${_decimal(found.least)}$ on those away from the zero")
    if found.least_at_zero is not None:
        bounds.append(
            f"its derivative of order {obligation.order}, on the others, at least"
            f" ${_decimal(found.least_at_zero)}$"
        )
    cells = "1 cell" if found.cells == 1 else f"{found.cells} cells"
    return f"Proved on {cells} at {found.bits} bits: {_enumerated(bounds)}."


def _decimal(digits: str) -> str:
    """Return a lower bound that is not negative for math mode, cut to a few digits."""
    mantissa, _, exponent = digits.partition("e")
    significant = re.match(rf"[0.]*(?:[0-9]\.?){{0,{_DIGITS}}}", mantissa)
    if significant is not None and "." in significant[0]:
        mantissa = significant[0].rstrip(".")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _label(used: str) -> str:
    return f"other:{used}"


def _enumerated(items: Sequence[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def _text(prose: str) -> str:
    """Return prose whose words are safe for TeX; math between dollars is left alone."""
    parts = re.split(r"(\$[^$]*\$)", prose)
    return "".join(
        part if part.startswith("$") else re.sub(r"(?<!\\)([%#&])", r"\\\1", _named(part))
        for part in parts
    )


def _named(words: str) -> str:
    """Return words with the names of the toolkit, which have underscores, in its own type."""
    return re.sub(
        r"\w*_\w*", lambda found: rf"\texttt{{{found[0].replace('_', chr(92) + '_')}}}", words
    )
