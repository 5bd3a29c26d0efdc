"""The operators to the letter, the sample, and what kills a mutant."""

import ast
import importlib.metadata
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from campaigns.__main__ import main
from campaigns.mutants.baseline import (
    Baseline,
    BaselineError,
    CellBaseline,
    Reach,
    cached_baseline,
)
from campaigns.mutants.explained import Explanation, explanations
from campaigns.mutants.formula_files import EXCLUDED, WINGS, formula_files, sources_of, wing
from campaigns.mutants.judge import KILLS, Kill, Verdict, judge, module_tests
from campaigns.mutants.mutant import Mutant
from campaigns.mutants.operators import OPERATORS, mutants_of
from campaigns.mutants.sampling import round_robin
from campaigns.mutants.sandbox import (
    ROOT,
    CellTask,
    GradedCell,
    ListedCell,
    Sandbox,
    Session,
    tree_hash,
)
from campaigns.mutants.tables import Figures, as_markdown, change_in_short

SOURCES = sources_of(ROOT)
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
        code = (SOURCES / file).read_bytes()
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
    found = formula_files(SOURCES)
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


def graded(
    cell: str, grade: str, *, subject: str = "statement", machine: bool = False
) -> GradedCell:
    return GradedCell(
        claim="c",
        cell=cell,
        subject=subject,
        grade=grade,
        computed=f"found in {cell}",
        claimed="something",
        reason=None,
        seconds=1.0,
        of_machine=machine,
    )


def ended(*cells: GradedCell, broken: str | None = None, died: int = 0) -> Session:
    return Session(graded=cells, lines={}, broken=broken, died=died)


class ScriptedSandbox:
    """Answers what it is told to, and keeps what it was asked."""

    def __init__(self, *sessions: Session) -> None:
        self.left = list(sessions)
        self.asked: list[tuple[str, bool]] = []
        self._wrong = False

    def mutated(self, _mutant: Mutant) -> AbstractContextManager[None]:
        @contextmanager
        def wrong() -> Iterator[None]:
            self._wrong = True
            yield
            self._wrong = False

        return wrong()

    def check(self, tasks: Sequence[CellTask], **_: object) -> Session:
        self.asked.append((" ".join(task.cell for task in tasks), self._wrong))
        return self.left.pop(0)

    def test_files(self) -> list[Path]:
        return []

    def failing_test(self, _tests: Sequence[str], **_: object) -> None:
        return None


class CrewOfOne:
    def __init__(self, sandbox: object) -> None:
        self._sandbox = sandbox

    def each(self, function, items):
        return [function(self._sandbox, item) for item in items]


def measured(stance: str, session: Session, tmp_path: Path) -> Baseline:
    listed = [
        ListedCell(claim="c", name=name, cost=1.0, derivation=None, stance=stance) for name in "AB"
    ]
    sandbox = SimpleNamespace(cells=lambda _: listed, check=lambda _tasks, **_: session)
    return cached_baseline(
        CrewOfOne(sandbox),
        tmp_path / "baseline.json",
        claims=None,
        profiles=["quick"],
        tell=lambda _: None,
    )


@pytest.mark.parametrize(
    ("stance", "grades"),
    [
        ("asserted", ("exact", "certified")),
        ("asserted", ("sampled", "vacuous")),
        ("disputed", ("refuted", "certified")),
        ("disputed", ("refuted", "undecided")),  # a refutation decides
    ],
)
def test_the_baseline_takes_claims_that_succeed(
    stance: str, grades: tuple[str, str], tmp_path: Path
) -> None:
    cells = map(graded, "AB", grades)
    found = measured(stance, ended(*cells), tmp_path)
    assert tuple(cell.grade for cell in found.cells) == grades


@pytest.mark.parametrize(
    ("stance", "session", "told"),
    [
        (
            "asserted",
            ended(graded("A", "exact"), graded("B", "refuted")),
            "asserted, but refuted by B: found in B",
        ),
        (
            "asserted",
            ended(graded("A", "exact"), graded("B", "refuted", subject="cross-check")),
            "asserted, but refuted by B: found in B",
        ),
        (
            "asserted",
            ended(graded("A", "undecided"), graded("B", "exact")),
            "asserted, but undecided by A: found in A",
        ),
        (
            "asserted",
            ended(graded("A", "vacuous"), graded("B", "exact", subject="cross-check")),
            "asserted, but vacuous by A: found in A",
        ),
        (
            "asserted",
            ended(graded("A", "exact"), graded("B", "error")),
            "asserted, but error by B: found in B",
        ),
        (
            "disputed",
            ended(graded("A", "certified"), graded("B", "exact")),
            "disputed, but certified by A: found in A",
        ),
        ("asserted", ended(graded("A", "exact"), died=9), "signal 9 in B"),
        ("asserted", ended(broken="ImportError: no"), "ImportError: no"),
    ],
)
def test_the_baseline_refuses_a_broken_verifier(
    stance: str, session: Session, told: str, tmp_path: Path
) -> None:
    with pytest.raises(BaselineError) as refusal:
        measured(stance, session, tmp_path)
    assert str(refusal.value) == (f"claim=c: no success at profile quick without a mutant: {told}")
    assert not list(tmp_path.iterdir())


