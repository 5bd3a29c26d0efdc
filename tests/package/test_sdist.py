"""The source distribution: what it holds, and that the same sources make the same bytes."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[2]

# All of it is needed to build, test, document or cite what is installed.
TOPS = {
    ".gitignore",  # Hatchling packs it whatever is asked for
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "benchmarks",
    "campaigns",
    "derivations",
    "docs",
    "examples",
    "noxfile.py",
    "numerics",
    "pyproject.toml",
    "stubs",
    "tests",
    "verify",
}
SUFFIXES = {".css", ".csv", ".j2", ".json", ".md", ".py", ".pyi", ".svg", ".toml", ".typed"}


@pytest.fixture(scope="module")
def packed(distributions) -> set[PurePosixPath]:
    with tarfile.open(distributions.sdist) as archive:
        members = archive.getmembers()
    assert all(member.isfile() for member in members)  # no links, and no folders of nothing
    return {PurePosixPath(*PurePosixPath(member.name).parts[1:]) for member in members}


def test_it_holds_what_builds_and_tests_the_packages_and_nothing_else(packed) -> None:
    assert {path.parts[0] for path in packed} == TOPS
    strange = [path for path in packed if len(path.parts) > 1 and path.suffix not in SUFFIXES]
    assert strange == []


def test_it_holds_every_file_of_its_folders_that_is_not_ignored(packed, run) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: what it would have to hold is not on record")
    files = ("--cached", "--others", "--exclude-standard")
    # In a container the clone may belong to another user, and git then asks for this.
    listing = run("git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", *files, cwd=ROOT)
    kept = {PurePosixPath(name) for name in listing.split("\0") if name and (ROOT / name).exists()}
    assert packed - {PurePosixPath("PKG-INFO")} == {p for p in kept if p.parts[0] in TOPS}


def test_the_same_sources_make_the_same_bytes(distributions, build, tmp_path) -> None:
    again = build(tmp_path, TZ="Asia/Kathmandu", LC_ALL="C")
    assert again.sdist.read_bytes() == distributions.sdist.read_bytes()
    assert again.wheel.read_bytes() == distributions.wheel.read_bytes()
    with zipfile.ZipFile(again.wheel) as wheel:
        dates = {info.date_time[:3] for info in wheel.infolist()}
    assert dates == {(2026, 1, 1)}  # as asked for by the fixture, not those of the files
