"""What a fragment is: a piece of LaTeX between two comments by which a paste is found again."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from verify.environment import version

__all__ = ["Fragment", "fingerprint"]

_HEX_DIGITS = 12

_WHITE = " \t\n"
_RUN = re.compile(f"[{_WHITE}]+")


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """A formula or a claim as LaTeX; a complete sentence that needs amsmath and amssymb only.

    Parameters
    ----------
    name : str
        ``derivation.formula``, or the id of a claim.
    title : str
        What it is, in plain words.
    source : str
        Paper, version and number, or ``ours``.
    body : str
        LaTeX without comments or empty lines.
    notation : str
        The fingerprint of the notation it is printed in; empty if that is the project's own.
    plain : str
        The fingerprint of the same fragment in the project's notation, if it is in another.
    """

    name: str
    title: str
    source: str
    body: str
    notation: str = ""
    plain: str = ""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the body."""
        return fingerprint(self.body)

    @property
    def text(self) -> str:
        """The body between its comments, ready to paste."""
        switched = f" notation:{self.notation} plain:{self.plain}" if self.notation else ""
        opening = f"% xorverify {self.name} ({self.source}) v{version()}{switched}"
        record = f"{opening} sha256:{self.fingerprint}"
        return f"{record}\n{self.body}\n% end xorverify {self.name}\n"


def fingerprint(body: str) -> str:
    """Return a short hash that sees everything in `body` but how its lines are laid out.

    To TeX any run of white space is one space, and an empty line ends a paragraph. So it is
    here: indentation and line breaks may change, an empty line may not be added or dropped.
    """
    layout_free = _RUN.sub(_what_tex_sees, body.strip(_WHITE))
    return hashlib.sha256(layout_free.encode()).hexdigest()[:_HEX_DIGITS]


def _what_tex_sees(run: re.Match[str]) -> str:
    return "\n\n" if run[0].count("\n") > 1 else " "