def test_a_broken_verifier_ends_the_campaign_with_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_options: object) -> int:
        raise BaselineError("claim=c: no success")

    monkeypatch.setattr("campaigns.mutants.campaign.run", broken)
    assert main(["mutants"]) == 2
    assert capsys.readouterr().err == "claim=c: no success\n"


def killed_by(sandbox: ScriptedSandbox, **grades: str) -> Kill | None:
    """Judge a mutant by cells that have these grades without it."""
    (mutant, *_) = mutants_of("numerics/module.py", MODULE.encode())
    cells = [
        CellBaseline(
            profile="quick", claim="c", cell=name, derivation=None, grade=grade, seconds=1.0
        )
        for name, grade in grades.items()
    ]
    reach = Reach({"numerics/module.py": MODULE.encode()}, {"quick": {"c": TRACE["of-f"]}})
    baseline = Baseline(cells, {})
    found = judge(sandbox, mutant, baseline=baseline, reach=reach, profiles=["quick"], seed=0)
    assert not sandbox.left
    return found.kill


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("exact", "refuted", "refuted"),
        ("sampled", "refuted", "refuted"),
        ("undecided", "refuted", "refuted"),
        ("sampled", "certified", "regraded"),
        ("exact", "sampled", "regraded"),
        ("refuted", "exact", "regraded"),
        ("undecided", "certified", "regraded"),
        ("exact", "vacuous", "undecided"),
        ("refuted", "undecided", "undecided"),
        ("exact", "error", "error"),
    ],
)
def test_the_kind_of_a_kill_is_what_the_cell_comes_to(before: str, after: str, kind: str) -> None:
    sandbox = ScriptedSandbox(ended(graded("A", before), graded("B", after)))
    kill = killed_by(sandbox, A=before, B=before)
    assert kill == Kill(kind=kind, claim="c", cell="B", evidence="found in B; claimed: something")
    assert kind in KILLS
    assert sandbox.asked == [("A B", True)]


SUSPECTS = [
    (ended(graded("A", "exact"), died=signal.SIGKILL), "died"),
    (ended(graded("A", "exact"), died=0), "died"),
    (ended(graded("A", "exact"), died=signal.SIGXCPU), "timeout"),
    (ended(graded("A", "exact"), died=signal.SIGALRM), "timeout"),
    (ended(graded("A", "exact"), broken="SystemExit: 1"), "import"),
    (ended(graded("A", "exact"), graded("B", "error", machine=True)), "error"),
]


def alone(session: Session) -> Session:
    """Return what is left of a session that begins with its second cell."""
    return ended(*session.graded[1:], broken=session.broken, died=session.died)


@pytest.mark.parametrize(("session", "kind"), SUSPECTS)
def test_what_the_machine_may_have_done_counts_if_it_is_the_mutant_again(
    session: Session, kind: str
) -> None:
    sandbox = ScriptedSandbox(session, alone(session), ended(graded("B", "exact")))
    kill = killed_by(sandbox, A="exact", B="exact", C="exact")
    assert kill is not None
    assert kill.kind == kind
    assert sandbox.asked == [("A B C", True), ("B", True), ("B", False)]


@pytest.mark.parametrize(("session", "kind"), SUSPECTS)
def test_what_happens_without_the_mutant_too_kills_nothing(session: Session, kind: str) -> None:
    passed = ended(graded("C", "exact"))
    sandbox = ScriptedSandbox(session, alone(session), alone(session), passed)
    assert killed_by(sandbox, A="exact", B="exact", C="exact") is None, kind
    assert sandbox.asked == [("A B C", True), ("B", True), ("B", False), ("C", True)]


