"""The sums over samples, held against the samples themselves.

A variance of gradients is no judge of them: it would hardly move if some positions, samples or
units were taken for others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.instances.instance import draw_instance

__all__ = ["sums_cell"]

_UNIT = 2.0**-53
# Sizes at which samples fill several tiles, and rows so long that a tile is a block of its own.
_SIZES = ((2, 150, 1, 9000), (1100, 1200, 4097, 5000))
# A tile of 2^12 samples adds less than 2^32 to either part of a sum, which is held in 63 bits.
_MOST_SAMPLES = 1 << 43

Parts = Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64], float]]


def sums_cell() -> Cell:
    """Return the cell on loss, slopes and gradients of samples that are added up by the bit."""
    return fault_cell(
        "sums over samples",
        _sum_faults,
        method="the definitions, for the same samples, unpacked and held",
        claimed="the same numbers, for any weights, threads and chunks, none of them too long for a"
        " sum; the generator moved on",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=16,
        cost=3.0,
    )


def _sum_faults(rng: np.random.Generator) -> Faults:
    low, high, fewest, most = _SIZES[int(rng.integers(4) == 0)]
    d, n = int(rng.integers(low, high)), int(rng.integers(fewest, most))
    row = -(-d // 8)
    seed = int(rng.integers(1 << 32))
    words = np.random.PCG64(seed).random_raw(-(-n * row // 8) + 1)
    rows = words[:-1].astype("<u8").view(np.uint8)[: n * row].reshape(n, row)
    x = 2 * np.unpackbits(rows, axis=1, bitorder="little")[:, :d].astype(np.float64) - 1
    for what, found, truth, size in (*_slopes(rng, seed, x), *_gradient(rng, seed, x)):
        # Sums of n terms, each of sums of d products: relative to the largest that they can be.
        if not np.all(np.abs(found - truth) <= (n + 4 * d + 200) * _UNIT * size):
            yield f"{what} of {n} samples at d = {d}, seed {seed}: {found}, not {truth}"
    if _word_after(seed, d, n) != int(words[-1]):
        yield f"the generator after {n} samples at d = {d}, seed {seed}"
    for exponent in rng.uniform([0, 46], [46, 54]):
        yield from _run_faults(int(2**exponent), int(rng.integers(1, 9)))


def _run_faults(n: int, parts: int) -> Faults:
    """Look at how samples are cut into sums, also for numbers of them that take days."""
    from numerics.samples.sums import sample_runs

    runs = sample_runs(n, parts)
    ends = [(run.start, run.stop) for run in runs]
    if [0, *(stop for _, stop in ends)] != [*(start for start, _ in ends), n]:
        yield f"{n} samples, cut into {len(runs)} runs that leave some out or take some twice"
    if len(runs) < parts or max(map(len, runs), default=0) > _MOST_SAMPLES:
        yield f"{n} samples, cut into {len(runs)} runs: {parts} are asked for, or one is too long"


def _slopes(rng: np.random.Generator, seed: int, x: NDArray[np.float64]) -> Parts:
    """Yield the loss and its slopes at weights of any sign and of different totals."""
    from numerics.samples.empirical import empirical_slopes, packed_slopes

    n, d = x.shape
    gamma, gamma_tilde = rng.standard_normal((2, d)) * 2.0 ** rng.integers(-8, 9, size=(2, 1))
    a, b = (int(position) for position in rng.permutation(d)[:2])
    generator = np.random.default_rng(seed)
    threads, chunks = (int(number) for number in rng.integers(1, [3, 5]))
    found = empirical_slopes(
        generator, gamma, gamma_tilde, (a, b), n=n, threads=threads, chunks=chunks
    )
    p, q = x @ gamma, x @ gamma_tilde
    e = p * q - x[:, a] * x[:, b]
    P, Q = (max(1.0, float(np.abs(weights).sum())) for weights in (gamma, gamma_tilde))
    packed = np.packbits(x > 0, axis=1, bitorder="little")
    given = packed_slopes(gamma, gamma_tilde, (a, b), packed)
    for what, each in (("drawn", found), ("given", given)):
        yield f"{what} loss", np.array(each.loss), np.array(np.mean(e * e)), 4 * (P * Q) ** 2
        yield f"{what} slopes", each.gamma, 2 * (e * q) @ x / n, 4 * P * Q**2
        yield f"{what} slopes~", each.gamma_tilde, 2 * (e * p) @ x / n, 4 * P**2 * Q


def _gradient(rng: np.random.Generator, seed: int, x: NDArray[np.float64]) -> Parts:
    """Yield the gradients at independent queries, by the derivatives of p and q."""
    from numerics.samples.empirical import empirical_gradient

    n, d = x.shape
    m = int(rng.integers(1, 6))
    instance = draw_instance(rng, d, m)
    V, (a, b) = instance.V, instance.support
    theta, theta_tilde = rng.uniform(-2, 2, size=(2, m))
    found = empirical_gradient(
        np.random.default_rng(seed), V, theta, theta_tilde, (a, b), n=n, threads=2
    )
    gamma, gamma_tilde = (powers / powers.sum() for powers in np.exp([V @ theta, V @ theta_tilde]))
    p, q = x @ gamma, x @ gamma_tilde
    e = p * q - x[:, a] * x[:, b]
    p_slopes = x @ (gamma[:, np.newaxis] * V) - np.outer(p, gamma @ V)
    q_slopes = x @ (gamma_tilde[:, np.newaxis] * V) - np.outer(q, gamma_tilde @ V)
    yield "gradient", found.theta, 2 * (e * q) @ p_slopes / n, 8.0
    yield "gradient~", found.theta_tilde, 2 * (e * p) @ q_slopes / n, 8.0


def _word_after(seed: int, d: int, n: int) -> int:
    """Return the next word of the generator that the samples were drawn from."""
    from numerics.samples.empirical import empirical_slopes

    bits = np.random.PCG64(seed)
    empirical_slopes(np.random.Generator(bits), np.ones(d), np.ones(d), (0, 1), n=n)
    return int(bits.random_raw())
