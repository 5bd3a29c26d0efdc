"""The campaign: mutants made, drawn and judged, with what is known already left as it is."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from campaigns.mutants.baseline import Reach, cached_baseline
from campaigns.mutants.crew import Crew
from campaigns.mutants.explained import explanations
from campaigns.mutants.formula_files import WINGS, formula_files, sources_of
from campaigns.mutants.judge import Verdict, judge
from campaigns.mutants.mutant import Mutant
from campaigns.mutants.operators import mutants_of
from campaigns.mutants.sampling import round_robin
from campaigns.mutants.sandbox import ROOT, tree_hash
from campaigns.mutants.tables import Figures, as_markdown, change_in_short, print_figures
from campaigns.page import write_figures
from verify.console import terminal

__all__ = ["run"]

_EXPLAINED = Path(__file__).with_name("explained.toml")
_REPORT = ROOT / "report"
_SOURCES = sources_of(ROOT)


@dataclass(frozen=True, kw_only=True)
class _Size:
    """How much is drawn from what, and which claims judge it at which profiles."""

    count: int
    files: tuple[str, ...] | None
    claims: tuple[str, ...] | None
    profiles: tuple[str, ...]
    record: str


_SIZES: Mapping[str, _Size] = {
    # Claims of less than a second, and files that they alone can judge.
    "small": _Size(
        count=8,
        files=(
            "derivations/softmax.py",
            "derivations/zero.py",
            "numerics/baselines/juntas.py",
        ),
        claims=("softmax-derivative", "zero-start", "feed-forward-floor"),
        profiles=("quick",),
        record="mutants-small.json",
    ),
    "full": _Size(
        count=150,
        files=None,
        claims=None,
        profiles=("quick", "standard"),
        record="mutants.json",
    ),
}


def run(options: argparse.Namespace) -> int:
    """Run the campaign as the options say; return 0 if enough mutants are killed, else 1."""
    if options.count is not None and options.count < 1:
        raise ValueError(f"count={options.count}: must be at least 1")
    size = _SIZES[options.size]
    sources = {file: (_SOURCES / file).read_bytes() for file in formula_files(_SOURCES)}
    mutants = {file: mutants_of(file, code) for file, code in sources.items()}
    by_id = {mutant.id: mutant for each in mutants.values() for mutant in each}
    explained = explanations(_EXPLAINED, by_id)
    sample = _chosen(options, size, mutants, by_id)
    foreign = {mutant.file for mutant in sample} - set(size.files or mutants)
    if foreign and not options.list:
        raise ValueError(
            f"file={min(foreign)}: not judged by the few claims of --size {options.size}; "
            "add --size full"
        )
    if options.list:
        for mutant in sample:
            print(mutant.id, mutant.change.operator, mutant.place, change_in_short(mutant))
        return 0
    verdicts = _verdicts(options, size, sample)
    considered = [mutant for file in size.files or mutants for mutant in mutants[file]]
    figures = Figures(considered, sample, verdicts, explained)
    print_figures(figures, terminal.console(sys.stdout))
    if options.docs and (options.size != "full" or not figures.all_finished):
        _tell("docs: needs the whole sample of --size full, finished: nothing is written")
    elif options.docs:
        write_figures("mutants", as_markdown(figures, seed=options.seed))
    return 0 if figures.goal_met else 1


def _chosen(
    options: argparse.Namespace,
    size: _Size,
    mutants: Mapping[str, Sequence[Mutant]],
    by_id: Mapping[str, Mutant],
) -> list[Mutant]:
    if options.only:
        unknown = sorted(set(options.only) - set(by_id))
        if unknown:
            raise ValueError(f"only={unknown[0]}: no such mutant; --list names them")
        return [by_id[id_] for id_ in options.only]
    if options.file is not None and options.file not in mutants:
        raise ValueError(f"file={options.file}: no file with formulas")
    files = (options.file,) if options.file is not None else size.files or tuple(mutants)
    count = size.count if options.count is None else options.count
    return round_robin({file: mutants[file] for file in files}, count, seed=options.seed)


def _verdicts(
    options: argparse.Namespace, size: _Size, sample: Sequence[Mutant]
) -> dict[str, Verdict]:
    """Judge what has no verdict yet; keep what is finished when interrupted."""
    tree = tree_hash(ROOT)
    record = _Record(_REPORT / size.record, tree)
    again = set(options.only or ())
    verdicts = {
        mutant.id: record.verdicts[mutant.id]
        for mutant in sample
        if mutant.id in record.verdicts and mutant.id not in again
    }
    left = [mutant for mutant in sample if mutant.id not in verdicts]
    if not left:
        return verdicts
    start = time.monotonic()
    with suppress(KeyboardInterrupt), Crew(ROOT, jobs=min(options.jobs, len(left))) as crew:
        baseline = cached_baseline(
            crew,
            _REPORT / "mutants" / f"baseline-{options.size}-{tree}.json",
            claims=size.claims,
            profiles=size.profiles,
            tell=_tell,
        )
        task = partial(
            judge,
            baseline=baseline,
            reach=Reach(_wings(), baseline.lines),
            profiles=size.profiles,
            seed=0,
        )
        by_id = {mutant.id: mutant for mutant in left}
        for verdict in crew.each(task, left):
            verdicts[verdict.id] = verdict
            record.keep(verdict)
            minutes = (time.monotonic() - start) / 60
            _tell(
                f"{len(sample) - len(verdicts)} of {len(sample)} left, {minutes:.1f} min: "
                f"{verdict.id} {by_id[verdict.id].place}: "
                f"{verdict.kill.kind if verdict.kill else 'survives'} ({verdict.seconds:.0f} s)"
            )
    return verdicts


def _wings() -> dict[str, bytes]:
    return {
        path.relative_to(_SOURCES).as_posix(): path.read_bytes()
        for name in WINGS
        for path in (_SOURCES / name).rglob("*.py")
    }


class _Record:
    """The verdicts in a file, which hold for one state of the sources."""

    def __init__(self, file: Path, tree: str) -> None:
        self._file, self._tree = file, tree
        self.verdicts: dict[str, Verdict] = {}
        if file.exists():
            read = json.loads(file.read_text(encoding="utf-8"))
            if read["tree"] == tree:
                self.verdicts = {each["id"]: Verdict.from_json(each) for each in read["verdicts"]}

    def keep(self, verdict: Verdict) -> None:
        """Add a verdict; the file is whole at any time."""
        self.verdicts[verdict.id] = verdict
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        whole = {"tree": self._tree, "verdicts": [asdict(each) for each in self.verdicts.values()]}
        part.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        part.replace(self._file)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
