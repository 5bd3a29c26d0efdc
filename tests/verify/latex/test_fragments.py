import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from derivations.catalogue import load, names
from verify.claim import Assumption, Claim
from verify.claims import CLAIMS
from verify.cli import main
from verify.latex.catalogue import TITLES, build
from verify.latex.claims import claim_fragment, escaped
from verify.latex.compilation import DEBIAN_PACKAGES, CompilationError, compile_document
from verify.latex.displays import display, paragraph, rows
from verify.latex.formulas import FORMULAS
from verify.latex.fragment import Fragment, fingerprint
from verify.latex.pasted import State, find_pastes, judge
from verify.latex.width import width


def run(capsys, *argv: object) -> tuple[int, str, str]:
    code = main(["latex", *map(str, argv)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys, *argv: object) -> tuple[int, dict]:
    code, out, _ = run(capsys, *argv, "--json")
    return code, json.loads(out)


GOLDEN = {
    "moments.four_forms": r"""
\begin{equation}
  \label{eq:moments.four_forms}
  \begin{split}
    \mathbb{E} \prod_{h=1}^{4} \langle c_{h}, x \rangle = {} & \langle c_{1}, c_{2} \rangle \langle c_{3}, c_{4} \rangle
    + \langle c_{1}, c_{3} \rangle \langle c_{2}, c_{4} \rangle \\
    & + \langle c_{1}, c_{4} \rangle \langle c_{2}, c_{3} \rangle
    - 2 \sum_{i} c_{1,i} c_{2,i} c_{3,i} c_{4,i},
  \end{split}
\end{equation}
for $x$ uniform on $\{-1, +1\}^{d}$.
""",  # noqa: E501 - a line of the fragment
    "population.loss": r"""
\begin{equation}
  \label{eq:population.loss}
  L = 1 - 2 \gamma_{a} \tilde{\gamma}_{b} - 2 \gamma_{b} \tilde{\gamma}_{a}
  + |\gamma|^{2} |\tilde{\gamma}|^{2} + 2 \langle \gamma, \tilde{\gamma} \rangle^{2}
  - 2 \sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2},
\end{equation}
where $L = \mathbb{E} (f - y)^{2}$.
""",
    "gradient.theta": r"""
\begin{equation}
  \label{eq:gradient.theta}
  \begin{split}
    A \cdot \nabla_{\theta} L = {} & - 2 \gamma_{a} \tilde{\gamma}_{b} t_{a}
    - 2 \gamma_{b} \tilde{\gamma}_{a} t_{b}
    - 4 \langle \gamma, \tilde{\gamma} \rangle^{2} \langle \gamma, t \rangle \\
    & - 2 |\gamma|^{2} |\tilde{\gamma}|^{2} \langle \gamma, t \rangle
    + 2 \gamma_{a} \tilde{\gamma}_{b} \langle \gamma, t \rangle
    + 2 \gamma_{b} \tilde{\gamma}_{a} \langle \gamma, t \rangle \\
    & + 2 |\tilde{\gamma}|^{2} \sum_{i} \gamma_{i}^{2} t_{i}
    + 4 \langle \gamma, t \rangle \sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2} \\
    & + 4 \langle \gamma, \tilde{\gamma} \rangle \sum_{i} \gamma_{i} \tilde{\gamma}_{i} t_{i}
    - 4 \sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2} t_{i},
  \end{split}
\end{equation}
for every $A \in \mathbb{R}^{m}$, where $t_{i} = v_{i} \cdot A$ and
$L = \mathbb{E} (f - y)^{2}$.
""",
    "antisymmetric.push": r"""
\begin{equation}
  \label{eq:antisymmetric.push}
  \begin{split}
    -\frac{1}{2 \omega} A \cdot \nabla_{\theta} L = {} & e^{\Delta} t_{a}
    + e^{- \Delta} t_{b} - \frac{\kappa}{Z} \langle E, t \rangle + 2 \omega \sum_{i} t_{i} \\
    & - 2 d \omega \sum_{i} t_{i} - \tilde{Z}_{2} \omega \sum_{i} E_{i}^{2} t_{i},
  \end{split}
\end{equation}
at $\tilde{\theta} = -\theta$ and for every $A \in \mathbb{R}^{m}$, where
$t_{i} = v_{i} \cdot A$ and $L = \mathbb{E} (f - y)^{2}$.
""",
    "antisymmetric.rest_weight": r"""
\begin{equation}
  \label{eq:antisymmetric.rest_weight}
  c_{i} = \tilde{Z}_{2} \omega E_{i}^{2} + 2 d \omega + \frac{\kappa E_{i}}{Z} - 2 \omega,
\end{equation}
at $\tilde{\theta} = -\theta$, where $\sum_{i} c_{i} v_{i}$ is what the first step
subtracts from its signal $e^{\Delta} v_{a} + e^{-\Delta} v_{b}$.
""",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_formulas(name: str) -> None:
    assert build(name).body == GOLDEN[name].strip("\n")


def test_golden_claim() -> None:
    claim = Claim(
        id="some-claim",
        title="not printed",
        statement=r"For $d \ge 2$ it is true that $a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8"
        r" \le 1$, $b > 0$, and no more.",
        source="ours; 100% of A_1 & B",
        cells=lambda _: (),
        stance="disputed",
        assumptions=(
            Assumption("unit start", "$|a| = 1$", lambda _: True),
            Assumption("no sign", "$b > 0$", lambda _: True),
        ),
        dependencies=("one", "two", "three"),
    )
    assert claim_fragment(claim).body.splitlines() == [
        r"\paragraph{Claim some-claim.}",
        r"For $d \ge 2$ it is true that",
        r"\begin{equation*}",
        r"  a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 \le 1,",
        r"\end{equation*}",
        r"$b > 0$, and no more.",
        r"\par\smallskip\noindent\begingroup\small\sloppy",
        r"Disputed (a literal wording that the evidence contradicts); source: ours; 100\% of A\_1",
        r"\& B. Assumes unit start ($|a| = 1$) and no sign ($b > 0$). Rests on the claims one, two",
        r"and three.",
        r"\par\endgroup",
    ]


def test_a_claim_says_its_statement_source_stance_and_what_it_rests_on() -> None:
    for claim in CLAIMS.values():
        said = " ".join(build(claim.id).body.split())
        assert said.startswith(rf"\paragraph{{Claim {claim.id}.}}")
        assert f"{claim.stance.capitalize()}" in said
        assert f"source: {claim.source}." in said
        for assumption in claim.assumptions:
            assert f"{assumption.name} ({assumption.statement})" in said
        for dependency in claim.dependencies:
            assert dependency in said.split("Rests on")[1]
        for math in re.findall(r"\$([^$]*)\$", claim.statement):
            assert " ".join(math.split()) in said


def test_every_formula_and_every_claim_has_a_fragment_in_order() -> None:
    formulas = [f"{name}.{formula.name}" for name in names() for formula in load(name).formulas]
    assert list(FORMULAS) == formulas
    assert list(TITLES) == [*formulas, *CLAIMS]


@pytest.mark.parametrize("name", TITLES)
def test_a_fragment_can_be_pasted_anywhere(name: str) -> None:
    """Nothing in it ends a paragraph, comments out its neighbour, or needs another package."""
    fragment = build(name)
    opening, *body, closing = fragment.text.removesuffix("\n").split("\n")
    assert opening.startswith(f"% xorverify {name} ({fragment.source}) v")
    assert opening.endswith(f" sha256:{fingerprint(fragment.body)}")
    assert closing == f"% end xorverify {name}"
    assert "\n".join(body) == fragment.body
    assert fragment.text.isascii()
    assert all(line.strip() for line in body)
    assert not re.search(r"(?<!\\)%", fragment.body)
    environments = set(re.findall(r"\\begin\{(.*?)\}", fragment.body))
    assert environments <= {"equation", "equation*", "split", "align"}
    for environment in environments:
        ends = fragment.body.count(rf"\end{{{environment}}}")
        assert fragment.body.count(rf"\begin{{{environment}}}") == ends
    assert fragment.body.count(r"\begingroup") == fragment.body.count(r"\endgroup")
    bare = re.sub(r"\\[{}]", "", fragment.body)
    assert bare.count("{") == bare.count("}")
    if name in FORMULAS:
        assert fragment.body.count(rf"\label{{eq:{name}}}") == 1
        assert fragment.body.endswith(".")


def test_wherever_the_loss_is_shown_its_convention_is_stated() -> None:
    shown = [name for name in FORMULAS if re.search(r"(?<![A-Za-z\\])L\b", build(name).body)]
    assert "zero.gradient" in shown
    for name in shown:
        assert r"$L = \mathbb{E} (f - y)^{2}$" in build(name).body


def test_escaped_text_prints_as_it_is() -> None:
    assert escaped("a_b 100% {x} 2^d ~ #1 & $") == (
        r"a\_b 100\% \{x\} 2\textasciicircum{}d \textasciitilde{} \#1 \& \$"
    )


def joined(lines: list[list[str]]) -> str:
    return re.sub(r"(\{\} )?& (\\quad )?", "", " ".join(" ".join(line) for line in lines))


@pytest.mark.parametrize("name", FORMULAS)
def test_breaking_loses_nothing_and_fits_the_line(name: str) -> None:
    from derivations.printing.latex import latex

    derivation, _, formula = name.partition(".")
    found = load(derivation).formula(formula)
    math = f"{found.left} = {latex(found.right)}"
    broken = rows(math)
    assert joined(broken) == math
    assert all(width(" ".join(line)) <= 325 + 7.5 for line in broken)  # the mark & is no glyph


LONG = " + ".join([r"\langle \gamma, t \rangle"] * 20)


def test_lines_start_below_the_right_hand_side() -> None:
    lines = rows(f"L = {LONG}")
    assert lines[0][0] == r"L = {} & \langle \gamma, t \rangle"
    assert len(lines) > 2
    assert all(line[0].startswith("& + ") for line in lines[1:])


def test_lines_are_balanced_and_no_more_than_are_needed() -> None:
    term = r"\langle \gamma, t \rangle"
    lines = rows("L = " + " + ".join([term] * 12))
    assert [len(line) for line in lines] == [6, 6]
    wide = "+".join(["a"] * 40)
    assert len(rows(f"L = ({wide}) - {term} + ({wide})")) == 3


def test_a_long_left_hand_side_has_its_own_line() -> None:
    left = " + ".join([r"\gamma_{a}"] * 9)
    assert rows(f"{left} = {LONG}")[0] == [f"& {left} ="]
    assert rows(f"{left} = {LONG}")[1][0].startswith(r"& \quad \langle")


def test_a_formula_without_relation_is_broken_too() -> None:
    lines = rows(LONG)
    assert lines[0][0] == r"{} & \langle \gamma, t \rangle"
    assert joined(lines) == LONG
    many = " + ".join([LONG] * 8)
    assert rows(many)[0][0] == r"& \quad \langle \gamma, t \rangle"
    assert joined(rows(many)) == many


@pytest.mark.parametrize(
    ("math", "pieces"),
    [
        ("x = - a + b - c", ["x = - a", "+ b", "- c"]),
        ("x = (a + b) (c - d)", ["x = (a + b) (c - d)"]),
        (r"x = \{a + b\} - |c - d| + e^{- f}", [r"x = \{a + b\}", "- |c - d|", "+ e^{- f}"]),
        (r"x = \left[a - b\right) - \langle a + b, c \rangle", None),
        (r"x, y = 1, -2, +3", [r"x, y = 1, -2, +3"]),
        (r"x = a \cdot -b \le c - d", [r"x = a \cdot -b", r"\le c", "- d"]),
        ("a - b", ["a", "- b"]),
    ],
)
def test_only_what_stands_outside_brackets_and_joins_terms_is_a_break(math, pieces) -> None:
    expected = pieces or [r"x = \left[a - b\right)", r"- \langle a + b, c \rangle"]
    assert [[piece.strip() for piece in line] for line in rows(math)] == [expected]


def test_displays_by_length() -> None:
    assert display("a = b")[0] == r"\begin{equation*}"
    assert display("a = b", label="l")[:2] == [r"\begin{equation}", r"  \label{l}"]
    some = display(f"a = {LONG}", label="l")
    assert some[2] == r"  \begin{split}"
    assert sum(line.endswith(r" \\") for line in some) == len(rows(f"a = {LONG}")) - 1
    many = display(f"a = {' + '.join([LONG] * 8)}", label="l")
    assert many[:3] == [r"\begingroup", r"\allowdisplaybreaks", r"\begin{align}"]
    assert (
        sum(line.endswith(r" \notag \\") for line in many)
        == len(rows(f"a = {' + '.join([LONG] * 8)}")) - 1
    )
    assert many[-3:] == [r"  \label{l}", r"\end{align}", r"\endgroup"]


def test_no_line_of_prose_cuts_math_apart() -> None:
    lines = paragraph("word " * 16 + "$a + b + c + d$ " + "word " * 3)
    assert any("$a + b + c + d$" in line for line in lines)
    assert all(len(line) <= 88 for line in lines)


# What TeX makes of the same text, and what it does not.

REFLOWED: dict[str, Callable[[str], str]] = {
    "indented": lambda body: re.sub("(?m)^", "\t  ", body),
    "on one line": lambda body: body.replace("\n", " "),
    "a word a line": lambda body: "\n".join(body.split()),
    "blank around": lambda body: f"\n\n  {body}\n \n",
    "blanks at the ends of lines": lambda body: body.replace("\n", " \t\n"),
}
CHANGED: dict[str, Callable[[str], str]] = {
    "sign": lambda body: body.replace("- 2", "+ 2", 1),
    "number": lambda body: body.replace("2", "3", 1),
    "letter": lambda body: body.replace("L", "l", 1),
    "space dropped": lambda body: body.replace("= 1", "=1", 1),
    "paragraph": lambda body: body.replace("\nwhere", "\n \nwhere", 1),
    "comment": lambda body: body.replace("\n", " % note\n", 1),
    "star": lambda body: body.replace("{equation}", "{equation*}"),
    "no-break space": lambda body: body.replace("where ", "where\xa0", 1),
}


@pytest.mark.parametrize("reflow", REFLOWED.values(), ids=list(REFLOWED))
def test_the_fingerprint_does_not_see_the_layout(reflow) -> None:
    body = build("population.loss").body
    assert reflow(body) != body
    assert fingerprint(reflow(body)) == fingerprint(body)


@pytest.mark.parametrize("change", CHANGED.values(), ids=list(CHANGED))
def test_the_fingerprint_sees_everything_else(change) -> None:
    body = build("population.loss").body
    assert change(body) != body
    assert fingerprint(change(body)) != fingerprint(body)


def states(paper: str) -> list[tuple[str, State]]:
    def today(name: str) -> str | None:
        return build(name).fingerprint if name in TITLES else None

    return [(paste.name, judge(paste, today).state) for paste in find_pastes(paper)]


LOSS, ZERO = build("population.loss").text, build("zero-start").text
OPENING, BODY, CLOSING = re.fullmatch(r"(%.*?\n)(.*\n)(%.*\n)", LOSS, re.DOTALL).groups()
CURRENT, ALTERED = ("population.loss", State.CURRENT), ("population.loss", State.ALTERED)


@pytest.mark.parametrize("reflow", REFLOWED.values(), ids=list(REFLOWED))
def test_a_reflowed_paste_is_current(reflow) -> None:
    assert states(f"Text.\n{OPENING}{reflow(BODY)}\n{CLOSING}Text.") == [CURRENT]


@pytest.mark.parametrize("change", CHANGED.values(), ids=list(CHANGED))
def test_a_changed_paste_is_altered(change) -> None:
    assert states(OPENING + change(BODY) + CLOSING) == [ALTERED]


def old(fragment: Fragment) -> str:
    """The fragment as an earlier version might have printed it."""
    return dataclasses.replace(fragment, body=fragment.body.replace("1", "2", 1)).text


def test_a_faithful_paste_of_another_version_is_stale() -> None:
    assert states(old(build("population.loss"))) == [("population.loss", State.STALE)]
    paste = next(find_pastes(LOSS.replace(") v0.", ") v9.")))
    assert paste.version.startswith("9.")
    assert "changed since v9." in judge(paste, lambda _: "0" * 12).detail


def test_a_name_the_toolkit_does_not_know() -> None:
    renamed = LOSS.replace("xorverify population.loss", "xorverify population.gain")
    assert states(renamed) == [("population.gain", State.UNKNOWN)]


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        pytest.param(OPENING + BODY + ZERO, [ALTERED, ("zero-start", State.CURRENT)], id="open"),
        pytest.param(OPENING + BODY, [ALTERED], id="open at the end"),
        pytest.param(
            BODY + CLOSING + ZERO, [ALTERED, ("zero-start", State.CURRENT)], id="no start"
        ),
        pytest.param(
            OPENING + BODY + CLOSING.replace("loss", "gain"),
            [ALTERED, ("population.gain", State.ALTERED)],
            id="closed by another",
        ),
        pytest.param(re.sub(r" sha256:\w+", "", LOSS), [ALTERED], id="hash removed"),
        pytest.param(re.sub(r"sha256:\w{4}", "sha256:", LOSS), [ALTERED], id="hash cut"),
        pytest.param(re.sub("(?m)^", "% ", LOSS), [ALTERED], id="commented out"),
        pytest.param(LOSS + "\n" + LOSS, [CURRENT, CURRENT], id="twice"),
        pytest.param(LOSS.replace("\n", "\r\n"), [CURRENT], id="CRLF"),
        pytest.param("\\% text " + LOSS, [CURRENT], id="behind an escaped percent sign"),
        pytest.param("\\\\" + LOSS, [CURRENT], id="behind a line break"),
        pytest.param(
            BODY.strip().join([OPENING, CLOSING]), [CURRENT], id="closed on the last line"
        ),
        pytest.param("  %%  " + OPENING[1:] + BODY + CLOSING, [CURRENT], id="more percent signs"),
        pytest.param(LOSS.replace("% end", "\t%end"), [CURRENT], id="comments re-indented"),
        pytest.param(
            OPENING.replace("the population", "the\n  % population").replace(" v0", "\n  % v0")
            + BODY
            + CLOSING,
            [CURRENT],
            id="opening comment wrapped",
        ),
        pytest.param(
            "% xorverify fragments (pasted) follow\n% see xorverify (its docs)\n" + LOSS,
            [CURRENT],
            id="other comments",
        ),
        pytest.param("\\% xorverify population.loss (x) v1 sha256:00\n", [], id="no comment"),
        pytest.param("Text 100\\% plain\\", [], id="no fragment"),
    ],
)
def test_pastes_in_every_state_of_repair(paper: str, expected, tmp_path, capsys) -> None:
    path = tmp_path / "paper.tex"
    path.write_bytes(paper.encode())
    code, found = document(capsys, "--check", path)
    assert [(each["name"], each["state"]) for each in found["fragments"]] == expected
    found_states = {state for _, state in expected}
    assert code == (3 if not expected else 1 if State.ALTERED in found_states else 0)


