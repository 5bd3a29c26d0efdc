"""The derivations by name: what there is, without paying for SymPy until one is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derivations.ledger import Derivation

__all__ = ["TITLES", "load", "names"]

TITLES = {
    "moments": "Moments of products of linear forms in independent signs",
    "softmax": "The derivative of softmax attention",
    "population": "The population loss, for any pair of queries",
    "gradient": "The gradient of the population loss, for any pair of queries",
    "antisymmetric": "The antisymmetric start: closed loss, signal and rest of the first step",
    "sample_noise": "The gradient of one sample, for any pair of queries: its second moment",
    "zero": "Loss and gradient where both queries vanish",
    "worst_case": "The loss of the worst input",
    "one_step": "One step: slopes of the score differences, and the loss they lead to",
    "score_bounds": "Weights and slopes of the first step, off three rare events",
    "theorem2": "Theorem 2 with its constants: the probability that one step fails, from above",
    "corollary3": "Corollary 3 with its constants: a step from n samples",
    "converse": "The probability that one step fails, from below",
}
"""Name and title of every derivation; the name is that of its module."""


def names() -> tuple[str, ...]:
    """Return the names of all derivations, in the order in which they build on each other."""
    return tuple(TITLES)


def load(name: str) -> Derivation:
    """Derive the result called `name`; its checks are not run.

    Raises
    ------
    KeyError
        If there is no derivation of that name.
    """
    if name not in TITLES:
        raise KeyError(name)
    derivation: Derivation = importlib.import_module(f"derivations.{name}").derive(TITLES[name])
    return derivation
