import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.gradient import gradient_along, gradient_along_tilde
from derivations.notation import a, b, d, t
from derivations.population import loss
from derivations.zero import at_zero


def test_loss_at_zero():
    assert at_zero(loss()) == 1 - d**-2 - 2 * d**-3


@pytest.mark.parametrize("gradient", [gradient_along, gradient_along_tilde])
def test_gradient_at_zero(gradient):
    expected = -2 / d**2 * (Entry(t, a) + Entry(t, b) - 2 * PowerSum(t) / d)
    assert sp.expand(at_zero(gradient()) - expected) == 0
