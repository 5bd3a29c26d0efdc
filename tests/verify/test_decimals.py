from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from verify.decimals import parse_choice, parse_decimal, parse_integer, parse_positive


def test_a_tenth_is_a_tenth() -> None:
    assert parse_decimal("eta", "0.1").value == Fraction(1, 10)


@pytest.mark.parametrize("text", ["1", "+1", "-0.5", "1e6", "1E-3", "-1e-3", "00.10e+2"])
def test_decimals_are_read_exactly_and_echoed(text: str) -> None:
    number = parse_decimal("eta", text)
    assert str(number) == text
    assert number.value == Fraction(Decimal(text))


@pytest.mark.parametrize(
    "text",
    [
        *("", " 1", "1 ", "nan", "inf", "-inf", "1.", ".5", "1e", "0x1", "1_000", "1/3", "1 +/- 2"),
        *("1e99999", "1e9999999", "١"),
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^eta="):
        parse_decimal("eta", text)


@given(st.fractions(), st.integers(-300, 300))
def test_any_finite_decimal_is_read_exactly(value: Fraction, exponent: int) -> None:
    text = f"{value.numerator}.{value.denominator}e{exponent}"
    assert parse_decimal("eta", text).value == Fraction(Decimal(text))


@pytest.mark.parametrize(("text", "value"), [("1000000", 10**6), ("1e6", 10**6), ("2.50e1", 25)])
def test_integers_may_carry_an_exponent(text: str, value: int) -> None:
    assert parse_integer("d", text, least=2) == value


@pytest.mark.parametrize("text", ["1", "2.5", "1e-1", "nan", "-3", "1e30", "1e9999", "x"])
def test_what_is_no_integer_in_range_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^d="):
        parse_integer("d", text, least=2)


@pytest.mark.parametrize("text", ["0", "-1e-3", "0e5"])
def test_positive_means_positive(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="must be positive"):
        parse_positive("eta", text)


def test_a_choice_names_the_others() -> None:
    with pytest.raises(InvalidArgumentError, match="profile=fast: must be one of quick, full"):
        parse_choice("profile", "fast", ("quick", "full"))


def test_a_very_long_number_is_refused_and_shown_short() -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        parse_decimal("eta", "9" * 10**6)
    assert len(str(refusal.value)) < 400
