r"""LaTeX of this package as text for a terminal: ``\tilde{\gamma}_{a}^{2}`` becomes ``γ̃_a^2``."""

from __future__ import annotations

import re

__all__ = ["plain"]

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_$]|\s+|.", re.DOTALL)

_SYMBOLS = {
    r"\gamma": "γ",
    r"\theta": "θ",
    r"\omega": "ω",
    r"\kappa": "κ",
    r"\delta": "δ",
    r"\Delta": "Δ",
    r"\eta": "η",
    r"\tau": "τ",
    r"\mu": "μ",
    r"\alpha": "α",
    r"\beta": "β",
    r"\pi": "π",
    r"\sigma": "σ",
    r"\rho": "ρ",
    r"\nabla": "∇",
    r"\partial": "∂",
    r"\sum": "Σ",
    r"\prod": "Π",
    r"\langle": "⟨",
    r"\rangle": "⟩",
    r"\cosh": "cosh",
    r"\sinh": "sinh",
    r"\tanh": "tanh",
    r"\exp": "exp",
    r"\log": "log",
    r"\lim": "lim",
    r"\min": "min",
    r"\max": "max",
    r"\sup": "sup",
    r"\cdot": "·",
    r"\cdots": "...",
    r"\ldots": "...",
    r"\dots": "...",
    r"\le": "<=",
    r"\ge": ">=",
    r"\ne": "!=",
    r"\in": "in",
    r"\notin": "not in",
    r"\to": "->",
    r"\mapsto": "->",
    r"\Rightarrow": "=>",
    r"\Leftrightarrow": "<=>",
    r"\leftrightarrow": "<->",
    r"\pm": "±",
    r"\prime": "'",
    r"\quad": "   ",
    r"\qquad": "      ",
    r"\left": "",
    r"\right": "",
    r"\\": " ",
    r"\,": " ",
    r"\;": " ",
    r"\{": "{",
    r"\}": "}",
    r"\|": "|",
}

_BINARY = {r"\le", r"\ge", r"\ne", r"\in", r"\notin", r"\to", r"\mapsto"}

_COMBINING = {r"\tilde": "\u0303", r"\bar": "\u0304"}


def plain(latex: str) -> str:
    """Return `latex` (math, or prose with math between dollars) as readable text.

    Raises
    ------
    ValueError
        If a command has no rendering here: every command in use must have one.
    """
    tokens = _TOKEN.findall(latex)
    text = _render(tokens)
    text = re.sub(r" +", " ", text).strip()
    return re.sub(r"⟨ | (?=⟩)", lambda match: match[0].strip(), text)


def _render(tokens: list[str]) -> str:
    """Render and consume `tokens` up to the end or to an unmatched closing brace."""
    pieces: list[str] = []
    while tokens:
        token = tokens.pop(0)
        if token == "}":
            break
        if token == "{":
            pieces.append(_render(tokens))
        elif token in {"^", "_"}:
            script = _argument(tokens)
            pieces.append(_script(token, script))
        elif token == r"\frac":
            above, below = _argument(tokens), _argument(tokens)
            pieces.append(f"{_grouped(above)}/{_grouped(below)}")
        elif token in {r"\begin", r"\end"}:
            _argument(tokens)
        elif token == r"\sqrt":
            pieces.append(f"sqrt({_argument(tokens)})")
        elif token in _COMBINING:
            pieces.append(_argument(tokens) + _COMBINING[token])
        elif token in {r"\mathbb", r"\mathrm", r"\text", r"\operatorname", r"\mathcal"}:
            pieces.append(_argument(tokens))
        elif token in _BINARY:
            pieces.append(f" {_SYMBOLS[token]} ")
        elif token.startswith("\\"):
            if token not in _SYMBOLS:
                raise ValueError(f"latex={token}: no plain rendering")
            pieces.append(_SYMBOLS[token])
        elif token not in {"$", "&"}:
            pieces.append(" " if token.isspace() else token)
    return "".join(pieces)


def _argument(tokens: list[str]) -> str:
    while tokens and tokens[0].isspace():
        tokens.pop(0)
    token = tokens.pop(0)
    return _render(tokens) if token == "{" else _render([token])


def _script(mark: str, script: str) -> str:
    if mark == "^" and script == "'":
        return script
    return f"{mark}{script}" if len(script) <= 1 or script.isdigit() else f"{mark}{{{script}}}"


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[^\s+*/()-]+", text) else f"({text})"
