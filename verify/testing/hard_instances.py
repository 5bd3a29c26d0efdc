"""Instances made from small integers, the ordinary ones and the hard ones.

An instance is a function of its sizes, a seed and a support, so that an example is written down
as the call that makes it, in a test or a report.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.embeddings import uniform_direction
from verify.instances.instance import Instance, draw_instance
from verify.instances.starts import Start
from verify.seeds import Streams

__all__ = [
    "CORNERS",
    "Corner",
    "DrawnInstance",
    "Start",
    "check_corner",
    "corner_at",
    "instance_at",
]


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


def instance_at(
    *,
    d: int,
    m: int,
    seed: int,
    support: tuple[int, int],
    law: str = "sphere",
    start: Start = "antisymmetric",
) -> DrawnInstance:
    """Make an ordinary instance, as a Monte Carlo trial draws it.

    With the antisymmetric start it is the one that ``xorverify instance`` writes for the same
    ``--d``, ``--m``, ``--seed``, ``--support`` and ``--law``.

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
    rng, instance = _draw(d, m, seed, support, law=law)
    options = {} if law == "sphere" else {"law": law}
    if start == "independent":
        instance = replace(instance, theta_tilde=uniform_direction(rng, m))
        options["start"] = start
    elif start != "antisymmetric":
        raise InvalidArgumentError("start", start, "must be antisymmetric or independent")
    return _recorded(instance, "instance_at", seed, options)


def corner_at(
    *,
    d: int,
    m: int,
    seed: int,
    support: tuple[int, int],
    corner: str,
    exponent: int | None = None,
) -> DrawnInstance:
    """Make a hard instance: an ordinary one, bent.

    Parameters
    ----------
    d, m, seed, support
        As in `instance_at`.
    corner : str
        What is hard about it, a key of `CORNERS`.
    exponent : int, optional
        How far to go, one of the corner's `exponents`; the mildest if not given.

    Raises
    ------
    InvalidArgumentError
        If an argument cannot be used.
    """
    chosen = check_corner(corner)
    for what, size, most in (("d", d, chosen.max_d), ("m", m, chosen.max_m)):
        if size > most:
            raise InvalidArgumentError(what, size, f"must be at most {most} in the corner {corner}")
    degree = chosen.exponents[0] if exponent is None else exponent
    if degree not in chosen.exponents:
        allowed = ", ".join(map(str, chosen.exponents))
        raise InvalidArgumentError("exponent", degree, f"must be one of {allowed}")
    rng, instance = _draw(d, m, seed, support)
    with np.errstate(under="ignore"):
        bent = chosen.bend(rng, instance, degree)
    options = {"corner": corner} | ({} if exponent is None else {"exponent": exponent})
    return _recorded(bent, "corner_at", seed, options)


def _draw(
    d: int, m: int, seed: int, support: tuple[int, int], *, law: str = "sphere"
) -> tuple[np.random.Generator, Instance]:
    rng = Streams(integer_at_least("seed", seed, 0)).trial(0)
    return rng, draw_instance(rng, d, m, law=law, support=support)


def _recorded(
    instance: Instance, function: str, seed: int, options: Mapping[str, object]
) -> DrawnInstance:
    drawn = DrawnInstance(*instance.arguments)
    arguments = {"d": drawn.d, "m": drawn.m, "seed": int(seed), "support": drawn.support, **options}
    recipe = f"{function}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
    object.__setattr__(drawn, "recipe", recipe)
    return drawn


@dataclass(frozen=True, slots=True)
class Corner:
    """A way for an instance to be hard.

    Attributes
    ----------
    title : str
        What holds there, with e the exponent.
    bend : callable
        ``bend(rng, instance, exponent)`` makes a hard instance of one with unit rows, unit theta
        and ``theta_tilde = -theta``.
    exponents : tuple of int
        The values of e, the mildest first; ``(0,)`` where there is no degree.
    max_d, max_m : int
        The largest sizes.
    """

    title: str
    bend: Callable[[np.random.Generator, Instance, int], Instance]
    exponents: tuple[int, ...] = (0,)
    max_d: int = sys.maxsize
    max_m: int = sys.maxsize


def check_corner(corner: str) -> Corner:
    """Return the corner of this name, or refuse it.

    Raises
    ------
    InvalidArgumentError
        If there is none.
    """
    if corner not in CORNERS:
        raise InvalidArgumentError("corner", corner, f"must be one of {', '.join(CORNERS)}")
    return CORNERS[corner]


