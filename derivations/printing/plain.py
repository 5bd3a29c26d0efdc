r"""LaTeX of this package as text for a terminal: ``\tilde{\gamma}_{a}^{2}`` becomes ``γ̃_a^2``."""

from __future__ import annotations

import re

__all__ = ["plain"]

_MARK = re.compile(r"\\[A-Za-z]+|\\.|[{}^_$]|\s+|.", re.DOTALL)

_SYMBOLS = {
    r"\gamma": "γ",
    r"\theta": "θ",
    r"\omega": "ω",
    r"\chi": "χ",
    r"\kappa": "κ",
    r"\lambda": "λ",
    r"\nu": "ν",
    r"\phi": "φ",
    r"\psi": "ψ",
    r"\zeta": "ζ",
    r"\epsilon": "ε",
    r"\varsigma": "ς",
    r"\Sigma": "Σ",
    r"\Lambda": "Λ",
    r"\Xi": "Ξ",
    r"\Psi": "Ψ",
    r"\Phi": "Φ",
    r"\varpi": "ϖ",
    r"\Gamma": "Γ",
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
    r"\int": "∫",
    r"\infty": "∞",
    r"\perp": "⊥",
    r"\top": "T",
    r"\varkappa": "ϰ",
    r"\circ": "°",
    r"\cup": "∪",
    r"\subset": "⊂",
    r"\prod": "Π",
    r"\langle": "⟨",
    r"\rangle": "⟩",
    r"\Pi": "Π",
    r"\Omega": "Ω",
    r"\lceil": "⌈",
    r"\rceil": "⌉",
    r"\Pr": "P",
    r"\cos": "cos",
    r"\sin": "sin",
    r"\ln": "ln",
    r"\arg": "arg",
    r"\cosh": "cosh",
    r"\sinh": "sinh",
    r"\tanh": "tanh",
    r"\exp": "exp",
    r"\arctan": "arctan",
    r"\log": "log",
    r"\lim": "lim",
    r"\min": "min",
    r"\max": "max",
    r"\sup": "sup",
    r"\cdot": "·",
    r"\times": "×",
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
    r"\bigl": "",
    r"\bigr": "",
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
    marks = _MARK.findall(latex)
    text = _render(marks)
    text = re.sub(r" +", " ", text).strip()
    return re.sub(r"(?<=⟨) | (?=[⟩)])", "", text)


def _render(marks: list[str]) -> str:
    """Render and consume `marks` up to the end or to an unmatched closing brace."""
    pieces: list[str] = []
    while marks:
        mark = marks.pop(0)
        if mark == "}":
            break
        if mark == "{":
            pieces.append(_render(marks))
        elif mark in {"^", "_"}:
            script = _argument(marks)
            pieces.append(_script(mark, script))
        elif mark == r"\frac":
            above, below = _argument(marks), _argument(marks)
            pieces.append(f"{_grouped(above)}/{_grouped(below)}")
        elif mark == r"\binom":
            pieces.append(f"C({_argument(marks)}, {_argument(marks)})")
        elif mark in {r"\begin", r"\end"}:
            _argument(marks)
        elif mark == r"\sqrt":
            pieces.append(f"sqrt({_argument(marks)})")
        elif mark in _COMBINING:
            pieces.append(_argument(marks) + _COMBINING[mark])
        elif mark in {r"\mathbb", r"\mathrm", r"\text", r"\operatorname", r"\mathcal"}:
            pieces.append(_argument(marks))
        elif mark in _BINARY:
            pieces.append(f" {_SYMBOLS[mark]} ")
        elif mark.startswith("\\"):
            if mark not in _SYMBOLS:
                raise ValueError(f"latex={mark}: no plain rendering")
            pieces.append(_SYMBOLS[mark])
        elif mark not in {"$", "&"}:
            pieces.append(" " if mark.isspace() else mark)
    return "".join(pieces)


def _argument(marks: list[str]) -> str:
    while marks and marks[0].isspace():
        marks.pop(0)
    mark = marks.pop(0)
    return _render(marks) if mark == "{" else _render([mark])


def _script(mark: str, script: str) -> str:
    if mark == "^" and script == "'":
        return script
    return f"{mark}{script}" if len(script) <= 1 or script.isdigit() else f"{mark}{{{script}}}"


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[^\s+*/()-]+|C\([^()]*\)", text) else f"({text})"
