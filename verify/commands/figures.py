"""``figures``: what a sweep found, drawn beside what is certified."""

from __future__ import annotations

import argparse

from numerics.arguments import InvalidArgumentError
from verify.commands.options import (
    add_formats,
    add_jobs,
    add_json,
    add_quiet,
    read_formats,
    read_jobs,
    read_path,
)
from verify.console.outcome import Outcome, not_written

NAME = "figures"
SUMMARY = "draw a sweep beside what is certified: against (d, m), the samples, the step size"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("sweep", metavar="DIR", help="folder of a sweep, finished or not")
    parser.add_argument("--out", metavar="DIR2", help="folder of the figures (default: DIR)")
    add_formats(parser)
    add_jobs(parser)
    add_quiet(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Make the figures that the axes of the sweep call for."""
    folder = read_path("sweep", options.sweep)
    out = folder if options.out is None else read_path("out", options.out)
    jobs = read_jobs(options)

    from verify.report.figures.style import check_matplotlib

    check_matplotlib("sweep", folder)
    formats = read_formats(options)

    from verify.console.progress import Progress
    from verify.files.writing import prepare_folder
    from verify.report.figures.cells import read_results
    from verify.report.figures.sweep_figures import FIGURES, make_figures, missing_for
    from verify.sweep.store import StoreFailedError, StoreLockedError, read_sweep

    try:
        with read_sweep(folder) as store:
            result = read_results(store)
    except (StoreFailedError, StoreLockedError) as failure:
        raise InvalidArgumentError("sweep", folder, str(failure)) from None
    if not result.done:
        raise InvalidArgumentError("sweep", folder, "holds no trial with a result yet; run it")
    missing = [missing_for(figure, result) for figure in FIGURES]
    lacking = [reason for reason in missing if reason is not None]
    if len(lacking) == len(FIGURES):
        raise InvalidArgumentError("sweep", folder, f"has no figure: {'; '.join(lacking)}")
    prepare_folder("out", out)
    progress = Progress(quiet=options.quiet)
    if result.done < result.expected:
        progress.say(f"the sweep is incomplete: {result.done} of {result.expected} trials")
    try:
        drawn, reasons = make_figures(result, out, jobs=jobs, progress=progress, formats=formats)
    except InvalidArgumentError as failure:
        return not_written(failure)
    document: dict[str, object] = {
        "name": result.sweep.name,
        "trials": result.done,
        "expected": result.expected,
        "figures": [
            {"name": each.name, "title": each.title, "files": [str(path) for path in each.files]}
            for each in drawn
        ],
        "not_made": lacking,
    }
    if reasons:
        document["reason"] = f"without some certified values: {'; '.join(reasons)}"

    def show() -> None:
        for each in drawn:
            print(f"{each.name}: {each.title}")
            for path in each.files:
                print(f"  {path}")
        for reason in lacking:
            print(f"not made: {reason}")
        if reasons:
            print(document["reason"])

    return Outcome(document, show, exit_code=3 if reasons else 0)
