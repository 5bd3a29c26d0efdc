"""Formulas as MathML: what is said is kept, what cannot be converted is shown as it is."""

import re
from xml.etree import ElementTree as ET

import pytest

from verify.claims import CLAIMS
from verify.report.mathml import formula, prose


def parsed(html: str) -> ET.Element:
    return ET.fromstring(html)  # noqa: S314 - what this test has made


def tree(latex: str, **how) -> ET.Element:
    return parsed(formula(latex, **how))


def spoken(latex: str) -> str:
    """Return what a formula shows, token by token."""
    shown = tree(latex).find("semantics")[0]
    return " ".join(token.text for token in shown.iter() if token.text and token.text.strip())


def operator(latex: str, symbol: str) -> ET.Element:
    return next(each for each in tree(latex).iter("mo") if each.text == symbol)


def test_a_formula_is_math_with_its_latex_as_annotation() -> None:
    math = tree(r"\tilde\gamma_i \le 1")
    assert math.tag == "math"
    assert math.get("display") == "inline"
    annotation = math.find("semantics/annotation")
    assert (annotation.get("encoding"), annotation.text) == (
        "application/x-tex",
        r"\tilde\gamma_i \le 1",
    )


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\Pr(\arg\max_i \gamma_i)", "Pr ( arg\u2009max i γ i )"),
        (r"\mathrm{Var}\, G", "Var G"),
        (r"\operatorname{erf}(s)", "erf ( s )"),
        (r"\mathbb{E} f^2", "𝔼 f 2"),
        (r"x \in \{-1, +1\}^d", "x ∈ { \u2212 1 , + 1 } d"),
    ],
)
def test_what_a_formula_shows(latex: str, shown: str) -> None:
    assert spoken(latex) == shown


@pytest.mark.parametrize("latex", [r"\nothing x", "x^a^b", r"\left( x"])
def test_a_formula_that_cannot_be_converted_is_its_latex(latex: str) -> None:
    assert formula(latex) == f'<code class="latex">{latex}</code>'


def test_a_fallback_is_escaped() -> None:
    assert formula(r"\nothing < x") == r'<code class="latex">\nothing &lt; x</code>'


def test_bars_and_slashes_are_tight() -> None:
    for latex, symbol in (("2 |x|", "|"), ("1/d", "/")):
        found = operator(latex, symbol)
        assert (found.get("lspace"), found.get("rspace")) == ("0", "0")


@pytest.mark.parametrize("latex", ["x = -2", "-2", "(-2)", r"\{-1, 2\}", r"x \le -2", "0, -1"])
def test_a_sign_is_a_prefix(latex: str) -> None:
    assert operator(latex, "\u2212").get("form") == "prefix"


@pytest.mark.parametrize("latex", ["x - 2", "(x) - 2", r"x_i - 2", "|x| - 2"])
def test_a_difference_is_none(latex: str) -> None:
    assert operator(latex, "\u2212").get("form") is None


def test_infinity_is_a_number() -> None:
    assert [each.text for each in tree(r"d \to \infty").iter("mi")] == ["d", "\u221e"]


def test_a_name_has_a_space_but_for_its_bracket() -> None:
    bare, called = (
        operator(r"2 \arctan x", "arctan"),
        operator(r"2 \arctan(x)", "arctan"),
    )
    assert (bare.get("lspace"), bare.get("rspace")) == ("0.17em", "0.17em")
    assert (called.get("lspace"), called.get("rspace")) == ("0.17em", "0")
    assert operator(r"\ln d", "ln").get("lspace") == "0"


def test_prose_escapes_all_but_formulas() -> None:
    html = prose("<b> & $x < y$ <i>")
    assert html.startswith("&lt;b&gt; &amp; <math")
    assert html.endswith("</math> &lt;i&gt;")
    assert parsed(f"<p>{html}</p>").find("math/semantics/annotation").text == "x < y"


def test_a_wide_formula_has_a_line_with_its_punctuation() -> None:
    wide = r"L = 1 - 2 (\gamma_a \tilde\gamma_b + \gamma_b \tilde\gamma_a) + |\gamma|^2"
    paragraph = parsed(f"<p>{prose(f'So ${wide}$, and $x$.')}</p>")
    (line,) = paragraph.findall("span")
    assert line.get("class") == "display"
    assert line.find("math").get("display") == "block"
    assert line.find("math").tail == ","
    assert line.tail == " and "
    assert [each.get("display") for each in paragraph.findall("math")] == ["inline"]
    assert paragraph.find("math").tail == "."


def test_limits_of_a_displayed_sum_are_below_it() -> None:
    assert tree(r"\sum_i x_i", display=True).find(".//munder") is not None
    assert tree(r"\sum_i x_i").find(".//munder") is None


@pytest.mark.parametrize("id_", CLAIMS)
def test_every_formula_of_a_claim_is_converted(id_: str) -> None:
    claim = CLAIMS[id_]
    for text in (claim.statement, *(each.statement for each in claim.assumptions)):
        html = f"<p>{prose(text)}</p>"
        assert 'class="latex"' not in html
        for annotation in re.findall(r"<annotation.*?</annotation>", html):
            html = html.replace(annotation, "")
        assert "\\" not in html
        assert "$" not in html
