"""``instance``: write the instance that a Monte Carlo trial draws."""

from __future__ import annotations

import argparse
from pathlib import Path

from verify.commands.options import (
    add_law,
    add_seed,
    add_sizes,
    add_support,
    read_law,
    read_path,
    read_seed,
    read_sizes,
    read_support,
)
from verify.console.outcome import Outcome
from verify.decimals import parse_integer

NAME = "instance"
SUMMARY = "write the instance that a trial of a Monte Carlo run draws, as an npz file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_sizes(parser)
    add_law(parser)
    add_support(parser)
    add_seed(parser)
    parser.add_argument("--trial", default="0", metavar="I", help="which trial (default: 0)")
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write")


def execute(options: argparse.Namespace) -> Outcome:
    """Draw the instance and write it."""
    d, m = read_sizes(options)
    law = read_law(options, d, m)
    support = read_support(options)
    seed = read_seed(options)
    trial = parse_integer("trial", options.trial, least=0, most=2**32 - 1)
    out = read_path("out", options.out)

    from numerics.arguments import check_support
    from verify.instances.instance import draw_trial, save_instance
    from verify.running.memory import embedding_bytes, refuse_beyond_memory

    if support is not None:
        support = check_support(support, d)
    refuse_beyond_memory("d", options.d, embedding_bytes(d, m))
    drawn = draw_trial(d, m, law=law, seed=seed, trial=trial, support=support)
    save_instance("out", out, drawn)
    document = {"out": str(out), "replayable": drawn.origin is not None}
    return Outcome(document, lambda: _show(out, law, replayable=drawn.origin is not None))


def _show(out: Path, law: str, *, replayable: bool) -> None:
    print(f"wrote {out}")
    if not replayable:
        print(f"  its numbers alone: a draw under law {law} cannot be repeated from its name")
