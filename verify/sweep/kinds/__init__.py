"""The kinds of trials a sweep can run, one module each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from verify.decimals import parse_choice
from verify.seeds import Streams
from verify.sweep.kinds import compare, corollary3, theorem2, training
from verify.sweep.parameters import Field, Parameter, Values

__all__ = ["KINDS", "Kind", "find_kind"]


class Kind(Protocol):
    """What a sweep expects of a kind of trial's module.

    Attributes
    ----------
    NAME : str
        The value of ``kind`` in a configuration.
    AXES : mapping of str to Parameter
        The axes of the grid that a trial reads, in the order of their columns.
    SETTINGS : mapping of str to Parameter
        The keys of ``[sweep]`` that a trial reads beside ``trials``.
    COLUMNS : mapping of str to str
        What a trial finds, by name, and its SQLite type. Nothing that another run of the same
        trial would not find again, such as a duration.
    SHARES : sequence of str
        The columns of 0 and 1 whose proportion among the trials is worth an interval.
    """

    NAME: str
    AXES: Mapping[str, Parameter]
    SETTINGS: Mapping[str, Parameter]
    COLUMNS: Mapping[str, str]
    SHARES: Sequence[str]

    def check(self, parameters: Values, settings: Values) -> None:
        """Raise `InvalidArgumentError` if no trial can be run with these parameters."""

    def run_trial(
        self, streams: Streams, trial: int, parameters: Values, settings: Values
    ) -> Mapping[str, Field]:
        """Run one trial and return its columns.

        The settings hold the number of ``trials`` too, and the ``folder`` of the sweep if it has
        one, where a long trial may leave its state (`verify.sweep.checkpoints`).
        """

    def worker_bytes(self, parameters: Values, settings: Values) -> int:
        """Return the bytes that a worker needs for such a trial."""


KINDS: Mapping[str, Kind] = {kind.NAME: kind for kind in (theorem2, corollary3, training, compare)}


def find_kind(what: str, name: str) -> Kind:
    """Return a kind by its name.

    Raises
    ------
    InvalidArgumentError
        If there is none of that name.
    """
    return KINDS[parse_choice(what, name, KINDS)]
