"""At d = 10^6, m = 256 the matrix V takes 2 GiB: no kernel may hold a second one."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from numerics.arguments import BLOCK_ENTRIES
from numerics.embeddings import LAWS, sample_embeddings, uniform_direction
from numerics.one_step import one_step
from numerics.population import antisymmetric_gradient, gradient
from numerics.sphere import coherence

D, M = 20_000, 200
V_BYTES = 8 * D * M
VECTORS = 60 * 8 * D  # a few dozen vectors of length d
BLOCK = 8 * BLOCK_ENTRIES


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("law", [law for law in LAWS if law != "orthonormal"])
def test_embeddings_are_drawn_in_place(law):
    # Two blocks: the angles of a block and their cosines or sines.
    rng = np.random.default_rng(0)
    assert peak_bytes(lambda: sample_embeddings(rng, D, M, law=law)) < V_BYTES + 2 * BLOCK


@pytest.mark.parametrize("order", ["C", "F"])
def test_kernels_do_not_copy_the_embeddings(order):
    rng = np.random.default_rng(1)
    V = np.asarray(sample_embeddings(rng, D, M), order=order)
    theta, theta_tilde = uniform_direction(rng, M), uniform_direction(rng, M)
    # Columns are checked in blocks that have to be gathered first.
    room = VECTORS + (0 if order == "C" else BLOCK)
    assert room < V_BYTES
    assert peak_bytes(lambda: gradient(V, theta, theta_tilde, (0, 7))) < room
    assert peak_bytes(lambda: antisymmetric_gradient(V, theta, (0, 7))) < room
    assert peak_bytes(lambda: one_step(V, theta, (0, 7), 1e3)) < room


def test_coherence_never_forms_the_gram_matrix():
    V = sample_embeddings(np.random.default_rng(2), 4000, 8)
    assert peak_bytes(lambda: coherence(V)) < 4 * BLOCK < 8 * 4000 * 4000
