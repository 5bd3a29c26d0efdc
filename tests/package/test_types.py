"""What a user's mypy sees: mypy --strict, the wheel, and none of the project's own stubs."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.package

# A user's module. What mypy finds of a line must match the pattern behind `#:` on it.
PROJECT = r"""
import numpy as np
from hypothesis import given

from derivations.catalogue import load
from numerics.attention_maps import pointwise
from numerics.balls.certificate import certify_step
from numerics.one_step import one_step
from numerics.population import gradient
from verify.claim import Cell, Claim, Profile, conclude
from verify.claims import find_claim
from verify.instances.instance import Instance
from verify.seeds import Streams
from verify.testing.strategies import instance_at, instances

TANH = pointwise(
    "tanh", "Tanh attention", value=np.tanh, derivative=lambda s: 1 - np.tanh(s) ** 2, odd=True
)
pointwise("tanh", "Tanh attention", value="np.tanh", derivative=np.cos)  #: error: .*arg-type


@given(instances(max_d=5))
def test_step(instance: Instance) -> None:
    step = one_step(instance.V, instance.theta, instance.support, 1.0)
    reveal_type(instance.V)  #: note: .*ndarray\[.*float64
    reveal_type(step)  #: note: .*"numerics\.one_step\.OneStep"
    reveal_type(step.gamma)  #: note: .*ndarray\[.*float64
    one_step(instance.V, instance.theta, "ab", 1.0)  #: error: .*arg-type
    step.gama  #: error: .*attr-defined


@given(instances(law=3))  #: error: .*arg-type
def test_wrong(instance: Instance) -> None: ...


def cells(profile: Profile) -> tuple[Cell, ...]:
    return find_claim("zero-start").cells(profile)


CLAIM = Claim(id="mine", title="t", statement="s", source="ours", cells=cells)
Claim(id="mine", title="t", statement="s", source="ours", cells=3)  #: error: .*arg-type
reveal_type(CLAIM.cells("quick")[0].check(Streams(0, "mine")))  #: note: .*Evidence"
CLAIM.cells("quickly")  #: error: .*arg-type
conclude([1])  #: error: .*list-item

reveal_type(load("moments"))  #: note: .*"derivations\.proof\.ledger\.Derivation"
reveal_type(load("moments").steps)  #: note: .*tuple\[derivations\.proof\.ledger\.Step, \.\.\.\]
load(3)  #: error: .*arg-type
drawn = instance_at(d=5, m=3, seed=7, support=(1, 0))
found = gradient(drawn.V, drawn.theta, drawn.theta_tilde, drawn.support)
reveal_type(found.loss)  #: note: .*"float"
reveal_type(certify_step)  #: note: .* -> numerics\.balls\.certificate\.StepCertificate"
reveal_type(drawn.support)  #: note: .*tuple\[int, int\]
"""


# Every public name of an installed package, to be revealed. What it prints is a module.
EVERY_NAME = """
import importlib, pkgutil
for package in ("numerics", "verify"):
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, package + "."):
        if not module.name.endswith("__main__"):
            print(f"import {module.name}")
            for name in getattr(importlib.import_module(module.name), "__all__", ()):
                print(f"reveal_type({module.name}.{name})")
"""

OF_ANY_TYPE = {
    # mpmath ships no types.
    "numerics.multiprecision.model.population_loss",
    # One layer in the arithmetic of NumPy and of JAX: their arrays have no type in common.
    "numerics.transformer.gradient.library_attention",
    "numerics.transformer.layer.Array",
    "numerics.transformer.layer.attention",
    "numerics.transformer.layer.population_loss",
    "numerics.transformer.layer.predict",
    # A JSON document may be anything.
    "verify.files.strict_json.parse_json",
    "verify.files.strict_json.read_json",
}


def complaints(out: str) -> dict[int, str]:
    """Return what mypy says of each line: the kind, the message and its code."""
    found = re.findall(r"(?m)^\w+\.py:(\d+): ((?:error|note): .*)$", out)
    return {int(number): text for number, text in found}


def test_a_users_mypy_sees_the_types(installed, run, tmp_path) -> None:
    (tmp_path / "project.py").write_text(PROJECT)
    out = run(installed, "-m", "mypy", "--strict", "project.py", cwd=tmp_path, code=1)
    said = complaints(out)
    expected = {
        number: line.partition("#: ")[2]
        for number, line in enumerate(PROJECT.split("\n"), start=1)
        if "#: " in line
    }
    assert said.keys() == expected.keys(), out
    for number, pattern in expected.items():
        assert re.match(pattern, said[number]), said[number]


def test_no_public_name_is_of_any_type(installed, run, tmp_path) -> None:
    """But for SymPy's expressions: it ships no types, so the derivations are left out here."""
    module = run(installed, "-c", EVERY_NAME, cwd=tmp_path)
    (tmp_path / "names.py").write_text(module)
    out = run(installed, "-m", "mypy", "--strict", "names.py", cwd=tmp_path)
    lines = module.splitlines()
    loose = {
        lines[number - 1].removeprefix("reveal_type(").removesuffix(")")
        for number, text in complaints(out).items()
        if re.search(r'(is "| -> )Any"$', text)
    }
    assert len(complaints(out)) > 500
    assert loose == OF_ANY_TYPE