def test_what_is_around_a_paste_may_be_in_any_encoding(tmp_path, capsys) -> None:
    path = tmp_path / "paper.tex"
    path.write_bytes("Erdős % naïve\n".encode() + b"\xff\xfe \xe9\n" + LOSS.encode())
    assert run(capsys, "--check", path) == (0, f"{path}:3: population.loss: current\n", "")


def test_check_says_of_each_paste_what_has_become_of_it(tmp_path, capsys) -> None:
    path = tmp_path / "paper.tex"
    unknown = LOSS.replace("xorverify population.loss", "xorverify population.gain")
    path.write_text(
        "\n".join(
            [ZERO, old(build("zero.loss")), OPENING + CHANGED["sign"](BODY) + CLOSING, unknown]
        )
    )
    code, out, err = run(capsys, "--check", path)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert [re.sub(r" \(.*", "", line).split(": ", 1)[1] for line in lines] == [
        "zero-start: current",
        "zero.loss: stale",
        "population.loss: altered",
        "population.gain: unknown name",
    ]
    texts = path.read_text().splitlines()
    for line in lines:
        number, name = re.match(rf"{re.escape(str(path))}:(\d+): (\S+):", line).groups()
        assert texts[int(number) - 1].startswith(f"% xorverify {name} (")


