"""A check of what was built: no page fetches anything, a script, a style, a font or a picture."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>"""
    r"""|<link\b(?![^>]*rel=["']?canonical)[^>]*\bhref=["']?(?:https?:)?//[^>]*>"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//.*|url\(["']?(?:https?:)?//.*"""
)


def setup(app: Sphinx) -> dict[str, bool]:
    """Check the pages at the end of every build."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _check(app: Sphinx, failure: Exception | None) -> None:
    if failure is not None:
        return
    for path in Path(app.outdir).rglob("*"):
        if path.suffix in {".html", ".css"}:
            found = _FETCHED.search(path.read_text(encoding="utf-8"))
            if found:
                raise ExtensionError(f"{path.name} needs a network: {found[0]}")
