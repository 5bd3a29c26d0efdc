"""Parts of pages that the program writes itself: its commands from their parsers, its claims.

A directive stands in the page where its text goes; the text is Markdown, so that headings, links
and formulas are those of a page written by hand.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from derivations.command import main as derivations_command
from verify.claim import PROFILES, Claim
from verify.claims import CLAIMS
from verify.commands import COMMANDS, Command

_WIDTH = 92  # characters of a line of help that the page's column holds


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("commands", _Commands)
    app.add_directive("claims", _Claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _Commands(SphinxDirective):
    """Every command with its help, as the terminal shows it."""

    def run(self) -> list[nodes.Node]:
        lines = [line for command in COMMANDS for line in _command(command)]
        text = "\n".join([*lines, *_derivations()])
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class _Claims(SphinxDirective):
    """Every claim: what it says, where it is from, what it rests on, where it is looked at."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(line for claim in CLAIMS.values() for line in _claim(claim))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _command(command: Command) -> Iterator[str]:
    parser = argparse.ArgumentParser(
        prog=f"xorverify {command.NAME}",
        description=command.SUMMARY,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=_WIDTH),
    )
    command.add_arguments(parser)
    yield from _help(f"command-{command.NAME}", parser.prog, parser.format_help())


def _derivations() -> Iterator[str]:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        derivations_command(["--help"])
    yield from _help("command-derivations", "python -m derivations", shown.getvalue())


def _help(label: str, heading: str, text: str) -> Iterator[str]:
    yield from (f"({label})=", f"## `{heading}`", "", "```text", text.rstrip(), "```", "")


def _claim(claim: Claim) -> Iterator[str]:
    yield from (f"(claim-{claim.id})=", f"## `{claim.id}`", "")
    yield from (f"**{claim.title[0].upper()}{claim.title[1:]}.**", "", claim.statement, "")
    yield f"- Stance: {claim.stance}. Source: {claim.source}."
    for assumption in claim.assumptions:
        yield f"- Assumes {assumption.name}: {assumption.statement}."
    if claim.dependencies:
        links = ", ".join(f"[`{id_}`](#claim-{id_})" for id_ in claim.dependencies)
        yield f"- Rests on {links}."
    for cells, profiles in _cells(claim).items():
        which = ", ".join(profiles) if len(profiles) < len(PROFILES) else "every profile"
        yield f"- Cells ({which}): {cells}."
    yield from ("", "```text", f"xorverify run --claim {claim.id}", "```", "")


def _cells(claim: Claim) -> dict[str, list[str]]:
    """Return the names of a claim's cells, each list with the profiles that have it."""
    found: dict[str, list[str]] = {}
    for profile in PROFILES.values():
        names = "; ".join(f"`{cell.name}`" for cell in claim.cells(profile))
        found.setdefault(names, []).append(profile)
    return found
