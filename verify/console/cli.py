"""The command line: one parser, one way to refuse, one way to print."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from numerics.arguments import InvalidArgumentError
from verify.commands import COMMANDS
from verify.console.interruption import handled, hold
from verify.console.outcome import Outcome

__all__ = ["main"]

_DEFAULT_COMMAND = "run"
# Negative numbers in exponent form are values, and so are the non-finite ones that the checks
# then refuse by name; argparse on its own takes both for options.
_NEGATIVE_NUMBER = re.compile(r"-(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$|-(?:inf(?:inity)?|nan)$", re.I)


class _UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    """An argument parser that abbreviates nothing and leaves refusing to `main`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)
        self._negative_number_matcher = _NEGATIVE_NUMBER

    def error(self, message: str) -> NoReturn:
        raise _UsageError(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        0 if all is well, 1 if an asserted claim is refuted, 2 if the request is bad, 3 if
        something requested stayed undecided, vacuous, in error, or was interrupted.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    with handled():
        try:
            options = _parse(given)
            outcome = _execute(options)
            # What there is to say is said, whatever arrives now.
            hold()
            printed = _print(outcome, as_json=getattr(options, "json", False))
        except InvalidArgumentError as refusal:
            print(f"error: {_one_line(str(refusal))}", file=sys.stderr)
            return 2
        except (KeyboardInterrupt, Exception) as failure:
            print(_reason(failure), file=sys.stderr)
            return 3
    return outcome.exit_code if printed else 3


def _execute(options: argparse.Namespace) -> Outcome:
    """Return what the command found; if it ended without a result, why."""
    try:
        outcome: Outcome = options.execute(options)
    except InvalidArgumentError:
        raise
    except (KeyboardInterrupt, Exception) as failure:
        reason = _reason(failure)
        print(reason, file=sys.stderr)
        return Outcome({"reason": reason}, lambda: None, exit_code=3)
    return outcome


def _reason(failure: BaseException) -> str:
    """Return why there is no result, in a line: never a traceback."""
    if isinstance(failure, KeyboardInterrupt):
        return "interrupted"
    if isinstance(failure, MemoryError):
        return "out of memory"
    # A bug of ours, or a machine in trouble.
    reason = _one_line(f"{type(failure).__name__}: {failure}")
    return f"unexpected failure, please report it: {reason}"


def _parse(given: list[str]) -> argparse.Namespace:
    parser = _parser()
    no_command = not given or (
        given[0].startswith("-") and given[0] not in ("-h", "--help", "--version")
    )
    try:
        return parser.parse_args([_DEFAULT_COMMAND, *given] if no_command else given)
    except _UsageError as failure:
        raise InvalidArgumentError("arguments", " ".join(given) or "none", str(failure)) from None


def _parser() -> _Parser:
    parser = _Parser(
        prog="xorverify",
        description="Check the claims of arXiv:2502.07553v2, one by one.",
        epilog=f"Without a command, {_DEFAULT_COMMAND} is run.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = commands.add_parser(
            command.NAME, help=command.SUMMARY, description=command.SUMMARY
        )
        command.add_arguments(subparser)
        subparser.set_defaults(execute=command.execute)
    return parser


class _Version(argparse.Action):
    """Prints the version; it is looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from verify.environment import version

        print(f"xorverify {version()}")
        parser.exit()


def _print(outcome: Outcome, *, as_json: bool) -> bool:
    """Print the outcome, and say whether the output took it."""
    if sys.stdout is None:
        print("standard output is closed", file=sys.stderr)
        return False
    try:
        if as_json:
            # allow_nan=False: a non-finite number is a bug here, never a value in a document.
            print(json.dumps(outcome.document, indent=2, allow_nan=False, ensure_ascii=False))
        else:
            outcome.show()
        sys.stdout.flush()
    except OSError as failure:
        # Python must not try to write the rest again while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader who has seen enough, as in a pipe to head, needs no telling.
        if not isinstance(failure, BrokenPipeError):
            print(f"standard output: {failure.strerror}", file=sys.stderr)
        return False
    return True


def _one_line(text: str) -> str:
    """Return `text` with everything that could break the line or the terminal escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
