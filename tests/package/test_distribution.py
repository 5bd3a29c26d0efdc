"""What a user gets: the built wheel and sdist, in an empty environment, without the repository."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

PACKAGES = {"verify", "derivations", "numerics"}
LOWEST_VERSIONS = Path(__file__).with_name("lowest_versions.py")

USER_MODULE = '''
"""A user's own function: how much attention a head pays outside a set of positions."""


def leak(gamma, positions):
    return sum(weight for i, weight in enumerate(gamma) if i not in positions)
'''

USER_TEST = """
from hypothesis import given

from leak import leak
from numerics.one_step import one_step
from verify.testing.strategies import instances


@given(instances())
def test_leak_is_a_share(instance):
    step = one_step(instance.V, instance.theta, instance.support, 1.0)
    assert -1e-12 <= leak(step.gamma, instance.support) <= 1 + 1e-12
"""


@pytest.fixture
def check_commands(run, tmp_path):
    """Return a check that the commands of an environment work, in a folder without the project."""

    def checking(python: Path) -> None:
        program = python.parent / "xorverify"
        version = run(program, "--version", cwd=tmp_path)
        assert re.fullmatch(r"xorverify \d+\.\d+\.\d+\n", version)
        assert run(python, "-m", "verify", "--version", cwd=tmp_path) == version
        assert "population-loss" in run(python, "-m", "verify", "list", cwd=tmp_path)
        assert "moments" in run(python, "-m", "derivations", cwd=tmp_path)
        checked = run(python, "-m", "derivations", "moments", "--check", cwd=tmp_path)
        assert "0 failed" in checked
        claims = ("--profile", "quick", "--claim", "zero-start", "theorem2-heads")
        run(program, *claims, cwd=tmp_path)
        assert (tmp_path / "report" / "report.md").exists()
        run(python, "-m", "pip", "check", cwd=tmp_path)

    return checking


def test_the_wheel_holds_the_packages_and_their_types_alone(distributions) -> None:
    with zipfile.ZipFile(distributions.wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    for name in ("templates/report.md.j2", "templates/report.html.j2", "data/phase_diagram.csv"):
        assert f"verify/report/{name}" in names


def test_the_wheel_runs_in_an_empty_environment(installed, check_commands) -> None:
    check_commands(installed)


def test_the_sdist_runs_in_an_empty_environment(
    distributions, environment_with, check_commands, run, tmp_path
) -> None:
    python = environment_with(distributions.sdist)
    check_commands(python)
    # Without the extra, the strategies say what to install.
    message = run(
        python,
        "-c",
        "try:\n import verify.testing.strategies\nexcept ImportError as e:\n print(e)",
        cwd=tmp_path,
    )
    assert "xorverify[strategies]" in message


def test_the_wheel_runs_with_the_lowest_versions_it_allows(
    distributions, environment_with, check_commands, run, tmp_path
) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text(run(sys.executable, LOWEST_VERSIONS, cwd=tmp_path))
    python = environment_with(f"{distributions.wheel}[figures]", "-c", constraints)
    installed = run(python, "-m", "pip", "list", "--format=freeze", cwd=tmp_path)
    low = [line for line in constraints.read_text().splitlines() if line.startswith("numpy==")]
    assert low
    assert low[0] in installed
    check_commands(python)


def test_the_tests_pass_on_what_is_installed(installed, unpacked, run) -> None:
    """A slice of them, one or two modules of each wing; `nox -s suite` runs them all."""
    where = "import derivations, numerics, verify; print(numerics.__file__, verify.__file__)"
    for file in run(installed, "-c", where, cwd=unpacked).split():
        assert "site-packages" in file
    slice_ = (
        "tests/derivations/test_zero.py",
        "tests/numerics/test_population.py",
        "tests/numerics/test_binomial.py",
        "tests/verify/running",
    )
    out = run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", *slice_, cwd=unpacked)
    assert re.search(r"\b\d{2,} passed", out)


def test_a_users_project_uses_the_strategies(installed, run, tmp_path) -> None:
    (tmp_path / "leak.py").write_text(USER_MODULE)
    (tmp_path / "test_leak.py").write_text(USER_TEST)
    out = run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert "1 passed" in out
    # A property that is false is found, not passed over.
    (tmp_path / "leak.py").write_text(USER_MODULE.replace("not in", "in"))
    (tmp_path / "test_leak.py").write_text(USER_TEST.replace("<= 1 + 1e-12", "<= 0.5"))
    run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path, code=1)


DOCUMENT = r"""
\documentclass{article}
\usepackage{amsmath,amssymb}
\begin{document}
The population loss is
%s
\end{document}
"""


@pytest.mark.latex
def test_a_pasted_fragment_compiles(installed, run, tmp_path) -> None:
    fragment = run(installed.parent / "xorverify", "latex", "population.loss", cwd=tmp_path)
    paper = tmp_path / "paper.tex"
    paper.write_text(DOCUMENT % fragment)
    run("latexmk", "-pdf", "-interaction=nonstopmode", "paper.tex", cwd=tmp_path)
    assert (tmp_path / "paper.pdf").exists()
    run(installed.parent / "xorverify", "latex", "--check", paper, cwd=tmp_path)
    paper.write_text((DOCUMENT % fragment).replace("2", "3"))
    run(installed.parent / "xorverify", "latex", "--check", paper, cwd=tmp_path, code=1)