@pytest.mark.parametrize(("session", "kind"), SUSPECTS)
def test_what_does_not_happen_again_kills_nothing(session: Session, kind: str) -> None:
    sandbox = ScriptedSandbox(session, ended(graded("B", "exact")), ended(graded("C", "refuted")))
    kill = killed_by(sandbox, A="exact", B="exact", C="exact")
    assert kill is not None, kind
    assert (kill.kind, kill.cell) == ("refuted", "C")
    assert sandbox.asked == [("A B C", True), ("B", True), ("C", True)]


def test_what_a_repetition_finds_is_what_counts() -> None:
    sandbox = ScriptedSandbox(
        ended(died=signal.SIGKILL), ended(graded("A", "refuted")), ended(graded("A", "exact"))
    )
    kill = killed_by(sandbox, A="exact")
    assert kill is not None
    assert kill.kind == "refuted"


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
    told = "1 of the 4 mutants that count are killed (25.0%), 0 by a refutation (0.0%); goal 95%"
    assert told in page
    assert page.count(f"`{contradicted.id}`") == 1
    assert killed.id not in page
    only_killed = Figures(mutants, [killed], figures.verdicts, {})
    assert only_killed.goal_met
    assert not Figures(mutants, [killed], {}, {}).goal_met
    assert not Figures(mutants, [], {}, {}).goal_met
    assert not Figures(mutants, [looser], figures.verdicts, figures.explained).goal_met


def explained_as(mutants: Sequence[Mutant], kind: str, folder: Path) -> Mapping[str, Explanation]:
    text = "".join(EXPLANATION.format(id=mutant.id, kind=kind) for mutant in mutants)
    (folder / "explained.toml").write_text(text)
    return explanations(folder / "explained.toml", {mutant.id for mutant in mutants})


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("looser", {"refuted", "error", "import", "died"}),
        ("equivalent", set(KILLS)),
        ("unreached", set(KILLS)),
    ],
)
def test_a_looser_one_is_killed_by_what_is_false_only(
    kind: str, counted: set[str], tmp_path: Path
) -> None:
    mutants = mutants_of("numerics/x.py", b"x = p + 2 * q + r\ny = p < q")[: len(KILLS)]
    verdicts = {
        mutant.id: verdict(mutant, kind=kill) for mutant, kill in zip(mutants, KILLS, strict=True)
    }
    figures = Figures(mutants, mutants, verdicts, explained_as(mutants, kind, tmp_path))
    outcomes = [figures.outcome(mutant) for mutant in mutants]
    assert outcomes == [kill if kill in counted else kind for kill in KILLS]
    assert (figures.killed, figures.counting) == (len(counted), len(counted))
    assert figures.refuted == 1
    assert f"1 by a refutation ({1 / len(counted):.1%})" in figures.summary()
    assert [figures.explanation(each) for each in figures.survivors] == ["because"] * (
        len(KILLS) - len(counted)
    )


def small_tree(root: Path) -> None:
    for name in (*WINGS, "tests", "campaigns/mutants", "docs"):
        (root / name).mkdir(parents=True)
        (root / name / "x.py").write_text("x = 1\n")
    (root / "campaigns" / "mutants" / "explained.toml").write_text("")


@pytest.mark.parametrize(
    ("file", "changes_it"),
    [
        *((f"{name}/x.py", True) for name in (*WINGS, "tests", "campaigns/mutants")),
        ("tests/data.json", True),
        ("docs/x.py", False),
        ("campaigns/mutants/explained.toml", False),
        ("verify/__pycache__/x.pyc", False),
    ],
)
def test_verdicts_are_good_as_long_as_what_they_depend_on_is(
    file: str, changes_it: bool, tmp_path: Path
) -> None:
    small_tree(tmp_path)
    before = tree_hash(tmp_path)
    assert tree_hash(tmp_path) == before
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("x = 2\n")
    assert (tree_hash(tmp_path) != before) is changes_it


def test_verdicts_are_not_good_with_another_python_or_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small_tree(tmp_path)
    found = {tree_hash(tmp_path)}
    monkeypatch.setattr(sys, "version", "another")
    found.add(tree_hash(tmp_path))
    for version in ("1.0", "1.1"):
        package = SimpleNamespace(name="package", version=version)
        monkeypatch.setattr(importlib.metadata, "distributions", lambda package=package: [package])
        found.add(tree_hash(tmp_path))
    assert len(found) == 4


