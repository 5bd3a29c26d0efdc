"""The command line: ``python -m derivations [NAME] [--latex] [--check]``.

Without NAME and options it lists the derivations. NAME prints one, step by step; ``--check`` runs
the checks (of all derivations if no NAME is given), ``--latex`` prints fragments for a paper.

Exit codes: 0 every check that was run holds; 1 one failed; 2 the request is bad; 3 interrupted, or
the output could not be written. An open obligation has not failed: its exact part holds, and
what decides the rest is printed with it.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, TextIO

from derivations.catalogue import TITLES, load, names

if TYPE_CHECKING:
    from derivations.proof.ledger import CheckResult

__all__ = ["main", "run"]

_HOLDS, _FAILED, _BAD_REQUEST, _INTERRUPTED = 0, 1, 2, 3


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one line, in the form of all refusals."""

    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        _say(f"error: arguments={' '.join(self.given)}: {message}")
        self.exit(_BAD_REQUEST)

    def print_help(self, file: object = None) -> None:  # noqa: ARG002  (argparse's signature)
        _write(self.format_help().rstrip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Raises
    ------
    SystemExit
        With code 2, if the arguments cannot be parsed; with 0, after ``--help``.
    """
    try:
        return _obey(tuple(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        _give_up(sys.stdout)
        _say("interrupted")
    except (ImportError, MemoryError) as failure:
        # The machine is in trouble, or the installation: nothing is refuted by that.
        _say(f"cannot go on: {str(failure) or 'out of memory'}")
    except _OutputError as failure:
        if failure.reason:
            _say(f"standard output {failure.reason}")
    return _INTERRUPTED


def run(name: str | None = None) -> NoReturn:
    """Be the command line of a process, of one derivation if it is named, and end it.

    All that interrupts is taken for Ctrl-C, and for nothing once there is nothing left to do.
    """
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    try:
        for number in signals:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.default_int_handler)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        code = main(sys.argv[1:] if name is None else (name, *sys.argv[1:]))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    finally:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
    # What `python -m` runs ends by SIGINT, whatever its exit code, if the last text that was
    # executed was interrupted, as libraries execute some: with another text Python forgets that.
    exec("")  # noqa: S102
    sys.exit(code)


class _OutputError(Exception):
    """Standard output does not take what is written; no reason if its reader has seen enough."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


def _write(text: str) -> None:
    if sys.stdout is None:
        raise _OutputError("is closed")
    try:
        print(text, flush=True)
    except OSError as failure:
        _give_up(sys.stdout)
        is_broken_pipe = isinstance(failure, BrokenPipeError)
        raise _OutputError("" if is_broken_pipe else f"failed: {failure.strerror}") from None


def _say(line: str) -> None:
    """Print a line on standard error, if somebody is there."""
    if sys.stderr is not None:
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:
            _give_up(sys.stderr)


def _give_up(stream: TextIO | None) -> None:
    """Let what is still to be written go nowhere: Python tries again when it shuts down."""
    if stream is not None:
        with suppress(OSError, ValueError):  # there is no descriptor behind it
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _obey(arguments: Sequence[str]) -> int:
    parser = _Parser(
        prog="python -m derivations",
        description="Print and check the symbolic derivations.",
        epilog="exit codes: 0 no check failed (open steps say what decides them), 1 a check failed,"
        " 2 bad request, 3 interrupted or output not written",
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="a derivation; default: list them")
    parser.add_argument("--check", action="store_true", help="run the checks; without NAME, of all")
    parser.add_argument("--latex", action="store_true", help="print LaTeX; without NAME, of all")
    parser.given = arguments
    options = parser.parse_args(arguments)
    if options.name is None and not (options.check or options.latex):
        _write(_listing())
        return _HOLDS
    if options.name is not None and options.name not in TITLES:
        allowed = ", ".join(names())
        shown = options.name if options.name.isprintable() else repr(options.name)
        _say(f"error: NAME={shown}: must be one of {allowed}")
        return _BAD_REQUEST
    chosen = names() if options.name is None else (options.name,)
    return _show(chosen, check=options.check, as_latex=options.latex)


def _listing() -> str:
    width = max(len(name) for name in TITLES)
    return "\n".join(f"{name:<{width}}  {title}" for name, title in TITLES.items())


def _show(chosen: Sequence[str], *, check: bool, as_latex: bool) -> int:
    # What follows needs SymPy; a bad request never gets here.
    from derivations.printing.layout import fragment, summary, text

    comment = "% " if as_latex else ""
    outcomes: list[CheckResult] = []
    failed = False
    for number, name in enumerate(chosen):
        separator = "\n" if number else ""
        try:
            derivation = load(name)
        except (ImportError, MemoryError):
            raise
        except Exception as error:  # a wrong rule may stop the derivation before its first check
            _write(f"{separator}{comment}{name}: failed: {type(error).__name__}: {error}")
            failed = True
            continue
        results = derivation.check() if check else ()
        outcomes.extend(results)
        _write(separator + (fragment if as_latex else text)(derivation, results))
    if check:
        _write(f"\n{comment}{summary(outcomes)}")
    return _FAILED if failed or any(result.failed for result in outcomes) else _HOLDS
