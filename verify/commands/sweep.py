"""``sweep``: the same trials at every point of a grid, resumable."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.commands.options import add_jobs, add_json, add_quiet, read_jobs, read_path
from verify.console.interruption import hold, interruptible
from verify.console.outcome import Outcome
from verify.decimals import parse_choice

if TYPE_CHECKING:
    from verify.console.progress import Progress
    from verify.sweep.chunk import Place
    from verify.sweep.config import Sweep
    from verify.sweep.store import Store

NAME = "sweep"
SUMMARY = "run the trials of a configuration's grid into a database, or go on where they stopped"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("config", metavar="CONFIG.toml", help="what to run: [sweep] and [grid]")
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="folder of results.sqlite; rerun to resume"
    )
    add_jobs(parser)
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run the trials on the Dask cluster of this scheduler, as tcp://HOST:8786",
    )
    parser.add_argument("--export", metavar="csv|parquet", help="write the rows to a file too")
    add_quiet(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Run what is missing, and summarise what is there."""
    hold()
    config = read_path("config", options.config)
    out = read_path("out", options.out)
    if options.scheduler is not None and options.jobs is not None:
        raise InvalidArgumentError(
            "jobs", options.jobs, "only without --scheduler, whose cluster has workers of its own"
        )
    jobs = read_jobs(options)

    from verify.console.progress import Progress
    from verify.sweep.config import read_config
    from verify.sweep.export import FORMATS

    form = None if options.export is None else parse_choice("export", options.export, FORMATS)
    sweep = read_config(config)
    document = _run(sweep, out, form, options.scheduler, jobs, Progress(quiet=options.quiet))

    from verify.sweep.summary import show_summary

    return Outcome(
        document, lambda: show_summary(document), exit_code=3 if "reason" in document else 0
    )


def _run(
    sweep: Sweep, out: Path, form: str | None, scheduler: str | None, jobs: int, progress: Progress
) -> dict[str, Any]:
    """Run what is missing, export the rows if that is asked for, and return the document."""
    from verify.sweep.export import check_export
    from verify.sweep.folder import held_folder
    from verify.sweep.runner import INTERRUPTED, run_sweep
    from verify.sweep.store import Store, StoreFailedError, StoreLockedError
    from verify.sweep.summary import summarise

    with _place(scheduler, jobs, progress) as place, held_folder(out):
        if form is not None:
            check_export(form, out)
        try:
            with Store.open(out, sweep) as store:
                reason = run_sweep(store, place=place, progress=progress)
                document = summarise(sweep, out, store.counts(), reason)
                if form is not None and reason != INTERRUPTED:
                    _export(store, form, out, document, progress)
        except (StoreFailedError, StoreLockedError) as failure:
            document = summarise(sweep, out, None, str(failure))
    return document


def _export(
    store: Store, form: str, out: Path, document: dict[str, Any], progress: Progress
) -> None:
    """Write the rows to a file, and into the document where it is or why there is none."""
    from verify.sweep.export import export_rows
    from verify.sweep.runner import INTERRUPTED

    try:
        with interruptible():
            exported = export_rows(store, form, out)
    except (InvalidArgumentError, KeyboardInterrupt) as failure:
        # The folder took files before the work began; what was found is printed all the same.
        why = INTERRUPTED if isinstance(failure, KeyboardInterrupt) else failure
        reasons = (document.get("reason"), f"no export: {why}")
        document["reason"] = "; ".join(reason for reason in reasons if reason is not None)
        return
    document["export"] = str(exported.path)
    if exported.incomplete is not None:
        progress.say(exported.incomplete)


@contextmanager
def _place(scheduler: str | None, jobs: int, progress: Progress) -> Iterator[Place]:
    """Return where the trials are run: on a cluster if one is named."""
    from verify.sweep.chunk import Place

    if scheduler is None:
        from verify.sweep.local import this_machine

        yield this_machine(jobs)
    else:
        from verify.sweep.cluster import connect

        with ExitStack() as connection:
            # It waits for a first worker, for as long as it takes.
            with interruptible():
                cluster = connection.enter_context(connect(scheduler, note=progress.say))
            yield Place(cluster.execute, lambda: cluster.slots)
