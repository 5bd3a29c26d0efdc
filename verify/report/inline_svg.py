"""A drawing of matplotlib's as a part of a page: ids of its own, the page's colours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verify.report.figures.style import COLOURS

__all__ = ["inline_svg"]

# What a file needs and a page does not. The style sheet would speak of the whole page, which has
# one rule for all its drawings.
_OF_A_FILE = re.compile(
    r"\A.*?(?=<svg\b)"
    r"|<metadata>.*?</metadata>"
    r"|<style\b.*?</style>"
    r"|<!--.*?-->"
    r'|\sxmlns(?::\w+)?="[^"]*"',
    re.DOTALL,
)

# What has another colour in the dark; all others stay as they are.
_COLOURS: Mapping[str, str] = {
    "#000000": "var(--ink)",
    "#333333": "var(--ink)",
    "#595959": "var(--soft)",
    "#808080": "var(--soft)",
    "#999999": "var(--faint)",
    "#b0b0b0": "var(--faint)",
    "#cccccc": "var(--rule)",
    "#ffffff": "var(--paper)",
    **{colour.lower(): f"var(--series-{i})" for i, colour in enumerate(COLOURS)},
}
_COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}\b")


def inline_svg(drawing: str, *, name: str, label: str) -> str:
    """Return a drawing as an element of a page, no wider than it was drawn.

    Parameters
    ----------
    drawing : str
        An SVG file as matplotlib writes it.
    name : str
        Goes before every id in it, so that several drawings can be on one page.
    label : str
        Id of the element whose text stands for the drawing where it is not seen.
    """
    drawing = _OF_A_FILE.sub("", drawing).replace("xlink:href", "href")
    drawing = re.sub(r'(\sid="|href="#|url\(#)', rf"\1{name}-", drawing)
    drawing = _COLOUR.sub(lambda found: _COLOURS.get(found[0], found[0]), drawing)
    drawing = re.sub(r'\swidth="([\d.]+pt)"', r' style="max-width: \1"', drawing, count=1)
    drawing = re.sub(r'\sheight="[\d.]+pt"', "", drawing, count=1)
    drawing = re.sub(r"\s*\n\s*", " ", drawing)
    return drawing.replace("<svg", f'<svg role="img" aria-labelledby="{label}"', 1).strip()
