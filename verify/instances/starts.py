"""The two starts: theta~ opposite to theta, as in the paper, or a direction of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from numerics.arguments import InvalidArgumentError, suggestion
from numerics.embeddings import uniform_direction
from verify.instances.instance import Instance, draw_instance

__all__ = ["STARTS", "Start", "draw_start", "read_start"]

Start: TypeAlias = Literal["antisymmetric", "independent"]
STARTS: tuple[Start, ...] = get_args(Start)


def read_start(what: str, text: str) -> Start:
    """Return one of `STARTS`.

    Raises
    ------
    InvalidArgumentError
        If `text` is none of them.
    """
    for start in STARTS:
        if text == start:
            return start
    near = suggestion(text, STARTS)
    raise InvalidArgumentError(what, text, f"must be one of {', '.join(STARTS)}{near}")


def draw_start(rng: np.random.Generator, d: int, m: int, *, law: str, start: Start) -> Instance:
    """Draw an instance with either start.

    The order of the draws is support, V, theta, then theta~ if it is independent.

    Raises
    ------
    InvalidArgumentError
        As `draw_instance`.
    """
    instance = draw_instance(rng, d, m, law=law)
    if start == "antisymmetric":
        return instance
    return replace(instance, theta_tilde=uniform_direction(rng, m))
