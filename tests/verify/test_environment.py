"""What a result was computed with is named."""

from __future__ import annotations

import importlib.metadata

from verify.environment import describe_blas, describe_environment


def test_the_kernels_of_linear_algebra_have_a_name_that_stays() -> None:
    first = describe_blas()
    assert first != "unknown"
    import scipy.linalg  # noqa: F401 - brings a library of its own, which was counted already

    assert describe_blas() == first == describe_environment()["blas"]


def test_an_extra_that_is_not_installed_is_named_as_such(monkeypatch) -> None:
    installed = importlib.metadata.version

    def version(name: str) -> str:
        if name == "jax":
            raise importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    packages = describe_environment()["packages"]
    assert packages["jax"] is None
    assert packages["scikit-learn"] == installed("scikit-learn")
