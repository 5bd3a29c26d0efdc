import pytest

from derivations.identities import require
from derivations.ledger import Derivation, Formula, Method, Status, Step


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
