"""What must not matter: workers, threads, hash seeds, cores, the folder and the user's settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["AS_IT_IS", "Surroundings", "surroundings"]

_ROOT = Path(__file__).parents[2]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Confines itself to one core, and becomes the program.
_ON_ONE_CORE = (
    "import os, sys; "
    "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Circumstances in which a command is run.

    Parameters
    ----------
    name : str
        What they are, in a few words.
    jobs : int
        Number of worker processes, where a command has some.
    hash_seed : str
        Seed of the hashes of texts, on which the order of Python's sets depends; or "random".
    threads : int, optional
        How many threads the libraries of linear algebra are told to use; None tells them nothing.
    one_core : bool
        Whether the process may use one core only.
    elsewhere : bool
        Whether the folder, the temporary folder, time zone, locale, width of the terminal, and the
        settings of the user's figures are others.
    """

    name: str
    jobs: int = 2
    hash_seed: str = "0"
    threads: int | None = None
    one_core: bool = False
    elsewhere: bool = False

    def prepare(self, root: Path) -> tuple[Path, dict[str, str]]:
        """Make the folder of the commands below `root`, and return it with their environment.

        The environment has this checkout as what is imported.
        """
        folder = root / ("some where/else, in Zürich" if self.elsewhere else "here")
        folder.mkdir(parents=True)
        others = {name: value for name, value in os.environ.items() if name not in _THREADS}
        found = {**others, "PYTHONHASHSEED": self.hash_seed, "PYTHONPATH": str(_ROOT)}
        if self.threads is not None:
            found |= dict.fromkeys(_THREADS, str(self.threads))
        if self.elsewhere:
            settings = root / "matplotlibrc"
            settings.write_text("font.size: 20\nsvg.hashsalt: another\n", encoding="utf-8")
            found |= {
                "MATPLOTLIBRC": str(settings),
                "TMPDIR": str(root),
                "TZ": "Asia/Kathmandu",
                "LC_ALL": "C.UTF-8",
                "COLUMNS": "60",
            }
        return folder, found

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Return the command line for arguments of Python."""
        program = [sys.executable, *arguments]
        return [sys.executable, "-c", _ON_ONE_CORE, *program] if self.one_core else program


AS_IT_IS = Surroundings(name="as it is")
"""What all others are compared with."""

# Several things at a time: what differs says little of why, and costs little to find.
_MIXED = (
    Surroundings(name="1 worker, 1 thread, hash seed 1", jobs=1, threads=1, hash_seed="1"),
    Surroundings(
        name="3 workers, 4 threads, hash seed 2, elsewhere",
        jobs=3,
        threads=4,
        hash_seed="2",
        elsewhere=True,
    ),
)
_ONE_BY_ONE = (
    Surroundings(name="again"),
    Surroundings(name="hash seed 1", hash_seed="1"),
    Surroundings(name="hash seed drawn", hash_seed="random"),
    Surroundings(name="1 worker", jobs=1),
    Surroundings(name="3 workers", jobs=3),
    Surroundings(name="1 thread", threads=1),
    Surroundings(name="2 threads", threads=2),
    Surroundings(name="4 threads", threads=4),
    Surroundings(name="elsewhere", elsewhere=True),
)
_CONFINED = Surroundings(name="1 core", one_core=True)


def surroundings(*, full: bool) -> tuple[Surroundings, ...]:
    """Return all surroundings but `AS_IT_IS`, at the small or the full size of the campaign."""
    if not full:
        return _MIXED
    # Only Linux confines a process to a core.
    confined = (_CONFINED,) if hasattr(os, "sched_setaffinity") else ()
    return (*_ONE_BY_ONE, *confined, *_MIXED)
