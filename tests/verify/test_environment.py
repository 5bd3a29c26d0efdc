"""What a result was computed with is named."""

from __future__ import annotations

from verify.environment import describe_blas, describe_environment


def test_the_kernels_of_linear_algebra_have_a_name_that_stays() -> None:
    first = describe_blas()
    assert first != "unknown"
    import scipy.linalg  # noqa: F401 - brings a library of its own, which was counted already

    assert describe_blas() == first == describe_environment()["blas"]
