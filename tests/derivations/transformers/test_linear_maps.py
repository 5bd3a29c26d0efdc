import pytest
import sympy as sp

from derivations.proof.refusal import CheckError
from derivations.transformers.linear_maps import LINE, gradient_by, identity, letter, require_same

A, B = letter("A", "H", "M"), letter("B", "H", "M")
u, v, w = letter("u", "M"), letter("v", "M"), letter("w", "H")
c = sp.Symbol("c")


def same(left, right):
    try:
        require_same(left, right, "both")
    except CheckError:
        return False
    return True


def test_products_and_sums_are_bilinear():
    assert same((A + B.times(2)) @ (u - v), A @ u - A @ v + (B @ u).times(2) - (B @ v).times(2))
    assert not same(A @ u, B @ u)
    assert not same(A @ u, A @ v)
    assert not same((A @ u).times(c), A @ u)


def test_the_order_of_letters_matters():
    square = letter("S", "M", "M")
    other = letter("T", "M", "M")
    assert not same(square @ other, other @ square)
    assert not same(square, square.T)


def test_a_number_commutes_and_is_its_own_transpose():
    assert same(u.T @ v, v.T @ u)
    assert same(u.T @ A.T @ w, w.T @ A @ u)
    assert same((A @ u) @ (v.T @ u), (A @ u) @ (u.T @ v))
    assert same(u @ v.T @ v @ u.T @ u, u @ (u.T @ u) @ (v.T @ v))
    assert not same(u @ v.T, v @ u.T)


def test_transposition_reverses():
    assert same((A @ u @ v.T).T, v @ u.T @ A.T)
    assert same(A.T.T, A)


@pytest.mark.parametrize("product", [lambda: A @ w, lambda: u @ v, lambda: A @ A, lambda: u.T @ w])
def test_products_that_no_sizes_allow(product):
    with pytest.raises(ValueError, match="spaces do not match"):
        product()


def test_sums_that_no_sizes_allow():
    with pytest.raises(ValueError, match=r"sum=u \+ w: the spaces do not match"):
        u + w


def test_rules_shorten_words_numbers_and_transposes():
    isometry = ((A.T @ A, identity("M")),)
    assert same((A @ A.T @ A @ u).under(isometry), A @ u)
    assert same((u.T @ A.T @ A @ v).under(isometry), u.T @ v)
    assert same((A @ A.T).under(isometry), A @ A.T)
    named = ((A @ u, w),)
    assert same((u.T @ A.T @ B).under(named), w.T @ B)
    assert same((A @ u @ (u.T @ A.T @ B @ v)).under(named), w @ (w.T @ B @ v))


def test_numbers_made_by_rules_are_put_in_order():
    renamed = ((w.T @ A, u.T),)
    assert same(((v.T @ v) @ (w.T @ A @ u)).under(renamed), (u.T @ u) @ (v.T @ v))


def test_rules_for_numbers():
    unit = ((u.T @ u, identity(LINE, c)),)
    assert same((A @ u @ u.T @ u).under(unit), (A @ u).times(c))
    assert same((A @ u @ u.T).under(unit), A @ u @ u.T)
    across = ((u.T @ v, identity(LINE, 0)),)
    assert same((A @ u @ (v.T @ u) + w).under(across), w)


def test_the_gradient_is_the_matrix_of_the_form():
    l, r = w, v
    assert same(gradient_by((l.T @ B @ r).times(c), B), (l @ r.T).times(c))
    assert same(gradient_by(r.T @ B.T @ l, B), l @ r.T)
    assert same(gradient_by((l.T @ B @ r) @ (u.T @ u), B), l @ (u.T @ u) @ r.T)
    # By a vector: the gradient of u.v by v is u.
    assert same(gradient_by(u.T @ v, v), u)


def test_the_gradient_in_entries():
    """<M, B> = l^T B r with explicit 2 x 3 matrices."""
    l, r = sp.Matrix([2, -1]), sp.Matrix([1, 4, 5])
    entries = sp.Matrix(2, 3, sp.symbols("b_0:6"))
    form = (l.T * entries * r)[0]
    assert sp.Matrix(2, 3, [sp.diff(form, entry) for entry in entries]) == l * r.T


@pytest.mark.parametrize(
    "form", [u.T @ v, (w.T @ B @ u) @ (w.T @ B @ v), w.T @ B @ v + u.T @ u, u.T @ B.T @ B @ v]
)
def test_only_linear_forms_have_a_matrix(form):
    with pytest.raises(ValueError, match="not linear in B"):
        gradient_by(form, B)


def test_the_failure_shows_what_is_left():
    with pytest.raises(CheckError, match=r"both differ by A u - 2 w"):
        require_same(A @ u, w.times(2), "both")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (A @ u - w.times(c), "A u - c w"),
        (u.T @ A.T @ w, r"(u^{\top} A^{\top} w)"),
        (w.times(c + 1), "(1 + c) w"),
        (w - w, "0"),
        (letter(r"\nabla L", "M").T, r"(\nabla L)^{\top}"),
        (identity(LINE, c), "c"),
    ],
)
def test_latex(expression, expected):
    assert expression.latex() == expected
