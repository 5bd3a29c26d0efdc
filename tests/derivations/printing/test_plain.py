import pytest

from derivations.catalogue import load, names
from derivations.printing.layout import text
from derivations.printing.plain import plain


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\tilde{\gamma}_{a}^{2}", "γ̃_a^2"),
        (r"c_{1,i} + \theta^{1}", "c_{1,i} + θ^1"),
        (r"\frac{2 v_{a}}{d^{2}}", "(2 v_a)/d^2"),
        (r"|\gamma|^{2} \langle \gamma, \tilde{\gamma} \rangle", "|γ|^2 ⟨γ, γ̃⟩"),
        (r"with $a \ne b$, and $\bar{v}$", "with a != b, and v̄"),
        (r"\left(d - 1\right) \omega", "(d - 1) ω"),
        (r"\begin{aligned} L & = 1 \\ & + 2 \end{aligned}", "L = 1 + 2"),
    ],
)
def test_rendering(latex, expected):
    assert plain(latex) == expected


def test_an_unknown_command_is_not_passed_over():
    with pytest.raises(ValueError, match="no plain rendering"):
        plain(r"\unheardof x")


@pytest.mark.parametrize("name", names())
def test_no_latex_is_left_in_the_text(name):
    shown = text(load(name))
    assert not set("\\$&") & set(shown)
