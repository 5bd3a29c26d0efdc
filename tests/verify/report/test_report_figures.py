"""Figures of a report: what they show is what was computed, or what the toolkit ships."""

import csv
import json
import math
import os
import re
import shlex
import shutil
import sys
from fractions import Fraction
from subprocess import run

import numpy as np
import pytest
from scipy.special import softmax

from numerics.arguments import InvalidArgumentError
from numerics.binomial import clopper_pearson
from numerics.population import gradient
from verify.claims import CLAIMS
from verify.claims.explicit_theorem2 import sufficient_width
from verify.cli import main
from verify.instances.instance import draw_trial
from verify.report.figures import (
    attention_step,
    attention_training,
    certified_and_simulated,
    loss_against_step,
    parameters_against_d,
    sample_thresholds,
    shipped_phase_diagram,
)
from verify.report.figures.report_figures import FIGURES, make_report_figures
from verify.report.figures.shipped import read_shipped
from verify.report.figures.style import FORMATS, check_formats, drawing, write_figure
from verify.report.inline_svg import inline_svg

MARKED = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.NAME)


def test_every_figure_belongs_to_claims() -> None:
    assert len({figure.NAME for figure in FIGURES}) == len(FIGURES) == 7
    for figure in FIGURES:
        assert figure.CLAIMS
        assert set(figure.CLAIMS) <= set(CLAIMS)


@MARKED
def test_a_caption_says_how_many_draws_the_seed_and_the_interval(figure) -> None:
    tables = figure.tables(5)
    caption = figure.caption(tables, 5)
    assert f"seed {0 if figure.SHIPPED else 5}" in caption
    assert re.search(r"\$n\b|\d+ draws", caption)
    assert "interval" in caption
    assert caption.count("$") % 2 == 0
    assert figure.command(5)


def test_attention_before_and_after_is_that_of_the_first_draw() -> None:
    drawn = draw_trial(64, 256, law="sphere", seed=4, trial=0)
    at_start = gradient(drawn.V, drawn.theta, drawn.theta_tilde, drawn.support)
    eta = 1000 * 64**2
    rows = attention_step.tables(4)["attention_step"]
    for name, query, slope in (
        ("gamma", drawn.theta, at_start.theta),
        ("gamma_tilde", drawn.theta_tilde, at_start.theta_tilde),
    ):
        before = [float(row[f"{name}_start"]) for row in rows]
        after = [float(row[name]) for row in rows]
        np.testing.assert_allclose(before, softmax(drawn.V @ query), rtol=1e-12)
        # Scores of some hundred, from two formulas of the gradient.
        np.testing.assert_allclose(
            after, softmax(drawn.V @ (query - eta * slope)), rtol=1e-9, atol=1e-300
        )
    relevant = {row["relevant"]: int(row["position"]) for row in rows if row["relevant"]}
    assert (relevant["a"], relevant["b"]) == drawn.support


def test_the_caption_of_the_attention_says_where_the_heads_are() -> None:
    rows = [
        {
            "position": str(i),
            "relevant": name,
            "gamma": str(gamma),
            "gamma_tilde": str(gamma_tilde),
        }
        for i, name, gamma, gamma_tilde in (
            (0, "", 0.0, 0.59999),
            (1, "b", 1.0, 0.4),
            (2, "a", 0.0, 0.00001),
        )
    ]
    caption = attention_step.caption({"attention_step": rows}, 9)
    assert "$a = 2$ and $b = 1$" in caption
    assert "the first head has at least 0.9999 of its attention on $b$" in caption
    assert "the second head has at least 0.5999 of its attention on position 0" in caption


