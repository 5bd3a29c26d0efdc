from dataclasses import replace

import pytest
import sympy as sp

from derivations.catalogue import load
from derivations.notation import LATEX
from derivations.population_step import constants as bound_constants
from derivations.population_step.constants import CONSTANTS, SAMPLE_CONSTANTS, value
from derivations.population_step.notation import CONSTANT_SYMBOLS

DERIVATIONS = ("one_step", "score_bounds", "theorem2", "converse", "corollary3")
ALL = {**CONSTANTS, **SAMPLE_CONSTANTS}
LOADED = {name: load(name) for name in DERIVATIONS}
OWNER = {
    constant.name: name for name in reversed(DERIVATIONS) for constant in LOADED[name].constants
}
"""The derivation that exports a constant, and proves it."""

OWNER.update(h="theorem2", q="theorem2")  # thresholds whose events are there


def _fails(name):
    """Whether a step of the constant's derivation fails; those that speak of it come first."""
    derivation = LOADED[OWNER[name]]
    steps = sorted(derivation.steps, key=lambda step: LATEX[name] not in step.statement)
    one_by_one = (replace(derivation, steps=(step,)) for step in steps)
    return any(result.failed for single in one_by_one for result in single.check())


def _replace(monkeypatch, name, wrong):
    tables = (bound_constants.CONSTANTS, bound_constants.SAMPLE_CONSTANTS)
    (table,) = (each for each in tables if name in each)
    monkeypatch.setitem(table, name, wrong)


def test_every_constant_belongs_to_a_derivation_once():
    exported = [constant.name for name in DERIVATIONS for constant in LOADED[name].constants]
    assert sorted(exported) == sorted((*CONSTANTS, *SAMPLE_CONSTANTS))


def test_constants_are_defined_before_they_are_used():
    known = {"h", "q"}
    given = {symbol: name for name, symbol in CONSTANT_SYMBOLS.items()}
    # Functions of rho, and sums over slices and cells, are read where they are used.
    known |= {"g_zero", "g_rho_0"}
    for name, formula in ALL.items():
        used = {given[symbol] for symbol in formula.free_symbols if symbol in given}
        assert used <= known, f"{name} uses {used - known}"
        known.add(name)


def test_a_constant_has_the_latex_of_its_symbol():
    for name in DERIVATIONS:
        for constant in LOADED[name].constants:
            assert constant.left == LATEX[constant.name]
            assert constant.right == value(constant.name)


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_factor_does_not_pass(monkeypatch, name):
    _replace(monkeypatch, name, value(name) * sp.Rational(11, 10))
    assert _fails(name)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_other_wrong_constants_do_not_pass(monkeypatch, name):
    right = value(name)
    for wrong in (-right, right * sp.Rational(99, 100), right + sp.Rational(1, 1000), right - 1):
        _replace(monkeypatch, name, wrong)
        assert _fails(name), f"{name} = {wrong}"


def test_the_right_constants_pass():
    for name in DERIVATIONS:
        assert not any(result.failed for result in load(name).check())
