"""The printed meaning: an independent reading of the LaTeX agrees with the formula, in balls."""

import json
import re
from pathlib import Path

import pytest
from flint import arb

from verify.cli import main
from verify.latex import catalogue
from verify.latex.catalogue import build
from verify.latex.formulas import FORMULAS, formula_of
from verify.latex.meaning import Instance, MeaningError, evaluate_latex, expression_of, misread
from verify.latex.notation import OWN, read_notation

EXAMPLE = Path(__file__).parents[3] / "examples" / "notation.toml"

INSTANCE = Instance(
    sequences={r"\gamma": [arb(2), arb(3), arb(5)], "c_{1}": [arb(7), arb(1), arb(4)]},
    positions={"a": 0, "b": 2},
    scalars={"d": arb(3), "Z_{2}": arb(11), "Z": arb(13), r"\Delta": arb(0)},
)


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        ("1 - 2", -1),
        ("- 2 - 3 d", -11),
        (r"\gamma_{a}^{2} \gamma_{b}", 20),
        (r"\gamma_a - \gamma_b", -3),
        ("c_{1,b} d", 12),
        (r"|\gamma|^{2} + |c_{1}|^{4}", 38 + 66**2),
        (r"\langle \gamma, c_{1} \rangle^{2}", 37**2),
        (r"\sum_{i} \gamma_{i} c_{1,i} - d", 34),
        (r"2 \sum_{i} \gamma_{i}^{2} + 1", 77),
        (r"\left(\sum_{j} \gamma_{j}\right)^{2}", 100),
        (r"\sum_{i} \sum_{j} \gamma_{i} c_{1,j}", 120),
        (r"\frac{d - 1}{2 Z_{2}} Z", arb(13) / 11),
        (r"\sqrt{d + 1}", 2),
        ("Z_{2} Z", 143),
        (r"3 \cosh \Delta + \sinh{\left(2 \Delta \right)}", 3),
        (r"2 \cosh^{2} \Delta \cdot 5", 10),
        (r"e^{- \Delta} - e^{2 \Delta}", 0),
        (r"\delta_{ab} + 2 \delta_{aa}", 2),
        (r"2 \left[d + \left(1 - d\right) d\right]", -6),
        (r"d^{d - 1}", 9),
    ],
)
def test_the_grammar(latex: str, value) -> None:
    assert (evaluate_latex(latex, INSTANCE) - value).contains(0)
    assert (evaluate_latex(latex, INSTANCE) - value).rad() < 1e-9


@pytest.mark.parametrize(
    "latex",
    ["", "1 +", r"\gamma", r"\gamma_{i}", "y", "(d", "d)", r"\foo d", r"\langle d, d \rangle",
     "|d|", r"\gamma_{a,b}", "d = 3", r"\sum_{i}"],
)  # fmt: skip
def test_what_is_no_formula_is_refused(latex: str) -> None:
    with pytest.raises(MeaningError):
        evaluate_latex(latex, INSTANCE)


@pytest.mark.parametrize("name", FORMULAS)
def test_every_fragment_says_what_was_derived(name: str) -> None:
    assert misread(formula_of(name), build(name).body, OWN) == ""


@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "moments.eight_forms"])
def test_in_another_notation_it_says_the_same(name: str) -> None:
    notation = read_notation(EXAMPLE)
    assert misread(formula_of(name), build(name, notation).body, notation) == ""


def mutants(body: str) -> dict[str, str]:
    """Every right-hand side that differs from the printed one in a sign, an index or a power."""
    start, end = body.index("=", body.index(r"\label")), body.index(r"\end{equation}")
    found = {}
    for pattern, change in (
        (r"(?<= )\+(?= )", "-"),
        (r"(?<=[ &] )- (?=[0-9\\])", "+ "),
        (r"_\{a\}", "_{b}"),
        (r"_\{b\}", "_{a}"),
        (r"\^\{2\}", "^{3}"),
        (r"\^\{2\}", ""),
        (r"(?<= )2(?= )", "3"),
        (r"\\tilde\{\\gamma\}", r"\\gamma"),
        (r"\\gamma_\{i\}", r"\\gamma_{a}"),
    ):
        for place in re.finditer(pattern, body[start:end]):
            at = start + place.start()
            mutant = body[:at] + place.expand(change) + body[start + place.end() :]
            found[f"{place[0]}@{at}"] = mutant
    return found


@pytest.mark.parametrize(
    "name", ["population.loss", "gradient.theta", "antisymmetric.loss", "attention_maps.theta"]
)
def test_a_changed_sign_index_or_power_is_seen(name: str) -> None:
    body = build(name).body
    changed = mutants(body)
    assert len(changed) >= 6
    seen = {
        where: bool(misread(formula_of(name), mutant, OWN)) for where, mutant in changed.items()
    }
    assert [where for where, is_seen in seen.items() if not is_seen] == []


def test_the_right_hand_side_is_found_in_each_kind_of_display() -> None:
    assert expression_of(build("zero.loss").body).count("=") == 0
    long = expression_of(build("moments.eight_forms").body)
    assert not re.search(r"&|\\\\|notag|quad", long)
    assert long.startswith(r"\langle c_{1}")
    with pytest.raises(MeaningError):
        expression_of("no display")


def test_the_command_reads_formulas_back(capsys, monkeypatch) -> None:
    assert main(["latex", "--verify", "population.loss", "zero-start"]) == 0
    assert capsys.readouterr().out == "population.loss: says what is derived\n"
    assert main(["latex", "--verify", "zero-start"]) == 2
    assert "is no formula" in capsys.readouterr().err
    printed = catalogue.formula_fragment

    def with_a_wrong_sign(*given):
        fragment = printed(*given)
        return type(fragment)(
            name=fragment.name,
            title=fragment.title,
            source=fragment.source,
            body=fragment.body.replace("1 - 2", "1 + 2"),
        )

    monkeypatch.setattr(catalogue, "formula_fragment", with_a_wrong_sign)
    assert main(["latex", "--verify", "population.loss", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["formulas"]
    assert not found["agrees"]
    assert found["reason"].startswith("the LaTeX is ")