def test_the_loss_against_the_step_is_what_its_command_finds(capsys) -> None:
    tables = loss_against_step.tables(2)
    argv = shlex.split(loss_against_step.command(2))[1:]
    assert main([*argv, "--json", "--quiet", "--jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    failure = found["failure"]
    caption = loss_against_step.caption(tables, 2)
    assert f"in {found['successes']} of 32 draws" in caption
    assert f"from {1 - failure['upper']:.3f} to {1 - failure['lower']:.3f}" in caption
    last = [row for row in tables["loss_against_step"] if row["eta_scale"] == "10000"]
    failed = [row for row in last if float(row["sup_loss_upper"]) > 0.01]
    assert len(failed) == failure["count"] > 0
    assert sum(int(row["same_position"]) for row in last) == found["same_position"]["count"]
    same = sum(int(row["same_position"]) for row in failed)
    assert f"; of the others {same} of {len(failed)} have both heads" in caption


def test_a_caption_without_failures_does_not_speak_of_them() -> None:
    rows = [
        {"eta_scale": scale, "trial": "0", "sup_loss_upper": "0.01", "same_position": "0"}
        for scale in loss_against_step._SCALES
    ]
    caption = loss_against_step.caption({"loss_against_step": rows}, 0)
    assert "in 0 of 1 draws" in caption  # binary64 0.01 is above 1/100
    for row in rows:
        row["sup_loss_upper"] = "0.0099"
    caption = loss_against_step.caption({"loss_against_step": rows}, 0)
    assert "in 1 of 1 draws" in caption
    assert "others" not in caption


@pytest.mark.parametrize(
    ("name", "count", "ends", "digits"),
    [
        ("certified_and_simulated", "failures", ("lower", "upper"), 1e-5),
        ("phase_diagram", "successes", ("lower", "upper"), 1e-12),
        ("samples_thresholds", "found", ("found_low", "found_high"), 5e-5),
        ("samples_thresholds", "parted", ("parted_low", "parted_high"), 5e-5),
    ],
)
def test_shipped_intervals_are_those_of_the_shipped_counts(name, count, ends, digits) -> None:
    for row in read_shipped(name):
        interval = clopper_pearson(int(row[count]), int(row["trials"]), level=0.95)
        np.testing.assert_allclose([float(row[end]) for end in ends], interval, atol=digits)


def test_shipped_numbers_of_parameters() -> None:
    for row in read_shipped("parameters_against_d"):
        d, numbers = int(row["d"]), int(row["parameters"])
        if row["model"] == "dense":
            assert numbers == int(row["width"]) * (d + 2) + 1
        elif row["model"].startswith("attention"):
            m = sufficient_width(d)
            assert (int(row["width"]), numbers) == (
                m,
                2 * m if "trained" in row["model"] else d * m,
            )
            assert 2 * m < d


def test_the_least_dense_net_is_the_narrowest_that_succeeds_often() -> None:
    rows = [
        {"model": model, "d": d, "width": width, "reached": reached, "trials": "5"}
        for model, d, width, reached in (
            ("dense", "8", "2", "3"),
            ("dense", "8", "4", "5"),
            ("dense", "8", "3", "4"),
            ("dense", "4", "2", "5"),
            ("other", "4", "1", "5"),
        )
    ]
    found = parameters_against_d.least_dense(rows)
    assert {d: row["width"] for d, row in found.items()} == {4: "2", 8: "3"}
    assert list(found) == [4, 8]


def test_a_threshold_is_where_a_share_crosses_one_half() -> None:
    def row(m: int, n: int, found: int) -> dict[str, str]:
        return {"d": "8", "m": str(m), "n": str(n), "trials": "100", "found": str(found)}

    rng = np.random.default_rng(0)
    rows = [row(2, 100, 0), row(2, 400, 100), row(4, 90, 20), row(4, 100, 70)]
    # A share that falls again is taken to stay where it was.
    rows += [row(8, 10 * 4**i, 100 if i in (5, 11) else 0) for i in range(12)]
    found = sample_thresholds.thresholds(rows, "found", rng)
    # Shares of 0 and 1 stay what they are when the trials are drawn again.
    np.testing.assert_allclose(found[8, 2], np.full(2001, 200.0))
    np.testing.assert_allclose(found[8, 8], np.full(2001, 5120.0))
    assert found[8, 4][0] == pytest.approx(90 * (100 / 90) ** 0.6)
    assert len(set(found[8, 4][1:])) > 1


def test_thresholds_are_drawn_with_their_orders() -> None:
    with drawing():
        figure = sample_thresholds.draw(sample_thresholds.tables(0))
    assert [axes.get_title() for axes in figure.axes] == ["$m = 64$", "$m = d$", "$m = 4 d$"]
    for axes, rule in zip(figure.axes, (lambda _: 64, lambda d: d, lambda d: 4 * d), strict=True):
        lines = {line.get_label(): line for line in axes.get_lines()}
        for label, order in (
            (r"$(d + d^2/m)\,\ln d$", lambda d, m: (d + d * d / m) * math.log(d)),
            (r"$(d^2 + d m) / 4$", lambda d, m: (d * d + d * m) / 4),
        ):
            d, n = lines[label].get_data()
            assert list(d) == [64, 128, 256, 512]
            np.testing.assert_allclose(n, [order(each, rule(each)) for each in d])


def test_the_law_is_one_and_points_are_shares_over_it() -> None:
    tables = certified_and_simulated.tables(0)
    with drawing():
        figure = certified_and_simulated.draw(tables)
    assert [axes.get_title() for axes in figure.axes] == ["$m = 128$", "$m = 512$"]
    for axes, m in zip(figure.axes, ("128", "512"), strict=True):
        rows = [row for row in tables["certified_and_simulated"] if row["m"] == m]
        (points,) = axes.containers
        np.testing.assert_allclose(
            np.asarray(points[0].get_ydata(), dtype=float),
            [
                int(row["failures"])
                / int(row["trials"])
                / (2 / math.pi * math.atan(1 / math.sqrt(int(row["d"]))))
                for row in rows
            ],
            rtol=1e-4,
        )
        (band,) = axes.collections[:1]
        edges = band.get_paths()[0].get_extents()
        assert edges.ymin < 1 < edges.ymax


def test_the_certified_region_is_the_shipped_one(monkeypatch) -> None:
    taken = {}
    monkeypatch.setattr(
        "verify.report.figures.phase_diagram.draw",
        lambda part, columns, **how: taken.update(part=part, columns=columns, **how),
    )
    tables = shipped_phase_diagram.tables(0)
    shipped_phase_diagram.draw(tables)
    shares = [
        (cell.integer("d"), cell.integer("m"), cell.share(taken["success"]).count)
        for cell in taken["part"].cells
    ]
    points = tables["phase_diagram"]
    assert shares == [tuple(int(row[name]) for name in ("d", "m", "successes")) for row in points]
    edges = {
        (edge.level, edge.side, edge.d, edge.m, edge.failure_upper)
        for column in taken["columns"]
        for edge in column.edges
        if edge.d == column.d
    }
    assert edges == {
        (
            Fraction(row["level"]),
            row["side"],
            int(row["d"]),
            int(row["m"]),
            Fraction(row["failure_upper"]),
        )
        for row in tables["phase_diagram_certified"]
    }
    nodes = {(column.d, m): up for column in taken["columns"] for m, up in column.nodes.items()}
    assert nodes == {
        (int(row["d"]), int(row["m"])): Fraction(row["failure_upper"]) for row in points
    }


def test_which_maps_learn_is_as_the_caption_says() -> None:
    least: dict[tuple[str, str, str], list[float]] = {}
    runs: dict[tuple[str, ...], float] = {}
    for row in attention_training.tables(0)["compare_losses"]:
        runs[tuple(row[name] for name in ("d", "m", "start", "attention", "trial"))] = float(
            row["loss"]
        )
    for (d, _, start, attention, _), loss in runs.items():
        least.setdefault((d, start, attention), []).append(loss)
    for (d, start, attention), losses in least.items():
        learns = attention == "softmax" or (d, start) == ("64", "independent")
        assert len(losses) == 3
        assert all((loss <= 0.01) == learns for loss in losses)


def test_the_curves_are_the_shipped_runs() -> None:
    tables = attention_training.tables(0)
    with drawing():
        figure = attention_training.draw(tables)
    assert len(figure.axes) == 4
    colours = {"softmax": "#0072B2", "linear": "#D55E00", "erf": "#009E73"}
    axes = figure.axes[3]
    assert axes.get_title() == "$d = 64$, $m = 128$, independent start"
    chosen = [
        row for row in tables["compare_losses"] if (row["d"], row["start"]) == ("64", "independent")
    ]
    assert {row["attention"] for row in chosen} == set(colours)
    for attention, colour in colours.items():
        drawn = [line for line in axes.get_lines() if line.get_color() == colour]
        assert len(drawn) == 3
        losses = [float(row["loss"]) for row in chosen if row["attention"] == attention]
        heights = [y for line in drawn for y in line.get_ydata()]
        assert heights == [max(loss, 4e-4) for loss in losses]
        assert (min(losses) < 4e-4) == (attention == "softmax")


def test_only_figures_of_the_claims_of_a_run_are_made(tmp_path) -> None:
    folder = tmp_path / "figures"
    assert make_report_figures(folder, {"zero-start"}, seed=0, formats=["svg"]) == []
    assert not folder.exists()
    (made,) = make_report_figures(
        folder, {"zero-start", "parameter-count"}, seed=0, formats=["pdf", "svg"]
    )
    assert (made.name, made.claims) == ("parameters_against_d", ["parameter-count"])
    assert [path.name for path in made.files] == [
        "parameters_against_d.svg",
        "parameters_against_d.pdf",
        "parameters_against_d.csv",
    ]
    assert (folder / "parameters_against_d.pdf").read_bytes().startswith(b"%PDF")
    assert made.svg == (folder / "parameters_against_d.svg").read_text()
    with (folder / "parameters_against_d.csv").open(newline="") as stream:
        assert list(csv.DictReader(stream)) == read_shipped("parameters_against_d")


def test_a_pdf_is_the_same_bytes_every_time(tmp_path) -> None:
    tables = parameters_against_d.tables(0)
    files = []
    for name in ("first", "second"):
        with drawing():
            path = tmp_path / f"{name}.svg"
            files.append(write_figure(path, parameters_against_d.draw(tables), ["svg", "pdf"]))
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_formats_that_cannot_be_written_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    check_formats("formats", ["svg", "pdf"])
    with pytest.raises(InvalidArgumentError, match=r"^formats=pgf: needs LaTeX with its package"):
        check_formats("formats", FORMATS)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_formats("formats", ["svg"])
    with pytest.raises(InvalidArgumentError, match=r"^formats=pdf: needs matplotlib; pip install"):
        check_formats("formats", ["svg", "pdf"])


@pytest.fixture
def tex() -> str:
    """The program that sets a paper with a PGF file in it."""
    try:
        check_formats("formats", ["pgf"])
    except InvalidArgumentError as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        # A reader without TeX can still run the tests.
        pytest.skip(str(missing))
    return "pdflatex"


@pytest.mark.latex
def test_figures_as_pgf_can_be_put_into_a_paper(tmp_path, tex) -> None:
    inputs = []
    # One with a bar of colours, one with powers of ten at its ticks.
    for figure in (shipped_phase_diagram, sample_thresholds):
        with drawing():
            drawn = figure.draw(figure.tables(0))
            # A title of a sweep's: text to matplotlib, whatever TeX would make of it.
            title = drawn.axes[0].set_title("law my_own:50%, η = 10 d²", parse_math=False)
            path = tmp_path / f"{figure.NAME}.svg"
            assert write_figure(path, drawn, ["pgf"]) == [path.with_suffix(".pgf")]
        assert title.get_text() == "law my_own:50%, η = 10 d²"
        inputs.append(rf"\input{{{figure.NAME}.pgf}}")
    assert {each.suffix for each in tmp_path.iterdir()} == {".pgf"}
    paper = tmp_path / "paper.tex"
    document = r"\documentclass{article}\usepackage{pgf}\begin{document}%s\end{document}"
    paper.write_text(document % r"\par".join(inputs))
    asked = [tex, "-interaction=nonstopmode", "-halt-on-error", paper.name]
    found = run(asked, cwd=tmp_path, capture_output=True, check=False)
    assert found.returncode == 0, found.stdout
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.latex
def test_a_text_that_latex_cannot_set_is_one_line(tmp_path, tex) -> None:
    assert tex
    with drawing():
        figure = shipped_phase_diagram.draw(shipped_phase_diagram.tables(0))
        figure.axes[0].set_title("法則", parse_math=False)
        with pytest.raises(InvalidArgumentError, match=r"^formats=pgf: LaTeX cannot set a text"):
            write_figure(tmp_path / "figure.svg", figure, ["pgf"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["run", "--claim", "zero-start"], ["figures", "."]])
def test_an_unknown_format_is_refused_before_the_work(capsys, tmp_path, command) -> None:
    out = tmp_path / "out"
    assert main([*command, "--out", str(out), "--formats", "svg", "gif"]) == 2
    assert capsys.readouterr().err.startswith("error: formats=gif: must be one of svg, pdf, pgf")
    assert not out.exists()


def test_a_drawing_on_a_page_keeps_nothing_of_a_file() -> None:
    drawing = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n'
        '<svg xmlns:xlink="x://y" width="10.5pt" height="20pt" viewBox="0 0 10.5 20" '
        'xmlns="x://z" version="1.1">\n <metadata>\n<a/></metadata>\n'
        ' <defs><style type="text/css">*{}</style></defs>\n<!-- note -->\n'
        '<path id="p" style="fill: #000000; stroke: #0072b2"/>\n'
        '<g clip-path="url(#p)"><use xlink:href="#p" width="3" style="stroke: #123456"/></g>'
        "</svg>\n"
    )
    assert inline_svg(drawing, name="n", label="l") == (
        '<svg role="img" aria-labelledby="l" style="max-width: 10.5pt" viewBox="0 0 10.5 20" '
        'version="1.1"> <defs></defs> '
        '<path id="n-p" style="fill: var(--ink); stroke: var(--series-0)"/> '
        '<g clip-path="url(#n-p)"><use href="#n-p" width="3" style="stroke: #123456"/></g></svg>'
    )
