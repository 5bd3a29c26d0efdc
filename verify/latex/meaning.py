r"""What a printed formula says: LaTeX read back and evaluated in balls.

The grammar is that of what the toolkit emits, and knows nothing of SymPy or of the printer::

    sum     = ["-"] product {("+" | "-") product}
    product = power {["\cdot"] power}            a \sum_{i} takes the rest of its product
    power   = atom ["_" index] ["^" sum]
    atom    = number | symbol | fraction | root | function | group
            | "|" sequence "|" | "\langle" sequence "," sequence "\rangle" | "\delta_{...}"

A formula is right if, at random instances, its value in balls meets that of the expression it was
printed from. Two values that are the same number meet whatever the rounding; two polynomials that
differ have a random instance in common with probability next to 0.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

from numerics.balls.arithmetic.precision import working_precision

if TYPE_CHECKING:
    from derivations.proof.ledger import Formula
    from verify.latex.notation import Notation

__all__ = ["Instance", "MeaningError", "evaluate_latex", "expression_of", "misread"]

_MARK = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+|\S")
_NUMBERED = re.compile(
    r"\\label\{[^}]*\}(.*)\\end\{equation\}|\\begin\{align\}(.*)\\end\{align\}", re.DOTALL
)
_ALIGNMENT = re.compile(r"\\(?:begin|end)\{split\}|\\label\{[^}]*\}|&|\\\\|\\q?quad|\\notag")
_LAYOUT = {r"\left", r"\right", r"\,", r"\;"}
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_FUNCTIONS: Mapping[str, Callable[[arb], arb]] = {
    r"\cosh": lambda x: x.cosh(),
    r"\sinh": lambda x: x.sinh(),
    r"\exp": lambda x: x.exp(),
    r"\log": lambda x: x.log(),
}

_BITS = 128
_POSITIONS = 7
_INSTANCES = 3


class MeaningError(Exception):
    """LaTeX outside the grammar, or with a symbol that the instance does not have."""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Values for the symbols of a formula, by their printed LaTeX.

    Parameters
    ----------
    sequences : mapping of str to sequence of arb
        Each with as many entries as there are positions.
    positions : mapping of str to int
        The named positions.
    scalars : mapping of str to arb
        All other symbols.
    """

    sequences: Mapping[str, Sequence[arb]] = field(default_factory=dict)
    positions: Mapping[str, int] = field(default_factory=dict)
    scalars: Mapping[str, arb] = field(default_factory=dict)


def evaluate_latex(latex: str, instance: Instance) -> arb:
    """Return the value in balls of one side of a printed formula, at the working precision.

    Raises
    ------
    MeaningError
        If the formula is not one that the grammar knows, or has another symbol.
    """
    reader = _Reader(_marks(latex), instance)
    value = reader.sum({})
    if reader.left:
        raise MeaningError(f"{' '.join(reader.left[:6])}: not understood")
    return value


def expression_of(body: str) -> str:
    """Return the right-hand side of the numbered display of a fragment, without its layout."""
    found = _NUMBERED.search(body)
    if found is None:
        raise MeaningError("no numbered display")
    text = _ALIGNMENT.sub(" ", found[1] or found[2])
    depth = 0
    for mark in re.finditer(r"[{}=]", text):
        depth += {"{": 1, "}": -1, "=": 0}[mark[0]]
        if mark[0] == "=" and depth == 0:
            return text[mark.end() :].replace("{}", " ").strip().removesuffix(",")
    raise MeaningError("no equation")


def misread(formula: Formula, body: str, notation: Notation) -> str:
    """Compare what a fragment says with the formula it was printed from.

    Parameters
    ----------
    formula : Formula
        The formula.
    body : str
        The fragment.
    notation : Notation
        The notation it is printed in.

    Returns
    -------
    str
        Empty if they agree at all instances; else what was found.
    """
    from derivations.proof.evaluation import evaluate_over

    # The same instances in every run: a certificate that cannot be repeated is none.
    draw = random.Random(formula.name)  # noqa: S311 - no secret
    with working_precision(_BITS):
        for _ in range(_INSTANCES):
            drawn = _drawn(formula.right, draw)
            expected = evaluate_over(formula.right, rational=_rational, **drawn)
            try:
                found = evaluate_latex(expression_of(body), _printed(drawn, notation))
            except MeaningError as failure:
                return str(failure)
            if not found.is_finite() or not found.overlaps(expected):
                return f"the LaTeX is {found.str(8)}, the formula {expected.str(8)}"
    return ""


