"""A folder for what the attacked commands are given: an instance, a bundle, a sweep."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["CONFIGURATION", "material"]

CONFIGURATION = """[sweep]
name = "attacked"
kind = "theorem2"
trials = 20

[grid]
d = [8, 16]
m = [4, 8]
"""

# How a campaign tells its workers, which are killed at the end and clean nothing up.
_VARIABLE = "XORVERIFY_ATTACKS_MATERIAL"


@cache
def material() -> Path:
    """Return the folder of this process; it goes when the first process that asked for one ends."""
    if _VARIABLE not in os.environ:
        root = tempfile.mkdtemp(prefix="xorverify-attacks-")
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        os.environ[_VARIABLE] = root
    folder = Path(os.environ[_VARIABLE]) / str(os.getpid())
    folder.mkdir()
    return folder