UNKNOWN = LOSS.replace("xorverify population.loss", "xorverify population.gain")
STALE = old(build("zero.loss"))


@pytest.mark.parametrize(
    ("paper", "expected"),
    [(ZERO, 0), (ZERO + UNKNOWN, 3), (STALE + ZERO, 1), (STALE + UNKNOWN, 1), (BODY + CLOSING, 1)],
    ids=["current", "unknown", "stale", "stale and unknown", "altered"],
)
def test_the_exit_code_of_a_check(paper: str, expected: int, tmp_path, capsys) -> None:
    path = tmp_path / "paper.tex"
    path.write_text(paper)
    assert run(capsys, "--check", path)[0] == expected


def test_a_paper_without_fragments_is_not_called_current(tmp_path, capsys) -> None:
    path = tmp_path / "paper.tex"
    path.write_text("\\documentclass{article}\n")
    assert run(capsys, "--check", path) == (3, "", f"{path} holds no fragments\n")


def test_all_fragments_at_once_are_current(tmp_path, capsys) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    path = tmp_path / "all.tex"
    path.write_text(out)
    code, found = document(capsys, "--check", path)
    assert code == 0
    assert [(each["name"], each["state"]) for each in found["fragments"]] == [
        (name, "current") for name in TITLES
    ]


