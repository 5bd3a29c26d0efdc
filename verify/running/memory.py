"""Refusing in advance what would not fit, with the estimate."""

from __future__ import annotations

import os

from numerics.arguments import InvalidArgumentError

__all__ = ["WORKER_BYTES", "embedding_bytes", "refuse_beyond_memory", "usable_bytes"]

WORKER_BYTES = 150 << 20
"""What a worker process takes before it holds any data: the interpreter and its libraries."""

# The rest of the machine needs some of its memory too.
_USABLE = 0.8


def embedding_bytes(d: int, m: int) -> int:
    """Return the bytes a trial at ``(d, m)`` needs: V once, and some vectors of length d."""
    return 8 * d * m + 8 * 24 * d


def usable_bytes() -> int:
    """Return how many bytes of this machine's memory can be used: four fifths of them."""
    return int(_USABLE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def refuse_beyond_memory(what: str, value: object, needed: int) -> None:
    """Refuse a request whose estimate exceeds what this machine can hold.

    Parameters
    ----------
    what, value
        The argument to name in the refusal.
    needed : int
        Estimated bytes.

    Raises
    ------
    InvalidArgumentError
        If `needed` is more than four fifths of the physical memory.
    """
    usable = usable_bytes()
    if needed > usable:
        raise InvalidArgumentError(
            what,
            value,
            f"needs about {_gibibytes(needed)} GiB of memory, of which "
            f"{_gibibytes(usable)} GiB can be used; choose a smaller size",
        )


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:.3g}"
