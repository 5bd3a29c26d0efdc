from dataclasses import replace

import pytest
import sympy as sp

from derivations.printing.layout import summary
from derivations.proof.ledger import CLOSED_BY, Derivation, Formula, Method, Status, Step
from derivations.proof.lemmas import JENSEN, UNION_BOUND
from derivations.proof.obligations import Obligation
from derivations.proof.refusal import require


def _derivation(*checks, method=Method.PROOF):
    return Derivation(
        name="example",
        title="Example",
        source="ours",
        setting="",
        steps=tuple(Step(statement="1", reason="", check=c, method=method) for c in checks),
        formulas=(Formula(name="one", left="1", right=1),),
    )


def test_each_step_has_its_own_result():
    def crash():
        raise ZeroDivisionError("by zero")

    results = _derivation(
        lambda: None, lambda: require(False, "not so"), crash, lambda: None
    ).check()
    assert [result.number for result in results] == [1, 2, 3, 4]
    assert [result.status for result in results] == [
        Status.PROVED,
        Status.FAILED,
        Status.FAILED,
        Status.PROVED,
    ]
    assert results[1].detail == "not so"
    assert results[2].detail == "ZeroDivisionError: by zero"
    assert [result.failed for result in results] == [False, True, True, False]


def test_instances_agree_but_do_not_prove():
    (result,) = _derivation(lambda: None, method=Method.INSTANCES).check()
    assert result.status is Status.AGREES


def test_an_interrupt_is_not_a_failure():
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _derivation(interrupt).check()


def test_formulas_are_found_by_name():
    assert _derivation().formula("one").right == 1
    with pytest.raises(KeyError):
        _derivation().formula("two")
    with_constants = replace(_derivation(), constants=(Formula(name="two", left="2", right=2),))
    assert with_constants.formula("one").right == 1
    assert with_constants.formula("two").right == 2


u = sp.Symbol("u", real=True)


def _square(**changes):
    given = {"expression": u**2, "zero": sp.S.Zero, "order": 2, **changes}
    return Obligation(name="square", variable=u, lower=-sp.S.One, upper=sp.S.One, **given)


def _resting(check=lambda: None, **rests):
    step = Step(statement="1", reason="", check=check, **rests)
    return replace(_derivation(), steps=(step,))


def test_an_obligation_stays_open_and_says_who_closes_it():
    derivation = _resting(method=Method.OBLIGATION, obligations=(_square(),))
    (result,) = derivation.check()
    assert (result.status, result.failed) == (Status.OPEN, False)
    assert CLOSED_BY in result.detail
    assert derivation.obligations == (_square(),)
    assert summary([result]) == "1 steps: 0 proved, 0 agrees, 1 open, 0 failed"


def test_the_exact_part_of_an_obligation_is_checked_with_its_step():
    wrong = _resting(method=Method.OBLIGATION, obligations=(_square(order=4),))
    (result,) = wrong.check()
    assert (result.status, result.detail) == (
        Status.FAILED,
        "square: derivative 2 is 2 at 0",
    )
    refused = _resting(
        lambda: require(False, "not so"), method=Method.OBLIGATION, obligations=(_square(),)
    )
    (result,) = refused.check()
    assert (result.status, result.detail) == (Status.FAILED, "not so")


def test_a_step_by_lemma_names_its_lemmas():
    (result,) = _resting(method=Method.LEMMA, lemmas=(JENSEN, UNION_BOUND)).check()
    assert result.status is Status.BY_LEMMA
    assert result.detail == "Jensen's inequality, union bound"
    assert summary([result]) == "1 steps: 0 proved, 0 agrees, 1 by lemma, 0 failed"


@pytest.mark.parametrize(
    "rests",
    [
        {"method": Method.LEMMA},
        {"method": Method.OBLIGATION},
        {"lemmas": (JENSEN,)},
        {"obligations": (_square(),)},
        {"method": Method.LEMMA, "lemmas": (JENSEN,), "obligations": (_square(),)},
    ],
)
def test_what_a_step_rests_on_fits_its_method(rests):
    with pytest.raises(ValueError, match="does not fit"):
        _resting(**rests)


def _labelled(*labels):
    return replace(
        _derivation(),
        steps=tuple(
            Step(statement="1", reason="", check=lambda: None, label=label) for label in labels
        ),
    )


def test_a_step_is_found_by_its_label():
    found = _labelled("", "first", "", "second")
    assert found.number("first") == 2
    assert found.number("second") == 4
    with pytest.raises(KeyError):
        found.number("third")


@pytest.mark.parametrize("labels", [("one", "two", "one"), ("other:one",)])
def test_a_label_is_new_and_without_a_colon(labels):
    with pytest.raises(ValueError, match=r"^label=(one|other:one): must be new in example"):
        _labelled(*labels)
