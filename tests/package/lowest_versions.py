"""Print the lowest version that `pyproject.toml` allows of every direct dependency, as constraints.

``pip install -c`` with them installs these versions and no others, or fails where they do not go
together: a resolver that looks for the lowest versions would quietly pick higher ones.
"""

from __future__ import annotations

import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def lowest_versions() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = chain(project["dependencies"], *project["optional-dependencies"].values())
    requirements = [Requirement(each) for each in stated]
    return sorted(
        {
            f"{requirement.name}=={bound.version}"
            for requirement in requirements
            if requirement.name != project["name"]
            for bound in requirement.specifier
            if bound.operator == ">="
        }
    )


if __name__ == "__main__":
    print("\n".join(lowest_versions()))
