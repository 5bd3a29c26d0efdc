"""Options that several commands share: how they are declared, and how they are read."""

from __future__ import annotations

import argparse
from pathlib import Path

from numerics.arguments import InvalidArgumentError
from verify.decimals import ExactDecimal, parse_choice, parse_integer, parse_positive

__all__ = [
    "add_formats",
    "add_jobs",
    "add_json",
    "add_law",
    "add_quiet",
    "add_seed",
    "add_sizes",
    "add_support",
    "read_formats",
    "read_jobs",
    "read_law",
    "read_path",
    "read_seed",
    "read_sizes",
    "read_support",
    "read_tolerance",
]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet``."""
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def add_formats(parser: argparse.ArgumentParser) -> None:
    """Declare ``--formats``."""
    parser.add_argument(
        "--formats",
        nargs="+",
        default=["svg"],
        metavar="F",
        help="what figures are written as: svg (the default), pdf, pgf (needs LaTeX)",
    )


def read_formats(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the formats of figures, each once, that can be written here."""
    from verify.report.figures.style import FORMATS, check_formats

    formats = tuple(
        dict.fromkeys(parse_choice("formats", text, FORMATS) for text in options.formats)
    )
    check_formats("formats", formats)
    return formats


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Declare ``--d`` and ``--m``."""
    parser.add_argument("--d", required=True, metavar="D", help="number of positions, >= 2")
    parser.add_argument("--m", required=True, metavar="M", help="embedding dimension, >= 1")


def read_sizes(options: argparse.Namespace) -> tuple[int, int]:
    """Return ``(d, m)``."""
    return parse_integer("d", options.d, least=2), parse_integer("m", options.m, least=1)


def add_law(parser: argparse.ArgumentParser) -> None:
    """Declare ``--law``."""
    parser.add_argument(
        "--law",
        default="sphere",
        help="law of the embeddings: sphere (the default, the paper's), gaussian, rademacher, "
        "orthonormal, sinusoidal, file:PATH (V from an .npy or .npz file), or module:ATTRIBUTE "
        "(an EmbeddingLaw of your own)",
    )


def read_law(options: argparse.Namespace, d: int, m: int) -> str:
    """Return the name of a law of embeddings that has a matrix of this shape, and keeps it."""
    from verify.instances.laws import check_law, pin_law

    check_law(options.law, d, m)
    return pin_law(options.law)


def add_support(parser: argparse.ArgumentParser) -> None:
    """Declare ``--support``."""
    parser.add_argument(
        "--support", nargs=2, metavar=("A", "B"), help="the relevant positions, from 0"
    )


def read_support(options: argparse.Namespace) -> tuple[int, int] | None:
    """Return the support, if one was given; whether it fits `d` is for the caller to check."""
    if options.support is None:
        return None
    a, b = (parse_integer("support", text, least=0) for text in options.support)
    return a, b


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Declare ``--seed``."""
    parser.add_argument("--seed", default="0", metavar="S", help="root seed (default: 0)")


def read_seed(options: argparse.Namespace) -> int:
    """Return the root seed."""
    return parse_integer("seed", options.seed, least=0)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Declare ``--jobs``."""
    parser.add_argument(
        "--jobs", metavar="N", help="worker processes (default: one a core); never changes results"
    )


def read_jobs(options: argparse.Namespace) -> int:
    """Return the number of worker processes."""
    if options.jobs is None:
        from verify.running.pool import available_cores

        return available_cores()
    return parse_integer("jobs", options.jobs, least=1, most=1024)


def read_path(what: str, text: str) -> Path:
    """Return a path; an empty one names nothing.

    Raises
    ------
    InvalidArgumentError
        If `text` is empty or holds a NUL byte.
    """
    if not text or "\0" in text:
        raise InvalidArgumentError(what, text or "empty", "must name a file or folder")
    return Path(text)


def read_tolerance(options: argparse.Namespace) -> ExactDecimal:
    """Return the tolerance ``T`` exactly."""
    return parse_positive("tolerance", options.tolerance)