# The command.


def test_list_is_a_line_for_each_fragment_and_derives_nothing(capsys) -> None:
    code, out, _ = run(capsys, "--list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(TITLES)
    assert all(len(line.split()) > 1 for line in out.splitlines())


def test_named_fragments_are_printed_in_order_and_once(capsys) -> None:
    code, out, _ = run(capsys, "zero-start", "population.loss", "zero-start")
    assert code == 0
    assert out == f"{LOSS}\n{ZERO}"
    _, found = document(capsys, "population.loss")
    assert found["fragments"] == [
        {
            "name": "population.loss",
            "title": "population loss",
            "source": build("population.loss").source,
            "sha256": fingerprint(BODY),
            "latex": LOSS,
        }
    ]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("foo", "NAME=foo: no such fragment; 'latex --list' names them all"),
        ("population.loss population.foo --out x", "NAME=population.foo: no such fragment"),
        ("population", "NAME=population: no such fragment"),
        ("--compile", "compile=yes: needs --out DIR"),
        ("--compile --list", "compile=yes: needs --out DIR"),
        ("--list --out x", "arguments=latex --list --out x: argument --out: not allowed with"),
        ("--check a.tex --out x", "arguments=latex --check a.tex --out x: argument --out: not"),
        ("--check missing.tex", "check=missing.tex: cannot be read: No such file or directory;"),
        ("--check .", "check=.: cannot be read: it is neither a regular file nor a pipe"),
        ("zero-start --list", "NAME=zero-start: goes with neither --list nor --check"),
        ("zero-start --check a.tex", "NAME=zero-start: goes with neither --list nor --check"),
        ("zero-start --out /dev/null/x", "out=/dev/null/x: cannot be written"),
    ],
)
@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_a_bad_request_is_one_line_and_leaves_nothing(
    capsys, tmp_path, monkeypatch, request_: str, message: str, extra: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *request_.split(), *extra)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    if not extra:
        assert message in err
    assert list(tmp_path.iterdir()) == []


