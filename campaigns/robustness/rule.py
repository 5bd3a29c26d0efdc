"""The rule that every run of the command line keeps, whatever it is given."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from campaigns.robustness.watched import Ran

__all__ = ["LONGEST_LINE", "broken", "document_of"]

LONGEST_LINE = 6000
"""Characters of the longest line on standard error: a value and what is allowed, abridged."""

_CODES = (0, 1, 2, 3)
_REFUSAL = re.compile(r"(?:usage: [^\n]*\n)?error: [^\n]+?=[^\n]*: [^\n]+\n")
# What a refusal never says: these are accidents that happened to be caught.
_ACCIDENTS = ("Traceback", "unexpected failure", "out of memory", "llocate", "MemoryError")


def broken(ran: Ran) -> str:
    """Return what a run did that no run may do, in words; empty if it kept the rule.

    The exit code is 0, 1, 2 or 3. With 2, standard output is empty, one line on standard error
    says what is refused, and no file is another than before. With the others, ``--json`` prints one
    strict JSON document. Nothing gets out of the program but this, no line is without end, and
    neither time nor memory is used up by accident.
    """
    if ran.slipped:
        return ran.slipped
    if ran.code not in _CODES:
        return f"the exit code is {ran.code}"
    accident = next((each for each in _ACCIDENTS if each in ran.err), None)
    if accident is not None:
        return f"an accident: {ran.err.strip()[:400]}"
    if max(map(len, ran.err.split("\n"))) > LONGEST_LINE:
        return f"a line of {len(ran.err)} characters on standard error"
    if ran.code == 2:
        return _broken_refusal(ran)
    # Help is no document; from Python 3.13 on -h5 asks for it, too.
    if "--json" in ran.argv and not (ran.code == 0 and ran.out.startswith("usage: ")):
        try:
            document_of(ran)
        except ValueError as failure:
            return f"no strict JSON: {failure}"
    return ""


def document_of(ran: Ran) -> object:
    """Return the JSON document on standard output.

    Raises
    ------
    ValueError
        If there is anything but one strict document.
    """
    return json.loads(ran.out, parse_constant=_refuse)


def _broken_refusal(ran: Ran) -> str:
    if ran.out:
        return f"refused, and on standard output stands {ran.out[:80]!r}"
    if not _REFUSAL.fullmatch(ran.err):
        return f"refused, but not in one line that says what: {ran.err[:400]!r}"
    if ran.before != ran.after:
        changed = sorted(set(ran.before.items()) ^ set(ran.after.items()))
        return f"refused, and another folder than before: {changed[0][0]}"
    return ""


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
