"""What a stream can show: colours, and a bar that moves.

``NO_COLOR`` and a dumb terminal have no colours whatever else is set; ``FORCE_COLOR`` has them
where there is no terminal (https://no-color.org, https://force-color.org).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["can_move_cursor", "console", "has_colours", "printable"]

# Wide enough for a table where there is no terminal to ask.
_WIDTH_WITHOUT_TERMINAL = 160


def has_colours(stream: TextIO) -> bool:
    """Whether colours, and bold and italic letters, may be printed there."""
    if os.environ.get("NO_COLOR") or _is_dumb():
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def can_move_cursor(stream: TextIO) -> bool:
    """Whether a line that was printed there can be printed over."""
    return stream.isatty() and not _is_dumb()


def console(stream: TextIO) -> Console:
    """Return Rich's console for a stream: with colours or without, and wide without a terminal."""
    from rich.console import Console

    class Honest(Console):
        """A console that tells its caller when nobody reads, and does not end the program."""

        def on_broken_pipe(self) -> None:
            raise  # the error that Rich is handling when it calls this

    colours = has_colours(stream)
    return Honest(
        file=stream,
        color_system="auto" if colours else None,
        force_terminal=colours or stream.isatty(),
        width=None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL,
    )


def printable(text: str) -> str:
    """Return a text with everything escaped that could break its line or steer the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in {"dumb", "unknown"}
