"""A derivation as an article: its references, its certificates, its outcome, and its layout."""

import json
import os
import re
import shutil

import pytest
import sympy as sp

from derivations.catalogue import names
from derivations.proof.ledger import CheckResult, Derivation, Method, Status, Step
from derivations.proof.lemmas import JENSEN, UNION_BOUND
from derivations.proof.obligations import Obligation
from verify.cli import main
from verify.environment import version
from verify.latex import proof as module
from verify.latex.compilation import DEBIAN_PACKAGES, compile_document
from verify.latex.formulas import derivation as derived
from verify.latex.notation import Notation
from verify.latex.proof import file_of, prove
from verify.latex.statements import flat, laid_out, listed
from verify.latex.width import width

u = sp.Symbol("u", real=True)


def obligation(expression: sp.Expr) -> Obligation:
    return Obligation(
        name="some sign", expression=expression, variable=u, lower=sp.S.Zero, upper=sp.S.One
    )


def derivation(*steps: Step, name: str = "population") -> Derivation:
    return Derivation(
        name=name, title="A_title", source="ours, 100%", setting="With $d$, as in one_step.",
        steps=steps, formulas=(),
    )  # fmt: skip


def step(statement: str = "1 = 1", reason: str = "Since.", **options) -> Step:
    return Step(statement=statement, reason=reason, **{"check": lambda: None, **options})


def printed(monkeypatch, *steps: Step, notation: Notation | None = None) -> str:
    real = module.derived
    example = derivation(*steps, name="example")
    monkeypatch.setattr(
        module, "derived", lambda name: example if name == "example" else real(name)
    )
    return prove("example", notation or Notation()).text


def test_steps_refer_to_what_they_use(monkeypatch) -> None:
    text = printed(
        monkeypatch,
        step(label="first"),
        step(label="second", uses=("population:loss", "first")),
        step(
            uses=("second", "first", "softmax:vector", "population:loss"),
            method=Method.LEMMA,
            lemmas=(UNION_BOUND, JENSEN),
        ),
        step(uses=("second",), method=Method.INSTANCES),
    )
    found = re.findall(r"\\textbf\{Step (\d)\.\} (.*?)\\found\{(.*)\}", text)
    assert found == [
        ("1", "", "proved"),
        ("2", r"Uses \eqref{step:1} and \eqref{other:population:loss}.", "proved"),
        (
            "3",
            r"Uses \eqref{step:1}, \eqref{step:2}, \eqref{other:population:loss},"
            r" \eqref{other:softmax:vector}, Lemma~1 and Lemma~2.",
            "proved, given the lemmas",
        ),
        ("4", r"Refers to \eqref{step:2}.", "agrees at instances"),
    ]
    assert re.findall(r"\\tag\{(.*)\}", text) == ["E1", "E2"]
    quoted = text[text.index(r"\tag{E1}") : text.index(r"\tag{E2}")]
    assert r"\label{other:population:loss}" in quoted
    assert r"\langle \gamma, \tilde{\gamma} \rangle^{2}" in quoted
    assert r"\texttt{population}, step 4:" in text
    assert r"\texttt{softmax}, step 5:" in text
    assert r"\textbf{Lemma 1} (union bound)" in text
    assert r"\emph{Source:} Boole." in text
    assert rf"\bibitem{{source:2}} {JENSEN.source}" in text
    assert r"(Jensen's inequality~\cite{source:2})" in text


