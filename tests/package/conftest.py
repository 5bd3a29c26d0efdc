"""The distributions, built once, and environments in which a user has installed them.

The repository is not to be found from there: commands run in folders of their own, with an
environment of their own, and the sources of the packages are left out where the tests are unpacked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("verify", "derivations", "numerics")
Run = Callable[..., str]
NEW_YEAR_2026 = "1767225600"


@dataclass(frozen=True)
class Distributions:
    sdist: Path
    wheel: Path


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a command in the folder `cwd`, let it end with `code`, and return what it prints."""

    def running(*command: object, cwd: Path, code: int = 0, **variables: str) -> str:
        # The environment of the suite must not leak in: no PYTHONPATH, no virtual environment.
        environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LANG": "C.UTF-8"}
        found = subprocess.run(
            [str(each) for each in command],
            cwd=cwd,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == code, found.stdout + found.stderr
        return found.stdout

    return running


@pytest.fixture(scope="session")
def build(run) -> Callable[..., Distributions]:
    """Build the sdist from the repository, and the wheel from the sdist."""

    def building(out: Path, **variables: str) -> Distributions:
        variables = {"SOURCE_DATE_EPOCH": NEW_YEAR_2026} | variables
        run(sys.executable, "-m", "build", "--outdir", out, ROOT, cwd=out, **variables)
        (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
        return Distributions(sdist, wheel)

    return building


@pytest.fixture(scope="session")
def distributions(build, tmp_path_factory) -> Distributions:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def environment_with(run, tmp_path_factory) -> Callable[..., Path]:
    """Return the interpreter of a new environment in which the requirements are installed."""

    def installing(*requirements: object) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        # What is imported is compiled then; all of SymPy and JAX would take longer than the rest.
        quick = ("--quiet", "--no-compile")
        run(python, "-m", "pip", "install", *quick, *requirements, cwd=folder)
        return python

    return installing


@pytest.fixture(scope="session")
def installed(distributions, environment_with) -> Path:
    """The interpreter of an environment with the wheel, the extra `test`, and a user's mypy."""
    return environment_with(f"{distributions.wheel}[test]", "mypy")


@pytest.fixture(scope="session")
def unpacked(distributions, tmp_path_factory) -> Path:
    """The sdist without the packages: tests, and what they read, that find the installed ones."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(distributions.sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    for package in PACKAGES:
        shutil.rmtree(root / package)
    return root
