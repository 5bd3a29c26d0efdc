"""What a command hands back to the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Outcome", "not_written"]


@dataclass(frozen=True)
class Outcome:
    """A command's result, before it is printed.

    Parameters
    ----------
    document : object
        The strict JSON document that ``--json`` prints.
    show : callable
        Prints the same for a human reader on standard output.
    exit_code : int
        0, 1 or 3 by the contract; a bad request is an exception and never gets here.
    """

    document: object
    show: Callable[[], None]
    exit_code: int = 0


def not_written(failure: Exception) -> Outcome:
    """Return the outcome of a command some of whose files could not be written, and say why.

    Before anything is written this is a bad request, and a refusal; now others may be there.
    """
    print(f"not all is written: {failure}", file=sys.stderr)
    return Outcome({"reason": str(failure)}, lambda: None, exit_code=3)
