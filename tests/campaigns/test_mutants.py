"""The operators to the letter, the sample, and what kills a mutant."""

import ast
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campaigns.__main__ import main
from campaigns.mutants.baseline import Baseline, CellBaseline, Reach
from campaigns.mutants.explained import explanations
from campaigns.mutants.formula_files import EXCLUDED, WINGS, formula_files, wing
from campaigns.mutants.judge import Verdict, judge, module_tests
from campaigns.mutants.mutant import Mutant
from campaigns.mutants.operators import OPERATORS, mutants_of
from campaigns.mutants.sampling import round_robin
from campaigns.mutants.sandbox import ROOT, Sandbox
from campaigns.mutants.tables import Figures, as_markdown, change_in_short

BOUND = "numerics/balls/bounds/tails.py"


def changes(source: str, operator: str, file: str = "numerics/population.py") -> set[str]:
    """Return the lines that an operator makes of a source of one line."""
    code = source.encode()
    return {
        mutant.applied(code).decode()
        for mutant in mutants_of(file, code)
        if mutant.change.operator == operator
    }


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("sign", "x = p + q", {"x = p - q"}),
        ("sign", "x = p - (q + r)", {"x = p + (q + r)", "x = p - (q - r)"}),
        ("sign", "x = (p) - q", {"x = (p) + q"}),
        ("sign", "x = -p", {"x = p"}),
        ("sign", "x = -(p + q)", {"x = (p + q)", "x = -(p - q)"}),
        ("sign", "x = p * q", {"x = -(p * q)"}),
        ("sign", "x += p", {"x -= p"}),
        ("factor", "x = 3 * p", {"x = 6 * p", "x = 3", "x = p"}),
        ("factor", "x = p / 4", {"x = p / 8", "x = p / 2", "x = p"}),
        ("factor", "x = (p + q) * r", {"x = (p + q)", "x = r"}),
        ("factor", "x = 2.0 * p", {"x = (2 * 2.0) * p", "x = (0.5 * 2.0) * p", "x = 2.0", "x = p"}),
        ("factor", "x *= 2.5", {"x *= (2 * 2.5)", "x *= (0.5 * 2.5)"}),
        ("factor", "x = Rational(1, 3)", {"x = Rational(2, 3)"}),
        ("term", "x = p + q", {"x = p", "x = q"}),
        ("term", "x = p - q * r", {"x = p", "x = (-(q * r))"}),
        ("exponent", "x = p**2", {"x = p**1", "x = p**3"}),
        ("exponent", "x = p**-1", {"x = p**-2", "x = p**0"}),
        ("exponent", "x = np.sqrt(p + q)", {"x = (p + q)"}),
        ("exponent", "x = (p + q).sqrt()", {"x = (p + q)"}),
        (
            "head",
            "x = gamma @ gamma_tilde",
            {"x = gamma_tilde @ gamma_tilde", "x = gamma @ gamma"},
        ),
        ("head", "x = at.theta(at.theta_tilde)", {"x = at.theta_tilde(at.theta_tilde)",
                                                  "x = at.theta(at.theta)"}),
        ("head", "x = g[a] + 1 + b", {"x = g[b] + 1 + b", "x = g[a] + 1 + a"}),
        ("head", "x = heads[0]", {"x = heads[1]"}),
        ("function", "x = sp.cosh(p)", {"x = sp.sinh(p)"}),
        ("function", "x = np.exp(p - q)", {"x = np.exp(-(p - q))"}),
        ("function", "x = p.exp()", {"x = (-p).exp()"}),
        ("function", "x = cos(p)", {"x = sin(p)"}),
        (
            "cumulant",
            "x = {2: 1, 4: -2}",
            {"x = {2: -1, 4: -2}", "x = {2: 2, 4: -2}", "x = {2: 1, 4: -(-2)}", "x = {2: 1, 4: -4}",
             "x = {2: 1, 4: -1}"},
        ),
        ("inward", "x = p.upper()", {"x = p.lower()"}),
        ("inward", "x = max(p, q)", {"x = min(p, q)"}),
        ("inward", "x = math.ceil(p)", {"x = math.floor(p)"}),
        ("inward", "x = decimal.ROUND_CEILING, decimal.ROUND_FLOOR",
         {"x = decimal.ROUND_FLOOR, decimal.ROUND_FLOOR",
          "x = decimal.ROUND_CEILING, decimal.ROUND_CEILING"}),
        ("inward", "x = p + radius", {"x = p"}),
        ("boundary", "x = p < q", {"x = p <= q"}),
        ("boundary", "x = p >= q", {"x = p > q"}),
        ("boundary", "x = 0 < p <= q", {"x = 0 <= p <= q", "x = 0 < p < q"}),
    ],
)  # fmt: skip
def test_operator(operator: str, before: str, after: set[str]) -> None:
    assert changes(before, operator) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 2 * p", {"x = p"}),
        ("x = (p + q) * 2", {"x = (p + q)"}),
        ("x = sum(p(h) for h in (first, second))", {"x = sum(p(h) for h in (first,))"}),
        ("x = sum(p(h) for h in HEADS)", {"x = sum(p(h) for h in HEADS[:1])"}),
    ],
)
def test_a_union_is_taken_over_one_head_where_there_are_bounds(
    before: str, after: set[str]
) -> None:
    assert changes(before, "union", BOUND) == after
    assert not changes(before, "union")


