"""Refusing a statement: what a check raises, and the shortest way to raise it."""

from __future__ import annotations

__all__ = ["CheckError", "require"]


class CheckError(Exception):
    """A step does not hold; the message says what was found."""


def require(condition: bool, what: str) -> None:
    """Return if `condition` holds.

    Raises
    ------
    CheckError
        If it does not, saying `what` was found.
    """
    if not condition:
        raise CheckError(what)
