"""The configuration of a sweep: a TOML file, read strictly.

    [sweep]
    name = "failure against d"
    kind = "theorem2"
    trials = 1000

    [grid]
    d = [64, 256, 1024]
    m = 64
    eta_scale = [0.1, 1000]

The cells are the product of the lists of ``[grid]``. A cell's id names its parameters, except for
those at their defaults, so that an axis that is added to a kind later leaves the ids, and with
them the random numbers, of earlier cells as they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from numerics.arguments import InvalidArgumentError, suggestion
from verify.decimals import ExactDecimal
from verify.files.toml_text import read_toml
from verify.sweep.kinds import Kind, find_kind
from verify.sweep.parameters import Parameter, Value, Values, canonical, integer

__all__ = ["Cell", "Sweep", "read_config"]

_MOST_CELLS = 100_000
_LONGEST_NAME = 200
# TOML integers in other bases have no length limit, unlike the decimal text they are turned into.
_MOST_BITS = 10_000
_LONG = "an integer of thousands of digits"

_LABELS = ("name", "kind")
_COUNTS = {
    "trials": integer(least=1, most=10**9, default="100"),
    "seed": integer(least=0, default="0"),
}


@dataclass(frozen=True)
class Cell:
    """A point of the grid: its id and its parameters, one for each axis of the kind."""

    id: str
    parameters: Values


@dataclass(frozen=True)
class Sweep:
    """What a configuration asks for.

    Parameters
    ----------
    name, kind : str
        What the user calls it; a key of `verify.sweep.kinds.KINDS`.
    trials, seed : int
        Trials of each cell; root seed.
    settings : Values
        The kind's settings, and ``trials``.
    grid : mapping of str to sequence
        The values of every axis of the kind, in the order of the configuration.
    """

    name: str
    kind: str
    trials: int
    seed: int
    settings: Values
    grid: Mapping[str, Sequence[Value]]

    @cached_property
    def cells(self) -> list[Cell]:
        """The points of the grid, the last axis fastest."""
        defaults = {
            axis: canonical(parameter.parse(axis, parameter.default))
            for axis, parameter in find_kind("kind", self.kind).AXES.items()
            if parameter.default is not None
        }
        points = itertools.product(*self.grid.values())
        return [_cell(Values(zip(self.grid, point, strict=True)), defaults) for point in points]

    def canonical(self) -> dict[str, Any]:
        """Return what the rows depend on, and the name, as JSON that tells two sweeps apart.

        How a number is written, the order of values, and whether a default is given do not enter.
        """
        return {
            "name": self.name,
            "kind": self.kind,
            "seed": str(self.seed),
            **{name: canonical(value) for name, value in self.settings.items()},
            "grid": {
                axis: [canonical(value) for value in sorted(values, key=_order)]
                for axis, values in self.grid.items()
            },
        }

    @classmethod
    def from_canonical(cls, document: Mapping[str, Any]) -> Sweep:
        """Return the sweep that a canonical document describes.

        Raises
        ------
        InvalidArgumentError
            If it describes none.
        """
        texts = {key: value for key, value in document.items() if key != "grid"}
        return _sweep(texts, document["grid"])


def read_config(path: Path) -> Sweep:
    """Read a configuration.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read or is no such configuration; the message names the key.
    """
    document = _read_toml(path)
    for table in ("sweep", "grid"):
        if not isinstance(document.get(table), dict):
            raise InvalidArgumentError("config", path, f"the table [{table}] is missing")
    unknown = sorted(document.keys() - {"sweep", "grid"})
    if unknown:
        raise InvalidArgumentError(
            f"config.{unknown[0]}",
            _shown(document[unknown[0]]),
            "the tables are [sweep] and [grid]",
        )
    given = document["sweep"]
    for label in _LABELS:
        if not isinstance(given.get(label), str):
            shown = _shown(given[label]) if label in given else "missing"
            raise InvalidArgumentError(f"sweep.{label}", shown, "must be a string")
    kind = find_kind("sweep.kind", given["kind"])
    known = {**_COUNTS, **kind.SETTINGS}
    texts = {label: given[label] for label in _LABELS}
    for key, value in given.items():
        if key in _LABELS:
            continue
        if key not in known:
            names = (*_LABELS, *known)
            raise InvalidArgumentError(
                f"sweep.{key}",
                _shown(value),
                f"kind {kind.NAME} has no such key; it has {', '.join(names)}"
                f"{suggestion(key, names)}",
            )
        texts[key] = _text(f"sweep.{key}", value, known[key])
    return _sweep(texts, _grid_texts(document["grid"], kind))


def _grid_texts(given: Mapping[str, Any], kind: Kind) -> dict[str, list[str]]:
    """Return the texts of the axes that are given; one that stands alone is a list of one."""
    texts = {}
    for axis, value in given.items():
        what = f"grid.{axis}"
        if axis not in kind.AXES:
            raise InvalidArgumentError(
                what,
                _shown(value),
                f"kind {kind.NAME} does not read it; its axes are {', '.join(kind.AXES)}"
                f"{suggestion(axis, kind.AXES)}",
            )
        values = value if isinstance(value, list) else [value]
        if not values:
            raise InvalidArgumentError(what, "[]", "must hold at least one value")
        texts[axis] = [_text(what, each, kind.AXES[axis]) for each in values]
    return texts


def _sweep(texts: Mapping[str, str], grid_texts: Mapping[str, Sequence[str]]) -> Sweep:
    """Return the sweep that texts describe, defaults filled in."""
    kind = find_kind("sweep.kind", texts["kind"])
    name = texts["name"]
    if not (name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME):
        fix = f"must be 1 to {_LONGEST_NAME} printable characters"
        raise InvalidArgumentError("sweep.name", _shown(name), fix)
    settings = Values()
    for key, parameter in {**_COUNTS, **kind.SETTINGS}.items():
        settings[key] = parameter.parse(f"sweep.{key}", _given(texts, "sweep", key, parameter))
    grid = {}
    for axis, parameter in kind.AXES.items():
        what = f"grid.{axis}"
        listed = grid_texts.get(axis)
        if listed is None:
            listed = [_given({}, "grid", axis, parameter)]
        grid[axis] = [parameter.parse(what, text) for text in listed]
        _refuse_repetition(what, grid[axis])
    count = math.prod(len(values) for values in grid.values())
    if count > _MOST_CELLS:
        raise InvalidArgumentError("grid", f"{count} cells", f"at most {_MOST_CELLS} are possible")
    seed = settings.integer("seed")
    # The seed is no setting: trials get the streams that it determines, never the number itself.
    del settings["seed"]
    return Sweep(name, kind.NAME, settings.integer("trials"), seed, settings, grid)


def _cell(parameters: Values, defaults: Mapping[str, str]) -> Cell:
    texts = {axis: canonical(value) for axis, value in parameters.items()}
    named = (f"{axis}={text}" for axis, text in texts.items() if text != defaults.get(axis))
    return Cell(",".join(named), parameters)


def _given(texts: Mapping[str, str], table: str, key: str, parameter: Parameter) -> str:
    text = texts.get(key, parameter.default)
    if text is None:
        raise InvalidArgumentError(f"{table}.{key}", "missing", "must be given")
    return text


def _refuse_repetition(what: str, values: Sequence[Value]) -> None:
    seen = set()
    for value in values:
        if canonical(value) in seen:
            raise InvalidArgumentError(what, value, "stands in the list twice; give it once")
        seen.add(canonical(value))


def _order(value: Value) -> tuple[Fraction, str]:
    if isinstance(value, str):
        return Fraction(0), value
    return (value.value if isinstance(value, ExactDecimal) else Fraction(value)), ""


@dataclass(frozen=True)
class _Written:
    """A TOML float as it is written, before any rounding."""

    text: str

    def __str__(self) -> str:
        return self.text


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path, parse_float=_Written)
    except OSError as failure:
        raise _unusable(path, f"cannot be read: {failure.strerror or failure}") from None
    except ValueError as failure:
        raise _unusable(path, f"is no TOML: {failure}") from None


def _unusable(path: Path, reason: str) -> InvalidArgumentError:
    return InvalidArgumentError("config", path, reason)


def _text(what: str, value: object, parameter: Parameter) -> str:
    """Return a TOML value as text, if it has the form its parameter has."""
    if parameter.form == "name":
        if isinstance(value, str):
            return value
        raise InvalidArgumentError(what, _shown(value), "must be a string")
    if isinstance(value, _Written):
        return value.text.replace("_", "")
    # A bool is an integer to Python, and a mistake here.
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > _MOST_BITS:
            raise InvalidArgumentError(what, _LONG, "is too large")
        return str(value)
    raise InvalidArgumentError(what, _shown(value), "must be a number")


def _shown(value: object) -> str:
    """Return a refused value, short enough for a message."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a table"
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return _LONG
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
