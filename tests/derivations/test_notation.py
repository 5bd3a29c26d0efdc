import pytest
import sympy as sp

from derivations.notation import LATEX, Position, Sequence, a, b, coefficient, declare, gamma, i


def test_a_name_asked_for_again_is_the_same_symbol():
    assert declare(Sequence, "gamma", r"\gamma", positive=True) is gamma
    assert coefficient(3) is coefficient(3)


@pytest.mark.parametrize(
    ("kind", "latex", "assumptions"),
    [
        (Sequence, r"\gamma", {}),
        (Sequence, r"\gamma", {"real": True}),
        (Sequence, "g", {"positive": True}),
        (sp.Symbol, r"\gamma", {"positive": True}),
    ],
)
def test_a_name_with_a_second_meaning_is_refused(kind, latex, assumptions):
    with pytest.raises(ValueError, match=r"^name=gamma: already declared"):
        declare(kind, "gamma", latex, **assumptions)
    assert LATEX["gamma"] == r"\gamma"


def test_only_named_positions_are_known_to_differ():
    assert a.differs_from(b)
    assert not a.differs_from(a)
    assert not a.differs_from(i)
    assert not i.differs_from(b)
    assert isinstance(a, Position)
