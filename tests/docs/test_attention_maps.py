"""What docs/attention-maps.md promises beyond its commands: ten lines, and maps that pass."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "attention-maps.md"
PYTHON = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


def test_a_map_takes_ten_lines() -> None:
    assert len([line for line in PYTHON[0].splitlines() if line]) <= 10


@pytest.mark.parametrize("attribute", ["TANH", "COLD"])
def test_the_maps_pass_the_trial(tmp_path: Path, attribute: str) -> None:
    (tmp_path / "my_maps.py").write_text(PYTHON[0] + PYTHON[3])
    code = (
        f"from numerics.attention_maps import find_map; print(find_map('my_maps:{attribute}').name)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout == f"{attribute.lower()}\n"
