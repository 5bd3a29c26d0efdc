import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from numerics.arguments import InvalidArgumentError
from verify.sweep.config import Sweep, read_config

GOOD = '[sweep]\nname = "x"\nkind = "theorem2"\n[grid]\nd = [4, 1e1]\nm = 3\n'
EXAMPLE = Path(__file__).parents[3] / "examples" / "sweep.toml"


def read(tmp_path: Path, text: str | bytes) -> Sweep:
    path = tmp_path / "sweep.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_config(path)


def test_the_cells_are_the_product_of_the_axes(tmp_path) -> None:
    sweep = read(tmp_path, GOOD + 'eta_scale = [0.10, 1000]\nlaw = ["sphere", "rademacher"]\n')
    assert (sweep.name, sweep.kind, sweep.trials, sweep.seed) == ("x", "theorem2", 100, 0)
    assert [cell.id for cell in sweep.cells] == [
        "d=4,m=3,eta_scale=0.1",
        "d=4,m=3,eta_scale=0.1,law=rademacher",
        "d=4,m=3",
        "d=4,m=3,law=rademacher",
        "d=10,m=3,eta_scale=0.1",
        "d=10,m=3,eta_scale=0.1,law=rademacher",
        "d=10,m=3",
        "d=10,m=3,law=rademacher",
    ]
    first = sweep.cells[0].parameters
    assert first.exact("eta_scale").value == Fraction(1, 10)
    assert str(first.exact("eta_scale")) == "0.10"
    assert first.integer("d") == 4


def test_settings_have_defaults_and_hold_the_number_of_trials(tmp_path) -> None:
    sweep = read(tmp_path, GOOD.replace("[grid]", "trials = 1e3\nseed = 7\n[grid]"))
    assert sweep.settings.integer("trials") == sweep.trials == 1000
    assert sweep.seed == 7
    assert sweep.settings.exact("tolerance").value == Fraction(1, 100)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("[4, 1e1]", "[10, 4.0]"),
        GOOD.replace("m = 3", "m = [3] # a comment\neta_scale = 1.0e+3\nlaw = 'sphere'"),
        '[grid]\nm = 0x3\nd = [1_0, 4]\n[sweep]\nkind = "theorem2"\nname = "x"\ntolerance = 1e-2',
    ],
)
def test_what_changes_no_row_changes_nothing_canonical(tmp_path, text: str) -> None:
    assert read(tmp_path, text).canonical() == read(tmp_path, GOOD).canonical()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"x"', '"y"'),
        ("[4, 1e1]", "[4, 11]"),
        ("[4, 1e1]", "[4]"),
        ("m = 3", "m = 3\neta_scale = 999"),
        ("[grid]", "seed = 1\n[grid]"),
        ("[grid]", "trials = 99\n[grid]"),
        ("[grid]", "tolerance = 0.0100000000000000001\n[grid]"),
    ],
)
def test_what_may_change_a_row_changes_what_is_canonical(tmp_path, old: str, new: str) -> None:
    assert read(tmp_path, GOOD.replace(old, new)).canonical() != read(tmp_path, GOOD).canonical()


def test_a_canonical_document_describes_the_sweep(tmp_path) -> None:
    sweep = read(tmp_path, GOOD + "eta_scale = [20, 0.10]")
    again = Sweep.from_canonical(json.loads(json.dumps(sweep.canonical())))
    assert again.canonical() == sweep.canonical()
    assert {cell.id for cell in again.cells} == {cell.id for cell in sweep.cells}
    assert again.cells[0].id == "d=4,m=3,eta_scale=0.1"
    assert (again.settings, again.seed) == (sweep.settings, sweep.seed)


def in_sweep(line: str) -> str:
    return GOOD.replace("[grid]", f"{line}\n[grid]")


def in_grid(line: str) -> str:
    return GOOD.replace("m = 3", line)