@pytest.mark.parametrize(
    ("size", "unfinished", "written"),
    [("full", 0, True), ("full", 1, False), ("small", 0, False)],
)
def test_the_page_is_of_the_whole_finished_sample(
    size: str,
    unfinished: int,
    written: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    page = tmp_path / "mutants.md"
    page.write_text("<!-- figures -->\nold\n<!-- /figures -->\n")
    monkeypatch.setattr("campaigns.page._DOCS", tmp_path)
    (tmp_path / "explained.toml").write_text("")
    monkeypatch.setattr("campaigns.mutants.campaign._EXPLAINED", tmp_path / "explained.toml")
    files = ("derivations/softmax.py", "derivations/zero.py", "numerics/baselines/juntas.py")
    monkeypatch.setattr("campaigns.mutants.campaign.formula_files", lambda _root: files)
    monkeypatch.setattr(
        "campaigns.mutants.campaign._verdicts",
        lambda _options, _size, sample: {
            mutant.id: verdict(mutant, kind="refuted") for mutant in sample[unfinished:]
        },
    )
    code = main(["mutants", "--size", size, "--docs"])
    assert code == (1 if unfinished else 0)
    told = capsys.readouterr().err
    if written:
        assert "by a refutation (100.0%)" in page.read_text()
        assert told == ""
    else:
        assert "old" in page.read_text()
        assert told == (
            "docs: needs the whole sample of --size full, finished: nothing is written\n"
        )


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
    code = (SOURCES / "derivations/softmax.py").read_bytes()
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


def with_instead(mutant: Mutant, after: str) -> Mutant:
    """Return a mutant with something else in the place of its expression."""
    fields = vars(mutant.change) | {"after": after}
    return Mutant(id=mutant.id, file=mutant.file, change=type(mutant.change)(**fields))


def without_effect(mutant: Mutant) -> Mutant:
    """Return a mutant that changes how its expression is written, and nothing else."""
    return with_instead(mutant, f"({mutant.change.before})")


@pytest.fixture
def few_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ask one test about survivors, and not all that import the module."""
    file = tmp_path / "test_nothing.py"
    file.write_text("def test_nothing(): pass\n")
    monkeypatch.setattr("campaigns.mutants.judge.module_tests", lambda _file, _tests: [str(file)])


@pytest.mark.usefixtures("few_tests")
def test_the_judge_lets_an_equivalent_one_live(sandbox: Sandbox, baseline: Baseline) -> None:
    code = (SOURCES / "derivations/softmax.py").read_bytes()
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
    code = (SOURCES / "derivations/softmax.py").read_bytes()
    (mutant, *_) = (
        each
        for each in mutants_of("derivations/softmax.py", code)
        if each.change.function == "score_motion"
    )
    bad = with_instead(mutant, after)
    reach = Reach({"derivations/softmax.py": code}, baseline.lines)
    found = judge(sandbox, bad, baseline=baseline, reach=reach, profiles=["quick"], seed=0)
    assert found.kill is not None
    assert found.kill.kind == kind
    # The sandbox is as it was.
    clean = judge(
        sandbox, without_effect(mutant), baseline=baseline, reach=reach, profiles=["quick"], seed=0
    )
    assert clean.kill is None


@pytest.mark.parametrize(
    ("after", "of_machine"),
    [("[0] * (1 << 60)", True), ("open('/no/such/file')", True), ("1 / 0", False)],
)
def test_errors_of_memory_and_files_may_be_the_machine(
    sandbox: Sandbox, after: str, of_machine: bool
) -> None:
    code = (SOURCES / "derivations/softmax.py").read_bytes()
    mutants = mutants_of("derivations/softmax.py", code)
    mutant = next(each for each in mutants if each.change.function == "score_motion")
    (cell, *_) = (each for each in sandbox.cells("quick") if each.claim == "softmax-derivative")
    assert cell.stance == "asserted"
    with sandbox.mutated(with_instead(mutant, after)):
        task = CellTask(claim=cell.claim, cell=cell.name, seconds=60.0)
        (found,) = sandbox.check([task], profile="quick", seed=0).graded
    assert (found.grade, found.of_machine) == ("error", of_machine)


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
        (["--count", "0"], "count=0: must be at least 1"),
        (["--count", "-1"], "count=-1: must be at least 1"),
    ],
)
def test_what_there_is_not_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], refusal: str
) -> None:
    assert main(["mutants", "--list", *arguments]) == 2
    assert refusal in capsys.readouterr().err


def test_the_few_claims_of_the_small_size_judge_no_other_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["mutants", "--file", "numerics/population.py"]) == 2
    assert capsys.readouterr().err.endswith(
        "file=numerics/population.py: not judged by the few claims of --size small; "
        "add --size full\n"
    )


def test_the_copy_is_gone_afterwards(tmp_path: Path) -> None:
    made = Sandbox(ROOT, tmp_path / "one")
    made.close()
    assert os.listdir(tmp_path) == []
