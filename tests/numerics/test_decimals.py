import decimal
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.decimals import rational_digits

FRACTIONS = st.builds(
    lambda n, k, e: Fraction(n, k) * Fraction(10) ** e,
    st.integers(-(10**30), 10**30),
    st.integers(1, 10**30),
    st.integers(-400, 400),
)


@given(FRACTIONS, st.integers(1, 60))
def test_the_two_directions_enclose_tightly(value: Fraction, digits: int) -> None:
    lower = Decimal(rational_digits(value, digits, rounding=decimal.ROUND_FLOOR))
    upper = Decimal(rational_digits(value, digits, rounding=decimal.ROUND_CEILING))
    assert Fraction(lower) <= value <= Fraction(upper)
    # One unit in the last of `digits` digits, at the larger of two neighbouring magnitudes.
    assert Fraction(upper) - Fraction(lower) <= abs(value) * Fraction(10) ** (1 - digits)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 8), "0.125000"),
        (Fraction(-1, 3), "-0.333333"),
        (Fraction(2, 3), "0.666667"),
        (Fraction(1, 10**6), "0.00000100000"),
        (Fraction(1, 10**7), "1.00000e-7"),
        (Fraction(123456789), "123457000"),
        (Fraction(10) ** 20, "100000000000000000000"),
        (Fraction(10) ** 21, "1.00000e21"),
        (Fraction(9999999, 10**7), "1.00000"),
        (Fraction(-2, 3) / Fraction(10) ** 5000, "-6.66667e-5001"),
    ],
)
def test_form(value: Fraction, text: str) -> None:
    assert rational_digits(value, 6) == text
    assert Decimal(text).is_finite()
