import csv
import itertools
import json
import math
import sqlite3
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from numerics.balls.bounds.explicit_theorem2 import explicit_theorem2
from numerics.binomial import clopper_pearson
from verify.cli import main
from verify.console.progress import Progress
from verify.report.figures import certified, phase_diagram, sweep_figures
from verify.report.figures.cells import read_results, slices
from verify.report.figures.certified import CertifiedColumn, Computation, Edge, certified_column
from verify.report.figures.style import drawing, write_figure
from verify.running.pool import Failure
from verify.sweep.config import Sweep
from verify.sweep.kinds import find_kind
from verify.sweep.store import Store, read_sweep

THEOREM2 = {"d": ["16", "64"], "m": ["8", "32"], "eta_scale": ["1000"]}


def write_sweep(folder: Path, kind: str, grid: dict[str, list[str]], *, trials=4, rows=None):
    """Write a sweep; in trial i of cell k, i < k (mod 5) is what every share says."""
    asked = Sweep.from_canonical(
        {"name": "x", "kind": kind, "trials": str(trials), "seed": "0", "grid": grid}
    )
    columns = find_kind("kind", kind).COLUMNS
    with Store.open(folder, asked) as store:
        for k, cell in enumerate(asked.cells):
            found = []
            for i in range(trials if rows is None else rows):
                values = {"INTEGER": int(i < k % 5), "REAL": 10.0 ** -(i + k), "TEXT": "exact"}
                found.append((i, None, *(values[sql] for sql in columns.values())))
            store.write([(cell.id, found)])
    return folder


def result_of(folder: Path):
    with read_sweep(folder) as store:
        return read_results(store)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def nothing_certified(monkeypatch):
    """Replace the ball arithmetic, which takes seconds, by what it might have said."""
    columns = CertifiedColumn(64, {8: Fraction(1), 32: Fraction(1, 5)}, [])
    answers = {
        certified_column: lambda d, *_: columns if d == 64 else None,
        certified.least_step: lambda d, m, _: (Fraction(d + m), Fraction(1, 8)),
        certified.sufficient_samples: lambda d, m: d * m * 100 if d > 16 else None,
    }

    def run(_, function, calls):
        return [answers[function](*call) for call in calls]

    monkeypatch.setattr(Computation, "run", run)


def make(folder: Path):
    made, reasons = sweep_figures.make_figures(
        result_of(folder), folder, jobs=1, progress=Progress(quiet=True)
    )
    assert reasons == []
    return made


def test_the_cells_hold_what_the_rows_say(tmp_path) -> None:
    result = result_of(write_sweep(tmp_path, "theorem2", THEOREM2))
    assert [each.counts["success"] for each in result.cells] == [0, 1, 2, 3]
    assert [each.trials for each in result.cells] == [4] * 4
    assert result.cells[1].losses == [1e-4, 1e-3, 1e-2, 1e-1]
    assert (result.done, result.expected) == (16, 16)
    assert (result.success, result.loss) == ("success", "sup_loss_upper")


def test_trials_with_an_error_count_for_nothing(tmp_path) -> None:
    write_sweep(tmp_path, "theorem2", THEOREM2)
    asked = result_of(tmp_path).sweep
    columns = find_kind("kind", "theorem2").COLUMNS
    with Store.open(tmp_path, asked) as store:
        store.write([(asked.cells[3].id, [(0, "ValueError: no", *(None for _ in columns))])])
    cell = result_of(tmp_path).cells[3]
    assert (cell.trials, cell.counts["success"], len(cell.losses)) == (3, 2, 3)


def test_a_figure_shows_one_value_of_each_axis_that_is_not_its_own(tmp_path) -> None:
    grid = {**THEOREM2, "eta_scale": ["0.1", "1000"], "law": ["sphere", "gaussian"]}
    result = result_of(write_sweep(tmp_path, "theorem2", grid))
    parts = list(slices(result, ("d", "m")))
    assert [part.suffix for part in parts] == [
        "_eta_scale_0.1_law_gaussian",
        "_eta_scale_0.1_law_sphere",
        "_eta_scale_1000_law_gaussian",
        "_eta_scale_1000_law_sphere",
    ]
    for part in parts:
        sizes = [(cell.integer("d"), cell.integer("m")) for cell in part.cells]
        assert sizes == list(itertools.product((16, 64), (8, 32)))