BAD = [
    ("x", "config=PATH: is no TOML: Expected '='"),
    (b"\xff", "config=PATH: is no TOML: it is not encoded in UTF-8"),
    ("d = " + "[" * 5000, "config=PATH: is no TOML: "),
    ("d = " + "1" * 5000, "config=PATH: is no TOML: "),
    (in_sweep("name = 0x" + "f" * 10_000), "config=PATH: is no TOML: Cannot overwrite"),
    ("[sweep]\nname = 0x" + "f" * 10_000 + "\n[grid]", "sweep.name=an integer of thousands"),
    (in_sweep("trails = 5"), "sweep.trails=5: kind theorem2 has no such key"),
    (in_sweep("seed = 1\nseed = 1"), "config=PATH: is no TOML: Cannot overwrite a value"),
    (" " * (1 << 20) + GOOD, "config=PATH: cannot be read: it is longer than 1 MiB"),
    ("", "config=PATH: the table [sweep] is missing"),
    ("sweep = 1\ngrid = 2", "config=PATH: the table [sweep] is missing"),
    ("[sweep]", "config=PATH: the table [grid] is missing"),
    (GOOD + "[plot]\nx = 1", "config.plot=a table: the tables are [sweep] and [grid]"),
    (GOOD.replace('name = "x"', ""), "sweep.name=missing: must be a string"),
    (GOOD.replace('"x"', "true"), "sweep.name=true: must be a string"),
    (GOOD.replace('"x"', '""'), "sweep.name=: must be 1 to 200 printable characters"),
    (GOOD.replace('"x"', '"a\\nb"'), "sweep.name=a\nb: must be 1 to 200 printable"),
    (GOOD.replace('"theorem2"', '"theorem3"'), "sweep.kind=theorem3: must be one of "),
    (GOOD.replace('"theorem2"', "2"), "sweep.kind=2: must be a string"),
    (in_sweep("colour = 1"), "sweep.colour=1: kind theorem2 has no such key; it has name, kind"),
    (in_sweep("trials = true"), "sweep.trials=true: must be a number"),
    (in_sweep("trials = 0"), "sweep.trials=0: must be in 1..1000000000"),
    (in_sweep("trials = 1.5"), "sweep.trials=1.5: must be in 1..1000000000"),
    (in_sweep("trials = '5'"), "sweep.trials=5: must be a number"),
    (in_sweep("trials = [5]"), "sweep.trials=a list: must be a number"),
    (in_sweep("seed = -1"), "sweep.seed=-1: must be an integer >= 0"),
    (in_sweep(f"seed = 0x{'f' * 9000}"), "sweep.seed=an integer of thousands of digits: is too"),
    (in_sweep("tolerance = nan"), "sweep.tolerance=nan: must be a finite decimal number"),
    (in_sweep("tolerance = 0.0"), "sweep.tolerance=0.0: must be positive"),
    (in_sweep("method = 'exact'"), "sweep.method=exact: kind theorem2 has no such key"),
    (in_grid("q = 3"), "grid.q=3: kind theorem2 does not read it; its axes are d, m, eta_scale"),
    (in_grid("m = 3\nn = [4]"), "grid.n=a list: kind theorem2 does not read it"),
    (in_grid(""), "grid.m=missing: must be given"),
    (in_grid("m = []"), "grid.m=[]: must hold at least one value"),
    (in_grid("m = true"), "grid.m=true: must be a number"),
    (in_grid("m = [3, false]"), "grid.m=false: must be a number"),
    (in_grid("m = '3'"), "grid.m=3: must be a number"),
    (in_grid("m = 2024-01-01"), "grid.m=2024-01-01: must be a number"),
    (in_grid("m = [[3]]"), "grid.m=a list: must be a number"),
    (in_grid("m = {least = 3}"), "grid.m=a table: must be a number"),
    (in_grid("m = 2.5"), "grid.m=2.5: must be an integer >= 1"),
    (in_grid("m = 0"), "grid.m=0: must be an integer >= 1"),
    (in_grid("m = inf"), "grid.m=inf: must be an integer >= 1"),
    (in_grid("m = 1e30"), "grid.m=1e30: must be at most 9223372036854775807"),
    (in_grid("m = [3, 3]"), "grid.m=3: stands in the list twice; give it once"),
    (in_grid("m = [3, 3.0]"), "grid.m=3: stands in the list twice; give it once"),
    (in_grid("m = 3\neta_scale = [0.1, 10e-2]"), "grid.eta_scale=10e-2: stands in the list twice"),
    (in_grid("m = 3\neta_scale = [nan]"), "grid.eta_scale=nan: must be a finite decimal number"),
    (in_grid("m = 3\neta_scale = -inf"), "grid.eta_scale=-inf: must be a finite decimal number"),
    (in_grid("m = 3\neta_scale = 1e400"), "grid.eta_scale=1e400: must be within the range of"),
    (in_grid("m = 3\nlaw = ['sphere', 'levy']"), "grid.law=levy: must be sphere, gaussian"),
    (in_grid("m = 3\nlaw = 1"), "grid.law=1: must be a string"),
    (in_grid(f"m = {list(range(1, 50_002))}"), "grid=100002 cells: at most 100000 are possible"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_a_bad_configuration_is_refused_by_the_name_of_what_is_wrong(
    tmp_path, text: str | bytes, message: str
) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        read(tmp_path, text)
    found = str(refused.value).replace(str(tmp_path / "sweep.toml"), "PATH")
    assert found.startswith(message)


@pytest.mark.parametrize("path", ["missing.toml", "."])
def test_a_file_that_cannot_be_read_is_refused(path: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^config={path}: cannot be read: "):
        read_config(Path(path))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path) -> None:
    text = '[sweep]\nname = "x"\nkind = "theorem2"\n[grid]\nd = 4\nm = 3\n'
    assert read(tmp_path, b"\xef\xbb\xbf" + text.encode()) == read(tmp_path, text)


def test_a_device_without_end_is_refused() -> None:
    refusal = "config=/dev/zero: cannot be read: it is neither a regular file nor a pipe"
    with pytest.raises(InvalidArgumentError, match=refusal):
        read_config(Path("/dev/zero"))


def test_the_example_can_be_read() -> None:
    assert len(read_config(EXAMPLE).cells) > 10


def test_a_pipe_without_a_writer_is_empty_and_not_waited_for_for_ever(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidArgumentError, match=r"the table \[sweep\] is missing"):
        read_config(tmp_path / "pipe")


def test_a_misspelt_key_is_mended(tmp_path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"did you mean trials\?$"):
        read(tmp_path, GOOD.replace("[grid]", "trails = 5\n[grid]"))
    with pytest.raises(InvalidArgumentError, match=r"did you mean eta_scale\?$"):
        read(tmp_path, GOOD + "eta_scal = 5\n")
