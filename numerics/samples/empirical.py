"""The loss of a finite sample and its gradients at one point, from samples that are never held.

For n inputs x, uniform signs, the empirical loss is L_n = (1/n) sum (f(x) - y)^2 (no factor 1/2)
with f(x) = -p q and y = -x_a x_b: arXiv:2502.07553v2, section 2 and Corollary 3. With e = p q -
x_a x_b its slopes and gradient are

    h_i = dL_n/dgamma_i = (1/n) sum 2 e q x_i,    grad_theta L_n = sum_i gamma_i h_i (v_i - vbar),

and theta~ by p and q exchanged. So for softmax; another attention map has its own transposed
derivative in place of gamma_i (h_i - sum_j gamma_j h_j). Samples are drawn packed to bits, summed
up and forgotten.
"""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    check_support,
    embedding_matrix,
    finite_array,
    integer_at_least,
    refuse_non_finite,
    vector_of_length,
)
from numerics.attention_maps import SOFTMAX, AttentionMap, weights_at
from numerics.passes import all_scores, weighted_sums
from numerics.samples.signs import SampleStream, packed_columns, skip_samples
from numerics.samples.sums import SampleSums, sample_runs, sum_samples

__all__ = [
    "EmpiricalGradient",
    "EmpiricalSlopes",
    "empirical_gradient",
    "empirical_slopes",
    "packed_slopes",
]


@dataclass(frozen=True, slots=True, eq=False)
class EmpiricalSlopes:
    """The empirical loss and its derivatives by the attention.

    Attributes
    ----------
    loss : float
        L_n, the mean of (f - y)^2.
    gamma, gamma_tilde : ndarray, shape (d,)
        dL_n/dgamma_i and dL_n/dgamma~_i.
    """

    loss: float
    gamma: NDArray[np.float64]
    gamma_tilde: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EmpiricalGradient:
    """The empirical loss and its two gradients at one point.

    Attributes
    ----------
    loss : float
        L_n, the mean of (f - y)^2.
    theta, theta_tilde : ndarray, shape (m,)
        dL_n/dtheta and dL_n/dtheta~.
    """

    loss: float
    theta: NDArray[np.float64]
    theta_tilde: NDArray[np.float64]


def empirical_gradient(
    rng: np.random.Generator,
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    n: SupportsIndex,
    threads: SupportsIndex = 1,
    chunks: SupportsIndex | None = None,
    attention: AttentionMap = SOFTMAX,
) -> EmpiricalGradient:
    """Return the empirical loss and both gradients from `n` fresh samples, at any queries.

    The samples, the accuracy and the arguments not described here are those of `empirical_slopes`.
    An error of epsilon in every slope is one of at most 2 epsilon max |v_i| in the gradient; the
    sums over the positions add some 2 d u sum_i gamma_i |h_i v_i| to it.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings; never copied if its rows or columns are contiguous.
    theta, theta_tilde : array_like, shape (m,)
        The queries of the two heads.
    attention : AttentionMap
        What turns scores into weights, softmax by default. For another, the error of the gradient
        is that of the slopes pulled back by it.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, scores, weights or the gradient overflow,
        or as `empirical_slopes`.
    """
    V = embedding_matrix(V)
    m = V.shape[1]
    queries = np.stack(
        [vector_of_length("theta", theta, m), vector_of_length("theta_tilde", theta_tilde, m)]
    )
    scores, scores_tilde = all_scores(V, queries)
    gamma = weights_at("theta", scores, attention)
    gamma_tilde = weights_at("theta_tilde", scores_tilde, attention)
    slopes = empirical_slopes(rng, gamma, gamma_tilde, support, n=n, threads=threads, chunks=chunks)
    heads = ((scores, gamma, slopes.gamma), (scores_tilde, gamma_tilde, slopes.gamma_tilde))
    with np.errstate(all="ignore"):
        both = weighted_sums(np.stack([attention.pull_back(*head) for head in heads]), V)
    refuse_non_finite("gradient", both)
    return EmpiricalGradient(slopes.loss, both[0], both[1])


