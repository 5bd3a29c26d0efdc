"""Linear models on embeddings that are fixed before the support is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.derivation import derivation_cell
from verify.evidence.feature_kernels import columns_cell
from verify.seeds import Streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CLAIMS"]

_POSITIONS = 10
# The share of the C(d, k) parities that the embedding has dimensions for, by degree: the larger,
# the stronger the test, and the longer rational arithmetic takes.
_SHARES: Mapping[Profile, Mapping[int, Fraction]] = {
    "quick": {2: Fraction(1, 2), 3: Fraction(1, 4), 4: Fraction(1, 10)},
    "standard": {2: Fraction(1, 2), 3: Fraction(2, 5), 4: Fraction(1, 5)},
    "full": {2: Fraction(1, 2), 3: Fraction(1, 2), 4: Fraction(1, 2)},
}
_KERNEL_TRIALS: Mapping[Profile, int] = {"quick": 0, "standard": 400, "full": 4000}

# Features are rounded to multiples of this, so that rational arithmetic is quick. The bound is one
# for any embedding, and so for the rounded one.
_GRAIN = 2.0**-6


def _embeddings(rng: np.random.Generator, k: int, D: int) -> dict[str, NDArray[np.float64]]:
    """Draw the embeddings: common ones, and those meant to come close to the bound."""
    from numerics.baselines.fixed_features import (
        fourier_features,
        parity_features,
        power_features,
        product_features,
        relu_features,
    )

    drawn = {
        "ReLU": relu_features(rng, _POSITIONS, D),
        "Fourier": fourier_features(rng, _POSITIONS, D),
        f"powers {k}": power_features(rng, _POSITIONS, D, degree=k),
    }
    return {
        **{name: np.round(table / _GRAIN) * _GRAIN for name, table in drawn.items()},
        f"products of {k} forms": product_features(rng, _POSITIONS, D, factors=k),
        "parities": parity_features(rng, _POSITIONS, D, k=k),
    }


def _check_embeddings(k: int, D: int, streams: Streams) -> Evidence:
    """Project all parities of degree k onto each embedding, in rational arithmetic."""
    from numerics.baselines.exact_features import exact_best_losses
    from numerics.baselines.fixed_features import average_floor

    floor, supports = average_floor(_POSITIONS, D, k), math.comb(_POSITIONS, k)
    found = {
        name: exact_best_losses(table, k)
        for name, table in _embeddings(streams.trial(0), k, D).items()
    }
    below = [
        name
        for name, fit in found.items()
        if not fit.mean >= 1 - Fraction(fit.rank, supports) >= floor
    ]
    # Products of two forms, less their means, are of degree 2: with full rank they attain it too.
    attaining = ["parities", *(["products of 2 forms"] if k == 2 else [])]
    missing = [name for name in attaining if found[name].mean != floor]
    singles = sum(loss < floor for fit in found.values() for loss in fit.losses)
    return Evidence(
        cell=_name(k, D),
        subject="statement",
        method="projection over all 2^d inputs in rational arithmetic, ranks included",
        grade=Grade.REFUTED if below or missing else Grade.EXACT,
        computed=", ".join(f"{name} {float(fit.mean):.4f}" for name, fit in found.items())
        + f"; {singles} of {supports * len(found)} single losses below the average's bound",
        claimed=f"average over all {supports} supports >= 1 - {D}/{supports} = {float(floor):.4f};"
        f" equal for {' and '.join(attaining)}",
        precision="exact",
        seed=streams.seed,
        reason=f"below: {below}; not attained: {missing}" if below or missing else None,
    )


def _name(k: int, D: int) -> str:
    return f"d={_POSITIONS}, k={k}, D={D}"


def _kernel_error(rng: np.random.Generator) -> float:
    """Error of the binary64 losses, in units of the accuracy that they state."""
    from numerics.baselines.exact_features import exact_best_losses
    from numerics.baselines.fixed_features import best_losses

    d, D = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    k = int(rng.integers(1, d + 1))
    table = rng.integers(-3, 4, size=(1 << d, D)).astype(np.float64)
    if D > 1:
        table[:, -1] = 2 * table[:, 0] - 1  # dependent: the rank is to be seen
    found, exact = best_losses(table, k), exact_best_losses(table, k)
    if found.rank != exact.rank or not np.isfinite(found.losses).all():
        return np.nan
    gaps = [
        abs(Fraction(loss) - right)
        for loss, right in zip(found.losses.tolist(), exact.losses, strict=True)
    ]
    largest = float(max(gaps))
    return largest / found.accuracy if largest > 0 else 0.0


def _cells(profile: Profile) -> tuple[Cell, ...]:
    sizes = [
        (k, math.floor(share * math.comb(_POSITIONS, k))) for k, share in _SHARES[profile].items()
    ]
    trials = _KERNEL_TRIALS[profile]
    return (
        derivation_cell("fixed_embedding", cost=1),
        columns_cell(),
        *(
            Cell(name=_name(k, D), check=partial(_check_embeddings, k, D), cost=D**3 * 1e-5)
            for k, D in sizes
        ),
        *(
            [
                agreement_cell(
                    "binary64 projections at random tables, d = 2..5",
                    method="rational arithmetic",
                    error=_kernel_error,
                    bound=1.0,
                    trials=trials,
                    cost=trials * 2e-3,
                )
            ]
            if trials
            else []
        ),
    )


CLAIMS = (
    Claim(
        id="fixed-embedding-floor",
        title="a linear model on a fixed embedding of D dimensions has average loss 1 - D/C(d,k) "
        "or more",
        statement=(
            r"Let $\phi$ map inputs to $\mathbb{R}^D$, fixed before the support is drawn, and let"
            r" $f = w \cdot \phi + w_0$ with $w$, $w_0$ chosen for the support. For the parity of"
            r" $k$ signs, averaged over all supports of size $k$, the best population loss"
            r" $\mathbb{E} (f - y)^2$ is $1 - \mathrm{tr}(P \Pi_k) / \binom{d}{k} \ge 1 - D /"
            r" \binom{d}{k}$, where $P$ projects onto the span of the features less their means,"
            r" and $\Pi_k$ onto the parities of degree $k$. Equality holds if the features are $D$"
            r" of these parities. So an average of at most $\epsilon$ takes $D \ge (1 - \epsilon)"
            r" \binom{d}{k} \ge (1 - \epsilon) (d / k)^k$, exponential in $k$ for $d \ge 2 k$. A"
            r" single support may have any loss in $[0, 1]$."
        ),
        source="ours; arXiv:2502.07553v2 compares its model with fixed embeddings",
        cells=_cells,
    ),
)
