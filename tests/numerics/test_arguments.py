from __future__ import annotations

import numpy as np
import pytest

from numerics.arguments import (
    InvalidArgumentError,
    abridged,
    check_support,
    embedding_matrix,
    finite_array,
    finite_float,
    integer_at_least,
    probability_vector,
    row_blocks,
    sign_array,
    suggestion,
)


def refusal(function, *arguments):
    with pytest.raises(InvalidArgumentError) as caught:
        function(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("value", [True, 2.0, "3", None, 1 + 0j, np.float64(2)])
def test_integer_refuses_what_is_no_integer(value):
    assert refusal(integer_at_least, "d", value, 2) == f"d={value}: must be an integer >= 2"


def test_integer_accepts_numpy_integers_and_refuses_small_ones():
    assert integer_at_least("d", np.int8(5), 2) == 5
    assert refusal(integer_at_least, "d", 1, 2) == "d=1: must be an integer >= 2"


@pytest.mark.parametrize("value", ["1", True, float("nan"), float("inf"), 10**400, None, 1j])
def test_float_refuses_what_is_not_finite_and_real(value):
    assert refusal(finite_float, "eta", value).endswith(": must be a finite real number")


def test_array_names_the_first_bad_entry():
    V = np.ones((5, 8))
    V[3, 7] = V[4, 0] = np.nan
    assert refusal(finite_array, "V", V, 2) == "V[3, 7]=nan: must be finite"
    V[1, 2] = -np.inf
    assert refusal(finite_array, "V", V, 2) == "V[1, 2]=-inf: must be finite"
    assert refusal(finite_array, "theta", [0.0, np.inf], 1) == "theta[1]=inf: must be finite"


def test_array_finds_a_bad_entry_beyond_the_first_block_and_in_any_layout():
    V = np.zeros((2_000_000, 2))
    V[1_234_567, 1] = np.nan
    assert refusal(finite_array, "V", V, 2) == "V[1234567, 1]=nan: must be finite"
    F = np.asfortranarray(np.zeros((4, 3)))
    F[2, 1] = np.inf
    assert refusal(finite_array, "V", F, 2) == "V[2, 1]=inf: must be finite"


def test_array_accepts_finite_entries_whose_squares_overflow():
    V = np.full((3, 2), 1e300)
    assert finite_array("V", V, 2) is V


def test_array_is_not_copied_when_binary64_and_widened_when_narrower():
    V = np.random.default_rng(0).standard_normal((4, 3))
    assert finite_array("V", V, 2) is V
    narrow = V.astype(np.float32)
    assert np.array_equal(finite_array("V", narrow, 2), narrow.astype(np.float64))
    assert finite_array("V", [[1, 2], [3, 4]], 2).dtype == np.float64


@pytest.mark.parametrize(
    "value",
    [
        np.array([1j]),
        np.array(["1"]),
        np.array([1], dtype=object),
        np.array([True]),
        np.array([1], dtype=np.longdouble),
        [[1.0], [1.0, 2.0]],
        [10**30],
    ],
)
def test_array_refuses_other_kinds(value):
    assert refusal(finite_array, "theta", value, 1).startswith("theta=")


def test_array_accepts_only_integers_exact_in_binary64():
    assert finite_array("theta", [2**53 + 2], 1)[0] == 2.0**53 + 2
    message = refusal(finite_array, "theta", [0, 2**53 + 1], 1)
    assert message == "theta[1]=9007199254740993: is not exact in binary64"


def test_a_single_integer_is_an_array_without_axes():
    assert finite_array("eta", np.array(1000), 0) == np.array(1000.0)
    message = refusal(finite_array, "eta", np.array(2**53 + 1), 0)
    assert message == "eta=9007199254740993: is not exact in binary64"
    # Rounds up to 2^64, which no 64-bit integer holds: a cast back would wrap.
    assert "not exact" in refusal(finite_array, "theta", np.array([2**64 - 1], dtype=np.uint64), 1)
    assert "not exact" in refusal(finite_array, "theta", np.array([2**63 - 1]), 1)


def test_array_refuses_a_wrong_number_of_axes():
    assert "must have 2 axes" in refusal(finite_array, "V", [1.0], 2)
    assert "at least 2 rows" in refusal(embedding_matrix, [[1.0]])


def test_row_blocks_cover_the_rows_once():
    assert [list(range(3))[block] for block in row_blocks(3, 1 << 20)] == [[0], [1], [2]]
    covered = [i for block in row_blocks(5000, 1000) for i in range(block.start, block.stop)]
    assert covered == list(range(5000))


def test_probability_vector_refuses_negative_and_unnormalised_mass():
    assert refusal(probability_vector, "gamma", [1.5, -0.5]) == "gamma[1]=-0.5: must be nonnegative"
    assert "must have total mass 1" in refusal(probability_vector, "gamma", [0.5, 0.6])
    assert "must have 3 entries" in refusal(probability_vector, "gamma", [0.5, 0.5], 3)
    assert "at least 2 entries" in refusal(probability_vector, "gamma", [1.0])


def test_signs_refuse_a_wrapped_minus_one():
    x = np.array([1, 255], dtype=np.uint8)
    assert refusal(sign_array, "x", x, 2) == "x[1]=255: must be -1 or +1"
    assert "must be integers" in refusal(sign_array, "x", [1.0, -1.0], 2)
    assert "must be (3,) or (n, 3)" in refusal(sign_array, "x", [1, -1], 3)


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ((3, 3), "support=(3, 3): the two positions must differ"),
        ((0, 4), "support=(0, 4): positions must be in 0..3"),
        ((0,), "support=(0,): must be two positions"),
        ((-1, 2), "support=-1: must be an integer >= 0"),
    ],
)
def test_support_refuses_what_is_no_pair(support, message):
    assert refusal(check_support, support, 4) == message


def test_what_a_refusal_shows_is_bounded() -> None:
    refusal = str(InvalidArgumentError("d" * 10**6, "1" * 10**6, "x" * 10**6))
    assert len(refusal) < 3000
    assert refusal.startswith("ddd")
    assert "(1000000 characters)" in refusal
    assert abridged("a" * 10 + "z", 10) == "aaaaa... (11 characters) ...aaz"
    assert abridged("a" * 10, 10) == "a" * 10


@pytest.mark.parametrize(
    ("name", "near"),
    [("sphre", "; did you mean sphere?"), ("levy", ""), ("", ""), ("sphere" * 10**5, "")],
)
def test_a_near_name_is_suggested(name: str, near: str) -> None:
    assert suggestion(name, ["sphere", "gaussian"]) == near
