"""The examples of docs/attention-maps.md, run as they are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "attention-maps.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
CONSOLE = [text for language, text in BLOCKS if language == "console"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with the page's own module, the first block, in it."""
    (tmp_path / "my_maps.py").write_text(PYTHON[0])
    return tmp_path


def run(command: str | list[str], folder: Path) -> str:
    tools = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    found = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


def test_the_page_has_the_examples_it_promises() -> None:
    assert (len(PYTHON), len(CONSOLE)) == (4, 1)
    assert len([line for line in PYTHON[0].splitlines() if line]) <= 10


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_a_block_of_python_runs(folder: Path, number: int) -> None:
    (folder / "example.py").write_text(PYTHON[number])
    assert run([sys.executable, "-W", "error", "example.py"], folder) == ""


@pytest.mark.parametrize("block", CONSOLE)
def test_a_command_prints_what_is_printed(folder: Path, block: str) -> None:
    prompt, _, printed = block.partition("\n")
    assert prompt.startswith("$ xorverify ")
    assert run(prompt.removeprefix("$ "), folder) == printed


@pytest.mark.parametrize("attribute", ["TANH", "COLD"])
def test_the_maps_pass_the_trial(folder: Path, attribute: str) -> None:
    (folder / "my_maps.py").write_text(PYTHON[0] + PYTHON[3])
    code = (
        f"from numerics.attention_maps import find_map; print(find_map('my_maps:{attribute}').name)"
    )
    assert run([sys.executable, "-c", code], folder) == f"{attribute.lower()}\n"