def test_a_figure_of_a_law_from_a_file_has_a_name_of_its_own(tmp_path) -> None:
    digests = [f"{k:064x}" for k in range(2)]
    laws = [f"file:/a/b c/{'v' * 300}.npy#sha256={digest}" for digest in digests]
    grid = {"d": ["8"], "m": ["4"], "eta_scale": ["1"], "law": ["sphere", *laws, "my_laws:ONE"]}
    parts = list(slices(result_of(write_sweep(tmp_path, "theorem2", grid)), ("d", "m")))
    suffixes = {part.suffix for part in parts}
    files = suffixes - {"_law_sphere", "_law_my_laws:ONE"}
    assert (len(suffixes), len(files)) == (4, 2)
    for suffix in files:
        assert len(suffix) < 60
        (tmp_path / f"step_size{suffix}.svg").touch()


def test_losses_of_a_diverging_descent_are_drawn_within_the_axis(tmp_path) -> None:
    grid = {"d": ["8"], "m": ["4"], "eta_scale": ["0.1", "1"]}
    write_sweep(tmp_path, "training", grid)
    with sqlite3.connect(tmp_path / "results.sqlite") as connection:
        connection.execute("UPDATE trials SET population_loss = 1e300 WHERE eta_scale = 1")
    connection.close()
    make(tmp_path)  # what matplotlib warns of is an error
    assert read(tmp_path / "step_size.csv")[1]["loss_median"] == "1e+300"


def test_which_figures_are_made_follows_from_the_axes(tmp_path) -> None:
    def names(kind, **grid):
        folder = tmp_path / f"{kind} {grid}"
        folder.mkdir()
        axes = {axis: [str(value) for value in values] for axis, values in grid.items()}
        result = result_of(write_sweep(folder, kind, axes))
        figures = sweep_figures.FIGURES
        return [f.NAME for f in figures if sweep_figures.missing_for(f, result) is None]

    assert names("theorem2", d=[4, 8], m=[4, 8]) == ["phase_diagram"]
    assert names("theorem2", d=[4, 8], m=[4]) == []
    assert names("theorem2", d=[4], m=[4], eta_scale=[1, 2]) == ["step_size"]
    assert names("corollary3", d=[4], m=[4], n=[10, 20]) == ["samples"]
    everything = names("corollary3", d=[4, 8], m=[4, 8], n=[10, 20], eta_scale=[1, 2])
    assert everything == ["phase_diagram", "samples", "step_size"]
    assert names("training", d=[4, 8], m=[4, 8]) == ["phase_diagram"]


def test_a_figure_needs_trials_that_found_what_it_shows(tmp_path) -> None:
    grid = {"d": ["4", "8"], "m": ["4", "8"], "n": ["10", "20"], "eta_scale": ["1", "2"]}
    result = result_of(write_sweep(tmp_path, "corollary3", grid))
    bare = replace(result, success=None, cells=[replace(cell, losses=[]) for cell in result.cells])
    for figure in sweep_figures.FIGURES:
        assert sweep_figures.missing_for(figure, result) is None
        lacking = f"{figure.NAME} needs trials of another kind"
        assert sweep_figures.missing_for(figure, bare) == lacking


@pytest.mark.usefixtures("nothing_certified")
def test_the_phase_diagram_has_shares_intervals_and_the_bound(tmp_path) -> None:
    (made,) = make(write_sweep(tmp_path, "theorem2", THEOREM2))
    assert made.title == "theorem2, law sphere, η = 1000 d², T = 0.01"
    assert [path.name for path in made.files] == ["phase_diagram.svg", "phase_diagram.csv"]
    rows = read(made.files[1])
    assert [(row["d"], row["m"]) for row in rows] == [
        *(("16", "8"), ("16", "32"), ("64", "8"), ("64", "32"))
    ]
    for successes, row in enumerate(rows):
        assert (row["trials"], row["successes"]) == ("4", str(successes))
        interval = clopper_pearson(successes, 4, level=0.95)
        assert (float(row["lower"]), float(row["upper"])) == interval
    assert [row["failure_upper"] for row in rows] == ["", "", "1.00000", "0.200000"]


def test_another_law_has_no_certified_region(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Computation, "run", lambda *_: pytest.fail("nothing is proved of it"))
    grid = {**THEOREM2, "law": ["gaussian"]}
    (made,) = make(write_sweep(tmp_path, "theorem2", grid))
    assert all(row["failure_upper"] == "" for row in read(made.files[1]))


