"""The commands, one module each.

A command names itself, adds its arguments to a parser and turns parsed arguments into an
`Outcome`. Everything heavy is imported inside `execute`, so that help and refusals are instant.
"""

from __future__ import annotations

import argparse
from typing import Protocol

from verify.commands import (
    certify,
    compare,
    corollary3,
    diff,
    figures,
    gradient,
    instance,
    latex,
    listing,
    replay,
    run,
    show,
    sweep,
    theorem2,
)
from verify.console.outcome import Outcome

__all__ = ["COMMANDS", "Command"]


class Command(Protocol):
    """What the command line expects of a command's module."""

    NAME: str
    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def execute(self, options: argparse.Namespace) -> Outcome:
        """Do the work, or raise `InvalidArgumentError`."""


COMMANDS: tuple[Command, ...] = (
    run,
    diff,
    listing,
    show,
    instance,
    gradient,
    certify,
    replay,
    theorem2,
    corollary3,
    compare,
    latex,
    sweep,
    figures,
)
