import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from verify.decimals import parse_decimal
from verify.sweep.kinds import KINDS
from verify.sweep.parameters import Values, canonical, choice, integer, plain, positive

RESERVED = {"cell", "trial", "error"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", "0.1"),
        ("0.10", "0.1"),
        ("1e-1", "0.1"),
        ("+1.000E+3", "1000"),
        ("1000", "1000"),
        ("1e-7", "1e-7"),
        ("0.0000001", "1e-7"),
        ("1e21", "1e+21"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
    ],
)
def test_a_number_has_one_canonical_text(text: str, expected: str) -> None:
    assert canonical(parse_decimal("x", text)) == expected


@given(st.integers(1, 10**40), st.integers(-60, 60), st.integers(0, 5))
def test_canonical_texts_are_equal_exactly_if_the_numbers_are(
    digits: int, exponent: int, zeros: int
) -> None:
    given_ = parse_decimal("x", f"{digits}e{exponent}")
    same = parse_decimal("x", f"{digits}{'0' * zeros}e{exponent - zeros}")
    other = parse_decimal("x", f"{digits + 1}e{exponent}")
    assert canonical(given_) == canonical(same) != canonical(other)
    assert parse_decimal("x", canonical(given_)).value == given_.value


def test_parameters_are_read_as_what_they_were_declared() -> None:
    values = Values(d=integer(least=2).parse("d", "1e3"), law="sphere")
    values["eta_scale"] = positive().parse("eta_scale", "0.1")
    assert values.integer("d") == 1000
    assert values.exact("eta_scale").value * 10 == 1
    assert values.name("law") == "sphere"
    assert copy.deepcopy(values) == values
    with pytest.raises(TypeError, match="law was declared as str, not int"):
        values.integer("law")


def test_plain_values_are_those_of_a_database() -> None:
    third = positive().parse("x", "0.3")
    assert [plain(value) for value in (3, "a", third)] == [3, "a", 0.3]


@pytest.mark.parametrize("text", ["1e400", "1e-400", "0", "-1"])
def test_a_positive_number_is_one_of_binary64(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="x="):
        positive().parse("x", text)


def test_a_choice_names_what_there_is() -> None:
    with pytest.raises(InvalidArgumentError, match="x=c: must be one of a, b"):
        choice(("a", "b")).parse("x", "c")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_columns_of_a_kind_have_different_names(kind) -> None:
    names = [*RESERVED, *kind.AXES, *kind.COLUMNS]
    assert len(set(names)) == len(names)
    assert set(kind.SHARES) <= set(kind.COLUMNS)
    assert set(kind.COLUMNS.values()) <= {"INTEGER", "REAL", "TEXT"}
    # Of every parameter that has a default, it is one that can be read.
    for name, parameter in {**kind.AXES, **kind.SETTINGS}.items():
        if parameter.default is not None:
            parameter.parse(name, parameter.default)
    assert not {"name", "kind", "trials", "seed"} & set(kind.SETTINGS)