@pytest.mark.parametrize(
    "source",
    [
        '"""The sum 1 + 1."""',
        '__all__ = ["x" + "y"]',
        'x = f"{p + q}"',
        'x = "p" + "q"',
        "x = [p] + [q]",
        "def f(p: A | B = None) -> A | B: pass",
        "@lru_cache(maxsize=2 * 128)\ndef f(): pass",
        "assert p + q",
        "if p < 2 * q:\n    raise ValueError(p - q)",
        "from numerics.arguments import integer_at_least\nx = integer_at_least('n', n - 1, 2)",
        "x = Step(statement=equation(p + q), reason=p + q)",
        "def __repr__(self): return p + q",
        "computed, margin = str(p), 1 - p / q",
        "x = Evidence(margin=1 - p / q)",
        "if __name__ == '__main__':\n    run(p + q)",
        "x = V.shape[0]",
        "x = {'a': 0, 'b': 1}",
        "x = (2, 3, 4)",
        "for k in (1.0, 2.0): pass",
    ],
)
def test_what_only_speaks_has_no_mutants(source: str) -> None:
    assert mutants_of("numerics/population.py", source.encode()) == ()


def test_comments_and_parentheses_around_an_operator_are_left() -> None:
    source = "x = (\n    (p)  # p + q\n    + (q)\n)"
    assert source.replace("    + (q)", "    - (q)") in changes(source, "sign")


def test_every_mutant_can_be_read_and_is_another_program() -> None:
    for file in ("numerics/population.py", "numerics/samples/sums.py", "derivations/moments.py"):
        code = (ROOT / file).read_bytes()
        original = ast.dump(ast.parse(code))
        for mutant in mutants_of(file, code)[::7]:
            assert ast.dump(ast.parse(mutant.applied(code))) != original, mutant


def test_ids_survive_what_happens_elsewhere_and_are_unique() -> None:
    function = "def f(p, q):\n    return p + q + (p + q)\n"
    before = mutants_of("numerics/x.py", function.encode())
    after = mutants_of("numerics/x.py", f"# above\ny = p * q\n\n{function}".encode())
    ids = [mutant.id for mutant in before]
    assert len(set(ids)) == len(ids)
    assert set(ids) < {mutant.id for mutant in after}
    assert not set(ids) & {mutant.id for mutant in mutants_of("numerics/y.py", function.encode())}


def test_a_mutant_of_another_version_is_refused() -> None:
    (mutant, *_) = mutants_of("numerics/x.py", b"x = p + q")
    with pytest.raises(ValueError, match="has changed"):
        mutant.applied(b"y = 0\nx = p + q")


def test_formula_files_are_all_but_the_excluded_ones() -> None:
    found = formula_files(ROOT)
    assert {wing(file) for file in found} == set(WINGS)
    assert "derivations/moments.py" in found
    assert "numerics/balls/certificate.py" in found
    assert not any(file.startswith(tuple(EXCLUDED)) for file in found)


def sources(count: int) -> dict[str, tuple[Mutant, ...]]:
    names = [f"numerics/f{number}.py" for number in range(count)]
    return {name: mutants_of(name, b"x = p + 2 * q\ny = p < q") for name in names}


def test_sample_is_a_function_of_the_seed() -> None:
    first = [mutant.id for mutant in round_robin(sources(5), 12, seed=3)]
    assert first == [mutant.id for mutant in round_robin(sources(5), 12, seed=3)]
    assert first != [mutant.id for mutant in round_robin(sources(5), 12, seed=4)]
    assert len(set(first)) == 12


