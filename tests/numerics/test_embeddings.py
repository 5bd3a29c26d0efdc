from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from numerics.arguments import BLOCK_ENTRIES, InvalidArgumentError
from numerics.embeddings import LAWS, sample_embeddings, uniform_direction


def row_norms(V):
    return [math.sqrt(math.fsum((row * row).tolist())) for row in V]


@pytest.mark.parametrize("law", LAWS)
def test_the_same_state_gives_the_same_matrix(law):
    first, second = (sample_embeddings(np.random.default_rng(5), 6, 9, law=law) for _ in range(2))
    assert first.shape == (6, 9)
    assert first.dtype == np.float64
    assert first.flags.c_contiguous
    assert np.array_equal(first, second)


@pytest.mark.parametrize("law", ["sphere", "rademacher", "orthonormal", "sinusoidal"])
@pytest.mark.parametrize("m", [40, 41])
def test_rows_are_unit_vectors(law, m):
    V = sample_embeddings(np.random.default_rng(1), 40, m, law=law)
    # Norm, quotient and re-measurement each err by a few u; 1e-15 is nine of them.
    assert max(abs(norm - 1) for norm in row_norms(V)) < 1e-15


def test_sphere_is_unit_beyond_one_block_and_at_m_1():
    d = BLOCK_ENTRIES // 4 + 3
    V = sample_embeddings(np.random.default_rng(2), d, 5)
    norms = np.linalg.norm(V, axis=1)
    assert np.abs(norms - 1).max() < 1e-15
    assert set(sample_embeddings(np.random.default_rng(2), 50, 1)[:, 0]) == {-1.0, 1.0}


def test_orthonormal_rows_are_orthonormal_and_need_room():
    V = sample_embeddings(np.random.default_rng(3), 7, 9, law="orthonormal")
    # Householder QR is orthonormal to a small multiple of u.
    np.testing.assert_allclose(V @ V.T, np.eye(7), rtol=0, atol=1e-14)
    with pytest.raises(
        InvalidArgumentError, match=r"^law=orthonormal: needs d <= m, and d = 10, m = 9$"
    ):
        sample_embeddings(np.random.default_rng(3), 10, 9, law="orthonormal")


@pytest.mark.parametrize("m", [1, 2, 7, 8])
def test_sinusoidal_rows_distinguish_positions(m):
    V = sample_embeddings(np.random.default_rng(0), 12, m, law="sinusoidal")
    i, scale = 5, 1 / math.sqrt(m / 2 if m % 2 == 0 else 1)
    if m % 2 == 0:
        # Even m: each pair has length 1 before scaling, and the first has frequency 1.
        assert V[i, 0] == pytest.approx(scale * math.cos(i), rel=1e-14)
        assert V[i, 1] == pytest.approx(scale * math.sin(i), rel=1e-14)
    if m > 1:
        assert len({tuple(row) for row in V}) == 12


class ZeroThenGaussian:
    """A generator whose first draw has a row of zeros."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def standard_normal(self, size=None, out=None):
        draw = self.rng.standard_normal(size, out=out)
        if out is not None:
            out[1] = 0
        return draw


def test_a_row_of_zeros_is_drawn_again():
    V = sample_embeddings(ZeroThenGaussian(), 3, 4)
    assert max(abs(norm - 1) for norm in row_norms(V)) < 1e-15


def test_laws_have_their_moments():
    # One coordinate of each law, by a Kolmogorov-Smirnov test at fixed seed; level 1e-3.
    rng = np.random.default_rng(11)
    m = 6
    sphere = sample_embeddings(rng, 4000, m)[:, 2]
    # (y + 1)/2 is Beta((m-1)/2, (m-1)/2) for a coordinate y of the sphere.
    assert stats.kstest((sphere + 1) / 2, stats.beta((m - 1) / 2, (m - 1) / 2).cdf).pvalue > 1e-3
    gaussian = sample_embeddings(rng, 4000, m, law="gaussian")[:, 2]
    assert stats.kstest(gaussian * math.sqrt(m), stats.norm.cdf).pvalue > 1e-3
    rademacher = sample_embeddings(rng, 4000, m, law="rademacher")
    assert set(np.unique(rademacher)) == {-1 / math.sqrt(m), 1 / math.sqrt(m)}
    assert stats.binomtest(int((rademacher > 0).sum()), rademacher.size).pvalue > 1e-3
    frames = [sample_embeddings(rng, 2, 3, law="orthonormal")[0, 0] for _ in range(2000)]
    # A coordinate on S^2 is uniform on [-1, 1] (Archimedes).
    assert stats.kstest(frames, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    directions = [uniform_direction(rng, 3)[1] for _ in range(2000)]
    assert stats.kstest(directions, stats.uniform(-1, 2).cdf).pvalue > 1e-3


def test_refusals():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidArgumentError, match=r"^law=cube: must be one of sphere, gaussian"):
        sample_embeddings(rng, 3, 2, law="cube")
    with pytest.raises(InvalidArgumentError, match=r"^d=1"):
        sample_embeddings(rng, 1, 2)
    with pytest.raises(InvalidArgumentError, match=r"^m=0"):
        uniform_direction(rng, 0)
