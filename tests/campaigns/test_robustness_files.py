"""The small size of the attacks on files and arguments, and what the campaign must notice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaigns.robustness import attacks_of, survive
from campaigns.robustness.attack import OK, Attack, Found
from campaigns.robustness.files.reader import MARKER, Reader, judged, observe
from campaigns.robustness.rule import LONGEST_LINE, broken
from campaigns.robustness.watched import MOST_BYTES, Ran, run_here

PARTS = ("documents", "arguments")


def groups() -> Iterator[tuple[str, str]]:
    for part in PARTS:
        for group in sorted({attack.group for attack in attacks_of(part, full=False)}):
            yield part, group


# Of many attacks every fourth: `python -m campaigns robustness` makes all of them.
@pytest.mark.parametrize(("part", "group"), [*groups()])
def test_the_command_line_withstands(part: str, group: str) -> None:
    attacks = [attack for attack in attacks_of(part, full=False) if attack.group == group]
    failed = {
        attack.name: found
        for attack in attacks[:: 1 if len(attacks) < 30 else 4]
        if not (found := survive(attack, 0)).ok
    }
    assert failed == {}


def ran(code: int | None, out: str = "", err: str = "", **other) -> Ran:
    entries = {"argv": ["list", "--json"], "slipped": "", "before": {}, "after": {}} | other
    return Ran(code=code, out=out, err=err, **entries)


@pytest.mark.parametrize(
    ("seen", "problem"),
    [
        (ran(0, "{}"), ""),
        (ran(3, '{"reason": "x"}', "interrupted\n"), ""),
        (ran(2, "", "error: d=1: must be more\n"), ""),
        (ran(2, "", "usage: x\nerror: d=1: must be more\n"), ""),
        (ran(4), "exit code"),
        (ran(None, slipped="KeyError: 1"), "KeyError"),
        (ran(0, "{}", slipped="a warning: x"), "warning"),
        (ran(0, ""), "no strict JSON"),
        (ran(0, "{} {}"), "no strict JSON"),
        (ran(0, "[NaN]"), "no strict JSON"),
        (ran(3, "{}", "unexpected failure, please report it: x\n"), "accident"),
        (ran(3, "{}", "Traceback (most recent call last)\n"), "accident"),
        (ran(2, "", "error: d=1: Unable to allocate 8 GiB\n"), "accident"),
        (ran(2, "{}", "error: d=1: must be more\n"), "standard output"),
        (ran(2, "", "error: nothing\n"), "not in one line"),
        (ran(2, "", "error: d=1: a\nb\n"), "not in one line"),
        (ran(2, "", f"error: d={'1' * LONGEST_LINE}: x\n"), "characters"),
        (ran(2, "", "error: d=1: x\n", after={"half": "0"}), "another folder"),
        (ran(2, "", "error: d=1: x\n", before={"a": "0"}, after={"a": "1"}), "another folder"),
    ],
)
def test_the_rule(seen: Ran, problem: str) -> None:
    assert problem in broken(seen)
    assert bool(broken(seen)) == bool(problem)


def test_what_data_execute_is_noticed(tmp_path: Path) -> None:
    (tmp_path / MARKER).touch()
    assert judged(ran(0, "{}"), tmp_path) == "data were executed"


def test_a_wrong_reading_is_noticed(tmp_path: Path) -> None:
    reader = Reader("show", ("show", "{}", "--json"), "zero-start", bytes, has_checksums=True)
    assert observe(reader, tmp_path, "zero-start", may_differ=False).ok
    found = observe(reader, tmp_path, "theorem2-loss", may_differ=False)
    assert "something else" in found.problem
    assert found.command.endswith("xorverify show theorem2-loss --json")


def hurting(monkeypatch, execute) -> None:
    monkeypatch.setattr("verify.commands.listing.execute", execute)


def test_runs_are_limited_in_time_and_memory_and_watched(tmp_path: Path, monkeypatch) -> None:
    def endless(_) -> None:
        while True:
            pass

    hurting(monkeypatch, endless)
    assert "did not end" in broken(run_here(["list"], tmp_path, seconds=0.2))
    hurting(monkeypatch, lambda _: bytearray(2 * MOST_BYTES))
    assert "out of memory" in broken(run_here(["list"], tmp_path))

    def writing(_) -> None:
        from numerics.arguments import InvalidArgumentError

        Path("half").write_text("half")
        raise InvalidArgumentError("d", 1, "must be more")

    hurting(monkeypatch, writing)
    assert broken(run_here(["list"], tmp_path)).endswith("another folder than before: half")


def test_attacks_are_the_same_for_the_same_seed() -> None:
    seeds: list[int] = []

    def run(_: Path, seed: int) -> Found:
        seeds.append(seed)
        return OK

    attack = Attack("group", "name", run)
    for root in (0, 0, 1):
        assert survive(attack, root).ok
    assert seeds[0] == seeds[1] != seeds[2]
    other = Attack("group", "other", attack.run)
    assert other.seed(0) != attack.seed(0)
