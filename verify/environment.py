"""What a result was computed with."""

from __future__ import annotations

import importlib.metadata
import os
import platform

__all__ = ["describe_environment", "package_versions", "version"]

_PACKAGES = ("mpmath", "numpy", "python-flint", "scipy", "sympy")


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
        "packages": package_versions(),
    }


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that compute."""
    return {name: importlib.metadata.version(name) for name in _PACKAGES}
