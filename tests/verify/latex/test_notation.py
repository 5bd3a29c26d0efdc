"""A notation of one's own: what is switched, what is left alone, and what is refused."""

import json
import re
from pathlib import Path

import pytest

from numerics.arguments import InvalidArgumentError
from verify.claims import CLAIMS
from verify.cli import main
from verify.latex.catalogue import TITLES, build
from verify.latex.formulas import FORMULAS
from verify.latex.fragment import fingerprint
from verify.latex.notation import OWN, Notation, read_notation
from verify.latex.pasted import State, find_pastes, judge

EXAMPLE = Path(__file__).parents[3] / "examples" / "notation.toml"


def switched(formula: str, **symbols: str) -> str:
    return Notation(symbols, "file").math(formula, "a formula")


@pytest.mark.parametrize(
    ("formula", "symbols", "expected"),
    [
        (r"\gamma_{a}^{2}", {"gamma": r"\alpha", "a": "i^{*}"}, r"\alpha_{i^{*}}^{2}"),
        (r"\gamma_a \gammafoo a", {"gamma": r"\xi"}, r"\xi_a \gammafoo a"),
        (r"\tilde{\gamma}_{b}", {"gamma": r"\alpha"}, r"\tilde{\alpha}_{b}"),
        (r"\tilde{\gamma}_{b}", {"gamma": "g", "gamma_tilde": "h"}, "h_{b}"),
        (r"\tilde\gamma + \tilde{\gamma'}", {"gamma_tilde": "h"}, r"h + \tilde{\gamma'}"),
        ("d^{2} x_d", {"d": "n_{0}"}, "{n_{0}}^{2} x_{n_{0}}"),
        ("x_{a}^{2} a' a", {"a": "i^{*}"}, "x_{i^{*}}^{2} {i^{*}}' i^{*}"),
        (r"\frac d 2 \hat d", {"d": "n_{0}"}, r"\frac {n_{0}} 2 \hat {n_{0}}"),
        (r"\mathbb{E} E_{i} \mathcal{E}", {"E": "w"}, r"\mathbb{E} w_{i} \mathcal{E}"),
        (r"\mathrm{d} u d", {"d": "n"}, r"\mathrm{d} u n"),
        (r"d \text{ a good deal, $d$}", {"d": "n", "a": "c"}, r"n \text{ a good deal, $n$}"),
        (r"\label{eq:d} \operatorname{d} d", {"d": "n"}, r"\label{eq:d} \operatorname{d} n"),
        ("a_{j} s_{a} \\delta_{ab}", {"a": "c"}, "a_{j} s_{c} \\delta_{cb}"),
        ("Z_{2} Z", {"Z": "Q"}, "Q_{2} Q"),
        ("Z_{2} Z", {"Z_2": r"\zeta"}, r"\zeta Z"),
        ("Z_{2} Z", {"Z": "Q", "Z_2": r"\zeta"}, r"\zeta Q"),
        ("dx", {"d": r"\nu"}, r"\nu x"),
        ("d n", {"d": "n", "n": "d"}, "n d"),
        (r"e^{\Delta}", {"Delta": r"\hat{\delta}"}, r"e^{\hat{\delta}}"),
    ],
)
def test_symbols_are_switched_as_tex_reads_them(formula, symbols, expected) -> None:
    assert switched(formula, **symbols) == expected


def test_prose_is_switched_between_dollars_only() -> None:
    notation = Notation({"d": "n", "a": "i^{*}"}, "file")
    assert notation.prose("a good $d$, d and $x_{a}$", "x") == "a good $n$, d and $x_{i^{*}}$"


@pytest.mark.parametrize(
    ("formula", "symbols"),
    [
        (r"\gamma_{i} + \alpha", {"gamma": r"\alpha"}),
        (r"e^{d}", {"d": "e"}),
        (r"\tilde{\gamma} \theta", {"theta": r"\gamma"}),
        ("x_{i} x_{a}", {"a": "i"}),
    ],
)
def test_a_sign_that_is_taken_is_refused(formula, symbols) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^notation=file: .* clashes with the .* of a f"
    ):
        switched(formula, **symbols)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must hold one table"),
        ("[symbols]", "must hold one table"),
        ("symbols = 1", "must hold one table"),
        ("[symbols]\nd = 'n'\n[more]\n", "must hold one table"),
        ("[symbols]\nd = ", "is no TOML"),
        ("[symbols]\nfoo = 'n'", "foo: no such symbol; one of A, "),
        ("[symbols]\nd = 3", "d: must be a string"),
        ("[symbols]\nd = ''", "is not one symbol"),
        ("[symbols]\nd = 'n_{0'", "braces are not balanced"),
        ("[symbols]\nd = '}n{'", "braces are not balanced"),
        ("[symbols]\nd = '\\input{x}'", "\\input is not allowed"),
        ("[symbols]\nd = '\\def'", "\\def is not allowed"),
        ("[symbols]\nd = 'n$'", "$ is not allowed"),
        ("[symbols]\nd = 'n%'", "% is not allowed"),
        ("[symbols]\nd = 'n \\\\ m'", "\\\\ is not allowed"),
        ("[symbols]\nd = 'ñ'", "printable ASCII"),
        ("[symbols]\nd = 'n m'", "is not one symbol"),
        ("[symbols]\nd = '{n+1}'", "is not one symbol"),
        ("[symbols]\nd = 'n_'", "is not one symbol"),
        ("[symbols]\nd = 'n_1_2'", "is not one symbol"),
        ("[symbols]\nd = 'n^{2}*'", "is not one symbol"),
        ('[symbols]\nd = "n\'^{2}"', "is not one symbol"),
        ("[symbols]\nd = '\\tilde'", "is not one symbol"),
        ("[symbols]\nd = 'n'\nm = 'n'", "d and m print alike"),
        ("[symbols]\nd = 'n^*'\nm = 'n^{*}'", "d and m print alike"),
        ("[symbols]\nn = 'N'\nn_samples = 'M'", "n and n_samples are one"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path, text: str, reason: str) -> None:
    path = tmp_path / "notation.toml"
    path.write_text(text)
    with pytest.raises(InvalidArgumentError) as refusal:
        read_notation(path)
    assert reason in str(refusal.value)
    assert str(refusal.value).startswith(f"notation={path}: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "latex",
    ["n", r"\alpha", "i^{*}", "i^*", "x_{1}", r"x_{\mathrm{max}}^{+}", r"\tilde{\alpha}", r"\hat x",
     r"\mathbf{w}", r"\mathrm{att}_{k}", "g^{(1)}", r"\tilde{x}_{0}^{\star}", "x'", r"\ell"],
)  # fmt: skip
def test_one_symbol_with_its_index_and_power_is_taken(tmp_path, latex: str) -> None:
    path = tmp_path / "notation.toml"
    path.write_text(f'[symbols]\nd = """{latex}"""'.replace("\\", "\\\\"))
    assert read_notation(path).symbols == {"d": latex}


