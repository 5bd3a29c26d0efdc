r"""The paper writer's own symbols, from one file, in the place of the project's.

The file is TOML. One table maps the project's names to LaTeX::

    [symbols]
    gamma = '\alpha'
    a = 'i^{*}'
    d = 'n'

A name is one that `derivations.notation` declares, or one of `MODEL`. Formulas and hand-written
statements print in the project's notation first and are then read token by token, as TeX would
read them, so that both go through one table: a symbol is found as a whole, whatever stands around
it, and never inside another (``\gamma`` is not in ``\gammafoo``, nor ``E`` in ``\mathbb{E}``).
Names that print alike are one symbol here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from numerics.arguments import InvalidArgumentError, suggestion
from verify.files.toml_text import read_toml

__all__ = ["MODEL", "OWN", "Notation", "read_notation"]

MODEL: Mapping[str, str] = {
    "theta": r"\theta",
    "theta_tilde": r"\tilde{\theta}",
    "V": "V",
    "S": "S",
    "A": "A",
    "L": "L",
    "y": "y",
    "j": "j",
    "tau": r"\tau",
}
"""What only statements speak of, beside the symbols of the formulas."""

# A position that carries an index is none: a sequence of the same letter, in a lemma for example.
_POSITIONS = frozenset({"a", "b", "i", "j", "k"})

_MARK = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_HEX_DIGITS = 12
_LONGEST_SYMBOL = 100

_ACCENTS = ("bar", "breve", "check", "dot", "hat", "tilde", "vec", "widehat", "widetilde")
_FONTS = ("boldsymbol", "mathbb", "mathbf", "mathcal", "mathfrak", "mathit", "mathrm", "mathsf")
_LETTERS = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta"),
    *("vartheta", "iota", "kappa", "varkappa", "lambda", "mu", "nu", "xi", "pi", "varpi", "rho"),
    *("varrho", "sigma", "varsigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
    *("ell", "hbar", "imath", "jmath", "wp", "Re", "Im", "aleph", "beth", "partial", "nabla"),
)
_SIGNS_IN_SCRIPTS = (
    *("star", "ast", "circ", "bullet", "dagger", "ddagger", "prime", "parallel", "perp", "top"),
    *("bot", "pm", "mp", "infty", "flat", "sharp", "natural"),
)
_LETTER = {f"\\{name}" for name in _LETTERS}
_ACCENT = {f"\\{name}" for name in _ACCENTS}
_FONT = {f"\\{name}" for name in _FONTS}
_IN_SCRIPT = {f"\\{name}" for name in _SIGNS_IN_SCRIPTS} | set("*+-,()|/0123456789")

# The braces behind these hold words, names or a font, where a letter is no symbol.
_OPAQUE = {
    *(f"\\{name}" for name in ("label", "ref", "eqref", "cite", "begin", "end", "operatorname")),
    *_FONT,
}
_TEXT = {r"\text", r"\textit", r"\textbf", r"\mbox"}
_TAKES_AN_ARGUMENT = {"^", "_", r"\frac", r"\binom", r"\sqrt", *_ACCENT}


@dataclass(frozen=True)
class Notation:
    """A table of symbols; empty for the project's own notation.

    Parameters
    ----------
    symbols : mapping of str to str
        The paper's LaTeX by the project's name.
    path : str
        The file it is from, for refusals.
    """

    symbols: Mapping[str, str] = field(default_factory=dict)
    path: str = ""

    @property
    def fingerprint(self) -> str:
        """A short hash of the table; empty for the project's own notation."""
        if not self.symbols:
            return ""
        table = "\n".join(f"{name} = {latex}" for name, latex in sorted(self.symbols.items()))
        return hashlib.sha256(table.encode()).hexdigest()[:_HEX_DIGITS]

    def math(self, formula: str, where: str) -> str:
        """Return LaTeX of math mode in this notation.

        Parameters
        ----------
        formula : str
            LaTeX in the project's notation.
        where : str
            What it belongs to, for the refusal.

        Raises
        ------
        InvalidArgumentError
            If a symbol that is put in is in the formula already and means something else.
        """
        if not self.symbols:
            return formula
        return "".join(self._switched(_marks(formula), where))

    def prose(self, text: str, where: str) -> str:
        """Return prose with math between dollars in this notation; `math` says the rest."""
        if not self.symbols:
            return text
        return re.sub(r"\$([^$]*)\$", lambda found: f"${self.math(found[1], where)}$", text)

    def _switched(self, marks: list[str], where: str) -> Iterator[str]:
        position, before = 0, ""
        while position < len(marks):
            mark = marks[position]
            if mark in _OPAQUE or mark in _TEXT:
                end = _end_of_argument(marks, position + 1)
                own = self._own(marks, position)
                if own is not None:
                    name, end = own
                    yield self._placed(name, before, marks[end : end + 1])
                elif mark in _TEXT:
                    yield self.prose("".join(marks[position:end]), where)
                else:
                    yield "".join(marks[position:end])
                position, before = end, "}"
                continue
            own = self._own(marks, position)
            if own is None:
                self._refuse_clash(marks, position, where)
                yield mark
                position += 1
            else:
                name, position = own
                yield self._placed(name, before, marks[position : position + 1])
            before = mark if not mark.isspace() else before

    def _own(self, marks: list[str], position: int) -> tuple[str, int] | None:
        """Return the longest symbol of the table that starts here, and where it ends."""
        found = [
            (end, name)
            for name, pattern in self._patterns.items()
            if (end := _match(pattern, marks, position)) is not None
            and not (name in _POSITIONS and marks[end : end + 1] == ["_"])
        ]
        if not found:
            return None
        end, name = max(found)
        return name, end

    @property
    def _patterns(self) -> dict[str, list[str]]:
        known = _known()
        return {name: _marks(known[name]) for name in self.symbols}

    def _placed(self, name: str, before: str, behind: list[str]) -> str:
        """Return a symbol, in braces where TeX would take only a part of it."""
        symbol = self.symbols[name]
        scripted = bool({"^", "_", "'"} & set(_outside_braces(symbol)))
        if before in _TAKES_AN_ARGUMENT and len(_marks(symbol)) > 1:
            return f"{{{symbol}}}"
        if scripted and behind and behind[0] in {"^", "_", "'"}:
            return f"{{{symbol}}}"
        # A command swallows the letter behind it.
        ends_in_a_command = re.search(r"\\[A-Za-z]+$", symbol) is not None
        return f"{symbol} " if ends_in_a_command and behind and behind[0].isalpha() else symbol

    def _refuse_clash(self, marks: list[str], position: int, where: str) -> None:
        for name, latex in self.symbols.items():
            if _match(_marks(latex), marks, position) is not None:
                raise InvalidArgumentError(
                    "notation",
                    self.path,
                    f"{name} = '{latex}' clashes with the {latex} of {where};"
                    " give that symbol another name too",
                )


