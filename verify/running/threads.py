"""Linear algebra on one thread, in this process and in its workers alike.

A library that divides a product or a factorisation among threads adds up in another order, and the
last bits with it then depend on how many cores it found or was allowed.
"""

from __future__ import annotations

import os
from functools import cache

__all__ = ["use_one_thread"]

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
)


@cache
def use_one_thread() -> None:
    """Let linear algebra in this process use one thread, for good."""
    from threadpoolctl import threadpool_limits

    # Libraries that are loaded already are limited here, those still to come by what they read.
    threadpool_limits(limits=1)
    os.environ.update(dict.fromkeys(_VARIABLES, "1"))
