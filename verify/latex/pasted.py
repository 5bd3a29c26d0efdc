"""Fragments found again in a paper, by their comments, and what has become of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from numerics.arguments import InvalidArgumentError
from verify.latex.fragment import fingerprint

__all__ = ["Paste", "State", "Verdict", "find_pastes", "judge", "read_paper"]

# What stands before the first percent sign that is not escaped, and the comment behind it.
_COMMENT = re.compile(r"(?P<code>(?:[^\\%]|\\.)*)%[%\s]*(?P<comment>.*)")
_OPENING = re.compile(r"xorverify (?P<name>[!-~]+) \(")
_RECORD = re.compile(r"xorverify [!-~]+ \(.*\) v(?P<version>[!-~]+) sha256:(?P<digest>[0-9a-f]+)")
_CLOSING = re.compile(r"end xorverify (?P<name>[!-~]+)")


class State(StrEnum):
    """What has become of a paste."""

    CURRENT = "current"
    STALE = "stale"
    ALTERED = "altered"
    UNKNOWN = "unknown name"


@dataclass(frozen=True)
class Paste:
    """A fragment as it stands in a paper.

    Parameters
    ----------
    line : int
        Where it starts, from 1.
    name : str
        The name in its comments.
    version : str or None
        The version it was printed by; None if its opening comment cannot be read.
    digest : str or None
        The fingerprint in its opening comment; None if that cannot be read.
    body : str or None
        What stands between its comments; None if one of them is missing.
    """

    line: int
    name: str
    version: str | None
    digest: str | None
    body: str | None


@dataclass(frozen=True)
class Verdict:
    """A paste's state, and in words why it is not current."""

    state: State
    detail: str = ""
