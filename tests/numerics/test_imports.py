from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "mpmath", "sympy", "derivations", "verify")


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("numerics", set()),
        ("numerics.worst_case", {"numpy"}),
        ("numerics.one_step", {"numpy"}),
        ("numerics.attention_maps", {"numpy"}),
        ("numerics.training", {"numpy"}),
        ("numerics.embeddings", {"numpy"}),
        ("numerics.enumeration", {"numpy"}),
        ("numerics.binomial", {"numpy"}),
        ("numerics.sphere", {"numpy"}),
        ("numerics.multiprecision.gradient_digits", {"numpy", "mpmath"}),
    ],
)
def test_a_module_imports_what_it_uses_and_no_more(module, allowed):
    code = f"import sys, {module}; print(*(set({HEAVY}) & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert set(result.stdout.split()) <= allowed
