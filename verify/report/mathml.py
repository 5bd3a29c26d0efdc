"""Prose with formulas in LaTeX, as HTML with formulas in MathML.

Every formula keeps its LaTeX as an annotation, for readers who copy it; one that cannot be
converted is shown as its LaTeX.
"""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert
from markupsafe import Markup, escape

from verify.latex.width import width

__all__ = ["formula", "prose"]

_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_ENCODING = "application/x-tex"

# A browser breaks no formula: one that is wider has a line of its own, which can be scrolled.
_WIDEST_INLINE = 130.0

_SCRIPTED = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}
_OPENING = "=<>\u2264\u2265\u2260\u2208\u2192([{,"

# What the converter does not know, or would set letter by letter.
_SPELLINGS = (
    (re.compile(r"\\arg\s*\\(max|min)"), r"\\arg\1"),
    (re.compile(r"\\mathrm\{([A-Za-z]{2,})\}"), r"\\operatorname{\1}"),
)


def prose(text: str) -> Markup:
    """Return plain text with math between ``$`` as HTML; everything else is escaped."""
    words, *rest = re.split(r"\$([^$]*)\$([.,;:]?)", text)
    parts = [escape(words)]
    for latex, mark, following in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        wide = width(latex) > _WIDEST_INLINE
        math = formula(latex, display=wide)
        if wide:
            parts.append(Markup('<span class="display">{}{}</span>').format(math, mark))
        else:
            parts += [math, escape(mark)]
        parts.append(escape(following))
    return Markup("").join(parts)


@cache
def formula(latex: str, *, display: bool = False) -> Markup:
    """Return a formula as MathML, or as its LaTeX if it cannot be converted.

    Parameters
    ----------
    latex : str
        The formula, without delimiters.
    display : bool
        Whether it stands on a line of its own.
    """
    mode = "block" if display else "inline"
    tree = _converted(latex, mode)
    if tree is None:
        return Markup('<code class="latex">{}</code>').format(latex)
    annotation = ET.Element("annotation", encoding=_ENCODING)
    annotation.text = latex
    semantics = ET.Element("semantics")
    semantics.extend([*tree, annotation])
    math = ET.Element("math", display=mode)
    math.append(semantics)
    # Serialised by ElementTree, which escapes text and attributes.
    return Markup(ET.tostring(math, encoding="unicode"))  # noqa: S704


def _converted(latex: str, mode: str) -> ET.Element | None:
    """Return the MathML of a formula without its namespace, None if some of it is still LaTeX."""
    for pattern, spelling in _SPELLINGS:
        latex = pattern.sub(spelling, latex)
    try:
        # The text comes from the converter, of a formula of ours: no entity but of characters.
        tree = ET.fromstring(convert(latex, display=mode))  # noqa: S314
    except Exception:  # whatever the converter stumbles over; its errors have no common base
        return None
    for element in tree.iter():
        element.tag = element.tag.removeprefix(_MATHML)
        if "\\" in (element.text or ""):
            return None
    for row in tree.iter("mrow"):
        _space(list(row))
    return tree


def _space(row: list[ET.Element]) -> None:
    """Space operators as TeX does: the converter leaves that to the browser, which cannot know.

    Infinity is a number, bars are brackets, a slash is tight, a sign without a term before it is
    none between two terms, and a function has a thin space around its name but none before its
    bracket.
    """
    for i, element in enumerate(row):
        scripted = element.tag in _SCRIPTED and len(element) > 0
        base = element[0] if scripted else element
        symbol = base.text or ""
        named = len(symbol) > 1 and symbol.replace("\u2009", "").isalpha()
        if base.tag == "mi" and named:
            base.tag = "mo"
        elif symbol == "\u221e":
            base.tag = "mi"
        if base.tag != "mo":
            continue
        if symbol in ("|", "/"):
            base.attrib |= {"lspace": "0", "rspace": "0"}
        elif symbol in ("+", "\u2212") and (i == 0 or _opens(row[i - 1])):
            base.set("form", "prefix")
        elif named:
            brackets = i + 1 < len(row) and (row[i + 1].text or " ") in "({["
            base.set("lspace", "0.17em" if i else "0")
            base.set("rspace", "0" if brackets else "0.17em")


def _opens(element: ET.Element) -> bool:
    """Whether what comes behind is the beginning of a term: behind a relation, bracket or comma."""
    return element.tag == "mo" and (element.text or "") in _OPENING