def test_sample_gives_every_file_its_turn() -> None:
    drawn = round_robin(sources(5), 12, seed=0)
    for turn in (drawn[:5], drawn[5:10]):
        assert len({mutant.file for mutant in turn}) == 5
    everything = sources(2)
    assert len(round_robin(everything, 1000, seed=0)) == sum(map(len, everything.values()))


MODULE = """\
from numba import njit

SCALE = 2 * 3


def f(p):
    q = p * (
        p + 1
    )
    return q


@njit(nogil=True)
def g(p):
    return p + 3


def h(p):
    return p + 4
"""
USER = "from numerics.module import SCALE\n\n\ndef user():\n    return SCALE\n"
TRACE = {
    "of-f": {"numerics/module.py": [1, 3, 6, 7, 10]},
    "of-h": {"numerics/module.py": [1, 3, 19]},
    "of-user": {"numerics/module.py": [1, 3], "numerics/user.py": [5]},
    "of-none": {"numerics/module.py": [1, 3]},
}


@pytest.mark.parametrize(
    ("before", "claims"),
    [
        ("p + 1", {"of-f"}),  # within a statement of several lines
        ("p + 4", {"of-h"}),
        ("p + 3", {"of-f", "of-h"}),  # compiled: no trace sees it
        ("2 * 3", {"of-f", "of-h", "of-user"}),  # of the module
    ],
)
def test_a_mutant_concerns_the_claims_that_execute_it(before: str, claims: set[str]) -> None:
    files = {"numerics/module.py": MODULE.encode(), "numerics/user.py": USER.encode()}
    reach = Reach(files, {"quick": TRACE, "standard": {}})
    mutants = mutants_of("numerics/module.py", MODULE.encode())
    mutant = next(each for each in mutants if each.change.before == before)
    assert set(reach.claims(mutant, "quick")) == claims
    assert reach.claims(mutant, "standard") == ()


def test_derivations_are_looked_at_in_the_first_profile_only() -> None:
    def cell(profile: str, name: str, derivation: str | None, seconds: float) -> CellBaseline:
        return CellBaseline(
            profile=profile,
            claim="c",
            cell=name,
            derivation=derivation,
            grade="exact",
            seconds=seconds,
        )

    baseline = Baseline(
        [
            cell("quick", "slow", "slow", 2.0),
            cell("quick", "fast", None, 1.0),
            cell("standard", "slow", "slow", 2.0),
            cell("standard", "fast", None, 9.0),
            cell("standard", "only here", "other", 3.0),
        ],
        {},
    )
    assert [each.cell for each in baseline.tasks({"c"}, "quick")] == ["fast", "slow"]
    assert [each.cell for each in baseline.tasks({"c"}, "standard")] == ["only here", "fast"]
    assert baseline.tasks({"another"}, "quick") == []


def test_tests_of_a_module_are_its_own_or_else_those_that_import_it() -> None:
    own = ["tests/numerics/balls/bounds/test_tails.py", "tests/numerics/balls/test_bounds.py"]
    importing = {
        "tests/numerics/test_other.py": "from numerics.balls.bounds import grids, tails",
        "tests/numerics/test_sphere.py": "from numerics.balls.bounds.tails import sphere_peak",
    }
    far = {"tests/numerics/test_far.py": "from numerics.balls.bounds.tails_of import x"}
    assert module_tests(BOUND, dict.fromkeys(own, "") | importing | far) == own
    assert module_tests(BOUND, importing | far) == sorted(importing)


EXPLANATION = """
[[mutant]]
id = "{id}"
where = "somewhere"
kind = "{kind}"
reason = "because"
"""


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (EXPLANATION.format(id="gone", kind="looser"), "no file has this mutant any more"),
        (EXPLANATION.format(id="here", kind="wrong"), "must be one of"),
        (EXPLANATION.format(id="here", kind="looser") * 2, "stands there twice"),
        ('[[mutant]]\nid = "here"\nkind = "looser"', "needs the texts"),
    ],
)
def test_explanations_that_explain_nothing_are_refused(
    tmp_path: Path, text: str, refusal: str
) -> None:
    (tmp_path / "explained.toml").write_text(text)
    with pytest.raises(ValueError, match=refusal):
        explanations(tmp_path / "explained.toml", {"here"})