def in_a_process(*argv: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "verify", "latex", *map(str, argv)],
        capture_output=True,
        check=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("argv", [["foo"], ["--compile"], ["--check", "no.tex"], ["--list"]])
def test_refusals_and_the_list_load_neither_sympy_nor_scipy(argv: list[str]) -> None:
    code = (
        "import sys; from verify.cli import main\n"
        "main(['latex', *sys.argv[1:]])\n"
        "heavy = {'sympy', 'scipy', 'rich', 'jinja2', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


def test_the_bytes_do_not_depend_on_the_hash_seed(tmp_path) -> None:
    written = []
    for seed in ("0", "1", "4711"):
        folder = tmp_path / seed
        in_a_process("--out", folder, PYTHONHASHSEED=seed)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1] == written[2]
    assert set(written[0]) == {"xorverify.tex", *(f"{name}.tex" for name in TITLES)}


def test_the_document_inputs_every_fragment_once(tmp_path, capsys) -> None:
    code, out, _ = run(capsys, "--out", tmp_path / "new")
    assert (code, out) == (
        0,
        f"wrote {len(TITLES)} fragments and {tmp_path / 'new' / 'xorverify.tex'}\n",
    )
    article = (tmp_path / "new" / "xorverify.tex").read_text()
    assert sorted(re.findall(r"\\input\{(.*)\.tex\}", article)) == sorted(TITLES)
    assert re.findall(r"\\usepackage.*", article) == [r"\usepackage{amsmath,amssymb}"]
    for name in TITLES:
        assert (tmp_path / "new" / f"{name}.tex").read_text() == build(name).text