OWN = Notation()
"""The project's own notation."""


def read_notation(path: Path) -> Notation:
    """Return the notation in a file.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, is no table of symbols, names a symbol that does not exist,
        gives two symbols one sign, or holds LaTeX that is no single symbol.
    """

    def refused(reason: str) -> InvalidArgumentError:
        return InvalidArgumentError("notation", path, reason)

    try:
        table = read_toml(path)
    except OSError as failure:
        reason = failure.strerror or failure
        raise refused(f"cannot be read: {reason}; name a TOML file") from None
    except ValueError as failure:
        raise refused(f"is no TOML: {' '.join(str(failure).split())}") from None
    symbols = table.get("symbols")
    if set(table) != {"symbols"} or not isinstance(symbols, dict) or not symbols:
        raise refused("must hold one table [symbols], name = 'LaTeX'")
    known = _known()
    for name, latex in symbols.items():
        if name not in known:
            near = suggestion(name, known)
            raise refused(f"{name}: no such symbol; one of {', '.join(sorted(known))}{near}")
        if not isinstance(latex, str):
            raise refused(f"{name}: must be a string of LaTeX")
        reason = _why_no_symbol(latex)
        if reason:
            raise refused(f"{name} = {latex!r}: {reason}")
    for kind, of in (("print alike", lambda name: symbols[name]), ("are one", known.__getitem__)):
        seen: dict[str, str] = {}
        for name in symbols:
            first = seen.setdefault(_bare(of(name)), name)
            if first != name:
                raise refused(f"{first} and {name} {kind}; give one of them another sign")
    return Notation(dict(symbols), str(path))


