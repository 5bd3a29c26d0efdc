import pytest

from derivations.catalogue import load, names
from derivations.outline import outline_of, outlines
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.lemmas import JENSEN


@pytest.mark.parametrize("name", names())
def test_what_is_written_down_is_what_is_derived(name: str) -> None:
    assert outlines()[name] == outline_of(load(name)), "run python -m derivations.outline"


def test_nothing_is_written_down_of_what_there_is_no_more() -> None:
    assert tuple(outlines()) == names()


def test_steps_are_counted_by_method_and_lemmas_named_once() -> None:
    def step(**options: object) -> Step:
        return Step(statement="1 = 1", reason="so", check=lambda: None, **options)

    by_lemma = step(method=Method.LEMMA, lemmas=(JENSEN,))
    steps = (step(), by_lemma, step(), by_lemma)
    made_up = Derivation(
        name="made_up", title="t", source="ours", setting="s", steps=steps, formulas=()
    )
    outline = outline_of(made_up)
    assert outline.source == "ours"
    assert outline.steps == {"proof": 2, "lemma": 2}
    assert outline.lemmas == {JENSEN.name: JENSEN.source}
    assert outline.obligations == ()
