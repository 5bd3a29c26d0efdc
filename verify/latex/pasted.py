"""Fragments found again in a paper, by their comments, and what has become of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from numerics.arguments import InvalidArgumentError
from verify.files.reading import read_bytes
from verify.latex.fragment import fingerprint

__all__ = ["Paste", "State", "Verdict", "find_pastes", "judge", "read_paper"]

# What stands before the first percent sign that is not escaped, and the comment behind it.
_COMMENT = re.compile(r"(?P<code>(?:[^\\%]++|\\.)*+)%[%\s]*+(?P<comment>.*)")
_OPENING = re.compile(r"xorverify (?P<name>[!-~]+) \(")
_RECORD = re.compile(
    rf"{_OPENING.pattern}.*\) v(?P<version>[!-~]+)"
    r"(?: notation:(?P<notation>[0-9a-f]+) plain:(?P<plain>[0-9a-f]+))?"
    r" sha256:(?P<digest>[0-9a-f]+)(?: |$)"
)
_CLOSING = re.compile(r"end xorverify (?P<name>[!-~]+)")

# An opening comment is long enough for an editor to wrap; more lines than this it never takes.
_LINES_OF_AN_OPENING = 5

_LARGEST_FILE = 1 << 22  # 4 MiB; a book has about one


class State(StrEnum):
    """What has become of a paste."""

    CURRENT = "current"
    STALE = "stale"
    ALTERED = "altered"
    UNKNOWN = "unknown name"


@dataclass(frozen=True, kw_only=True)
class Paste:
    """A fragment as it stands in a paper.

    Parameters
    ----------
    line : int
        Where it starts, from 1.
    name : str
        The name in its comments.
    version, digest : str
        The version that printed it and the fingerprint it had then, by its opening comment.
    notation, plain : str or None
        The same of the notation, if it is not the project's own, and of the fragment in that one.
    body : str
        What stands between its comments.
    damage : str
        What is wrong with the comments themselves; nothing else is known then but the name.
    """

    line: int
    name: str
    version: str = ""
    digest: str = ""
    notation: str | None = None
    plain: str | None = None
    body: str = ""
    damage: str = ""


@dataclass(frozen=True)
class Verdict:
    """The state of a paste, and in words why it is not current."""

    state: State
    detail: str = ""


def read_paper(path: Path) -> str:
    """Return the text of a LaTeX file in any encoding that extends ASCII, lines ended by newlines.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read.
    """
    try:
        # Fragments are ASCII; what stands around them only has to be carried through.
        paper = read_bytes(path, most=_LARGEST_FILE).decode("latin-1")
    except OSError as failure:
        reason = failure.strerror or failure
        raise InvalidArgumentError(
            "check", path, f"cannot be read: {reason}; name a LaTeX file"
        ) from None
    return paper.replace("\r\n", "\n").replace("\r", "\n")


def find_pastes(paper: str) -> Iterator[Paste]:
    """Yield the fragments between their comments, in order; a comment that is alone is damage."""
    opened: Paste | None = None
    body: list[str] = []
    for number, line, code, comment in _lines(paper):
        closing = _CLOSING.match(comment) if comment else None
        record = _RECORD.match(comment) if comment else None
        if closing is None and record is None:
            body.append(line)
            continue
        if opened is not None:
            if closing is not None and closing["name"] == opened.name:
                yield replace(opened, body="\n".join([*body, code]))
                closing = None
            else:
                yield replace(opened, damage="its closing comment is missing")
            opened = None
        if closing is not None:
            yield Paste(
                line=number,
                name=closing["name"],
                damage="its opening comment is missing or cannot be read",
            )
        if record is not None:
            opened, body = Paste(line=number, **record.groupdict()), []
    if opened is not None:
        yield replace(opened, damage="its closing comment is missing")


def judge(
    paste: Paste, today: Callable[[str], str | None], *, notation: str | None = None
) -> Verdict:
    """Return what has become of a paste.

    Parameters
    ----------
    paste : Paste
        The fragment in the paper.
    today : callable
        Maps the name of a fragment to the fingerprint that it has now in the project's notation;
        None if there is none.
    notation : str, optional
        The fingerprint of the notation that every fragment should be in, empty for the project's
        own; without it any will do.
    """
    if paste.damage:
        return Verdict(State.ALTERED, paste.damage)
    if fingerprint(paste.body) != paste.digest:
        return Verdict(State.ALTERED, "what is pasted no longer matches its recorded hash")
    now = today(paste.name)
    if now is None:
        return Verdict(State.UNKNOWN, "'latex --list' names all fragments")
    if notation is not None and (paste.notation or "") != notation:
        return Verdict(State.STALE, "it is in another notation; paste it again")
    # In a notation of its own a fragment is judged by what it was before its symbols were put in.
    if now != (paste.plain or paste.digest):
        return Verdict(
            State.STALE, f"the fragment has changed since v{paste.version}; paste it again"
        )
    return Verdict(State.CURRENT)


def _lines(paper: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield number, whole line, what stands before the comment, and the comment, spaces single.

    An opening comment that was wrapped is one line, with the number of its first.
    """
    lines = paper.split("\n")
    number = 0
    while number < len(lines):
        line, code, comment = _parted(lines[number])
        taken = 1
        if _OPENING.match(comment):
            following = lines[number : number + _LINES_OF_AN_OPENING]
            taken, comment = _unwrapped([_parted(each) for each in following])
        yield number + 1, line, code, comment
        number += taken


def _unwrapped(parted: list[tuple[str, str, str]]) -> tuple[int, str]:
    """Return over how many lines the opening comment that comes first goes, and all of it."""
    comment = first = parted[0][2]
    for taken, (_, code, continued) in enumerate(parted[1:], start=2):
        if _RECORD.match(comment) or _OPENING.match(continued) or code.strip():
            break
        comment = f"{comment} {continued}"
        if _RECORD.match(comment):
            return taken, comment
    return 1, first


def _parted(line: str) -> tuple[str, str, str]:
    found = _COMMENT.match(line) if "%" in line else None
    if found is None:
        return line, line, ""
    return line, line[: found.end("code")], " ".join(found["comment"].split())
