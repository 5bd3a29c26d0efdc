"""Hypothesis strategies for instances and attention, for this project's tests and for yours.

Hypothesis draws small integers and nothing else: d, m, a seed and a support. The arrays are made
from these, always in the same way, so that a failing example shrinks to few positions, seed 0 and
support (0, 1), and is reported as the call that makes it again. Entries of V drawn one by one
would be equal nearly everywhere, in rows that are no unit vectors.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

try:
    from hypothesis import event, settings
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    if missing.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "verify.strategies needs Hypothesis: install xorverify[test]", name="hypothesis"
    ) from None

from numerics.arguments import InvalidArgumentError, check_support, integer_at_least
from numerics.attention import softmax
from numerics.embeddings import LAWS, check_law, uniform_direction
from verify.claim import Assumption
from verify.instance import Instance, draw_instance
from verify.seeds import Streams

__all__ = [
    "ATTENTION_KINDS",
    "CORNERS",
    "AttentionKind",
    "AttentionPair",
    "Corner",
    "DrawnInstance",
    "Start",
    "Tally",
    "adversarial_instances",
    "assuming",
    "attention_pairs",
    "corner_at",
    "instance_at",
    "instances",
    "rational_attention",
    "register_profiles",
    "sizes",
    "supports",
]

Start = Literal["antisymmetric", "independent"]

# Six digits are easily copied, and below 2^24 Hypothesis draws uniformly.
_SEEDS = st.integers(0, 999_999)


def sizes(
    *, min_d: int = 2, max_d: int = 16, min_m: int = 1, max_m: int = 8, law: str = "sphere"
) -> st.SearchStrategy[tuple[int, int]]:
    """Draw sizes ``(d, m)``, with ``d <= m`` if the law needs it.

    Raises
    ------
    InvalidArgumentError
        If the limits leave no sizes or the law does not exist.
    """
    min_d, min_m = integer_at_least("min_d", min_d, 2), integer_at_least("min_m", min_m, 1)
    max_d, max_m = integer_at_least("max_d", max_d, min_d), integer_at_least("max_m", max_m, min_m)
    check_law(law, min_d, max_m)
    if not LAWS[law].independent:
        return st.tuples(st.integers(min_d, max_d), st.integers(min_m, max_m))
    return st.integers(min_d, min(max_d, max_m)).flatmap(
        lambda d: st.tuples(st.just(d), st.integers(max(d, min_m), max_m))
    )


def supports(d: int) -> st.SearchStrategy[tuple[int, int]]:
    """Draw ordered pairs of distinct positions below `d`; they shrink to ``(0, 1)``.

    Raises
    ------
    InvalidArgumentError
        If ``d < 2``.
    """
    d = integer_at_least("d", d, 2)
    return st.tuples(st.integers(0, d - 1), st.integers(0, d - 2)).map(_distinct)


def _distinct(pair: tuple[int, int]) -> tuple[int, int]:
    a, b = pair
    return a, b + (b >= a)


@dataclass(frozen=True, repr=False, eq=False)
class DrawnInstance(Instance):
    """An instance whose `repr` is the call that makes it again.

    Attributes
    ----------
    recipe : str
        That call. A copy changed by `dataclasses.replace` has none and shows its arrays.
    """

    recipe: str = field(init=False, default="")

    def __repr__(self) -> str:
        return self.recipe or super().__repr__()


def instances(
    *,
    min_d: int = 2,
    max_d: int = 16,
    min_m: int = 1,
    max_m: int = 8,
    law: str = "sphere",
    start: Start = "antisymmetric",
) -> st.SearchStrategy[DrawnInstance]:
    """Draw instances as a Monte Carlo trial does: see `instance_at`.

    Parameters
    ----------
    min_d, max_d, min_m, max_m : int
        Limits of the sizes.
    law, start : str
        As in `instance_at`.

    Raises
    ------
    InvalidArgumentError
        If the limits leave no sizes or the law does not exist.
    """
    options: dict[str, st.SearchStrategy[object]] = {}
    if law != "sphere":
        options["law"] = st.just(law)
    if start != "antisymmetric":
        options["start"] = st.just(start)
    drawn = sizes(min_d=min_d, max_d=max_d, min_m=min_m, max_m=max_m, law=law)
    return drawn.flatmap(
        lambda size: st.builds(
            instance_at,
            d=st.just(size[0]),
            m=st.just(size[1]),
            seed=_SEEDS,
            support=supports(size[0]),
            **options,
        )
    )


def instance_at(
    *,
    d: int,
    m: int,
    seed: int,
    support: tuple[int, int],
    law: str = "sphere",
    start: Start = "antisymmetric",
) -> DrawnInstance:
    """Make the instance that `instances` draws at these integers.

    With the antisymmetric start it is the instance that ``xorverify instance`` writes for the
    same ``--d``, ``--m``, ``--seed``, ``--support`` and ``--law``.

    Parameters
    ----------
    d, m : int
        Number of positions (>= 2) and embedding dimension (>= 1).
    seed : int
        Root seed (>= 0).
    support : pair of int
        The positions (a, b), 0-based.
    law : str
        Law of the embeddings, a key of `numerics.embeddings.LAWS`.
    start : {"antisymmetric", "independent"}
        Whether ``theta_tilde`` is ``-theta``, or uniform like ``theta`` and drawn after it.

    Raises
    ------
    InvalidArgumentError
        If an argument cannot be used.
    """
    rng, instance = _drawn(d, m, seed, support, law)
    options = {} if law == "sphere" else {"law": law}
    if start == "independent":
        instance = replace(instance, theta_tilde=uniform_direction(rng, m))
        options["start"] = start
    elif start != "antisymmetric":
        raise InvalidArgumentError("start", start, "must be antisymmetric or independent")
    return _recorded(instance, f"instance_at(d={d}, m={m}", seed, options)


def _drawn(
    d: int, m: int, seed: int, support: tuple[int, int], law: str = "sphere"
) -> tuple[np.random.Generator, Instance]:
    rng = Streams(integer_at_least("seed", seed, 0)).trial(0)
    return rng, draw_instance(rng, d, m, law=law, support=support)


def _recorded(
    instance: Instance, call: str, seed: int, options: Mapping[str, object]
) -> DrawnInstance:
    drawn = DrawnInstance(instance.V, instance.theta, instance.theta_tilde, instance.support)
    rest = "".join(f", {name}={value!r}" for name, value in options.items())
    recipe = f"{call}, seed={seed}, support={instance.support}{rest})"
    object.__setattr__(drawn, "recipe", recipe)
    return drawn


@dataclass(frozen=True, slots=True)
class Corner:
    """A way to make an instance hard.

    Attributes
    ----------
    title : str
        What is hard about it, in words.
    bend : callable
        ``bend(rng, instance, exponent)`` returns the hard instance, made from a drawn one.
    exponents : tuple of int
        How far it may go, as powers of two, the mildest first; ``(0,)`` if there is no degree.
    max_d, max_m : int
        Largest sizes.
    """

    title: str
    bend: Callable[[np.random.Generator, Instance, int], Instance]
    exponents: tuple[int, ...] = (0,)
    max_d: int = sys.maxsize
    max_m: int = sys.maxsize


def adversarial_instances(
    *corners: str, min_d: int = 2, max_d: int = 16, min_m: int = 1, max_m: int = 8
) -> st.SearchStrategy[DrawnInstance]:
    """Draw hard instances: see `CORNERS` and `corner_at`.

    Parameters
    ----------
    *corners : str
        Keys of `CORNERS`; all of them if none is given. A failing example shrinks to the first
        one that fails.
    min_d, max_d, min_m, max_m : int
        Limits of the sizes. A corner that has no such sizes is left out.

    Raises
    ------
    InvalidArgumentError
        If a corner does not exist, or no corner has such sizes.
    """
    chosen = {name: _corner(name) for name in corners or CORNERS}
    families = [
        sizes(
            min_d=min_d,
            max_d=min(max_d, corner.max_d),
            min_m=min_m,
            max_m=min(max_m, corner.max_m),
        ).flatmap(_CornersOfSize(name, corner.exponents))
        for name, corner in chosen.items()
        if min_d <= corner.max_d and min_m <= corner.max_m
    ]
    if not families:
        raise InvalidArgumentError("corners", ", ".join(chosen), "have no instance of these sizes")
    return st.one_of(families)


def corner_at(
    *,
    corner: str,
    d: int,
    m: int,
    seed: int,
    support: tuple[int, int],
    exponent: int | None = None,
) -> DrawnInstance:
    """Make the hard instance that `adversarial_instances` draws at these integers.

    Parameters
    ----------
    corner : str
        A key of `CORNERS`.
    d, m, seed, support
        As in `instance_at`.
    exponent : int, optional
        How far to go, one of the corner's `exponents`; the mildest if not given.

    Raises
    ------
    InvalidArgumentError
        If an argument cannot be used.
    """
    chosen = _corner(corner)
    if d > chosen.max_d:
        raise InvalidArgumentError("d", d, f"must be at most {chosen.max_d} where {corner}")
    if m > chosen.max_m:
        raise InvalidArgumentError("m", m, f"must be at most {chosen.max_m} where {corner}")
    if exponent is None:
        exponent = chosen.exponents[0]
    elif exponent not in chosen.exponents:
        allowed = ", ".join(map(str, chosen.exponents))
        raise InvalidArgumentError("exponent", exponent, f"must be one of {allowed}")
    rng, instance = _drawn(d, m, seed, support)
    options = {} if chosen.exponents == (0,) else {"exponent": exponent}
    with np.errstate(under="ignore"):
        bent = chosen.bend(rng, instance, exponent)
    return _recorded(bent, f"corner_at(corner={corner!r}, d={d}, m={m}", seed, options)