@pytest.mark.usefixtures("nothing_certified")
def test_the_figure_of_samples_has_both_thresholds_and_the_certified_one(tmp_path) -> None:
    grid = {"d": ["16", "64"], "m": ["32"], "n": ["100", "10000"], "eta_scale": ["1000"]}
    (made,) = make(write_sweep(tmp_path, "corollary3", grid))
    rows = read(made.files[1])
    # 4 (d + d^2/m) ln d and d^2 + d m, by hand.
    assert [row["n_finding"] for row in rows] == ["267"] * 2 + ["3195"] * 2
    assert [row["n_parting"] for row in rows] == ["768"] * 2 + ["6144"] * 2
    assert [row["n_sufficient"] for row in rows] == [""] * 2 + ["204800"] * 2
    assert [row["success"] for row in rows] == ["0", "1", "2", "3"]
    lower, upper = clopper_pearson(2, 4, level=0.95)
    ends = ("both_in_support_lower", "both_in_support_upper")
    assert [float(rows[2][end]) for end in ends] == [lower, upper]


@pytest.mark.usefixtures("nothing_certified")
def test_the_figure_of_step_sizes_has_quantiles_and_the_certified_step(tmp_path) -> None:
    grid = {"d": ["16"], "m": ["8"], "eta_scale": ["1000", "0.1"]}
    (made,) = make(write_sweep(tmp_path, "theorem2", grid, trials=20))
    rows = read(made.files[1])
    assert [row["eta_scale"] for row in rows] == ["0.1", "1000.0"]
    # Losses of the second cell are 10^-1 .. 10^-20: the second, tenth and eighteenth smallest.
    quantiles = [float(rows[0][f"loss_{name}"]) for name in ("q10", "median", "q90")]
    assert [round(math.log10(loss)) for loss in quantiles] == [-19, -11, -3]
    assert {row["eta_scale_certified"] for row in rows} == {"24.0000"}
    assert {row["failure_upper"] for row in rows} == {"0.125000"}


@pytest.mark.usefixtures("nothing_certified")
def test_descent_without_samples_is_no_point_of_the_figure_of_samples(tmp_path) -> None:
    grid = {"d": ["4"], "m": ["4"], "n": ["0", "10", "20"]}
    (made,) = make(write_sweep(tmp_path, "training", grid))
    assert [row["n"] for row in read(made.files[1])] == ["10", "20"]


@pytest.mark.parametrize(
    ("kind", "grid"),
    [
        ("theorem2", THEOREM2),
        ("corollary3", {"d": ["16", "64"], "m": ["8"], "n": ["10", "1000"]}),
        ("training", {"d": ["4", "8"], "m": ["4"], "eta_scale": ["1", "2"]}),
    ],
)
@pytest.mark.usefixtures("nothing_certified")
def test_a_figure_is_the_same_bytes_every_time_whatever_the_user_prefers(
    tmp_path, kind, grid
) -> None:
    import matplotlib as mpl

    first = {
        path: path.read_bytes()
        for made in make(write_sweep(tmp_path, kind, grid))
        for path in made.files
    }
    with mpl.rc_context({"font.size": 20, "axes.grid": True, "svg.fonttype": "none"}):
        make(tmp_path)
        assert mpl.rcParams["font.size"] == 20
    assert {path: path.read_bytes() for path in first} == first
    for path, content in first.items():
        if path.suffix == ".svg":
            assert ET.fromstring(content).tag.endswith("svg")  # noqa: S314 - our own file
            assert b"<dc:date>" not in content


@pytest.mark.usefixtures("nothing_certified")
def test_an_incomplete_sweep_is_drawn_as_far_as_it_is(tmp_path) -> None:
    folder = write_sweep(tmp_path, "theorem2", THEOREM2, trials=9, rows=0)
    asked = result_of(folder).sweep
    columns = find_kind("kind", "theorem2").COLUMNS
    with Store.open(folder, asked) as store:
        values = {"INTEGER": 1, "REAL": 0.5, "TEXT": "x"}
        store.write([(asked.cells[0].id, [(0, None, *(values[s] for s in columns.values()))])])
    (made,) = make(folder)
    assert [row["lower"] == "" for row in read(made.files[1])] == [False, True, True, True]


