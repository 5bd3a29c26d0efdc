"""The part of Numba this project uses; it ships no annotations of its own."""

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

def njit(*, nogil: bool = ...) -> Callable[[Function], Function]: ...
