"""What the workers of a cluster compute with, and whether their rows are those of this machine."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

__all__ = ["Environment", "difference", "environment"]

Environment: TypeAlias = Mapping[str, str]
"""Versions by name. Plain strings, which any version of anything can read."""

_PACKAGES = ("xorverify", "numpy", "scipy", "numba")
# What a trial runs, and not the claims, commands and reports beside it.
_SOURCES = (
    "numerics/**/*.py",
    "verify/*.py",
    *(f"verify/{room}/**/*.py" for room in ("instances", "running", "sweep", "trials")),
)


@cache
def environment() -> Environment:
    """Return what decides the rows of a trial in this process, the toolkit's own sources included.

    A checkout keeps its version while it is worked on, which its sources do not.
    """
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "sources": _fingerprint(),
    }


def difference(theirs: Environment, ours: Environment) -> str | None:
    """Return the first difference, naming both sides; None if there is none."""
    for name, version in ours.items():
        other = theirs.get(name, "none")
        if other == version:
            continue
        if name == "sources":
            both = ours["xorverify"]
            return f"has other sources of xorverify {both} ({other}) than this machine ({version})"
        return f"has {name} {other}, this machine has {name} {version}"
    return None


def _fingerprint() -> str:
    """Return a short digest of the sources whose code runs in a trial."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
