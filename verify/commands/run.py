"""``run``: check the claims, print the table, write the report."""

from __future__ import annotations

import argparse
import sys

from numerics.arguments import InvalidArgumentError
from verify.claim import PROFILES
from verify.commands.options import (
    add_formats,
    add_jobs,
    add_json,
    add_quiet,
    add_seed,
    read_formats,
    read_jobs,
    read_path,
    read_seed,
)
from verify.console.interruption import hold
from verify.console.outcome import Outcome
from verify.decimals import parse_choice

NAME = "run"
SUMMARY = (
    "check the claims, print a table, write report.html, report.md and results.json (the default)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--profile",
        default="standard",
        metavar="|".join(PROFILES),
        help="how much work to spend (default: standard)",
    )
    parser.add_argument(
        "--claim", nargs="+", action="extend", metavar="ID", help="only these claims"
    )
    parser.add_argument("--out", default="report", metavar="DIR", help="folder of the report")
    add_formats(parser)
    add_seed(parser)
    add_jobs(parser)
    add_quiet(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Check the claims and write the report."""
    hold()
    profile = PROFILES[parse_choice("profile", options.profile, PROFILES)]
    seed = read_seed(options)
    jobs = read_jobs(options)
    out = read_path("out", options.out)
    formats = read_formats(options)

    from verify.claims import CLAIMS, find_claim
    from verify.files.writing import check_writable, prepare_folder
    from verify.report import FILES

    wanted = {find_claim(id_).id for id_ in options.claim or CLAIMS}
    claims = [claim for claim in CLAIMS.values() if claim.id in wanted]
    prepare_folder("out", out)
    for name in FILES:
        check_writable("out", out / name)

    from verify.console.progress import Progress
    from verify.report.results import results_document, write_report
    from verify.report.tables import print_results
    from verify.runner import run_claims

    run = run_claims(
        claims, profile=profile, seed=seed, jobs=jobs, progress=Progress(quiet=options.quiet)
    )
    document = results_document(run)
    exit_code = run.exit_code
    try:
        write_report(out, run, document, formats=formats)
    except InvalidArgumentError as failure:
        # The folder took files before the work began; what was found is printed all the same.
        print(f"no report: {failure}", file=sys.stderr)
        exit_code = exit_code or 3
    return Outcome(document, lambda: print_results(run, out), exit_code=exit_code)
