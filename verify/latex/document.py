"""The standalone document: every chosen fragment in a file of its own, and an article of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from derivations.catalogue import names
from verify.claim import ASSERTED
from verify.claims import CLAIMS
from verify.environment import version
from verify.files.writing import write_atomically
from verify.latex.claims import escaped
from verify.latex.displays import paragraph
from verify.latex.formulas import derivation
from verify.latex.fragment import Fragment
from verify.latex.notation import OWN, Notation
from verify.latex.symbols import GROUPS

__all__ = ["DOCUMENT", "template", "write_document", "write_texts"]

DOCUMENT = "xorverify.tex"

# A formula of more source lines than this fills more than a page, and goes to the appendix.
_LINES_OF_A_PAGE = 50


def write_document(
    folder: Path, fragments: Sequence[Fragment], notation: Notation = OWN
) -> list[Path]:
    """Write one file per fragment and the article that inputs them, each whole or not at all.

    Parameters
    ----------
    folder : Path
        An existing folder.
    fragments : sequence of Fragment
        What the document is made of.
    notation : Notation
        The notation that they are printed in.

    Returns
    -------
    list of Path
        The files, the article last.

    Raises
    ------
    InvalidArgumentError
        If a file cannot be written.
    """
    texts = {f"{fragment.name}.tex": fragment.text for fragment in fragments}
    texts[DOCUMENT] = _article(fragments, notation)
    return write_texts(folder, texts)


def write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files into a folder, each whole or not at all, and return their paths.

    Raises
    ------
    InvalidArgumentError
        If one cannot be written.
    """
    for name, text in texts.items():
        write_atomically("out", folder / name, _writer(text))
    return [folder / name for name in texts]


def template(name: str) -> Template:
    """Return one of the templates of the documents."""
    # Braces and percent signs are TeX's own: the templates' marks are angle brackets.
    environment = Environment(
        loader=PackageLoader("verify.latex"),
        autoescape=False,  # noqa: S701 - LaTeX, never served as HTML
        undefined=StrictUndefined,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["tex"] = escaped
    environment.filters["lines"] = lambda prose: "\n".join(paragraph(prose))
    return environment.get_template(f"{name}.j2")


def _article(fragments: Sequence[Fragment], notation: Notation) -> str:
    formulas = {
        name: [each for each in fragments if each.name.startswith(f"{name}.")] for name in names()
    }
    claims = [each for each in fragments if each.name in CLAIMS]
    return template(DOCUMENT).render(
        version=version(),
        prose=lambda text: notation.prose(text, DOCUMENT),
        groups=GROUPS,
        sections=[(derivation(name), found) for name, found in formulas.items() if found],
        long=[each for each in fragments if each.body.count("\n") > _LINES_OF_A_PAGE],
        asserted=[each for each in claims if CLAIMS[each.name].stance == ASSERTED],
        disputed=[each for each in claims if CLAIMS[each.name].stance != ASSERTED],
    )


def _writer(text: str) -> Callable[[IO[bytes]], object]:
    return lambda stream: stream.write(text.encode())