def verdict(mutant: Mutant, *, test: str | None = None, **kill: str) -> Verdict:
    read = {"kill": {"evidence": "found", **kill} if kill else None, "profile": "quick"}
    return Verdict.from_json({"id": mutant.id, "claims": 1, "test": test, "seconds": 1.0, **read})


def test_figures_count_what_is_false_and_leave_out_what_is_explained(tmp_path: Path) -> None:
    mutants = mutants_of("numerics/x.py", b"x = p + 2 * q + r\ny = p < q")
    killed, blind, silent, looser, equal, contradicted, pinned = mutants[:7]
    (tmp_path / "explained.toml").write_text(
        "".join(
            EXPLANATION.format(id=mutant.id, kind=kind)
            for mutant, kind in (
                (looser, "looser"),
                (equal, "equivalent"),
                (contradicted, "equivalent"),
                (pinned, "looser"),
            )
        )
    )
    figures = Figures(
        mutants,
        mutants[:7],
        {
            each.id: each
            for each in (
                verdict(killed, kind="timeout"),
                verdict(blind, test="tests/test_x.py::test"),
                verdict(silent),
                verdict(looser),
                verdict(equal),
                verdict(contradicted, test="tests/test_x.py::test"),
                verdict(pinned, test="tests/test_x.py::test"),
            )
        },
        explanations(tmp_path / "explained.toml", {mutant.id for mutant in mutants}),
    )
    outcomes = [figures.outcome(mutant) for mutant in mutants[:7]]
    assert outcomes == ["timeout", "alive", "alive", "looser", "equivalent", "alive", "looser"]
    assert (figures.killed, figures.counting, figures.goal_met) == (1, 4, False)
    page = as_markdown(figures, seed=0)
    assert "1 of the 4 mutants that count are killed (25.0%)" in page
    assert page.count(f"`{contradicted.id}`") == 1
    assert killed.id not in page
    only_killed = Figures(mutants, [killed], figures.verdicts, {})
    assert only_killed.goal_met
    assert not Figures(mutants, [killed], {}, {}).goal_met


def test_a_long_change_is_shown_around_its_difference() -> None:
    source = "x = f(" + ", ".join(f"name_{i}" for i in range(40)) + ", p + q)"
    mutants = mutants_of("numerics/x.py", source.encode())
    shown = change_in_short(next(each for each in mutants if each.change.operator == "sign"))
    assert shown == "p + q -> p - q"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    made = Sandbox(ROOT, tmp_path_factory.mktemp("sandboxes") / "one")
    yield made
    made.close()


@pytest.fixture(scope="module")
def baseline(sandbox: Sandbox) -> Baseline:
    cells = [
        CellBaseline(
            profile="quick",
            claim=cell.claim,
            cell=cell.name,
            derivation=cell.derivation,
            grade="exact",
            seconds=1.0,
        )
        for cell in sandbox.cells("quick")
        if cell.claim == "softmax-derivative"
    ]
    executed = {"derivations/softmax.py": range(400)}
    return Baseline(cells, {"quick": {"softmax-derivative": executed}})


def judged(sandbox: Sandbox, baseline: Baseline, choose: Callable[[Mutant], bool]) -> Verdict:
    code = (ROOT / "derivations/softmax.py").read_bytes()
    mutant = next(filter(choose, mutants_of("derivations/softmax.py", code)))
    reach = Reach({"derivations/softmax.py": code}, baseline.lines)
    return judge(sandbox, mutant, baseline=baseline, reach=reach, profiles=["quick"], seed=0)


def test_the_judge_kills_a_sign(sandbox: Sandbox, baseline: Baseline) -> None:
    found = judged(
        sandbox,
        baseline,
        lambda mutant: (mutant.change.function, mutant.change.operator) == ("score_motion", "sign"),
    )
    assert found.kill is not None
    assert (found.kill.kind, found.kill.claim) == ("refuted", "softmax-derivative")
    assert found.kill.evidence.startswith("step ")
    assert found.test is None


def without_effect(mutant: Mutant) -> Mutant:
    """Return a mutant that changes how its expression is written, and nothing else."""
    change = mutant.change
    fields = vars(change) | {"after": f"({change.before})"}
    return Mutant(id=mutant.id, file=mutant.file, change=type(change)(**fields))