def test_a_document_of_some_fragments(tmp_path, capsys) -> None:
    code, found = document(capsys, "population.loss", "zero-start", "--out", tmp_path)
    assert code == 0
    assert found == {
        "out": str(tmp_path),
        "files": ["population.loss.tex", "zero-start.tex", "xorverify.tex"],
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(found["files"])
    sections = re.findall(r"\\section\{(.*)\}", (tmp_path / "xorverify.tex").read_text())
    assert sections == ["The population loss, for any pair of queries", "Claims"]


def test_disputed_claims_have_a_section_of_their_own(tmp_path, monkeypatch) -> None:
    from verify.latex import document as module

    disputed = dataclasses.replace(CLAIMS["zero-start"], stance="disputed")
    monkeypatch.setattr(module, "CLAIMS", {**CLAIMS, "zero-start": disputed})
    module.write_document(tmp_path, [build("zero-start"), build("moment-rule")])
    article = (tmp_path / "xorverify.tex").read_text()
    before, after = article.split(r"\subsection*{Disputed wordings}")
    assert r"\input{moment-rule.tex}" in before
    assert r"\input{zero-start.tex}" in after


def test_the_documentation_shows_the_fragment_of_today() -> None:
    shown = (Path(__file__).parents[3] / "docs" / "latex.md").read_text()
    assert BODY + CLOSING in shown
    assert f"sha256:{fingerprint(BODY)}" in shown


# Compilation, where latexmk is missing or fails. The real thing comes last.


def fake_latexmk(folder: Path, script: str) -> None:
    folder.mkdir()
    program = folder / "latexmk"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def compiled(capsys, monkeypatch, tmp_path, path: Path) -> tuple[int, str, str]:
    monkeypatch.setenv("PATH", str(path))
    code, out, err = run(capsys, "zero-start", "--out", tmp_path / "out", "--compile")
    assert (tmp_path / "out" / "zero-start.tex").read_text() == ZERO
    return code, out, err


def test_without_latexmk_the_files_are_kept_and_the_packages_named(
    capsys, monkeypatch, tmp_path
) -> None:
    code, out, err = compiled(capsys, monkeypatch, tmp_path, Path())
    document_ = tmp_path / "out" / "xorverify.tex"
    assert code == 3
    assert out == f"wrote 1 fragment and {document_}\n"
    assert err == (
        "latexmk is not installed (Debian packages: latexmk texlive-latex-base);"
        f" {document_} is written but not compiled\n"
    )
    code, found = document(capsys, "zero-start", "--out", tmp_path / "out", "--compile")
    assert (code, found["pdf"], found["reason"]) == (3, None, err.strip())


def test_a_failure_of_tex_is_its_first_error_and_the_log(capsys, monkeypatch, tmp_path) -> None:
    fake_latexmk(
        tmp_path / "bin",
        "echo noise; printf 'This is pdfTeX\\n./a.tex:7: Undefined \\351.\\n! second\\n'"
        " > xorverify.log; exit 12",
    )
    code, _, err = compiled(capsys, monkeypatch, tmp_path, tmp_path / "bin")
    log = tmp_path / "out" / "xorverify.log"
    assert code == 3
    assert err == f"TeX failed: ./a.tex:7: Undefined \\xe9.; log: {log}\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo; echo 'sh: 1: pdflatex: not found' >&2; exit 12", "sh: 1: pdflatex: not found"),
        ("exit 1", "no output"),
        ("exit 0", "no output"),
        (": > xorverify.pdf; exit 12", "no output"),
    ],
)
def test_a_failure_without_a_log(capsys, monkeypatch, tmp_path, script: str, said: str) -> None:
    fake_latexmk(tmp_path / "bin", script)
    code, _, err = compiled(capsys, monkeypatch, tmp_path, tmp_path / "bin")
    assert code == 3
    assert err == (
        f"latexmk failed without a log (Debian packages: {' '.join(DEBIAN_PACKAGES)}): {said}\n"
    )


