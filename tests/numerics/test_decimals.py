import decimal
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.decimals import dyadic_digits, rational_digits

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


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(-1, 8), 17, "-0.12500000000000000"),
        (Fraction(1, 8), 2, "0.12"),  # a tie goes to the even digit
        (Fraction(10**21 - 1), 21, "999999999999999999999"),
        (Fraction(123456), 9, "123456.000"),
        (Fraction(2, 3), 1, "0.7"),
        (Fraction(1, 3 * 10**9), 1, "3e-10"),
    ],
)
def test_form_at_other_lengths(value: Fraction, digits: int, text: str) -> None:
    assert rational_digits(value, digits) == text


@given(
    numerator=st.integers(-(10**30), 10**30).filter(bool),
    denominator=st.integers(1, 10**30),
    power=st.integers(-40, 40),
    digits=st.integers(1, 60),
)
def test_nearest_with_exactly_the_digits_asked_for(numerator, denominator, power, digits):
    x = Fraction(numerator, denominator) * Fraction(10) ** power
    text = rational_digits(x, digits)
    value = Fraction(Decimal(text))
    unit = Fraction(10) ** (Decimal(text).adjusted() - digits + 1)
    assert abs(value - x) <= unit / 2
    assert value / unit == int(value / unit)
    if "e" not in text and abs(x) < 1:
        assert len(text.split(".")[1].lstrip("0")) == digits
    inside = Fraction(1, 10**6) <= abs(value) < 10**21
    assert ("e" in text) != inside


@given(mantissa=st.integers(-(2**70), 2**70), exponent=st.integers(-300, 300))
def test_dyadic_is_rational(mantissa, exponent):
    x = mantissa * Fraction(2) ** exponent
    assert dyadic_digits(mantissa, exponent, 20) == rational_digits(x, 20)


def test_exponents_beyond_reach_of_exact_integers():
    # The two routes meet at 2^(+-131072); 2^10 steps across the seam are exact factors.
    for sign in (1, -1):
        inside = Decimal(dyadic_digits(3 << 10, sign * 131072, 30))
        outside = Decimal(dyadic_digits(3, sign * 131072 + 10, 30))
        assert inside == outside
    # 2^(10^17) = 10^(10^17 log10 2); log10 2 = 0.30102999566398119521...
    assert dyadic_digits(1, 10**17, 3).endswith("e30102999566398119")
    assert dyadic_digits(1, 10**300, 3) is None
    assert dyadic_digits(1, -(10**300), 3) is None


def test_refusals():
    with pytest.raises(InvalidArgumentError, match=r"^digits=0"):
        rational_digits(Fraction(1), 0)