def test_a_failed_step_says_so_in_the_proof(monkeypatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError("100% of a_b")

    text = printed(monkeypatch, step(), step(check=fail))
    assert r"\found{\textbf{failed}}" in text
    assert r"\textbf{The check failed:} ZeroDivisionError: 100\% of a\_b" in text
    assert "2 steps: 1 proved, 0 agrees, 1 failed" in text


def test_words_are_safe_and_a_sentence_is_not_cut(monkeypatch) -> None:
    text = printed(monkeypatch, step(reason="for all $x_{a}$ & 3%."), step(reason="So."))
    assert r"A\_title" in text
    assert r"ours, 100\%" in text
    assert r"as in \texttt{one\_step}" in text
    assert r"for all $x_{a}$ \& 3\%." in text
    assert "  1 = 1\n\\end{equation}\nfor all" in text
    assert "  1 = 1.\n\\end{equation}\nSo." in text
    assert f"checked by xorverify {version()}" in text


@pytest.mark.parametrize(
    ("expression", "holds", "certificate"),
    [
        (sp.exp(u) - sp.Rational(1, 2), True, "Proved on 1 cell at 128 bits: it is at least $0.5$"),
        (u - sp.Rational(1, 3), False, "Refuted: it is negative at $"),
    ],
)
def test_a_sign_is_printed_with_its_certificate(
    monkeypatch, expression, holds, certificate
) -> None:
    example = derivation(step(method=Method.OBLIGATION, obligations=(obligation(expression),)))
    monkeypatch.setattr(module, "derived", lambda _: example)
    found = prove("population")
    text = " ".join(found.text.split())
    assert found.holds is holds
    assert "(some sign), for step \\eqref{step:1}:" in text
    assert r"0 \le u \le 1," in text
    assert certificate in text or certificate.replace("0.5$", "0.49999999") in text
    assert r"\found{proved, given the sign (Section~\ref{signs})}" in text


def test_the_signs_of_the_bounds_are_all_discharged() -> None:
    found = prove("score_bounds")
    assert found.holds
    assert len(found.discharges) == found.text.count("Proved on ") == 6
    assert all("Proved on" in part for part in found.text.split(r"\textbf{Sign ")[1:])
    assert "with a zero of order $4$ at" in found.text or "zero of order 4" in found.text


def test_a_bound_is_cut_downwards_to_a_few_digits() -> None:
    assert module._decimal("0.000202079540847") == "0.00020207954"
    assert module._decimal("0.13533527776598930") == "0.13533527"
    assert module._decimal("1.5e-20") == r"1.5 \cdot 10^{-20}"
    assert module._decimal("12") == "12"


@pytest.mark.parametrize("name", names())
def test_every_reference_leads_somewhere(name: str) -> None:
    found = derived(name)
    for number, each in enumerate(found.steps, start=1):
        for used in each.uses:
            if ":" not in used:
                assert found.number(used) < number
            else:
                other, _, label = used.partition(":")
                assert names().index(other) < names().index(name)
                assert derived(other).number(label) >= 1


@pytest.mark.parametrize("name", names())
def test_the_last_result_of_a_chain_rests_on_what_comes_before(name: str) -> None:
    """Every label is used, here or by another derivation: a reference is no decoration."""
    used = {
        use if ":" in use else f"{other}:{use}"
        for other in names()
        for each in derived(other).steps
        for use in each.uses
    }
    labels = {f"{name}:{each.label}" for each in derived(name).steps if each.label}
    assert labels <= used


def test_the_table_of_symbols_lists_what_occurs() -> None:
    zero = prove("zero").text
    assert "the frozen embedding" in zero
    assert "the step:" not in zero
    assert "budget" not in zero
    bounds = prove("one_step").text
    assert "the step:" in bounds
    assert "the tolerance" in bounds


# Layout.


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("a = b", ["a = b"]),
        (r"\begin{aligned} a & = b \\ & + c \end{aligned}", ["a = b + c"]),
    ],
)
def test_a_statement_loses_the_alignment_it_came_with(statement: str, lines: list[str]) -> None:
    assert [flat(statement)] == lines


SUM = " + ".join([r"\langle \gamma, t \rangle"] * 6)