def test_a_name_is_no_formula_and_may_be_in_any_script(tmp_path) -> None:
    with drawing():
        from matplotlib.figure import Figure

        figure = Figure()
        figure.suptitle("$x_{ 漢", parse_math=False)
        write_figure(tmp_path / "x.svg", figure, ["svg"])


class Bound:
    """What `explicit_theorem2` returns, of a probability that is given."""

    def __init__(self, failure: Fraction) -> None:
        self.failure_upper = failure


def bounded(monkeypatch, failure) -> list[int]:
    """Let failure be certified to be what a function of m says; return the m that are asked for."""
    asked = []

    def explicit(d, m, *, scale, tolerance):
        assert (d, scale, tolerance) == (64, 1000, Fraction(1, 100))
        asked.append(m)
        return Bound(failure(m))

    monkeypatch.setattr("numerics.balls.bounds.explicit_theorem2.explicit_theorem2", explicit)
    return asked


def column(sizes: tuple[int, ...]) -> CertifiedColumn:
    return certified_column(64, sizes, Fraction(1000), Fraction(1, 100))


def test_the_edge_of_a_certified_region_is_a_point_of_it_next_to_one_that_is_not(
    monkeypatch,
) -> None:
    def failure(m: int) -> Fraction:
        return min(Fraction(1), Fraction(10, m))

    asked = bounded(monkeypatch, failure)
    found = column((8, 16, 32, 64, 128))
    assert found.nodes == {m: failure(m) for m in (8, 16, 32, 64, 128)}
    assert [(edge.level, edge.side) for edge in found.edges] == [
        (Fraction(1, 10), "lower"),
        (Fraction(1, 4), "lower"),
        (Fraction(1, 2), "lower"),
    ]
    for edge, least in zip(found.edges, (100, 40, 20), strict=True):
        assert least <= edge.m < 1.06 * least + 1
        assert edge.failure_upper == failure(edge.m) <= edge.level
    assert len(asked) == len(set(asked))


def test_a_certified_region_may_end_above_too(monkeypatch) -> None:
    bounded(monkeypatch, lambda m: Fraction(1, 5) if 10 <= m <= 50 else Fraction(3, 10))
    edges = [edge for edge in column((4, 16, 128)).edges if edge.level == Fraction(1, 4)]
    assert [edge.side for edge in edges] == ["lower", "upper"]
    assert edges[0].m == 10
    assert 50 / 1.06 <= edges[1].m <= 50


def test_nothing_certified_has_no_edges(monkeypatch) -> None:
    bounded(monkeypatch, lambda _: Fraction(1))
    assert column((8, 16)).edges == []


def test_certified_values_are_those_of_the_bound(monkeypatch) -> None:
    monkeypatch.setattr(certified, "LEVELS", ())
    proved = explicit_theorem2(64, 128, scale=Fraction(1000), tolerance=Fraction(1, 100))
    assert column((128,)).nodes == {128: proved.failure_upper}
    assert proved.failure_upper < Fraction(1, 5)
    step = certified.least_step(64, 128, Fraction(1, 100))
    assert step is not None
    again = explicit_theorem2(64, 128, scale=step[0], tolerance=Fraction(1, 100))
    assert abs(again.failure_upper / step[1] - 1) < Fraction(1, 100)
    assert certified.least_step(4, 4, Fraction(1, 100)) is None
    assert certified.sufficient_samples(4, 4) is None


def test_a_region_is_shaded_between_its_edges_and_to_the_ends_of_the_axis() -> None:
    level, other = Fraction(1, 4), Fraction(1, 2)
    good, bad = {8: Fraction(1), 32: Fraction(1, 5)}, {8: Fraction(1), 32: Fraction(1)}
    edge = Edge(4, 20, level, level, "lower")
    extent = phase_diagram._extent
    assert extent(CertifiedColumn(4, good, [edge]), level, 2, 99) == (20, 99)
    assert extent(CertifiedColumn(4, {8: Fraction(0)}, []), level, 2, 99) == (2, 99)
    top = Edge(4, 25, level, level, "upper")
    assert extent(CertifiedColumn(4, good, [edge, top]), level, 2, 99) == (20, 25)
    assert extent(CertifiedColumn(4, good, [edge]), other, 2, 99) == (2, 99)
    assert all(end != end for end in extent(CertifiedColumn(4, bad, []), level, 2, 99))


