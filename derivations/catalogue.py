"""The derivations by name: what there is, without paying for SymPy until one is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derivations.proof.ledger import Derivation

__all__ = ["TITLES", "load", "names"]

TITLES = {
    "moments": "Moments of products of linear forms in independent signs",
    "softmax": "The derivative of softmax attention",
    "population": "The population loss, for any pair of queries",
    "gradient": "The gradient of the population loss, for any pair of queries",
    "antisymmetric": "The antisymmetric start: closed loss, signal and rest of the first step",
    "sample_noise": "The gradient of one sample, for any pair of queries: its second moment",
    "zero": "Loss and gradient where both queries vanish",
    "transformer": "The single-layer Transformer with a CLS token is the model of two queries",
    "transformer_conditions": "What each condition of that equivalence is for",
    "worst_case": "The loss of the worst input",
    "one_step": "One step: slopes of the score differences, and the loss they lead to",
    "score_bounds": "Weights and slopes of the first step, off three rare events",
    "theorem2": "Theorem 2 with its constants: the probability that one step fails, from above",
    "corollary3": "Corollary 3 with its constants: a step from n samples",
    "converse": "The probability that one step fails, from below",
    "attention_maps": "Loss and gradient for any attention map; linear and erf attention",
    "attention_from_loss": "Small loss of every input: each head has a position of its own",
    "concave_attention": "Odd concave attention: a floor of the loss, whatever the queries",
    "linear_average": "Linear attention: the mean over supports of the best losses",
    "odd_attention": "Odd attention from the antisymmetric start: the loss stays at 1/2 or above",
    "feed_forward": "Feed-forward nets that read r positions: the average loss over supports",
    "fixed_embedding": "Linear models on a fixed embedding: the average loss over supports",
    "permanents": "The mean of k forms against the parity of k signs is a permanent",
    "parity": "Parity of k bits with k heads: loss and gradient for any queries",
    "parity_first_step": "Parity of k bits: what the first step does, to first order",
    "parity_chance": "Parity of k bits: the chance that k heads part in one step",
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
