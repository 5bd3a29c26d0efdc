"""What a result was computed with."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform

__all__ = ["describe_blas", "describe_environment", "package_versions", "version"]

_PACKAGES = ("mpmath", "numba", "numpy", "python-flint", "scipy", "sympy")
_OPTIONAL = ("equinox", "jax", "scikit-learn")  # without them some evidence rests on less


def version() -> str:
    """Return the version of this toolkit."""
    return importlib.metadata.version("xorverify")


def describe_environment() -> dict[str, object]:
    """Return the interpreter, the platform, and what computes: packages, kernels of BLAS."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "blas": describe_blas(),
        "packages": package_versions() | {name: _version_if_installed(name) for name in _OPTIONAL},
    }


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that compute, in every installation."""
    return {name: importlib.metadata.version(name) for name in _PACKAGES}


def _version_if_installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe_blas() -> str:
    """Return which kernels of linear algebra this processor gets; they decide the last bits."""
    from threadpoolctl import threadpool_info

    # NumPy and SciPy bring one library each, which is found only once something has loaded it.
    for name in ("numpy.linalg", "scipy.linalg"):
        importlib.import_module(name)
    found = {
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}".strip()
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "unknown"