@pytest.mark.usefixtures("nothing_certified")
def test_the_command_lists_what_it_made(tmp_path, capsys) -> None:
    folder, out = write_sweep(tmp_path, "theorem2", THEOREM2), tmp_path / "new" / "figures"
    assert main(["figures", str(folder), "--out", str(out), "--quiet", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["figures"] == [
        {
            "name": "phase_diagram",
            "title": "theorem2, law sphere, η = 1000 d², T = 0.01",
            "files": [str(out / "phase_diagram.svg"), str(out / "phase_diagram.csv")],
        }
    ]
    assert document["not_made"] == [
        "samples needs several values of n",
        "step_size needs several values of eta_scale",
    ]
    assert (document["trials"], document["expected"]) == (16, 16)
    assert sorted(path.name for path in out.iterdir()) == ["phase_diagram.csv", "phase_diagram.svg"]


@pytest.mark.usefixtures("nothing_certified")
def test_figures_are_written_in_the_formats_that_are_asked_for(tmp_path, capsys) -> None:
    grid = {**THEOREM2, "eta_scale": ["1", "10"]}
    folder = write_sweep(tmp_path, "theorem2", grid)
    asked = ["--formats", "pdf", "svg", "pdf", "--quiet", "--json"]
    assert main(["figures", str(folder), *asked]) == 0
    for each in json.loads(capsys.readouterr().out)["figures"]:
        pdf, svg, data = map(Path, each["files"][:3])
        assert [path.suffix for path in (pdf, svg, data)] == [".pdf", ".svg", ".csv"]
        assert pdf.stem == svg.stem == data.stem
        assert pdf.read_bytes().startswith(b"%PDF")
        assert svg.read_bytes().startswith(b"<?xml")


@pytest.mark.usefixtures("nothing_certified")
def test_the_command_says_that_a_sweep_is_incomplete(tmp_path, capsys) -> None:
    folder = write_sweep(tmp_path, "theorem2", THEOREM2, trials=9, rows=2)
    assert main(["figures", str(folder)]) == 0
    found = capsys.readouterr()
    assert found.err == "the sweep is incomplete: 8 of 36 trials\n"
    assert "not made: samples needs several values of n\n" in found.out


def test_a_certified_value_that_fails_is_left_out_and_told(tmp_path, monkeypatch, capsys) -> None:
    def fail(_, calls, **__):
        yield from ((i, Failure("it died")) for i, _ in enumerate(calls))

    monkeypatch.setattr(certified, "run_calls", fail)
    folder = write_sweep(tmp_path, "theorem2", THEOREM2)
    assert main(["figures", str(folder), "--quiet", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["reason"].startswith("without some certified values: certified_column(16, ")
    assert "it died" in document["reason"]
    assert (folder / "phase_diagram.svg").exists()


def refusal(capsys, *arguments: str) -> str:
    assert main(["figures", *arguments, "--json"]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    return found.err


def test_what_has_no_figure_is_refused_and_nothing_is_written(tmp_path, capsys) -> None:
    folder, out = tmp_path / "a", tmp_path / "b"
    folder.mkdir()
    assert "holds no results.sqlite" in refusal(capsys, str(folder), "--out", str(out))
    write_sweep(folder, "theorem2", {"d": ["4"], "m": ["4"]})
    message = refusal(capsys, str(folder), "--out", str(out))
    assert message.startswith(f"error: sweep={folder}: has no figure: phase_diagram needs several")
    assert not out.exists()


def test_a_sweep_without_results_is_refused(tmp_path, capsys) -> None:
    folder = write_sweep(tmp_path, "theorem2", THEOREM2, rows=0)
    assert "holds no trial with a result yet" in refusal(capsys, str(folder))


def test_a_sweep_that_another_program_has_locked_is_refused(tmp_path, capsys) -> None:
    folder = write_sweep(tmp_path, "theorem2", THEOREM2)
    holder = sqlite3.connect(folder / "results.sqlite")
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert "is locked by another program" in refusal(capsys, str(folder))
    finally:
        holder.close()


def test_without_matplotlib_it_is_refused_by_the_name_of_the_extra(
    tmp_path, monkeypatch, capsys
) -> None:
    folder = write_sweep(tmp_path, "theorem2", THEOREM2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "needs matplotlib; pip install 'xorverify[figures]'" in refusal(capsys, str(folder))