def _drawn(expr: Any, draw: random.Random) -> dict[str, Any]:
    """Return a random instance for `evaluate_over`: support first, free positions anywhere."""
    import sympy as sp

    from derivations.calculus.power_sums import Entry, PowerSum
    from derivations.notation import Position
    from derivations.notation import Sequence as Coefficients

    def number() -> arb:
        return _rational(draw.randint(101, 997), draw.randint(101, 997))

    names: dict[type, list[str]] = {Coefficients: [], Position: [], sp.Symbol: []}
    found = set(expr.free_symbols)
    for each in expr.atoms(Entry, PowerSum):
        found |= each.free_symbols
    for symbol in sorted(found, key=lambda each: str(each.name)):
        kind = next(kind for kind in names if isinstance(symbol, kind))
        names[kind].append(symbol.name)
    scalars = {name: number() for name in names[sp.Symbol] if name != "d"}
    fixed = iter(range(_POSITIONS))
    return {
        "sequences": {name: [number() for _ in range(_POSITIONS)] for name in names[Coefficients]}
        or {"": [arb(0)] * _POSITIONS},
        "positions": {
            name: draw.randrange(_POSITIONS) if name in {"i", "k"} else next(fixed)
            for name in names[Position]
        },
        "scalars": scalars,
        "exponentials": {name: value.exp() for name, value in scalars.items()},
    }


def _printed(drawn: Mapping[str, Any], notation: Notation) -> Instance:
    """Return the same instance by the LaTeX of its symbols."""
    from derivations.notation import LATEX

    def named(kind: str) -> dict[str, Any]:
        return {
            notation.math(LATEX[name], "the formula"): value
            for name, value in drawn[kind].items()
            if name
        }

    d = {notation.math("d", "the formula"): arb(_POSITIONS)}
    return Instance(
        sequences=named("sequences"), positions=named("positions"), scalars=d | named("scalars")
    )


def _rational(numerator: int, denominator: int) -> arb:
    return arb(fmpq(numerator, denominator))


def _marks(latex: str) -> list[str]:
    return [mark for mark in _MARK.findall(latex) if mark not in _LAYOUT]