def test_a_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be read: No such file"):
        read_notation(tmp_path / "none.toml")


@pytest.mark.parametrize("name", TITLES)
def test_the_example_prints_every_fragment_and_none_of_its_old_symbols(name: str) -> None:
    notation = read_notation(EXAMPLE)
    own, fragment = build(name), build(name, notation)
    assert fragment.notation == notation.fingerprint
    assert fragment.plain == own.fingerprint
    outside = re.sub(r"\\(?:label|paragraph|mathrm)\{[^}]*\}", "", fragment.body)
    assert not re.search(r"\\gamma(?![A-Za-z])", outside)
    if name in FORMULAS:
        assert not re.search(r"_\{[ab]\}", outside)
    opening, *_ = fragment.text.splitlines()
    expected = f" notation:{notation.fingerprint} plain:{own.fingerprint} sha256:"
    assert opening.endswith(expected + fingerprint(fragment.body))


def test_claims_are_switched_too() -> None:
    notation = Notation({"gamma": r"\alpha", "alpha": r"\xi"}, "file")
    claims = [name for name in CLAIMS if r"\gamma" in build(name).body]
    assert claims
    for name in claims:
        assert r"\alpha" in build(name, notation).body


def test_the_own_notation_changes_nothing() -> None:
    assert OWN.fingerprint == ""
    assert OWN.math(r"\gamma_{a}", "x") == r"\gamma_{a}"
    assert " notation:" not in build("population.loss").text


def judged(text: str, notation: str | None = None) -> State:
    (paste,) = find_pastes(text)
    return judge(paste, lambda name: build(name).fingerprint, notation=notation).state


def test_a_paste_in_another_notation_is_found_and_judged() -> None:
    notation = read_notation(EXAMPLE)
    fragment = build("population.loss", notation)
    text = fragment.text
    assert judged(text) is State.CURRENT
    assert judged(text, notation.fingerprint) is State.CURRENT
    assert judged(text, "") is State.STALE
    assert judged(build("population.loss").text, notation.fingerprint) is State.STALE
    assert judged(text.replace("- 2", "+ 2", 1)) is State.ALTERED
    assert judged(text.replace(f"plain:{fragment.plain}", "plain:" + "0" * 12)) is State.STALE


def test_the_command_prints_checks_and_refuses_a_notation(tmp_path, capsys) -> None:
    assert main(["latex", "population.loss", "--notation", str(EXAMPLE), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["fragments"]
    assert found["notation"] == read_notation(EXAMPLE).fingerprint
    paper = tmp_path / "paper.tex"
    paper.write_text(found["latex"])
    assert main(["latex", "--check", str(paper), "--notation", str(EXAMPLE)]) == 0
    paper.write_text(build("population.loss").text)
    assert main(["latex", "--check", str(paper), "--notation", str(EXAMPLE)]) == 1
    assert "another notation" in capsys.readouterr().out
    clash = tmp_path / "clash.toml"
    clash.write_text("[symbols]\ngamma = '\\alpha'\n")
    assert main(["latex", "worst_case.residual_plus", "--notation", str(clash)]) == 2
    assert capsys.readouterr().err == (
        f"error: notation={clash}: gamma = '\\alpha' clashes with the \\alpha of"
        " worst_case.residual_plus; give that symbol another name too\n"
    )
    clash.write_text("[symbols]\nx = '\\gamma'\n")
    out = tmp_path / "out"
    assert main(["latex", "population.loss", "--notation", str(clash), "--out", str(out)]) == 2
    assert main(["latex", "--proof", "softmax", "--notation", str(clash), "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert not out.exists()
    assert main(["latex", "--list", "--notation", str(EXAMPLE)]) == 2