def empirical_slopes(
    rng: np.random.Generator,
    gamma: ArrayLike,
    gamma_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    n: SupportsIndex,
    threads: SupportsIndex = 1,
    chunks: SupportsIndex | None = None,
) -> EmpiricalSlopes:
    """Return the empirical loss and its slopes from the `n` samples that follow in `rng`.

    They are samples 0, ..., n - 1 of `numerics.samples.signs.SampleStream.following`, and `rng` is
    left at the first word after them. The result is the same to the last bit for any `threads` and
    `chunks`, as all sums are sums of integers. Memory does not grow with `n`: a thread takes some
    1.5 KiB for each position and a few mebibytes.

    Accuracy: with u = 2^-53 and for probability vectors, each slope and the loss is within
    (d / 128 + 60) u of its exact value for these samples, whatever `n`. This is proved below, for
    other weights too. While the heads spread over all positions, h_a is about -2 gamma~_b, of order
    2 / d, so that relative to the largest slope the error is below 1e-10 up to d = 10^4 even in the
    worst case. Errors of single samples do not conspire: as measured, it is 3e-14 at d = 2048 from
    2^15 samples, and less from more samples or for smaller d. A single slope near zero can have a
    larger relative error.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the samples, a PCG64.
    gamma, gamma_tilde : array_like, shape (d,)
        The attention of the two heads: probability vectors, or any finite weights.
    support : pair of int
        The positions (a, b), 0-based.
    n : int
        Number of samples, at least 1.
    threads : int
        Threads that share the work, each with a core of its own if possible.
    chunks : int, optional
        Runs of samples that are added up separately; one for each thread if not given.

    Raises
    ------
    InvalidArgumentError
        If the weights are no finite vectors of one length or so large that a loss could overflow,
        the support does not fit, the generator is no PCG64, or a number is too small.

    Notes
    -----
    p is a sum of d multiples of 2^-62, each within 2^-63 of gamma_i x_i, rounded once: it errs by
    c = (d / 1024 + 1) u at most, and so does q. So e, as a product and a difference, errs by
    2 c + 3 u, and e q by 4 c + 5 u, as |p|, |q| <= 1 and |e| <= 2. Rounding to a multiple of 2^-48
    adds 16 u. A slope is the mean of 2 e q x_i, and is rounded once more from at most 4: in all
    (d / 128 + 54) u. For e^2 it is (d / 128 + 44) u likewise. The rest of the 60 covers a total
    attention that is 1 only up to 1e-9, and terms of the second order in u. Weights of totals up
    to 2^j and 2^k change only the units (`numerics.samples.sums.Units`): all of this is multiplied
    by 2^(2 j + 2 k) for the loss, and by 2^(j + 2 k) and 2^(2 j + k) for the slopes.
    """
    gamma, gamma_tilde, support = _checked(gamma, gamma_tilde, support)
    d = gamma.shape[0]
    n = integer_at_least("n", n, 1)
    threads = integer_at_least("threads", threads, 1)
    chunks = threads if chunks is None else integer_at_least("chunks", chunks, 1)
    stream = SampleStream.following(rng, d)
    stop = threading.Event()

    def sum_run(run: range) -> SampleSums:
        blocks = stream.blocks(run.start, run.stop)
        blocks = itertools.takewhile(lambda _: not stop.is_set(), blocks)
        return sum_samples(gamma, gamma_tilde, support, blocks)

    with ThreadPoolExecutor(threads) as pool:
        try:
            done = as_completed([pool.submit(sum_run, run) for run in sample_runs(n, chunks)])
            sums = reduce(add, (run.result() for run in done))
        finally:
            stop.set()  # neither an interrupt nor a failure waits for the other runs
    skip_samples(rng, d, n)
    return _slopes(sums)


def packed_slopes(
    gamma: ArrayLike,
    gamma_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    packed: ArrayLike,
) -> EmpiricalSlopes:
    """Return the empirical loss and its slopes from given samples, packed to bytes.

    Accuracy and the other arguments are those of `empirical_slopes`.

    Parameters
    ----------
    packed : array_like of uint8, shape (n, ceil(d / 8))
        Samples: bit k of byte j is position 8 j + k, 1 for +1 and 0 for -1.

    Raises
    ------
    InvalidArgumentError
        If the weights are no finite vectors of one length or so large that a loss could overflow,
        the support does not fit, or `packed` holds no such bytes or no sample.
    """
    gamma, gamma_tilde, support = _checked(gamma, gamma_tilde, support)
    d = gamma.shape[0]
    return _slopes(sum_samples(gamma, gamma_tilde, support, [packed_columns(packed, d)]))


def _slopes(sums: SampleSums) -> EmpiricalSlopes:
    slopes = sums.mean_slopes()
    return EmpiricalSlopes(sums.mean_loss(), slopes[0], slopes[1])


def _checked(
    gamma: ArrayLike, gamma_tilde: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, int]]:
    gamma = finite_array("gamma", gamma, 1)
    gamma_tilde = vector_of_length("gamma_tilde", gamma_tilde, gamma.shape[0])
    return gamma, gamma_tilde, check_support(support, gamma.shape[0])