@pytest.fixture
def few_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ask one test about survivors, and not all that import the module."""
    file = tmp_path / "test_nothing.py"
    file.write_text("def test_nothing(): pass\n")
    monkeypatch.setattr("campaigns.mutants.judge.module_tests", lambda _file, _tests: [str(file)])


@pytest.mark.usefixtures("few_tests")
def test_the_judge_lets_an_equivalent_one_live(sandbox: Sandbox, baseline: Baseline) -> None:
    code = (ROOT / "derivations/softmax.py").read_bytes()
    mutant = without_effect(mutants_of("derivations/softmax.py", code)[0])
    reach = Reach({"derivations/softmax.py": code}, baseline.lines)
    found = judge(sandbox, mutant, baseline=baseline, reach=reach, profiles=["quick"], seed=0)
    assert (found.kill, found.test, found.claims, found.profile) == (None, None, 1, "quick")


@pytest.mark.usefixtures("few_tests")
@pytest.mark.parametrize(
    ("after", "kind"),
    [
        ("1 / 0", "error"),
        ("[each for each in iter(int, 1)]", "timeout"),
        ("__import__('os').kill(__import__('os').getpid(), 11)", "died"),
    ],
)
def test_whatever_a_mutant_does_is_its_own_affair(
    sandbox: Sandbox,
    baseline: Baseline,
    monkeypatch: pytest.MonkeyPatch,
    after: str,
    kind: str,
) -> None:
    monkeypatch.setattr("campaigns.mutants.judge._TIMES", 1.0)
    monkeypatch.setattr("campaigns.mutants.judge._SECONDS", 1.0)
    code = (ROOT / "derivations/softmax.py").read_bytes()
    (mutant, *_) = (
        each
        for each in mutants_of("derivations/softmax.py", code)
        if each.change.function == "score_motion"
    )
    fields = vars(mutant.change) | {"after": after}
    bad = Mutant(id=mutant.id, file=mutant.file, change=type(mutant.change)(**fields))
    reach = Reach({"derivations/softmax.py": code}, baseline.lines)
    found = judge(sandbox, bad, baseline=baseline, reach=reach, profiles=["quick"], seed=0)
    assert found.kill is not None
    assert found.kill.kind == kind
    # The sandbox is as it was.
    clean = judge(
        sandbox, without_effect(mutant), baseline=baseline, reach=reach, profiles=["quick"], seed=0
    )
    assert clean.kill is None


def test_a_failing_test_is_found_and_may_be_left_out(sandbox: Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "test_three.py"
    file.write_text(
        "import pytest\n\n\ndef test_good(): pass\n\n\n"
        "@pytest.mark.parametrize('x', ['a b'])\ndef test_bad(x): assert not x\n"
    )
    failing = sandbox.failing_test([str(file)])
    assert failing is not None
    assert failing.endswith("test_bad[a b]")
    assert sandbox.failing_test([]) is None
    assert sandbox.failing_test([str(file) + "::test_good"]) is None


def test_small_campaign_from_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("campaigns.mutants.campaign._REPORT", tmp_path)
    monkeypatch.setattr("campaigns.mutants.campaign.tree_hash", lambda _: "one-state")
    assert main(["mutants", "--seed", "0", "--jobs", "1"]) == 0
    told = capsys.readouterr()
    assert "are killed" in told.out
    assert "of 8 left" in told.err
    record = json.loads((tmp_path / "mutants-small.json").read_text())
    assert len(record["verdicts"]) == 8
    # What is known is not judged again.
    assert main(["mutants", "--seed", "0", "--jobs", "1"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    for name in (*WINGS, *OPERATORS):
        assert name in told.out


def test_mutants_are_listed_and_chosen_by_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--list", "--file", "derivations/softmax.py", "--count", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all("derivations/softmax.py:" in line for line in lines)
    id_ = lines[0].split()[0]
    assert main(["mutants", "--list", "--only", id_]) == 0
    assert capsys.readouterr().out.splitlines() == [lines[0]]


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["--only", "0000000000"], "no such mutant"),
        (["--file", "numerics/arguments.py"], "no file with formulas"),
    ],
)
def test_what_there_is_not_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], refusal: str
) -> None:
    assert main(["mutants", "--list", *arguments]) == 2
    assert refusal in capsys.readouterr().err


def test_the_copy_is_gone_afterwards(tmp_path: Path) -> None:
    made = Sandbox(ROOT, tmp_path / "one")
    made.close()
    assert os.listdir(tmp_path) == []
