"""An attack on the command line: what is done to it, and what came of it."""

from __future__ import annotations

import shlex
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["OK", "Attack", "Found", "failed"]


@dataclass(frozen=True)
class Found:
    """What an attack found.

    Parameters
    ----------
    problem : str
        What went wrong, in words; empty if the verifier stood it.
    command : str
        A command line that shows the problem again, where there is one.
    """

    problem: str = ""
    command: str = ""

    @property
    def ok(self) -> bool:
        """Whether the verifier stood the attack."""
        return not self.problem


OK = Found()


def failed(problem: str, argv: Sequence[str] = ()) -> Found:
    """Return what went wrong, with the arguments of ``xorverify`` that show it."""
    return Found(problem, shlex.join(["xorverify", *argv]) if argv else "")


@dataclass(frozen=True)
class Attack:
    """One thing that is done to the verifier, the same for the same seed.

    Parameters
    ----------
    group : str
        What is attacked; a row of the table.
    name : str
        The attack; unique in its group.
    run : callable
        Receives an empty folder of its own, which stays where it is if the attack fails, and a
        seed of its own, and returns what was found. It may change the working folder and the
        environment only as long as it runs.
    """

    group: str
    name: str
    run: Callable[[Path, int], Found]

    def seed(self, root: int) -> int:
        """Return the seed of this attack, apart from that of every other one."""
        key = zlib.crc32(f"{self.group}/{self.name}".encode())
        return int(np.random.SeedSequence(root, spawn_key=(key,)).generate_state(1)[0])
