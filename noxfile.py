"""The whole matrix of a release: every test on what is installed, on every Python.

`nox` runs it all; `nox --list` names the sessions. The repository is not to be found from them: the
wheel is built from the sdist and installed, and the tests run in the unpacked sdist with the
packages taken out, so that a file missing from either shows. `make test-package` does the same
with a slice of the tests.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.error_on_missing_interpreters = True

PYTHONS = ("3.11", "3.12", "3.13")
PACKAGES = ("verify", "derivations", "numerics")
LOWEST_VERSIONS = Path("tests/package/lowest_versions.py")

# Of what is installed, not of a folder that comes before it on the path.
CHECK_ORIGIN = """
import sys, sysconfig
from pathlib import Path
import derivations, numerics, verify
installed = Path(sysconfig.get_path("purelib"))
for package in (derivations, numerics, verify):
    if not Path(package.__file__).is_relative_to(installed):
        sys.exit(f"{package.__file__} is not in {installed}")
"""


@nox.session(python=PYTHONS)
def suite(session: nox.Session) -> None:
    """Run every test, with the newest dependencies."""
    run_the_tests(session)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """Run every test, with the oldest dependencies that are allowed."""
    session.install("packaging")
    constraints = session.run("python", LOWEST_VERSIONS, silent=True)
    file = Path(session.create_tmp()) / "constraints.txt"
    file.write_text(str(constraints))
    run_the_tests(session, "--constraint", str(file))


@nox.session(python=PYTHONS)
def package(session: nox.Session) -> None:
    """Check what `make test-package` checks: contents, metadata, a user's own project and types."""
    session.install(".[test]")
    # The oldest dependencies have wheels for the oldest Python only.
    chosen = () if session.python == PYTHONS[0] else ("-k", "not lowest")
    session.run("python", "-m", "pytest", "-m", "package", *chosen, *session.posargs)


@nox.session
def metadata(session: nox.Session) -> None:
    """Check for what an index of packages would refuse, or not render."""
    session.install("build", "twine")
    session.run("twine", "check", "--strict", *map(str, build(session)))


def run_the_tests(session: nox.Session, *options: str) -> None:
    """Install the wheel, with options of pip, and run the tests where the packages are not."""
    session.install("build")
    sdist, wheel = build(session)
    session.install(f"{wheel}[test]", *options)
    session.run("python", "-m", "pip", "check")
    session.chdir(unpack_without_packages(sdist))
    # The session's own is in the repository, whose settings a test's pytest would find above it.
    session.env["TMPDIR"] = tempfile.gettempdir()
    session.run("python", "-c", CHECK_ORIGIN)
    session.run("python", "-m", "pytest", "-p", "no:cacheprovider", *session.posargs)


def build(session: nox.Session) -> tuple[Path, Path]:
    """Return sdist and wheel, the wheel built from the sdist, in an empty folder."""
    out = Path(session.create_tmp()).resolve() / "dist"
    shutil.rmtree(out, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(out), silent=True)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def unpack_without_packages(sdist: Path) -> Path:
    """Return the folder of the sdist's files, those that are also in the wheel left out."""
    with tarfile.open(sdist) as archive:
        archive.extractall(sdist.parent, filter="data")
    folder = sdist.with_name(sdist.name.removesuffix(".tar.gz"))
    for name in PACKAGES:
        shutil.rmtree(folder / name)
    return folder
