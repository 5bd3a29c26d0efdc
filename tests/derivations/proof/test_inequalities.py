import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Delta, Z, a, alpha, eta, gamma, i, t, x
from derivations.proof.inequalities import (
    is_nonnegative,
    is_positive,
    require_above,
    require_at_least,
)
from derivations.proof.refusal import CheckError

s, w = sp.symbols("s w", nonnegative=True)
y = sp.Symbol("y", real=True)
z = sp.Symbol("z")


@pytest.mark.parametrize(
    ("expr", "nonnegative", "positive"),
    [
        (sp.S.Zero, True, False),
        (sp.Rational(1, 3), True, True),
        (sp.Rational(-1, 3), False, False),
        (s, True, False),
        (eta, True, True),
        (y, False, False),
        (-s, False, False),
        (s + 1, True, True),
        (s - 1, False, False),
        (1 - y, False, False),
        (s * (w + 2), True, False),
        (s * y, False, False),
        (-s * -w, True, False),
        ((s - w) ** 2, True, False),
        ((s - w) ** 3, False, False),
        (z**2, False, False),
        (s * (y + 1) ** 2 + eta, True, True),
        (s**3 / Z, True, False),
        (Z / eta**2, True, True),
        (1 / s, False, False),
        (y**-2, False, False),
        (Entry(gamma, a) + alpha, True, True),
        (Entry(x, i), False, False),
        (Entry(x, i) ** 2, True, False),
        (Entry(t, a) * Entry(gamma, a), False, False),
        (PowerSum(gamma), False, False),
        (sp.exp(Delta), False, False),
        (gamma, False, False),
        (a, False, False),
        (sp.nan, False, False),
        (sp.zoo, False, False),
        (sp.sqrt(2), False, False),
    ],
)
def test_signs_are_read_off_or_not_known(expr, nonnegative, positive):
    assert (is_nonnegative(expr), is_positive(expr)) == (nonnegative, positive)


def test_a_margin_proves_an_inequality():
    u, v = sp.symbols("u v", real=True)
    named = {s: v - u, w: 1 - v}
    require_at_least((1 - u) ** 2, (1 - v) ** 2, s * (s + 2 * w), "squares", slacks=named)
    require_above(y**2 + 1, 2 * y - 1, (y - 1) ** 2 + 1, "a parabola and a line")


@pytest.mark.parametrize(
    ("left", "right", "margin", "message"),
    [
        (y**2, 2 * y, (y - 1) ** 2, "difference, margin differ"),
        (y**2, y, y**2 - y, "not seen to be nonnegative"),
        (s, w, s - w, "not seen to be nonnegative"),
        (w, s, -s + w, "not seen to be nonnegative"),
    ],
)
def test_no_other_margin_does(left, right, margin, message):
    with pytest.raises(CheckError, match=f"^sides: .*{message}"):
        require_at_least(left, right, margin, "sides")


def test_above_needs_more_than_at_least():
    require_at_least(s + w, w, s, "sides")
    with pytest.raises(CheckError, match="not seen to be positive"):
        require_above(s + w, w, s, "sides")