def test_formulas_share_a_line_where_they_fit() -> None:
    assert laid_out(r"a = b, \quad c = d", label="l") == [
        r"\begin{equation}", r"  \label{l}", r"  a = b, \quad c = d", r"\end{equation}"
    ]  # fmt: skip
    wide = laid_out(rf"a = {SUM}, \quad b = {SUM}", label="l", tag="E1")
    assert wide[:4] == [
        r"\begin{equation}", r"  \tag{E1}", r"  \label{l}", r"  \begin{gathered}"
    ]  # fmt: skip
    assert sum(line.endswith(r" \\") for line in wide) == 1


def test_a_condition_starts_a_line_and_a_name_does_not() -> None:
    body = "\n".join(laid_out(rf"\text{{slope}} = {SUM} + {SUM} \text{{ if }} a \le b"))
    assert "\n    \\text{ if } a \\le b" in body
    assert r"\text{slope} = " in body
    named = "\n".join(laid_out(rf"a = {SUM} + \text{{slope}}_{{b}} + {SUM}"))
    assert not re.search(r"(?m)^\W*\\text", named)


def test_a_bracket_is_opened_only_if_nothing_else_helps() -> None:
    wide = rf"a = \left({SUM} + {SUM}\right) c"
    body = laid_out(wide, label="l")
    assert any(r"\Bigl(" in line for line in body)
    assert not any(r"\left" in line for line in body)
    assert r"\Bigr) c" in body[-3] + body[-2]
    words = re.sub(r"\\Big[lr]|&|\\\\|\\quad|\{\}|\s", "", "".join(body[2:-1]))
    kept = re.sub(r"\\left|\\right|\s", "", wide)
    assert re.sub(r"\\(?:begin|end)\{aligned\}", "", words) == kept


def test_brackets_inside_brackets_are_opened_too() -> None:
    inner = rf"\left({SUM} + {SUM}\right)"
    body = laid_out(rf"a = \left(b \left(c {inner} + d\right) + e\right) g", label="l")
    assert sum(line.count(r"\Bigl(") for line in body) == 3
    assert all(width(re.sub(r"[&]|\\\\|\{\}", "", line)) <= 345 for line in body[2:-1])


def test_a_fraction_is_never_cut() -> None:
    body = laid_out(rf"a = \left(b + \frac{{\left({SUM} + {SUM}\right)}}{{d}} + c\right) g")
    assert any(r"\frac{\left(" in line and r"\right)}{d}" in line for line in body)


@pytest.mark.parametrize("name", names())
def test_no_line_of_a_statement_is_wider_than_the_text(name: str) -> None:
    for each in derived(name).steps:
        lines = "\n".join(laid_out(flat(each.statement), label="l"))
        body = re.sub(r"\\(?:begin|end)\{\w+\*?\}|\\label\{l\}|\\notag", "", lines)
        if r"\begin{split}" in lines or r"\begin{equation}" not in lines:
            continue  # its source lines are not its rows; `displays` has its own tests
        for row in body.split(r"\\"):
            assert width(row.replace("&", " ").replace("{}", " ")) <= 345, row


def test_many_constants_may_break_over_pages() -> None:
    body = listed([f"a_{{{h}}} = {SUM}" for h in range(12)])
    assert body[:3] == [r"\begingroup", r"\allowdisplaybreaks", r"\begin{align*}"]
    assert all(line.count("&") == 1 for line in body[3:-2])


# The command.


