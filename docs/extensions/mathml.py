"""Formulas as MathML, which browsers set by themselves: no script, no font, no network."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from verify.report.mathml import formula

_LOG = logging.getLogger(__name__)
_LONG = 60  # characters of LaTeX that may be wider than a telephone


def setup(app: Sphinx) -> dict[str, bool]:
    """Make MathML the way in which the pages show formulas."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.config["html_math_renderer"] = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    found = _mathml(node, display=False)
    long = len(node.astext()) > _LONG
    translator.body.append(f'<span class="long-formula">{found}</span>' if long else found)
    raise nodes.SkipNode


def _display(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f"<p>{_mathml(node, display=True)}</p>\n")
    raise nodes.SkipNode


def _mathml(node: nodes.math | nodes.math_block, *, display: bool) -> str:
    found = formula(node.astext(), display=display)
    if not found.startswith("<math"):
        _LOG.warning("no MathML for $%s$", node.astext(), location=node)
    return found
