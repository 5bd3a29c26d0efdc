"""What a user gets: the built wheel and sdist, in an empty environment, without the repository."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[2]

USER_MODULE = '''
"""A user's own function: how much attention a head pays outside a set of positions."""


def leak(gamma, positions):
    return sum(weight for i, weight in enumerate(gamma) if i not in positions)
'''

USER_TEST = """
from hypothesis import given

from leak import leak
from numerics.one_step import one_step
from verify.strategies import instances


@given(instances())
def test_leak_is_a_share(instance):
    step = one_step(instance.V, instance.theta, instance.support, 1.0)
    assert -1e-12 <= leak(step.gamma, instance.support) <= 1 + 1e-12
"""


def run(*command: object, cwd: Path, code: int = 0) -> str:
    # The environment of the suite must not leak in: no PYTHONPATH, no virtual environment.
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8"}
    found = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code, found.stdout + found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> tuple[Path, Path]:
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, ROOT, cwd=out)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def installed(distributions, tmp_path_factory) -> Path:
    """The interpreter of an empty environment in which the wheel was installed."""
    return environment_with(f"{distributions[0]}[test]", tmp_path_factory.mktemp("wheel"))


def environment_with(requirement: str, folder: Path) -> Path:
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", requirement, cwd=folder)
    return python


def check_commands(python: Path, folder: Path) -> None:
    assert run(python.parent / "xorverify", "--version", cwd=folder).startswith("xorverify ")
    assert "population-loss" in run(python, "-m", "verify", "list", cwd=folder)
    checked = run(python, "-m", "derivations", "moments", "--check", cwd=folder)
    assert "0 failed" in checked
    run(
        python,
        "-m",
        "verify",
        "--profile",
        "quick",
        "--claim",
        "zero-start",
        "theorem2-heads",
        cwd=folder,
    )
    assert (folder / "report" / "report.md").exists()
    run(python, "-m", "pip", "check", cwd=folder)


def test_the_wheel_holds_the_packages_and_their_types_alone(distributions) -> None:
    with zipfile.ZipFile(distributions[0]) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "verify",
        "derivations",
        "numerics",
    }
    for package in ("verify", "derivations", "numerics"):
        assert f"{package}/py.typed" in names
    for name in ("templates/report.md.j2", "templates/report.html.j2", "data/phase_diagram.csv"):
        assert f"verify/report/{name}" in names


def test_the_sdist_holds_what_builds_and_tests_it(distributions) -> None:
    with tarfile.open(distributions[1]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile"} <= names
    assert any(name.startswith("tests/") for name in names)
    assert not any(name.startswith((".venv", "report/", ".ci")) for name in names)


def test_the_wheel_runs_in_an_empty_environment(installed, tmp_path) -> None:
    check_commands(installed, tmp_path)


def test_the_sdist_runs_in_an_empty_environment(distributions, tmp_path) -> None:
    python = environment_with(str(distributions[1]), tmp_path)
    check_commands(python, tmp_path)
    # Without the extra, the strategies say what to install.
    message = run(
        python,
        "-c",
        "try:\n import verify.strategies\nexcept ImportError as e:\n print(e)",
        cwd=tmp_path,
    )
    assert "xorverify[test]" in message


def test_a_users_project_uses_the_strategies(installed, tmp_path) -> None:
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
def test_a_pasted_fragment_compiles(installed, tmp_path) -> None:
    fragment = run(installed.parent / "xorverify", "latex", "population.loss", cwd=tmp_path)
    paper = tmp_path / "paper.tex"
    paper.write_text(DOCUMENT % fragment)
    run("latexmk", "-pdf", "-interaction=nonstopmode", "paper.tex", cwd=tmp_path)
    assert (tmp_path / "paper.pdf").exists()
    run(installed.parent / "xorverify", "latex", "--check", paper, cwd=tmp_path)
    paper.write_text((DOCUMENT % fragment).replace("2", "3"))
    run(installed.parent / "xorverify", "latex", "--check", paper, cwd=tmp_path, code=1)
