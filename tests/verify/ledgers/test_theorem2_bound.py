"""The ledger's bound and the kernel's are the same, and no constant of the ledger is idle."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from derivations import theorem2 as ledger
from derivations.catalogue import load
from derivations.population_step import constants as bound_constants
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.converse import failure_lower
from numerics.balls.bounds.theorem2 import failure_events
from numerics.balls.bounds.theorem2_search import best_budget, best_converse_budget
from verify.ledgers.theorem2_bound import ledger_lower, ledger_upper

D, M = 10**6, 64
SCALE, TOLERANCE = Fraction(3000), Fraction(1, 100)

LEDGERS = ("one_step", "score_bounds", "theorem2", "converse")
CONSTANTS = {constant.name for name in LEDGERS for constant in load(name).constants}

# Lower ends of maxima that the upper ends decide, here and at every budget worth having.
UNSEEN = {"Z_2_low", "kappa_low", "K_low", "M_low"}
CONVERSE = {"c_down", "p_scores", "g_rho", "t_prime", "t_second", "a_square", "E_W", "E_3"}
CONVERSE |= {"failure_lower"}


@pytest.fixture(scope="module")
def budget():
    """A budget with few slices and cells."""
    found = best_budget(D, M, scale=SCALE, tolerance=TOLERANCE)
    ends, cells = found.slices, found.cells
    return replace(
        found, slices=(ends[0], *ends[1:-1:8], ends[-1]), cells=(*cells[:-1:21], cells[-1])
    )


@pytest.fixture(scope="module")
def kernel(budget):
    with working_precision(192):
        events = failure_events(D, M, budget, scale=SCALE, tolerance=TOLERANCE)
        return {(event.name, event.head): event.probability for event in events}


@pytest.fixture(scope="module")
def converse():
    return best_converse_budget(D, M)


def differing(kernel, budget, scale=SCALE) -> set:
    with working_precision(128):
        found = ledger_upper(D, M, budget, scale=scale, tolerance=TOLERANCE)
        assert set(found.events) == set(kernel)
        wrong = {key for key, ball in found.events.items() if not ball.overlaps(kernel[key])}
        total = sum(kernel.values())
        return wrong if found.total.overlaps(total) else {*wrong, "total"}


def test_all_events_agree(kernel, budget) -> None:
    assert differing(kernel, budget) == set()


def test_all_events_agree_as_the_step_grows(budget) -> None:
    with working_precision(192):
        events = failure_events(D, M, budget, scale=None, tolerance=TOLERANCE)
    at_limit = {(event.name, event.head): event.probability for event in events}
    assert differing(at_limit, budget, scale=None) == set()


def test_the_lower_bounds_agree(converse) -> None:
    with working_precision(192):
        right = failure_lower(D, M, converse)
    assert right > 0
    with working_precision(128):
        assert ledger_lower(D, M, converse).overlaps(right)


def perturbed(name: str):
    return bound_constants.CONSTANTS[name] * (1 + sp.Rational(1, 2**40))


@pytest.mark.parametrize("name", sorted(CONSTANTS - UNSEEN - CONVERSE))
def test_a_changed_constant_shows(monkeypatch, kernel, budget, name: str) -> None:
    monkeypatch.setitem(bound_constants.CONSTANTS, name, perturbed(name))
    assert differing(kernel, budget)


@pytest.mark.parametrize("name", sorted(CONVERSE))
def test_a_changed_constant_shows_from_below(monkeypatch, converse, name: str) -> None:
    with working_precision(192):
        right = failure_lower(D, M, converse)
    monkeypatch.setitem(bound_constants.CONSTANTS, name, perturbed(name))
    with working_precision(128):
        assert not ledger_lower(D, M, converse).overlaps(right)


@pytest.mark.parametrize("i", range(len(ledger.EVENTS)))
def test_a_dropped_event_shows(monkeypatch, kernel, budget, i: int) -> None:
    monkeypatch.setattr(ledger, "EVENTS", ledger.EVENTS[:i] + ledger.EVENTS[i + 1 :])
    with working_precision(128):
        found = ledger_upper(D, M, budget, scale=SCALE, tolerance=TOLERANCE)
    assert set(found.events) < set(kernel)
