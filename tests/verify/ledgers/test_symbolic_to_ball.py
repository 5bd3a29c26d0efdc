from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb

from numerics.balls.arithmetic.exact import from_fraction, lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from verify.ledgers.symbolic_to_ball import evaluate_in_balls, evaluate_real_in_balls, real_in_balls

X, Y = sp.symbols("x y", real=True)

# From 0 to 2 and from 1 to 5; a radius of a ball is stored a little too large.
LOW, HIGH = arb(1, 1), arb(3, 2)
STORED = Fraction(1, 2**24)


def ends(x: arb) -> tuple[Fraction, Fraction]:
    lower, upper = lower_end(x), upper_end(x)
    assert lower is not None
    assert upper is not None
    return lower, upper


def assert_ends(x: arb, lower: int, upper: int) -> None:
    found = ends(x)
    assert found[0] <= lower <= found[0] + STORED
    assert found[1] - STORED <= upper <= found[1]


@pytest.mark.parametrize("swapped", [False, True])
def test_the_maximum_of_overlapping_balls_reaches_from_the_larger_low_end_to_the_larger_high_one(
    swapped: bool,
) -> None:
    at = {"x": HIGH, "y": LOW} if swapped else {"x": LOW, "y": HIGH}
    assert_ends(real_in_balls(sp.Max(X, Y), at), 1, 5)
    assert_ends(real_in_balls(sp.Min(X, Y), at), 0, 2)


@pytest.mark.parametrize(
    ("x", "lower", "upper"),
    [(arb(1, 3), 0, 4), (arb(-1, 3), 0, 4), (arb(3, 1), 2, 4), (arb(-3, 1), 2, 4)],
)
def test_the_absolute_value_of_a_ball(x: arb, lower: int, upper: int) -> None:
    assert_ends(real_in_balls(sp.Abs(X), {"x": x}), lower, upper)


@pytest.mark.parametrize("other", [arb.nan(), arb.pos_inf(), arb(0, arb.pos_inf())])
def test_a_maximum_with_what_is_not_finite_is_not_finite(other: arb) -> None:
    assert not real_in_balls(sp.Max(X, Y), {"x": arb(1), "y": other}).is_finite()
    assert not real_in_balls(sp.Max(X, Y), {"x": other, "y": arb(1)}).is_finite()


@pytest.mark.parametrize(
    "of_x", [sp.sqrt(X), sp.log(X), X ** sp.Rational(1, 4), X ** sp.Rational(1, 3)]
)
@pytest.mark.parametrize("made_of_it", [lambda f: f, lambda f: 1 / f, lambda f: sp.Max(f, 0) + 1])
def test_a_function_beyond_its_domain_is_not_finite_and_stays_so(of_x, made_of_it) -> None:
    partly_negative = {"x": arb(1, 2)}
    assert not real_in_balls(made_of_it(of_x), partly_negative).is_finite()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.exp(X) + 1 / X, lambda x: mpmath.exp(x) + 1 / x),
        (sp.cosh(X) * sp.sinh(2 * X), lambda x: mpmath.cosh(x) * mpmath.sinh(2 * x)),
        (sp.atan(X) / sp.pi, lambda x: mpmath.atan(x) / mpmath.pi),
        (sp.gamma(X + sp.Rational(1, 2)), lambda x: mpmath.gamma(x + 0.5)),
        (sp.log(X) * sp.sqrt(X), lambda x: mpmath.log(x) * mpmath.sqrt(x)),
        (X ** sp.Rational(3, 4), lambda x: x ** mpmath.mpf("0.75")),
        (sp.Max(X, 1 - X, sp.Rational(1, 3)), lambda x: max(x, 1 - x)),
    ],
)
def test_values_agree_with_another_library_to_nearly_all_digits(expression, expected) -> None:
    x = Fraction(5, 7)
    with working_precision(200), mpmath.workprec(200):
        found = real_in_balls(expression, {"x": from_fraction(x)})
        lower, upper = ends(found)
        value = expected(mpmath.mpf(x.numerator) / x.denominator)
        middle = mpmath.mpf(found.mid().str(60, radius=False))
        assert abs(middle - value) < mpmath.mpf(2) ** -185
        assert upper - lower < Fraction(1, 2**185)


def test_a_rational_number_lies_inside_its_ball() -> None:
    lower, upper = ends(real_in_balls(X + sp.Rational(1, 3), {"x": arb(0)}))
    assert lower <= Fraction(1, 3) <= upper


def test_a_ball_argument_gives_the_values_at_all_its_members() -> None:
    found = real_in_balls(sp.exp(X) - X, {"x": arb(0.5, 0.25)})
    for x in (0.25, 0.5, 0.75):
        assert found.contains(real_in_balls(sp.exp(X) - X, {"x": arb(x)}))


def test_a_symbol_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="y is missing"):
        real_in_balls(X + Y, {"x": arb(1)})


def test_a_derived_formula_in_scalars_agrees_with_its_value_at_an_instance() -> None:
    E = [from_fraction(Fraction(n, 8)) for n in (9, 5, 11, 8)]
    sums = {
        "Z_2": sum((x**2 for x in E), arb(0)),
        "Z_tilde_2": sum((x**-2 for x in E), arb(0)),
        "omega": 1 / (sum(E, arb(0)) * sum((1 / x for x in E), arb(0))),
    }
    for formula in ("loss", "kappa"):
        at_instance = evaluate_in_balls(
            "antisymmetric",
            formula,
            sequences={"E": E},
            scalars=sums,
            exponentials={"Delta": E[0] / E[1]},
        )
        delta = (E[0] / E[1]).log()
        found = evaluate_real_in_balls(
            "antisymmetric", formula, {**sums, "d": arb(4), "Delta": delta}
        )
        assert found.overlaps(at_instance)
        assert found.rel_accuracy_bits() > 40
        assert at_instance.rel_accuracy_bits() > 40
