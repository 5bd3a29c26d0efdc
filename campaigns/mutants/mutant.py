"""A mutant: one expression of one file, replaced by another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Change", "Mutant", "identified", "squeezed"]

_ID_DIGITS = 10  # of some 2 * 10^4 mutants, two share an id with a chance of 2 * 10^-4


@dataclass(frozen=True, kw_only=True)
class Change:
    """Where a mutant differs, before it has an id.

    Attributes
    ----------
    line : int
        The first line of the expression, from 1.
    function : str
        The function around it, with its class; ``module`` outside of any.
    operator : str
        The kind of change.
    before, after : str
        The expression and what takes its place.
    start, end : int
        Where the expression stands, in bytes of the source.
    """

    line: int
    function: str
    operator: str
    before: str
    after: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of a file, by a permanent id.

    Attributes
    ----------
    id : str
        From the file, the function, the change and how often the same change occurs before it in
        that function: it survives edits elsewhere, and lines that move.
    file : str
        Path from the root of the repository, with slashes.
    change : Change
        What is changed.
    """

    id: str
    file: str
    change: Change

    @property
    def place(self) -> str:
        """The file, the line and the function."""
        return f"{self.file}:{self.change.line} {self.change.function}"

    def applied(self, source: bytes) -> bytes:
        """Return the file with the change in it.

        Raises
        ------
        ValueError
            If the expression does not stand there: the source is of another version.
        """
        change = self.change
        if source[change.start : change.end] != change.before.encode():
            raise ValueError(f"mutant={self.id}: {self.file} has changed since it was made")
        return source[: change.start] + change.after.encode() + source[change.end :]


def identified(file: str, changes: Iterable[Change]) -> list[Mutant]:
    """Give the changes of a file, in their order, permanent ids."""
    mutants = []
    seen: dict[tuple[str, str, str], int] = {}
    for change in changes:
        key = change.function, squeezed(change.before), squeezed(change.after)
        occurrence = seen[key] = seen.get(key, -1) + 1
        text = "\0".join((file, *key, str(occurrence)))
        digest = hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]
        mutants.append(Mutant(id=digest, file=file, change=change))
    return mutants


def squeezed(text: str) -> str:
    """Return `text` on one line."""
    return " ".join(text.split())
