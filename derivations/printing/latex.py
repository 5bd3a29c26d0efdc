"""LaTeX of the formulas, in the paper's notation; only amsmath and amssymb are needed.

The bytes are stable: nothing here depends on the order of a set or of a hash.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.sorting import default_sort_key
from sympy.printing.latex import LatexPrinter

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import LATEX, i, v

__all__ = ["broken_lines", "equation", "latex"]

_TERMS_WITHOUT_BREAK = 6
_TERMS_PER_LINE = 4


def latex(expr: sp.Expr) -> str:
    """Return the LaTeX of a formula, to be used in math mode.

    The sums run over i, or over j where the formula speaks of a position i.
    """
    printer = _Printer({"long_frac_ratio": 2})
    printer.index = "j" if i in expr.free_symbols else "i"
    text: str = printer.doprint(expr)
    return text


def equation(left: str, *right: sp.Expr | str) -> str:
    """Return ``left = right_1 = right_2 ...``, each side LaTeX or a formula.

    A formula with many terms is broken into aligned lines.
    """
    sides = []
    for side in right:
        lines = [side] if isinstance(side, str) else broken_lines(side)
        sides.append(lines)
    if all(len(lines) == 1 for lines in sides):
        return " = ".join((left, *(line for (line,) in sides)))
    rows = [rf"& {'= ' if h == 0 else ''}{line}" for lines in sides for h, line in enumerate(lines)]
    return rf"\begin{{aligned}} {left} " + r" \\ ".join(rows) + r" \end{aligned}"


def broken_lines(expr: sp.Expr) -> list[str]:
    """Return the LaTeX of a formula in lines of a few terms, each but the first with its sign."""
    terms = sorted(sp.Add.make_args(expr), key=_term_key)
    if len(terms) <= _TERMS_WITHOUT_BREAK:
        return [latex(expr)]
    signed = []
    for term in terms:
        text = latex(term)
        signed.append(f"- {text[1:].lstrip()}" if text.startswith("-") else f"+ {text}")
    lines = [
        " ".join(signed[h : h + _TERMS_PER_LINE]) for h in range(0, len(signed), _TERMS_PER_LINE)
    ]
    return [lines[0].removeprefix("+ "), *lines[1:]]


class _Printer(LatexPrinter):
    """SymPy's printer, taught power sums, entries and a fixed order of terms."""

    index = "i"

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:  # noqa: ARG002  (SymPy's signature)
        name: str = expr.name
        return LATEX.get(name, name)

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta, exp: str | None = None) -> str:
        free_first = sorted(expr.args, key=lambda position: (not position.is_free, position.name))
        indices = "".join(self._print(position) for position in free_first)
        return rf"\delta_{{{indices}}}" + _power(exp)

    def _print_Entry(self, expr: Entry, exp: str | None = None) -> str:
        return _subscripted(self._print(expr.sequence), self._print(expr.position)) + _power(exp)

    def _print_PowerSum(self, expr: PowerSum, exp: str | None = None) -> str:
        bases = [(self._print(base), exponent) for base, exponent in expr.powers]
        if len(bases) == 1 and bases[0][1] == 2:
            return rf"|{bases[0][0]}|" + _power("2" if exp is None else str(2 * int(exp)))
        if _is_inner_product(expr):
            return rf"\langle {bases[0][0]}, {bases[1][0]} \rangle" + _power(exp)
        factors = " ".join(
            _subscripted(base, self.index) + _power(None if exponent == 1 else str(exponent))
            for base, exponent in bases
        )
        total = rf"\sum_{{{self.index}}} {factors}"
        return total if exp is None else rf"\left({total}\right)" + _power(exp)

    def _print_Pow(self, expr: sp.Pow) -> str:
        if isinstance(expr.base, PowerSum | Entry) and expr.exp.is_Integer and expr.exp > 0:
            text: str = self._print(expr.base, exp=str(expr.exp))
        else:
            text = super()._print_Pow(expr)
        return text

    def _print_cosh(self, expr: sp.cosh, exp: str | None = None) -> str:
        return rf"\cosh{_power(exp)} {self._print(expr.args[0])}"

    def _print_sinh(self, expr: sp.sinh, exp: str | None = None) -> str:
        return rf"\sinh{_power(exp)} {self._print(expr.args[0])}"

    def _needs_mul_brackets(self, expr: Any, first: bool = False, last: bool = False) -> bool:
        if not last and isinstance(expr, PowerSum) and _is_written_as_sum(expr):
            return True
        return bool(super()._needs_mul_brackets(expr, first, last))

    def _as_ordered_terms(self, expr: sp.Add, order: str | None = None) -> list[sp.Expr]:  # noqa: ARG002  (SymPy's signature)
        return sorted(expr.args, key=_term_key)


def _power(exponent: str | None) -> str:
    return "" if exponent is None else f"^{{{exponent}}}"


def _subscripted(base: str, index: str) -> str:
    if base.endswith("}") and "_{" in base:
        return f"{base[:-1]},{index}}}"
    return f"{base}_{{{index}}}"


def _is_inner_product(expr: PowerSum) -> bool:
    return [exponent for _, exponent in expr.powers] == [1, 1] and v not in expr.free_symbols


def _is_written_as_sum(expr: PowerSum) -> bool:
    is_norm = [exponent for _, exponent in expr.powers] == [2]
    return not (is_norm or _is_inner_product(expr))


def _term_key(term: sp.Expr) -> tuple[object, ...]:
    """Order of terms: a positive number, terms without sums, with short sums, with long ones.

    Among equals, what is added comes before what is subtracted, and high degrees before low ones;
    a negative number comes last.
    """
    factors = [factor.as_base_exp() for factor in sp.Mul.make_args(term)]
    sums = [(base, int(exponent)) for base, exponent in factors if isinstance(base, PowerSum)]
    return (
        term.is_number and term.could_extract_minus_sign(),
        not term.is_number,
        not term.has(sp.KroneckerDelta),
        bool(sums),
        any(_is_written_as_sum(base) for base, _ in sums),
        -sum(exponent for _, exponent in sums),
        sum(len(base.powers) for base, _ in sums),
        term.could_extract_minus_sign(),
        -sum(_degree(*factor) for factor in factors),
        default_sort_key(term),
    )


def _degree(base: sp.Expr, exponent: sp.Expr) -> int:
    """Return the degree of a factor; that of e^(n x) is n."""
    if base == sp.E:
        return int(exponent.as_coeff_Mul()[0])
    return int(exponent) if base.free_symbols and exponent.is_Integer else 0
