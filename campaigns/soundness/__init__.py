"""Soundness: random and adversarial instances, answered by the verifier and by brute force."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

__all__ = ["PART_OPTIONS", "SUMMARY", "add_arguments", "execute"]

SUMMARY = "random and adversarial instances: nothing certified, refuted or printed may be untrue"
PART_OPTIONS = ("cases", "case")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the campaign's own options."""
    parser.add_argument("--cases", type=int, help="how many cases, in place of the size")
    parser.add_argument("--case", type=int, metavar="N", help="case N alone")
    parser.add_argument(
        "--findings",
        type=Path,
        default=Path("soundness-findings"),
        help="folder for unsound cases (default: soundness-findings)",
    )


def execute(options: argparse.Namespace) -> int:
    """Run the campaign; return 0 if it is sound and said enough, 1 if not, 2 if refused."""
    from campaigns.page import write_figures
    from campaigns.soundness.campaign import SIZES, Campaign

    if options.cases is not None and options.cases < 1:
        print(f"cases={options.cases}: must be at least 1", file=sys.stderr)
        return 2
    if options.case is not None:
        return Campaign.of_one(options.seed, options.case, options.findings)
    campaign = Campaign(options.seed, options.cases or SIZES[options.size], options.findings)
    campaign.run(jobs=options.jobs)
    figures = campaign.figures()
    print(figures)
    for failure in campaign.failures():
        print(failure)
    if options.docs and campaign.finished:
        command = (
            f"python -m campaigns soundness --size {options.size} --seed {options.seed} --docs"
        )
        write_figures("soundness", f"From `{command}`:\n\n{figures}")
    elif options.docs:
        print("docs: the campaign is not finished: nothing is written", file=sys.stderr)
    return 0 if campaign.finished and not campaign.failures() else 1