class _Reader:
    """One pass over the marks of one formula. `bound` holds the indices of the sums around."""

    def __init__(self, marks: list[str], instance: Instance) -> None:
        self.left = marks
        self._instance = instance
        self._size = max(map(len, instance.sequences.values()), default=0)
        self._sequences = _by_length(instance.sequences, left_open=True)
        self._positions = _by_length(instance.positions)
        self._scalars = _by_length(instance.scalars)

    def sum(self, bound: Mapping[str, int]) -> arb:
        sign = -1 if self._take("-") else 1
        value = sign * self._product(bound)
        while self.left and self.left[0] in {"+", "-"}:
            sign = 1 if self.left.pop(0) == "+" else -1
            value += sign * self._product(bound)
        return value

    def _product(self, bound: Mapping[str, int]) -> arb:
        value = arb(1)
        factors = 0
        while self.left and self.left[0] not in {"+", "-", ")", "]", "}", "=", ","}:
            if factors and self._take(r"\cdot"):
                continue
            value *= self._sigma(bound) if self._take(r"\sum") else self._power(bound)
            factors += 1
        if not factors:
            raise MeaningError("a term without factors")
        return value

    def _sigma(self, bound: Mapping[str, int]) -> arb:
        self._expect("_")
        self._expect("{")
        index = self.left.pop(0)
        self._expect("}")
        here = list(self.left)
        total = arb(0)
        for position in range(self._size):
            self.left = list(here)
            total += self._product({**bound, index: position})
        return total

    def _power(self, bound: Mapping[str, int]) -> arb:
        base = self._atom(bound)
        if not self._take("^"):
            return base
        exponent = self._argument(bound)
        whole = exponent.unique_fmpz()
        return base ** (exponent if whole is None else int(whole))

    def _atom(self, bound: Mapping[str, int]) -> arb:
        sequence = self._symbol(self._sequences)
        if sequence is not None:
            return self._entry(sequence, bound)
        scalar = self._symbol(self._scalars)
        if scalar is not None:
            return self._instance.scalars[scalar]
        mark = self.left.pop(0)
        if mark.isdigit():
            return arb(int(mark))
        if mark == "e":
            self._expect("^")
            return self._argument(bound).exp()
        if mark == r"\frac":
            above = self._argument(bound)
            return above / self._argument(bound)
        if mark == r"\sqrt":
            return self._argument(bound).sqrt()
        if mark in _FUNCTIONS:
            return self._function(mark, bound)
        if mark in _BRACKETS:
            value = self.sum(bound)
            self._expect(_BRACKETS[mark])
            return value
        if mark == "|":
            return self._norm()
        if mark == r"\langle":
            first = self._whole_sequence()
            self._expect(",")
            second = self._whole_sequence()
            self._expect(r"\rangle")
            return _total(x * y for x, y in zip(first, second, strict=True))
        if mark == r"\delta":
            self._expect("_")
            self._expect("{")
            same = self._position(bound) == self._position(bound)
            self._expect("}")
            return arb(int(same))
        raise MeaningError(f"{mark}: no symbol of the formula")

    def _argument(self, bound: Mapping[str, int]) -> arb:
        if not self._take("{"):
            return self._atom(bound)
        value = self.sum(bound)
        self._expect("}")
        return value

    def _function(self, mark: str, bound: Mapping[str, int]) -> arb:
        """Return a function of what is behind it: a bracket, or a number and scalars.

        Its own power comes before that.
        """
        power = self._argument(bound) if self._take("^") else arb(1)
        argument = self._atom(bound)
        while any(self.left[: len(marks)] == marks for marks in self._scalars.values()):
            argument *= self._power(bound)
        value: arb = _FUNCTIONS[mark](argument) ** power
        return value

    def _entry(self, sequence: str, bound: Mapping[str, int]) -> arb:
        if _takes_an_index_inside(sequence):
            self._expect(",")
            braced = True
        else:
            self._expect("_")
            braced = self._take("{")
        position = self._position(bound)
        if braced:
            self._expect("}")
        return self._instance.sequences[sequence][position]

    def _position(self, bound: Mapping[str, int]) -> int:
        named = self._symbol(self._positions)
        if named is not None:
            return self._instance.positions[named]
        index = self.left.pop(0)
        if index not in bound:
            raise MeaningError(f"{index}: no position of the formula")
        return bound[index]

    def _norm(self) -> arb:
        square = _total(x * x for x in self._whole_sequence())
        self._expect("|")
        return square.sqrt()

    def _whole_sequence(self) -> Sequence[arb]:
        found = self._symbol(self._sequences)
        if found is None:
            raise MeaningError(f"{' '.join(self.left[:4])}: no sequence of the formula")
        if _takes_an_index_inside(found):
            self._expect("}")
        return self._instance.sequences[found]

    def _symbol(self, table: Mapping[str, list[str]]) -> str | None:
        """Consume the longest symbol of a table that starts here, in braces of its own or not."""
        for name, marks in table.items():
            for form in (marks, ["{", *marks, "}"]):
                if self.left[: len(form)] == form:
                    del self.left[: len(form)]
                    return name
        return None

    def _take(self, mark: str) -> bool:
        taken = self.left[:1] == [mark]
        if taken:
            del self.left[0]
        return taken

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise MeaningError(f"{' '.join(self.left[:4]) or 'the end'}: expected {mark}")


def _takes_an_index_inside(sequence: str) -> bool:
    """Whether an entry has its index behind a comma in braces that are there: c_{1} and c_{1,i}."""
    return sequence.endswith("}") and "_{" in sequence


def _by_length(values: Mapping[str, object], *, left_open: bool = False) -> dict[str, list[str]]:
    """Return the marks of every symbol, long ones first; left open, c_{1} is without its brace."""
    marks = {
        name: _marks(name)[: -1 if left_open and _takes_an_index_inside(name) else None]
        for name in values
    }
    return dict(sorted(marks.items(), key=lambda item: -len(item[1])))


def _total(values: Any) -> arb:
    total = arb(0)
    for value in values:
        total += value
    return total
