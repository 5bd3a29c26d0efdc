"""The claims, one module for each theorem or topic; a module lists its own in ``CLAIMS``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from numerics.arguments import InvalidArgumentError, suggestion
from verify.claim import Claim
from verify.claims import (
    antisymmetric,
    attention_maps,
    certified,
    concave_attention,
    corollary3,
    corollary3_draws,
    corollary3_steps,
    corollary3_variance,
    embedding_laws,
    embeddings,
    explicit_theorem2,
    explicit_theorem2_draws,
    feed_forward,
    fixed_embedding,
    interpretability,
    kernels,
    parameters,
    parity,
    parity_loss,
    population,
    softmax,
    starts,
    theorem2,
    transformer,
    worst_case,
)

__all__ = ["CLAIMS", "find_claim", "register"]


def register(claims: Iterable[Claim]) -> Mapping[str, Claim]:
    """Return claims by id.

    Raises
    ------
    ValueError
        If an id occurs twice, or a claim rests on one that does not come before it (so that
        dependencies can have no circle).
    """
    registry: dict[str, Claim] = {}
    for claim in claims:
        if claim.id in registry:
            raise ValueError(f"claim id {claim.id} occurs twice")
        missing = [id_ for id_ in claim.dependencies if id_ not in registry]
        if missing:
            raise ValueError(f"claim {claim.id} rests on {missing}, which do not come before it")
        registry[claim.id] = claim
    return MappingProxyType(registry)


CLAIMS = register(
    claim
    for module in (
        population,
        antisymmetric,
        attention_maps,
        worst_case,
        embeddings,
        theorem2,
        certified,
        explicit_theorem2,
        explicit_theorem2_draws,
        corollary3_variance,
        corollary3,
        corollary3_draws,
        corollary3_steps,
        embedding_laws,
        interpretability,
        starts,
        concave_attention,
        softmax,
        parameters,
        feed_forward,
        fixed_embedding,
        transformer,
        parity_loss,
        parity,
        kernels,
    )
    for claim in module.CLAIMS
)
"""Every claim by its permanent id, in the order of the report."""


def find_claim(id_: str) -> Claim:
    """Return a claim by its id.

    Raises
    ------
    InvalidArgumentError
        If there is no such claim.
    """
    if id_ not in CLAIMS:
        near = suggestion(id_, CLAIMS)
        raise InvalidArgumentError("claim", id_, f"no such claim; 'list' names them all{near}")
    return CLAIMS[id_]