def test_a_latexmk_that_is_no_program(capsys, monkeypatch, tmp_path) -> None:
    fake_latexmk(tmp_path / "bin", "")
    (tmp_path / "bin" / "latexmk").write_bytes(b"\0")
    code, _, err = compiled(capsys, monkeypatch, tmp_path, tmp_path / "bin")
    assert (code, err) == (3, f"{tmp_path}/bin/latexmk cannot be run: Exec format error\n")


def test_the_log_of_an_earlier_run_does_not_speak_for_this_one(
    capsys, monkeypatch, tmp_path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "xorverify.log").write_text("! old error\n")
    fake_latexmk(tmp_path / "bin", "echo new; exit 1")
    _, _, err = compiled(capsys, monkeypatch, tmp_path, tmp_path / "bin")
    assert "old error" not in err
    assert err.endswith(": new\n")


def test_success_is_the_path_of_the_pdf(capsys, monkeypatch, tmp_path) -> None:
    fake_latexmk(tmp_path / "bin", 'echo "$@" > arguments; : > xorverify.pdf')
    code, out, err = compiled(capsys, monkeypatch, tmp_path, tmp_path / "bin")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"compiled {tmp_path / 'out' / 'xorverify.pdf'}"
    arguments = (tmp_path / "out" / "arguments").read_text().split()
    assert "-pdf" in arguments
    assert arguments[-1] == "xorverify.tex"


@pytest.fixture
def latexmk() -> None:
    if shutil.which("latexmk") is None:
        missing = f"latexmk is not installed (Debian packages: {' '.join(DEBIAN_PACKAGES)})"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        # A reader without TeX can still run the tests.
        pytest.skip(missing)