def test_the_command_writes_proofs_in_order(tmp_path, capsys) -> None:
    arguments = ["--proof", "population", "softmax", "--out", str(tmp_path)]
    assert main(["latex", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["proofs"]] == ["softmax", "population"]
    assert [each["file"] for each in found["proofs"]] == [file_of("softmax"), file_of("population")]
    assert [each["status"] for each in found["proofs"][1]["steps"]] == ["proved"] * 4 + ["agrees"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [file_of("softmax"), file_of("population")]
    )


def test_a_proof_that_fails_is_written_and_exits_with_1(tmp_path, capsys, monkeypatch) -> None:
    def fail() -> None:
        raise ValueError("no")

    broken = derivation(step(check=fail))
    monkeypatch.setattr(module, "derived", lambda _: broken)
    assert main(["latex", "--proof", "population", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"wrote {tmp_path / 'proof-population.tex'}",
        "population: a check failed, see the proof",
    ]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("--proof population", "proof=population: needs --out DIR"),
        ("--proof foo --out x", "proof=foo: must be one of moments, "),
        ("--proof population --verify", "proof=population: goes with --out"),
        ("--proof population --check x.tex", "proof=population: goes with --out"),
        ("--proof population --out x --notation y", "notation=y: cannot be read"),
    ],
)
def test_a_bad_request_leaves_nothing(tmp_path, capsys, monkeypatch, request_, message) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["latex", *request_.split()]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


def test_a_proof_in_another_notation(monkeypatch) -> None:
    notation = Notation({"gamma": r"\alpha", "a": "i^{*}"}, "file")
    text = printed(
        monkeypatch,
        step(statement=r"\gamma_{a} = 1", reason=r"By $\gamma_{a}$.", uses=("population:loss",)),
        notation=notation,
    )
    assert r"\alpha_{i^{*}} = 1." in text
    assert r"By $\alpha_{i^{*}}$." in text
    assert "attention $\\alpha_{i}" in " ".join(text.split())
    assert not re.search(r"\\gamma", text)
    assert f"notation:{notation.fingerprint}" in text


# TeX. A few points over the edge nobody sees; as in the tests of the fragments.

OVERFULL = re.compile(r"Overfull \\hbox \(([0-9.]+)pt too wide\)")


def unchecked(self: Derivation) -> tuple[CheckResult, ...]:
    found = {
        Method.PROOF: Status.PROVED,
        Method.INSTANCES: Status.AGREES,
        Method.LEMMA: Status.BY_LEMMA,
        Method.OBLIGATION: Status.OPEN,
    }
    return tuple(
        CheckResult(number=n, step=each, status=found[each.method], detail="", seconds=0.0)
        for n, each in enumerate(self.steps, start=1)
    )


@pytest.fixture
def latexmk() -> None:
    if shutil.which("latexmk") is None:
        missing = f"latexmk is not installed (Debian packages: {' '.join(DEBIAN_PACKAGES)})"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        # A reader without TeX can still run the tests.
        pytest.skip(missing)


@pytest.mark.latex
@pytest.mark.usefixtures("latexmk")
def test_no_proof_sticks_out(tmp_path, monkeypatch) -> None:
    """All proofs in one run of TeX, their labels told apart; the checks have tests of their own."""
    monkeypatch.setattr(Derivation, "check", unchecked)
    bodies = []
    for name in names():
        preamble, rest = prove(name).text.split(r"\begin{document}")
        body = rest.split(r"\end{document}")[0].replace(r"\maketitle", "")
        bodies.append(re.sub(r"(\\(?:label|eqref|ref|cite|bibitem)\{)", rf"\g<1>{name}-", body))
    paper = tmp_path / "proofs.tex"
    paper.write_text(preamble + r"\begin{document}" + "\n".join(bodies) + r"\end{document}")
    compile_document(paper)
    log = (tmp_path / "proofs.log").read_text("latin-1")
    assert [points for points in OVERFULL.findall(log) if float(points) > 5] == []
    assert re.findall(r".*(?:undefined|multiply defined|Rerun to get cross).*", log) == []


@pytest.mark.latex
@pytest.mark.usefixtures("latexmk")
def test_the_command_compiles_each_proof(tmp_path, capsys) -> None:
    arguments = ["--proof", "softmax", "population", "--out", str(tmp_path), "--compile"]
    assert main(["latex", *arguments]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"compiled {tmp_path / 'proof-population.pdf'}"
    )
    assert (tmp_path / "proof-softmax.pdf").read_bytes().startswith(b"%PDF-")
