"""Products of matrices whose sizes are left open: typed words, and rules that shorten them.

A word such as K^T K g z^T z is a product of matrices. Two sums of words that become the same by
bilinearity, transposition and stated rules (K^T K = 1) are equal for matrices of every size: no
entry, and no number of rows, is ever looked at. A word carries the spaces it maps between, so that
a product that no sizes allow is refused. A factor that maps the line to itself is a number: it may
be moved anywhere, and is its own transpose.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from derivations.printing.latex import latex
from derivations.proof.refusal import CheckError

__all__ = ["LINE", "LinearMap", "Rules", "gradient_by", "identity", "letter", "require_same"]

LINE = "R"
"""The real line: a vector is a map from it."""


@dataclass(frozen=True, order=True)
class _Letter:
    name: str
    target: str
    source: str
    transposed: bool

    def transpose(self) -> _Letter:
        return _Letter(self.name, self.source, self.target, not self.transposed)

    def latex(self) -> str:
        if not self.transposed:
            return self.name
        return rf"({self.name})^{{\top}}" if " " in self.name else rf"{self.name}^{{\top}}"


_Word = tuple[_Letter, ...]
_Term = tuple[_Word, tuple[_Word, ...]]  # a word that is no number, and the numbers beside it


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A sum of words between two spaces.

    Attributes
    ----------
    target, source : str
        The spaces.
    terms : mapping
        The coefficient of each word, a SymPy scalar.
    """

    target: str
    source: str
    terms: Mapping[_Term, sp.Expr]

    def __add__(self, other: LinearMap) -> LinearMap:
        """Return the sum; `ValueError` if the spaces differ."""
        if (self.target, self.source) != (other.target, other.source):
            raise ValueError(f"sum={self.latex()} + {other.latex()}: the spaces do not match")
        terms = dict(self.terms)
        for term, coefficient in other.terms.items():
            terms[term] = terms.get(term, sp.S.Zero) + coefficient
        return _collected(self.target, self.source, terms)

    def __sub__(self, other: LinearMap) -> LinearMap:
        """Return the difference; `ValueError` if the spaces differ."""
        return self + other.times(-1)

    def times(self, scalar: sp.Expr | int) -> LinearMap:
        """Return a multiple."""
        terms = {term: scalar * coefficient for term, coefficient in self.terms.items()}
        return _collected(self.target, self.source, terms)

    def __matmul__(self, other: LinearMap) -> LinearMap:
        """Return the product; `ValueError` if the spaces do not match."""
        if self.source != other.target:
            raise ValueError(f"product=({self.latex()}) ({other.latex()}): the spaces do not match")
        terms: dict[_Term, sp.Expr] = {}
        for (word, numbers), left in self.terms.items():
            for (next_word, more), right in other.terms.items():
                term = _term(word + next_word, numbers + more)
                terms[term] = terms.get(term, sp.S.Zero) + left * right
        return _collected(self.target, other.source, terms)

    @property
    def T(self) -> LinearMap:
        """The transpose."""
        terms = {
            (_transposed(word), numbers): coefficient
            for (word, numbers), coefficient in self.terms.items()
        }
        return LinearMap(self.source, self.target, terms)

    def under(self, *rules: Rules) -> LinearMap:
        """Apply the rules, and their transposes, until none applies; none may bring itself back."""
        pairs = [pair for each in rules for pair in each]
        pairs += [(left.T, right.T) for left, right in pairs]
        reduced = self
        while (shorter := _once(reduced, pairs)) is not None:
            reduced = shorter
        return reduced

    def latex(self) -> str:
        """Return the LaTeX of the sum, for math mode."""
        text = ""
        for (word, numbers), coefficient in self.terms.items():
            factors = [_latex_word(number, number=True) for number in numbers]
            factors += [_latex_word(word)] if word else []
            sign = "-" if coefficient.could_extract_minus_sign() else "+"
            size = sp.factor(-coefficient if sign == "-" else coefficient)
            shown = rf"({latex(size)})" if size.is_Add else latex(size)
            if factors:
                shown = " ".join(([] if shown == "1" else [shown]) + factors)
            text += f" {sign} {shown}"
        return text.removeprefix(" + ").strip() or "0"


Rules = Sequence[tuple[LinearMap, LinearMap]]
"""Words, and what may be put in the place of each."""


def letter(name: str, target: str, source: str = LINE) -> LinearMap:
    """Return the matrix called `name` in LaTeX; a vector if no `source` is given."""
    return LinearMap(target, source, {((_Letter(name, target, source, False),), ()): sp.S.One})