def _known() -> dict[str, str]:
    """Return the LaTeX of every symbol of the project, each once, by its first name."""
    # Declared where they are used; SymPy comes with them.
    from derivations import notation
    from derivations.parities import notation as parity_notation
    from derivations.population_step import notation as bound_notation
    from derivations.sample_step import notation as sample_notation

    del bound_notation, parity_notation, sample_notation
    return {**notation.LATEX, **MODEL}


def _marks(latex: str) -> list[str]:
    return _MARK.findall(latex)


def _bare(latex: str) -> str:
    """Return LaTeX without what makes no difference: blanks, and braces around one mark."""
    return re.sub(r"\{(\\[A-Za-z]+|.)\}", r"\1", "".join(latex.split()))


def _match(pattern: list[str], marks: list[str], position: int) -> int | None:
    """Return where a symbol ends that starts here; braces around one mark may be left out."""
    at = 0
    while at < len(pattern):
        here = marks[position : position + 1]
        if here and here[0] == pattern[at] and not here[0].isspace():
            at, position = at + 1, position + 1
        elif pattern[at].isspace():
            at += 1
        elif here and here[0].isspace() and at:
            position += 1
        elif pattern[at] == "{" and pattern[at + 2 : at + 3] == ["}"] and at:
            if not here or here[0] != pattern[at + 1]:
                return None
            at, position = at + 3, position + 1
        else:
            return None
    return position


def _end_of_argument(marks: list[str], position: int) -> int:
    """Return where the argument ends that starts at `position`, one mark or a group."""
    while position < len(marks) and marks[position].isspace():
        position += 1
    depth = 0
    while position < len(marks):
        depth += (marks[position] == "{") - (marks[position] == "}")
        position += 1
        if depth == 0:
            break
    return position


def _outside_braces(latex: str) -> Iterator[str]:
    depth = 0
    for mark in _marks(latex):
        depth += (mark == "{") - (mark == "}")
        if depth == 0:
            yield mark


def _why_no_symbol(latex: str) -> str:
    """Return what is wrong with LaTeX that should be one symbol; empty if nothing is."""
    if len(latex) > _LONGEST_SYMBOL:
        return f"must have at most {_LONGEST_SYMBOL} characters"
    if not latex.isascii() or not latex.isprintable():
        return "must be printable ASCII"
    marks = [mark for mark in _marks(latex) if not mark.isspace()]
    depth = 0
    for mark in marks:
        depth += (mark == "{") - (mark == "}")
        if depth < 0:
            break
    if depth != 0:
        return "its braces are not balanced"
    allowed = _LETTER | _ACCENT | _FONT | _IN_SCRIPT | set("{}^_'")
    for mark in marks:
        if mark not in allowed and not (mark.isalpha() and len(mark) == 1):
            return f"{mark} is not allowed in a symbol"
    return "" if _symbol(marks) == [] else "is not one symbol with at most an index and a power"


def _symbol(marks: list[str]) -> list[str] | None:
    """Return what is left behind the symbol that comes first; None if there is none."""
    left = _nucleus(marks)
    seen: set[str] = set()
    while left and left[0] in {"^", "_", "'"}:
        kind = "^" if left[0] == "'" else left[0]
        if kind in seen:
            return None  # TeX refuses a second index or power
        seen.add(kind)
        left = left[1:] if left[0] == "'" else _script(left[1:])
    return left


def _nucleus(marks: list[str]) -> list[str] | None:
    if not marks:
        return None
    first, *rest = marks
    if first in _LETTER or (first.isalpha() and len(first) == 1):
        return rest
    if first not in _ACCENT | _FONT:
        return None
    if rest[:1] != ["{"]:
        return _nucleus(rest)
    inside, left = _group(rest)
    if first in _FONT and inside and all(mark.isalnum() or mark in _LETTER for mark in inside):
        return left
    return left if _nucleus(inside) == [] else None


def _script(marks: list[str]) -> list[str] | None:
    if marks[:1] == ["{"]:
        inside, left = _group(marks)
        while inside:
            following = inside[1:] if inside[0] in _IN_SCRIPT else _symbol(inside)
            if following is None:
                return None
            inside = following
        return left if _group(marks)[0] else None
    if marks and marks[0] in _IN_SCRIPT:
        return marks[1:]
    return _nucleus(marks)


def _group(marks: list[str]) -> tuple[list[str], list[str]]:
    end = _end_of_argument(marks, 0)
    return marks[1 : end - 1], marks[end:]