def _as_drawn(_: np.random.Generator, instance: Instance, __: int) -> Instance:
    return instance


def _twin_support(_: np.random.Generator, instance: Instance, __: int) -> Instance:
    a, b = instance.support
    V = instance.V.copy()
    V[b] = V[a]
    return replace(instance, V=V)


def _opposite_support(_: np.random.Generator, instance: Instance, __: int) -> Instance:
    a, b = instance.support
    V = instance.V.copy()
    V[b] = -V[a]
    return replace(instance, V=V)


def _duplicate_rows(rng: np.random.Generator, instance: Instance, _: int) -> Instance:
    # Half as many rows as positions: at least two positions share one.
    return replace(instance, V=instance.V[rng.integers(instance.d // 2, size=instance.d)])


def _nearly_parallel_rows(_: np.random.Generator, instance: Instance, exponent: int) -> Instance:
    V = instance.V[0] + np.ldexp(instance.V, exponent)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    return replace(instance, V=V)


def _unequal_rows(rng: np.random.Generator, instance: Instance, exponent: int) -> Instance:
    lengths = np.where(_half(rng, instance.d), exponent, -exponent)
    return replace(instance, V=np.ldexp(instance.V, lengths[:, np.newaxis]))


def _denormal_rows(rng: np.random.Generator, instance: Instance, exponent: int) -> Instance:
    lengths = np.where(_half(rng, instance.d), exponent, 0)
    return replace(instance, V=np.ldexp(instance.V, lengths[:, np.newaxis]))


def _half(rng: np.random.Generator, d: int) -> NDArray[np.bool_]:
    """Choose half of the positions: at least one, and not all."""
    return rng.permutation(d) < d // 2


def _zero_theta(_: np.random.Generator, instance: Instance, __: int) -> Instance:
    theta = np.zeros(instance.m)
    return replace(instance, theta=theta, theta_tilde=-theta)


def _scaled_theta(_: np.random.Generator, instance: Instance, exponent: int) -> Instance:
    theta = np.ldexp(instance.theta, exponent)
    return replace(instance, theta=theta, theta_tilde=-theta)


def _equal_queries(_: np.random.Generator, instance: Instance, __: int) -> Instance:
    return replace(instance, theta_tilde=instance.theta)


def _underflow(rng: np.random.Generator, instance: Instance, exponent: int) -> Instance:
    # The scores of the two extreme rows differ by -e log 2, and all others lie between.
    V, (first, last) = instance.V.copy(), rng.permutation(instance.d)[:2]
    V[first], V[last] = instance.theta, -instance.theta
    theta = instance.theta * (-exponent * math.log(2) / 2)
    return replace(instance, V=V, theta=theta, theta_tilde=-theta)


CORNERS: Mapping[str, Corner] = MappingProxyType(
    {
        "d = 2": Corner("the support is everything", _as_drawn, max_d=2),
        "m = 1": Corner("every row is +1 or -1", _as_drawn, max_m=1),
        "v_a = v_b": Corner("the relevant positions look alike", _twin_support),
        "v_a = -v_b": Corner("the relevant positions are opposite", _opposite_support),
        "duplicate rows": Corner("some positions look alike", _duplicate_rows),
        "nearly parallel rows": Corner(
            "unit rows within about 2^e of each other",
            _nearly_parallel_rows,
            (-10, -26, -40, -50),
        ),
        "theta = 0": Corner("uniform attention", _zero_theta),
        "equal queries": Corner("theta~ = theta: the heads agree", _equal_queries),
        "tiny theta": Corner("|theta| = 2^e", _scaled_theta, (-30, -540, -1040)),
        "huge theta": Corner("|theta| = 2^e", _scaled_theta, (7, 10, 52, 511, 512, 1000)),
        "underflowing attention": Corner(
            "in each head the least attention is 2^e, within a factor d: subnormal or zero",
            _underflow,
            (-1030, -1060, -1075, -1100, -4000),
        ),
        "denormal rows": Corner(
            "half of the rows have length 2^e", _denormal_rows, (-1023, -1040, -1060)
        ),
        "unequal rows": Corner(
            "half of the rows have length 2^e, the others 2^-e", _unequal_rows, (30, 300, 600, 1000)
        ),
    }
)
"""The hard instances by name, the plainest first."""