# TeX leaves up to this much over the edge without a mark; a reader does not see 5 points.
OVERFULL = re.compile(r"Overfull \\hbox \(([0-9.]+)pt too wide\)")


def problems(log: str) -> list[str]:
    wide = [line for line in log.splitlines() if any(float(w) > 5 for w in OVERFULL.findall(line))]
    return wide + re.findall(r".*(?:undefined|multiply defined|Rerun).*", log)


@pytest.mark.latex
@pytest.mark.usefixtures("latexmk")
def test_the_document_compiles_and_nothing_sticks_out(tmp_path, capsys) -> None:
    code, out, err = run(capsys, "--out", tmp_path, "--compile")
    assert (code, err) == (0, "")
    pdf = tmp_path / "xorverify.pdf"
    assert out.splitlines()[-1] == f"compiled {pdf}"
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert problems((tmp_path / "xorverify.log").read_text("latin-1")) == []


@pytest.mark.latex
@pytest.mark.usefixtures("latexmk")
def test_fragments_compile_in_a_paper_at_twelve_points(tmp_path, capsys) -> None:
    _, fragments, _ = run(capsys)
    paper = tmp_path / "paper.tex"
    paper.write_text(
        "\\documentclass[12pt]{article}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n"
        f"Text before.\n{fragments}Text behind.\n\\end{{document}}\n"
    )
    assert compile_document(paper) == tmp_path / "paper.pdf"
    assert problems((tmp_path / "paper.log").read_text("latin-1")) == []
    assert run(capsys, "--check", paper)[0] == 0


@pytest.mark.latex
@pytest.mark.usefixtures("latexmk")
def test_an_error_of_tex_is_found_in_its_log(tmp_path) -> None:
    paper = tmp_path / "paper.tex"
    paper.write_text(
        "\\documentclass{article}\n\\begin{document}\n$\\frc{1}{2}$\n\\end{document}\n"
    )
    with pytest.raises(
        CompilationError,
        match=r"^TeX failed: \./paper\.tex:3: Undefined control .*; log: /.*\.log$",
    ):
        compile_document(paper)


STOPS_EARLY = """#!/bin/sh
echo run >> runs
echo "LaTeX Warning: Label(s) may have changed. Rerun to get cross-references right." > paper.log
[ "$(wc -l < runs)" -lt 2 ] || : > paper.log
touch paper.pdf
"""


def test_latexmk_is_asked_again_where_tex_asks(tmp_path, monkeypatch) -> None:
    latexmk = tmp_path / "latexmk"
    latexmk.write_text(STOPS_EARLY)
    latexmk.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert compile_document(tmp_path / "paper.tex") == tmp_path / "paper.pdf"
    assert (tmp_path / "runs").read_text() == "run\n" * 2


@pytest.mark.latex
@pytest.mark.usefixtures("latexmk")
def test_tex_measures_no_line_wider_than_estimated(tmp_path) -> None:
    """The second way to every width: a box in display style, and its width as TeX prints it."""
    from derivations.printing.latex import latex

    formulas = [
        f"{formula.left} = {latex(formula.right)}"
        for name in names()
        for formula in load(name).formulas
    ]
    lines = sorted(
        {re.sub(r"&|\{\}", "", " ".join(line)) for math in formulas for line in rows(math)}
        | {
            math
            for claim in CLAIMS.values()
            for math in re.findall(r"\$([^$]*)\$", claim.statement)
        }
        | {r"\frac{a + b + c + d}{a + b + c + d}", r"\binom{a + b + c}{d}", r"\sqrt{a + b + c}"}
    )
    boxes = "\n".join(
        f"\\setbox0=\\hbox{{$\\displaystyle {{}} {line}$}}\\typeout{{measured \\the\\wd0}}"
        for line in lines
    )
    paper = tmp_path / "boxes.tex"
    paper.write_text(
        "\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n"
        f"{boxes}\nText.\n\\end{{document}}\n"
    )
    compile_document(paper)
    log = (tmp_path / "boxes.log").read_text("latin-1")
    measured = [float(points) for points in re.findall(r"measured ([0-9.]+)pt", log)]
    assert len(measured) == len(lines) > 100
    for line, points in zip(lines, measured, strict=True):
        # A point is allowed for what a relation at the edge adds; a third would waste lines.
        assert points - 1 <= width(line), line
        assert width(line) <= 1.35 * points + 5, line
    assert max(measured) <= 325
