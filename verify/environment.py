"""What a result was computed with."""

from __future__ import annotations

import importlib.metadata
import os
import platform

__all__ = ["describe_environment", "version"]

_PACKAGES = ("mpmath", "numpy", "scipy", "sympy")


def version() -> str:
    """Return the version of this toolkit."""
    return importlib.metadata.version("xorverify")


def describe_environment() -> dict[str, object]:
    """Return the interpreter, the platform and the versions of the packages that compute."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
    }
