"""``report.html``: one file without a reference to any other, to be read anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from verify.claim import ASSERTED, UNSETTLED, Grade
from verify.claims import CLAIMS
from verify.decisions.bundle import DESCENT, ONE_STEP
from verify.report.figures.report_figures import ReportedFigure
from verify.report.inline_svg import inline_svg
from verify.report.mathml import prose
from verify.runner import ClaimResult, Run

__all__ = ["render_page"]

_EXIT_CODES = {
    0: "every asserted claim is settled and none is refuted; every disputed wording is refuted",
    1: "an asserted claim is refuted",
    3: "nothing asserted is refuted, but something stayed unsettled: an asserted claim is "
    "undecided, vacuous or in error, or a disputed wording is not refuted",
}

_MEANINGS = {
    Grade.EXACT: "A proof: steps proved for every $d$, or an exhaustive exact enumeration.",
    Grade.CERTIFIED: "A proof, by ball arithmetic.",
    Grade.SAMPLED: "Evidence, no proof: a confidence interval inside an inequality that was "
    "stated before the draw.",
    Grade.REFUTED: "Contradicted by a witness or a proof.",
    Grade.VACUOUS: "Nothing is established: what was found says nothing.",
    Grade.UNDECIDED: "Nothing is established: what was found falls short.",
    Grade.ERROR: "Nothing is established: the check failed.",
}

# Commands that ask the question of a claim at one instance, keep the answer and decide it again.
_REPLAYS = {
    ONE_STEP: "xorverify instance --d 64 --m 256 --seed {seed} --out instance.npz\n"
    "xorverify certify instance.npz --eta 4096000 --bundle bundle.json\n"
    "xorverify replay bundle.json",
    DESCENT: "xorverify replay docs/witnesses/linear_attention.json\n"
    "xorverify replay docs/witnesses/erf_attention.json",
}


def render_page(
    run: Run, document: Mapping[str, Any], figures: Sequence[ReportedFigure], *, missing: str | None
) -> str:
    """Return the page.

    Parameters
    ----------
    run : Run
        What was found.
    document : mapping
        The same as ``results.json`` has it.
    figures : sequence of ReportedFigure
        The figures of the run's claims.
    missing : str or None
        Why there is no figure, if there could be.
    """
    environment = Environment(
        loader=PackageLoader("verify.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = prose
    environment.filters["tone"] = _tone
    return environment.get_template("report.html.j2").render(
        run=run,
        document=document,
        figures=figures,
        missing=missing,
        drawings={each.name: _drawing(each) for each in figures},
        claims=CLAIMS,
        found={result.claim.id: result for result in run.results},
        used_by=_used_by(run.results),
        groups=_groups(run.results),
        exit_meaning=_exit_meaning(run),
        meanings=_MEANINGS,
        replays={id_: text.format(seed=run.seed) for id_, text in _REPLAYS.items()},
    )


def _exit_meaning(run: Run) -> str:
    """Return what the exit code says, and of which claims, if the run was of some only."""
    meaning = _EXIT_CODES[run.exit_code]
    if len(run.results) == len(CLAIMS):
        return f"{meaning[0].upper()}{meaning[1:]}."
    count = f"{len(run.results)} of {len(CLAIMS)} claims"
    return f"This report speaks of {count}: among them, {meaning}."


def _drawing(figure: ReportedFigure) -> Markup:
    # Written by matplotlib from numbers of ours.
    return Markup(  # noqa: S704
        inline_svg(figure.svg, name=figure.name, label=f"figure-{figure.name}-title")
    )


def _used_by(results: Sequence[ClaimResult]) -> dict[str, list[str]]:
    """Return, for each claim of a run, which others of it rest on it directly."""
    ids = [result.claim.id for result in results]
    return {id_: [each for each in ids if id_ in CLAIMS[each].dependencies] for id_ in ids}


def _groups(results: Sequence[ClaimResult]) -> dict[str, dict[Grade, list[ClaimResult]]]:
    """Return the results by stance and verdict, without empty groups."""
    groups: dict[str, dict[Grade, list[ClaimResult]]] = {}
    for stance in dict.fromkeys(result.claim.stance for result in results):
        chosen = [result for result in results if result.claim.stance == stance]
        groups[stance] = {
            grade: [result for result in chosen if result.verdict is grade]
            for grade in Grade
            if any(result.verdict is grade for result in chosen)
        }
    return groups


def _tone(result: ClaimResult) -> str:
    """Return what a verdict means for its claim: a disputed wording is as it should be refuted."""
    if result.verdict in UNSETTLED:
        return "unsettled"
    if result.claim.stance == ASSERTED:
        return "bad" if result.verdict is Grade.REFUTED else "good"
    return "good" if result.verdict is Grade.REFUTED else "bad"
