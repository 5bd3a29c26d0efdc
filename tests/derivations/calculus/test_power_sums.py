import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit, density, is_scalar
from derivations.notation import E, Z, a, b, d, gamma, gamma_tilde, i, k, t, u


def test_empty_product_counts_the_positions():
    assert PowerSum(sp.S.One) == d
    assert PowerSum(sp.Integer(3) * Z) == 3 * Z * d
    assert PowerSum(sp.S.Zero) == 0


def test_sums_are_linear_and_scalars_leave_them():
    norm = PowerSum(gamma**2)
    assert PowerSum(norm * gamma + 2 * gamma_tilde) == norm * PowerSum(gamma) + 2 * PowerSum(
        gamma_tilde
    )
    assert PowerSum((gamma + gamma_tilde) ** 2) == norm + 2 * PowerSum(
        gamma * gamma_tilde
    ) + PowerSum(gamma_tilde**2)


def test_indicators_pick_entries():
    assert PowerSum(Unit(a) * gamma**2 * gamma_tilde) == Entry(gamma, a) ** 2 * Entry(
        gamma_tilde, a
    )
    assert PowerSum(Unit(a)) == 1
    assert PowerSum(Unit(a) ** 3 * gamma) == Entry(gamma, a)
    assert PowerSum(Unit(a) * Unit(b) * gamma) == 0
    assert PowerSum(Unit(a) * Unit(i)) == sp.KroneckerDelta(a, i)
    assert Entry(Unit(a), a) == 1
    assert Entry(Unit(a), b) == 0
    assert Entry(Unit(i), k) == sp.KroneckerDelta(i, k)


def test_cancelling_sequences_leave_the_number_of_positions():
    assert PowerSum(gamma * gamma_tilde).xreplace({gamma: E / Z, gamma_tilde: 1 / (E * Z)}) == (
        d / Z**2
    )


def test_substitution_reaches_into_sums():
    assert (
        PowerSum(gamma**2 * t).xreplace({gamma: E / PowerSum(E)})
        == PowerSum(E**2 * t) / PowerSum(E) ** 2
    )
    assert Entry(gamma, i).xreplace({i: a}) == Entry(gamma, a)


def test_sympy_may_not_differentiate_by_a_sequence():
    for expr in (PowerSum(gamma**2), Entry(gamma, a), Z * PowerSum(gamma)):
        with pytest.raises(TypeError, match="not a scalar"):
            sp.diff(expr, gamma)
    assert sp.diff(Z * PowerSum(gamma), Z) == PowerSum(gamma)


@pytest.mark.parametrize(
    "summand", [sp.sqrt(gamma), 1 / (1 + gamma), sp.exp(gamma), gamma**Z, 1 / Unit(a)]
)
def test_only_polynomials_can_be_summed(summand):
    with pytest.raises(ValueError, match=r"^sequence="):
        PowerSum(summand)


def test_a_sum_is_a_scalar_and_a_sequence_is_not():
    assert is_scalar(PowerSum(gamma) + Entry(gamma, a) * Z)
    assert not is_scalar(PowerSum(gamma) * gamma)
    assert not is_scalar(Unit(a))


def test_density_represents_a_linear_form():
    form = 3 * PowerSum(gamma * u) * PowerSum(gamma) - Z * Entry(u, a)
    assert density(form, u) == 3 * PowerSum(gamma) * gamma - Z * Unit(a)
    assert PowerSum(density(form, u) * u) == form


@pytest.mark.parametrize(
    "form", [PowerSum(u**2), PowerSum(u) ** 2, PowerSum(u) * Entry(u, a), Z + PowerSum(u)]
)
def test_density_refuses_what_is_not_linear(form):
    with pytest.raises(ValueError, match="not linear in u"):
        density(form, u)
