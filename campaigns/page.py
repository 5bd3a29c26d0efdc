"""The figures of a campaign on its page of the documentation, between two markers."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_figures"]

_DOCS = Path(__file__).parents[1] / "docs"
_BEGIN, _END = "<!-- figures -->", "<!-- /figures -->"


def write_figures(name: str, markdown: str) -> None:
    """Replace what stands between the markers of ``docs/NAME.md`` by `markdown`.

    Raises
    ------
    ValueError
        If the page does not have each marker once.
    """
    page = _DOCS / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    if text.count(_BEGIN) != 1 or text.count(_END) != 1:
        raise ValueError(f"page={page}: needs {_BEGIN} and {_END} once each")
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    page.write_text(f"{before}{_BEGIN}\n\n{markdown.strip()}\n\n{_END}{after}", encoding="utf-8")
