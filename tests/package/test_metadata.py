"""What the wheel says of itself, and that it agrees with the rest of the project."""

from __future__ import annotations

import email
import email.message
import email.policy
import re
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def entries(distributions) -> dict[str, str]:
    """The files of the wheel's `.dist-info`, by name."""
    with zipfile.ZipFile(distributions.wheel) as archive:
        return {
            name.partition(".dist-info/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }


@pytest.fixture(scope="module")
def metadata(entries) -> email.message.Message:
    return email.message_from_string(entries["METADATA"], policy=email.policy.compat32)


def test_name_and_version_are_those_that_a_paper_cites(metadata, distributions) -> None:
    (cited,) = re.findall(r"(?m)^version: (\S+)$", (ROOT / "CITATION.cff").read_text())
    assert (metadata["Name"], metadata["Version"]) == ("xorverify", cited)
    assert f"  version = {{{cited}}}," in (ROOT / "README.md").read_text()
    assert distributions.wheel.name == f"xorverify-{cited}-py3-none-any.whl"


def test_the_license_goes_along(metadata, entries) -> None:
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert entries["licenses/LICENSE"] == (ROOT / "LICENSE").read_text()


def test_the_pythons_named_are_those_that_the_suite_runs_on(metadata) -> None:
    (tried,) = re.findall(r"(?m)^PYTHONS = \((.*)\)$", (ROOT / "noxfile.py").read_text())
    pythons = re.findall(r'"(3\.\d+)"', tried)
    classifiers = metadata.get_all("Classifier")
    prefix = "Programming Language :: Python :: "
    assert [each.removeprefix(prefix) for each in classifiers if each.startswith(prefix)] == pythons
    assert metadata["Requires-Python"] == f">={pythons[0]}"
    assert "Typing :: Typed" in classifiers


def test_the_program_is_installed_under_its_name(entries) -> None:
    assert entries["entry_points.txt"].split("\n")[:2] == [
        "[console_scripts]",
        "xorverify = verify.__main__:main",
    ]


def test_the_page_of_the_package_is_the_readme(metadata) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip() == (ROOT / "README.md").read_text().strip()


def test_every_dependency_has_both_bounds(metadata) -> None:
    """A lower one, tried by `nox -s oldest`, and an upper one: a new major may break anything."""
    for requirement in metadata.get_all("Requires-Dist"):
        if not requirement.startswith("xorverify["):
            assert re.match(r"[\w-]+<[\w.]+,>=[\w.]+(;|$)", requirement), requirement
