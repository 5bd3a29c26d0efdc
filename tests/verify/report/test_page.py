"""The page of a report: every claim, every number, nothing from elsewhere."""

import re
import shlex
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from verify.claim import Grade
from verify.claims import CLAIMS
from verify.cli import _parser
from verify.report.figures.report_figures import FIGURES
from verify.report.html import render_page
from verify.report.results import results_document, write_report
from verify.runner import Run

VOID = {"input", "link", "meta"}


class Tags(HTMLParser):
    """Which elements an HTML parser sees, and whether each is closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs) -> None:  # noqa: ARG002 - the parser's signature
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:  # noqa: ARG002 - as handle_starttag
        self.seen.add(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> ET.Element:
    # The page is XML as well as HTML, so that every element can be found.
    return ET.fromstring(page)  # noqa: S314 - what this test has made


@pytest.fixture(scope="module")
def tree(written) -> ET.Element:
    return parsed(written.page)


def text(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def card(tree: ET.Element, id_: str) -> ET.Element:
    return tree.find(f".//article[@id='{id_}']")


def in_latex(element: ET.Element) -> str:
    """Return prose with each formula as the LaTeX it was made from."""
    if element.tag == "math":
        return f"${element.find('semantics/annotation').text}$"
    parts = [element.text or ""]
    for child in element:
        parts += [in_latex(child), child.tail or ""]
    return "".join(parts)


def rendered(run: Run, *, missing: str | None = None) -> ET.Element:
    return parsed(render_page(run, results_document(run), [], missing=missing))


def test_an_html_parser_sees_the_same_elements(written, tree) -> None:
    parser = Tags()
    parser.feed(written.page)
    assert parser.open == []
    assert parser.seen == {element.tag.lower() for element in tree.iter()}
    assert written.page.startswith("<!DOCTYPE html>\n<html")


def test_ids_are_unique_and_every_reference_resolves(written, tree) -> None:
    ids = [element.get("id") for element in tree.iter() if element.get("id") is not None]
    assert len(ids) == len(set(ids))
    inside = re.findall(r"url\(#([^)]*)\)", written.page)
    for element in tree.iter():
        inside += (element.get("aria-labelledby") or "").split()
        target = element.get("href")
        if target is None:
            continue
        if target.startswith("#"):
            inside.append(target[1:])
        else:
            assert (written.folder / target).is_file(), target
    assert len(inside) > len(CLAIMS)
    assert set(inside) <= set(ids)


def test_nothing_comes_from_elsewhere(written, tree) -> None:
    assert "://" not in written.page
    assert "@import" not in written.page
    assert all(found.startswith("(#") for found in re.findall(r"url(\(.)", written.page))
    for element in tree.iter():
        assert element.tag not in ("script", "link", "img", "iframe", "object", "embed", "base")
        assert element.attrib.keys() & {"src", "srcset", "action", "data", "background"} == set()
        assert not any(name.startswith("on") for name in element.attrib)


def test_every_claim_has_a_card_that_says_what_it_claims(written, tree) -> None:
    assert [each.get("id") for each in tree.iter("article")] == list(CLAIMS)
    for result in written.run.results:
        claim, found = result.claim, card(tree, result.claim.id)
        assert text(found.find("header/h3")) == claim.title
        assert found.get("data-verdict") == found.find(".//span").text == str(result.verdict)
        assert found.get("data-stance") == claim.stance
        byline = text(found.find("header/p"))
        assert claim.stance in byline
        assert claim.source in byline
        assert in_latex(found.find("div[@class='statement']/p")) == claim.statement
        assumed = found.find("p[@class='assumptions']")
        assert (assumed is not None) == bool(claim.assumptions)
        for assumption in claim.assumptions:
            assert f"{assumption.name} ({assumption.statement})" in in_latex(assumed)


def test_math_is_never_latex_but_in_its_annotation(tree) -> None:
    formulas = list(tree.iter("math"))
    assert len(formulas) > 400
    for math in formulas:
        for element in math.iter():
            if element.tag != "annotation":
                assert "\\" not in (element.text or "")
    assert tree.find(".//code[@class='latex']") is None


def rows(found: ET.Element) -> list[dict[str, str]]:
    """Return the evidence that a card shows, with the numbers as they were written."""
    shown = found.findall(".//tr[@class='result']")
    methods = found.findall(".//tr[@class='method']")
    pieces = []
    for row, method in zip(shown, methods, strict=True):
        cell, grade, computed, claimed, margin, draws = row
        data = margin.find(".//data")
        pieces.append(
            {
                "cell": text(cell),
                "grade": text(grade),
                "computed": text(computed),
                "claimed": text(claimed),
                "margin": "" if data is None else data.get("value"),
                "method": text(method),
                "draws": text(draws),
            }
        )
    return pieces


def expected(piece: dict) -> dict[str, str]:
    """Return what a card is to show of a piece of evidence in results.json."""
    reason = f" ({piece['reason']})" if "reason" in piece else ""
    other = f" {piece['subject']}" if piece["subject"] != "statement" else ""
    draws = []
    if "trials" in piece:
        draws.append(str(piece["trials"]))
        if piece["met"] != piece["trials"]:
            draws.append(f"({piece['met']} met the assumptions)")
    if "seed" in piece:
        draws.append(f"seed {piece['seed']}")
    return {
        "cell": piece["cell"],
        "grade": piece["grade"] + other,
        "computed": piece["computed"] + reason,
        "claimed": piece["claimed"],
        "margin": repr(piece["margin"]) if "margin" in piece else "",
        "method": "; ".join(piece[name] for name in ("method", "precision") if name in piece),
        "draws": " ".join(draws),
    }


def test_all_evidence_is_as_in_the_results_file(written, tree) -> None:
    for claim in written.document["claims"]:
        found = card(tree, claim["id"])
        assert rows(found) == [expected(piece) for piece in claim["evidence"]]
        again = found.findall("details")[-1]
        assert text(again.find("summary")) == f"Check it again {claim['seconds']:.1f} s"


def test_a_margin_is_drawn_between_nothing_and_all(tree) -> None:
    widths = {
        data.get("value"): span.find("span/span").get("style")
        for span in tree.iter("span")
        if span.get("class") == "margin" and (data := span.find("data")) is not None
    }
    assert widths == {
        "-0.25": "width: 0.0%",
        "0.3333333333333333": "width: 33.3%",
        "0.0625": "width: 6.2%",
    }


def test_text_is_text_whatever_it_says(written, tree) -> None:
    assert tree.find(".//script") is None
    found = card(tree, written.run.results[3].claim.id)
    shown = rows(found)[-1]
    assert shown["cell"] == shown["method"] == written.hostile
    assert shown["computed"] == f"{written.hostile} ({written.hostile})"
    assert found.find(".//tr[@class='result']//math") is None


def test_the_summary_groups_the_claims_by_stance_and_verdict(written, tree) -> None:
    for result in written.run.results:
        stance, verdict = result.claim.stance, result.verdict
        group = tree.find(f".//section[@id='{stance}-{verdict}']")
        links = [link.get("href") for link in group.findall("ul/li/a")]
        assert f"#{result.claim.id}" in links
        assert text(group.find("h3")) == f"{verdict} {len(links)} {stance}"
    assert len(tree.findall(".//section[@class='index']/ul/li")) == len(CLAIMS)


@pytest.mark.parametrize(
    ("asserted", "disputed", "code", "said"),
    [
        (Grade.EXACT, Grade.REFUTED, 0, "every asserted claim is settled"),
        (Grade.REFUTED, Grade.REFUTED, 1, "an asserted claim is refuted."),
        (Grade.VACUOUS, Grade.REFUTED, 3, "nothing asserted is refuted"),
        (Grade.EXACT, Grade.SAMPLED, 3, "nothing asserted is refuted"),
    ],
)
def test_the_exit_code_is_explained(result, asserted, disputed, code, said) -> None:
    run = Run(
        "quick", 0, [result("zero-start", asserted), result("softmax-is-necessary", disputed)]
    )
    summary = text(rendered(run).find(".//section[@id='summary']/p"))
    assert f"Asserted claims: 1 {asserted}. Disputed wordings: 1 {disputed}. " in summary
    # It says of which claims it speaks, as these are not all.
    assert f"This report speaks of 2 of {len(CLAIMS)} claims: among them, {said}" in summary
    assert summary.endswith(f"The exit code is {code}.")


@pytest.mark.parametrize(
    ("id_", "grade", "tone"),
    [
        ("zero-start", Grade.SAMPLED, "good"),
        ("zero-start", Grade.REFUTED, "bad"),
        ("zero-start", Grade.ERROR, "unsettled"),
        ("softmax-is-necessary", Grade.REFUTED, "good"),
        ("softmax-is-necessary", Grade.CERTIFIED, "bad"),
        ("softmax-is-necessary", Grade.UNDECIDED, "unsettled"),
    ],
)
def test_the_tone_follows_the_stance(result, id_, grade, tone) -> None:
    found = card(rendered(Run("quick", 0, [result(id_, grade)])), id_)
    assert found.find("header/p/span").get("class") == f"grade {tone} {grade}"


def dependencies(found: ET.Element) -> list:
    """Return a tree of claims as nested lists of ids."""
    return [
        [text(item[0]).removesuffix(" (not in this run)"), dependencies(item)]
        for each in found.findall("ul[@class='tree']")
        for item in each.findall("li")
    ]


def rests_on(id_: str) -> list:
    return [[each, rests_on(each)] for each in CLAIMS[id_].dependencies]


def test_a_card_has_the_whole_tree_of_what_it_rests_on(tree) -> None:
    for id_, claim in CLAIMS.items():
        shown = card(tree, id_).findall("details[2]") if claim.dependencies else []
        assert [dependencies(each) for each in shown] == [rests_on(id_)] * len(shown)
    assert rests_on("theorem2-converse")  # the property is not empty


def test_what_rests_on_a_claim_is_said_there(tree) -> None:
    used = card(tree, "moment-rule").find("details[2]/p")
    assert text(used) == "Used by population-loss, corollary3-variance, parity-loss."


def test_a_claim_that_was_not_run_is_named_without_a_link(result) -> None:
    run = Run("quick", 0, [result("population-loss", Grade.EXACT)])
    found = card(rendered(run), "population-loss")
    assert dependencies(found.find("details[2]")) == [["moment-rule", []]]
    assert found.find("details[2]//a") is None


def commands(tree: ET.Element) -> list[str]:
    blocks = [*tree.findall(".//pre/code"), *tree.findall(".//article/details/p/code")]
    return [line for block in blocks for line in block.text.splitlines()]


def test_every_command_is_one_that_the_toolkit_takes(tree) -> None:
    root = Path(__file__).parents[3]
    found = commands(tree)
    assert f"xorverify run --claim {next(iter(CLAIMS))} --seed 3 --profile standard" in found
    for line in found:
        program, *arguments = shlex.split(line)
        if program == "python":
            assert (root / arguments[0]).is_file()
        else:
            assert program == "xorverify"
            _parser().parse_args(arguments)
        for argument in arguments:
            if argument.startswith(("docs/", "examples/")):
                assert (root / argument).is_file()


def test_every_grade_can_be_filtered(written, tree) -> None:
    for grade in Grade:
        assert tree.find(f".//input[@id='show-{grade}']") is not None
        rule = f'body:has(#show-{grade}:checked) article:not([data-verdict="{grade}"], :target)'
        assert rule in written.page


def test_every_figure_is_on_the_page_and_beside_it(written, tree) -> None:
    shown = [each.get("id") for each in tree.iter("figure")]
    assert shown == [f"figure-{figure.NAME}" for figure in FIGURES]
    for figure, element in zip(FIGURES, tree.iter("figure"), strict=True):
        assert len(element.findall("div/svg//path")) > 50
        caption = text(element.find("figcaption"))
        assert figure.TITLE in caption
        assert ("shipped" in caption) == figure.SHIPPED
        assert figure.command(3) == element.find("figcaption/pre/code").text
        assert (written.folder / "figures" / f"{figure.NAME}.svg").is_file()
        for id_ in figure.CLAIMS:
            assert card(tree, id_).find(f".//a[@href='#figure-{figure.NAME}']") is not None


def test_drawings_have_the_colours_of_the_page(tree) -> None:
    drawings = list(tree.iter("svg"))
    for svg in drawings:
        assert svg.find(".//metadata") is None
        styles = " ".join(each.get("style") or "" for each in svg.iter())
        assert "var(--paper)" in styles
        assert "#000000" not in styles
        assert "#ffffff" not in styles
    assert "var(--series-0)" in ET.tostring(drawings[0], encoding="unicode")


def test_without_matplotlib_the_page_says_why_it_has_no_figures(
    monkeypatch, tmp_path, result
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run = Run("quick", 0, [result("theorem2-loss", Grade.SAMPLED)])
    write_report(tmp_path, run, results_document(run))
    page = (tmp_path / "report.html").read_text()
    assert "no figures: they need matplotlib; pip install &#39;xorverify[figures]&#39;." in page
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["report.html", "report.md", "results.json"]


def test_a_run_without_claims_that_have_figures(monkeypatch, tmp_path, result) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # it is not even asked for
    run = Run("quick", 0, [result("zero-start", Grade.EXACT)])
    write_report(tmp_path, run, results_document(run))
    assert "None of the claims of this run has a figure." in (tmp_path / "report.html").read_text()
    assert not (tmp_path / "figures").exists()


def test_a_report_is_the_same_bytes_every_time(tmp_path, result) -> None:
    run = Run("quick", 5, [result("parameter-count", Grade.EXACT)])
    document = results_document(run)
    pages = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_report(tmp_path / name, run, document)
        files = sorted((tmp_path / name).rglob("*.*"))
        pages.append([(path.name, path.read_bytes()) for path in files])
    assert pages[0] == pages[1]
    assert len(pages[0]) == 5


def test_a_report_of_all_claims_speaks_of_all(result) -> None:
    verdicts = {"asserted": Grade.EXACT, "disputed": Grade.REFUTED}
    run = Run("quick", 0, [result(id_, verdicts[each.stance]) for id_, each in CLAIMS.items()])
    summary = text(rendered(run).find(".//section[@id='summary']/p"))
    assert "Every asserted claim is settled and none is refuted" in summary
    assert "among them" not in summary
