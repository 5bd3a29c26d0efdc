import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Delta, Z, a, b, gamma, omega
from derivations.proof.identities import require_equal, residue
from derivations.proof.refusal import CheckError, require


def test_rational_identities_of_sums_are_decided():
    x, y = PowerSum(gamma**2), Entry(gamma, a)
    assert residue((x**2 - y**2) / (x - y), x + y) == 0
    assert residue(1 / x + 1 / y, (x + y) / (x * y)) == 0
    assert residue(x, y) != 0
    assert residue(Entry(gamma, a), Entry(gamma, b)) != 0


def test_hyperbolic_functions_are_exponentials():
    assert residue(sp.cosh(Delta) ** 2 - sp.sinh(Delta) ** 2, 1) == 0
    assert residue(2 * sp.cosh(Delta), sp.exp(Delta) + sp.exp(-Delta)) == 0
    assert residue(2 * sp.cosh(2 * Delta) + 2, (sp.exp(Delta) + sp.exp(-Delta)) ** 2) == 0
    assert residue(sp.cosh(Delta), sp.sinh(Delta)) != 0
    assert residue(sp.exp(2 * Z) - 1, (sp.exp(Z) - 1) * (sp.exp(Z) + 1)) == 0
    assert residue(sp.exp(Z), sp.exp(Delta)) != 0


def test_failures_say_what_is_left():
    with pytest.raises(CheckError, match=r"L and M differ by a multiple of -2\*omega"):
        require_equal(Z, Z + 2 * omega, "L and M")
    with pytest.raises(CheckError, match="no integer power"):
        require_equal(sp.exp(Z * omega), sp.exp(omega))
    with pytest.raises(CheckError, match="why"):
        require(False, "why")
