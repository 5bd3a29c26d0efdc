"""Parts of the model by name, as axes of a grid: attention maps and laws of embeddings."""

from __future__ import annotations

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import MAPS
from numerics.embeddings import LAWS
from verify.instances.laws import is_pinned, pin_law
from verify.sweep.parameters import Parameter

__all__ = ["ATTENTION", "LAW"]


def _parse_attention(what: str, text: str) -> str:
    if text in MAPS or ":" in text:
        return text
    raise InvalidArgumentError(what, text, f"must be {', '.join(MAPS)} or module:ATTRIBUTE")


def _parse_law(what: str, text: str) -> str:
    """Return a law by a name that tells whether a file has changed since."""
    if text not in LAWS and ":" not in text:
        known = ", ".join(LAWS)
        raise InvalidArgumentError(what, text, f"must be {known}, file:PATH or module:ATTRIBUTE")
    if is_pinned(text):
        return text  # whether the file is still the same is for each trial to see
    try:
        return pin_law(text)
    except InvalidArgumentError as refusal:
        raise InvalidArgumentError(what, text, refusal.fix) from None


ATTENTION = Parameter(_parse_attention, "name", "TEXT", "softmax")
"""An attention map: one of ours, or of the user's own."""

LAW = Parameter(_parse_law, "name", "TEXT", "sphere")
"""A law of embeddings: one of ours, a file, or of the user's own."""