def identity(space: str, scalar: sp.Expr | int = 1) -> LinearMap:
    """Return a multiple of the identity of a space; of the line, a number."""
    return LinearMap(space, space, {((), ()): sp.S.One}).times(scalar)


def gradient_by(form: LinearMap, direction: LinearMap) -> LinearMap:
    """Return the matrix M with ``<M, B> = form`` for every B, in the inner product of the entries.

    Each term of the form is a number l^T B r, whose matrix is l r^T.

    Parameters
    ----------
    form : LinearMap
        A number, linear in the matrix B.
    direction : LinearMap
        B, a single letter.

    Raises
    ------
    ValueError
        If a term is not linear in B.
    """
    (((sought,), _),) = direction.terms
    total = LinearMap(sought.target, sought.source, {})
    for (_, numbers), coefficient in form.terms.items():
        holders = [h for h, word in enumerate(numbers) if _occurrences(word, sought)]
        if len(holders) != 1 or _occurrences(numbers[holders[0]], sought) != 1:
            raise ValueError(f"form={form.latex()}: not linear in {sought.name}")
        word = numbers[holders[0]]
        if sought not in word:
            word = _transposed(word)
        place = word.index(sought)
        rest = numbers[: holders[0]] + numbers[holders[0] + 1 :]
        matrix = _transposed(word[:place]) + _transposed(word[place + 1 :])
        total += LinearMap(sought.target, sought.source, {_term(matrix, rest): coefficient})
    return total


def require_same(left: LinearMap, right: LinearMap, what: str) -> None:
    """Return if both sums are the same.

    Raises
    ------
    CheckError
        If they are not, with what is left over.
    """
    rest = left - right
    if rest.terms:
        raise CheckError(f"{what} differ by {rest.latex()}")


def _collected(target: str, source: str, terms: Mapping[_Term, sp.Expr]) -> LinearMap:
    expanded = {term: sp.expand(coefficient) for term, coefficient in terms.items()}
    return LinearMap(target, source, {term: c for term, c in expanded.items() if c != 0})


def _term(word: _Word, numbers: tuple[_Word, ...]) -> _Term:
    """Cut a word where it passes through the line: what begins and ends there is a number."""
    outer: _Word = ()
    for piece in _pieces(word):
        if piece[0].target == piece[-1].source == LINE:
            numbers += (min(piece, _transposed(piece)),)
        else:
            outer += piece
    return outer, tuple(sorted(numbers))


def _pieces(word: _Word) -> list[_Word]:
    cuts = [h + 1 for h, each in enumerate(word[:-1]) if each.source == LINE]
    bounds = [0, *cuts, len(word)]
    return [word[h:k] for h, k in itertools.pairwise(bounds) if k > h]


def _transposed(word: _Word) -> _Word:
    return tuple(each.transpose() for each in reversed(word))


def _occurrences(word: _Word, sought: _Letter) -> int:
    return sum(each in {sought, sought.transpose()} for each in word)


def _once(given: LinearMap, rules: Rules) -> LinearMap | None:
    """Apply the first rule that fits to the first word that it fits; None if there is none."""
    for (word, numbers), coefficient in given.terms.items():
        for h, each in enumerate((word, *numbers)):
            shorter = _shortened(each, rules)
            if shorter is None:
                continue
            kept, others = (word, numbers[: h - 1] + numbers[h:]) if h else ((), numbers)
            terms = dict(given.terms)
            del terms[word, numbers]
            total = LinearMap(given.target, given.source, terms)
            for (outer, more), factor in shorter.terms.items():
                term = (kept + outer, tuple(sorted(others + more)))
                total += LinearMap(given.target, given.source, {term: coefficient * factor})
            return total
    return None


def _shortened(word: _Word, rules: Rules) -> LinearMap | None:
    for left, right in rules:
        ((outer, numbers),) = left.terms
        pattern = outer or numbers[0]
        width = len(pattern)
        for h in range(len(word) - width + 1):
            if word[h : h + width] == pattern:
                before, after = _product(word[:h], right.target), word[h + width :]
                return before @ right @ _product(after, right.source)
    return None


def _product(word: _Word, space: str) -> LinearMap:
    """Return the product of a word's letters; the identity of `space` if there is none."""
    if not word:
        return identity(space)
    return LinearMap(word[0].target, word[-1].source, {_term(word, ()): sp.S.One})


def _latex_word(word: _Word, *, number: bool = False) -> str:
    text = " ".join(each.latex() for each in word)
    return f"({text})" if number else text
