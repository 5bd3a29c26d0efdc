"""The command line: one parser, one way to refuse, one way to print."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from numerics.arguments import InvalidArgumentError, suggestion
from verify.commands import COMMANDS
from verify.console.interruption import handled, has_struck, hold, interruptible
from verify.console.outcome import Outcome
from verify.console.terminal import printable

__all__ = ["main"]

_DEFAULT_COMMAND = "run"
# Negative numbers in exponent form are values, and so are the non-finite ones that the checks
# then refuse by name; argparse on its own takes both for options.
_NEGATIVE_NUMBER = re.compile(r"-(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$|-(?:inf(?:inity)?|nan)$", re.I)


class _UsageError(Exception):
    pass


class _Answered(Exception):  # noqa: N818 - no error: what was asked is answered while parsing
    """Help or the version was asked for; the message is the answer."""


class _Parser(argparse.ArgumentParser):
    """An argument parser that abbreviates nothing and leaves refusing to `main`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)
        self._negative_number_matcher = _NEGATIVE_NUMBER

    def error(self, message: str) -> NoReturn:
        raise _UsageError(message)

    def print_help(self, _file: object = None) -> NoReturn:
        raise _Answered(self.format_help().rstrip())


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
            # One that came while all this was being loaded.
            with interruptible():
                pass
            try:
                options = _parse(given)
                outcome, as_json = _execute(options), getattr(options, "json", False)
            except _Answered as answer:
                outcome, as_json = Outcome(None, partial(print, answer)), False
            # What there is to say is said, whatever arrives now.
            hold()
            printed = _print(outcome, as_json=as_json)
        except InvalidArgumentError as refusal:
            print(f"error: {printable(str(refusal))}", file=sys.stderr)
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
    if isinstance(failure, KeyboardInterrupt) or has_struck():
        return "interrupted"
    if isinstance(failure, MemoryError):
        return "out of memory"
    if isinstance(failure, (OSError, ImportError)):
        # A machine in trouble, or an installation: its own words, without ours.
        return printable(f"cannot go on: {failure}")
    # A bug of ours.
    reason = printable(f"{type(failure).__name__}: {failure}")
    return f"unexpected failure, please report it: {reason}"


def _parse(given: list[str]) -> argparse.Namespace:
    parser = _parser()
    no_command = not given or (
        given[0].startswith("-") and given[0] not in ("-h", "--help", "--version")
    )
    words = [_DEFAULT_COMMAND, *given] if no_command else given
    try:
        options, unknown = parser.parse_known_args(words)
        if unknown:
            # What follows "--" is no option.
            name = unknown[0].partition("=")[0]
            near = "" if name == "--" else suggestion(name, options.known)
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{near}")
    except _UsageError as failure:
        names = [command.NAME for command in COMMANDS]
        near = "" if words[0] in names else suggestion(words[0], names)
        shown = " ".join(given) or "none"
        raise InvalidArgumentError("arguments", shown, f"{failure}{near}") from None
    return options


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
        subparser.set_defaults(
            execute=command.execute, known=tuple(subparser._option_string_actions)
        )
    return parser


class _Version(argparse.Action):
    """Answers with the version; it is looked up only when asked for."""

    def __call__(self, *_: object) -> NoReturn:
        from verify.environment import version

        raise _Answered(f"xorverify {version()}")


def _print(outcome: Outcome, *, as_json: bool) -> bool:
    """Print the outcome, and say whether the output took it."""
    if sys.stdout is None:
        print("standard output is closed", file=sys.stderr)
        return False
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The name of a file may hold what the encoding of the output has no letter for.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if as_json:
            print(_as_text(outcome.document, sys.stdout.encoding))
        else:
            outcome.show()
        sys.stdout.flush()
    except OSError as failure:
        # A reader who has seen enough, as in a pipe to head, needs no telling.
        if not isinstance(failure, BrokenPipeError):
            print(f"standard output: {failure.strerror}", file=sys.stderr)
        return False
    return True


def _as_text(document: object, encoding: str | None) -> str:
    """Return a document as JSON in an encoding: letters that it does not have are escaped."""
    # allow_nan=False: a non-finite number is a bug here, never a value in a document.
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(document, indent=2, allow_nan=False)
    return text
