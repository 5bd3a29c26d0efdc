"""Parameters of trials, as a configuration writes them and as trials use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Literal, TypeAlias, TypeVar

from numerics.arguments import InvalidArgumentError
from verify.decimals import ExactDecimal, parse_choice, parse_integer, parse_positive

__all__ = [
    "Field",
    "Parameter",
    "Value",
    "Values",
    "canonical",
    "choice",
    "integer",
    "plain",
    "positive",
]

Value: TypeAlias = int | str | ExactDecimal
"""What a trial is given: an integer, a name, or a decimal number exactly as written."""

Kind = TypeVar("Kind", int, str, ExactDecimal)

Field: TypeAlias = int | float | str | None
"""What the database holds."""


class Values(dict[str, Value]):
    """Parameters or settings by name, each read as what it was declared to be."""

    def integer(self, name: str) -> int:
        """Return an integer."""
        return self._of(int, name)

    def exact(self, name: str) -> ExactDecimal:
        """Return a decimal number, exactly as written."""
        return self._of(ExactDecimal, name)

    def name(self, name: str) -> str:
        """Return a name."""
        return self._of(str, name)

    def _of(self, kind: type[Kind], name: str) -> Kind:
        value = self[name]
        if not isinstance(value, kind):
            raise TypeError(f"{name} was declared as {type(value).__name__}, not {kind.__name__}")
        return value


@dataclass(frozen=True)
class Parameter:
    """An axis of the grid, or a setting: how it is read, and what it is when it is not given.

    Parameters
    ----------
    parse : callable
        ``parse(what, text)`` returns the value, or raises `InvalidArgumentError`.
    form : {"number", "name"}
        Whether a configuration writes it as a TOML number or as a string.
    sql : {"INTEGER", "REAL", "TEXT"}
        Type of its column in the database.
    default : str, optional
        The text it stands for when it is not given; without one it must be given.
    """

    parse: Callable[[str, str], Value]
    form: Literal["number", "name"]
    sql: Literal["INTEGER", "REAL", "TEXT"]
    default: str | None = None


def integer(*, least: int, most: int = 2**63 - 1, default: str | None = None) -> Parameter:
    """Return a parameter that is an integer in ``least..most``; ``1e6`` is one."""
    return Parameter(
        lambda what, text: parse_integer(what, text, least=least, most=most),
        "number",
        "INTEGER",
        default,
    )


def positive(*, default: str | None = None) -> Parameter:
    """Return a parameter that is a positive decimal number, taken exactly."""
    return Parameter(_parse_positive, "number", "REAL", default)


def choice(names: Iterable[str], *, default: str | None = None) -> Parameter:
    """Return a parameter that is one of a few names."""
    known = tuple(names)
    return Parameter(lambda what, text: parse_choice(what, text, known), "name", "TEXT", default)


def canonical(value: Value) -> str:
    """Return the one text of a value: ``0.10`` and ``1e-1`` are ``0.1``."""
    if not isinstance(value, ExactDecimal):
        return str(value)
    # A precision that holds every digit: nothing is rounded.
    number = Decimal(value.text).normalize(Context(prec=len(value.text)))
    return f"{number:f}" if 1e-6 <= number < 1e21 else f"{number:e}"


def plain(value: Value) -> int | float | str:
    """Return a value as the database holds it; a decimal number is rounded to binary64."""
    return float(value.value) if isinstance(value, ExactDecimal) else value


def _parse_positive(what: str, text: str) -> ExactDecimal:
    number = parse_positive(what, text)
    try:
        rounded = float(number.value)
    except OverflowError:
        rounded = 0.0
    if not rounded > 0:
        raise InvalidArgumentError(what, text, "must be within the range of binary64")
    return number
