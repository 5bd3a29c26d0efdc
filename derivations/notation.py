"""Every symbol of the formulas, declared once, with its LaTeX.

A name has one meaning: asking for it again with another class, other LaTeX or other assumptions is
an error. SymPy itself would hand out two unequal symbols that print alike, and a derivative by one
of them would silently ignore the other.

Sequences
    `gamma`, `gamma_tilde` are the two attention vectors, `E` the exponentials of the scores
    (E_i = e^{s_i}, s_i = v_i.theta), `t` the contracted embeddings t_i = v_i.A for an arbitrary
    direction A in R^m, `v` the embeddings themselves, `u` an arbitrary direction in R^d.
Positions
    `a`, `b` are the support; `i`, `k` are free positions, which may coincide with any other.
Scalars
    `d` positions; `omega`, `kappa`, `Delta`, the sums `Z`, ... of the antisymmetric start; `eta`
    the step; `rho` = v_a.v_b. For the worst case, `alpha` and `alpha_prime` are head 1's weights
    on the positions with x = -1 and x = +1, `beta` and `beta_prime` those of head 2; `R_s`, `R_e`
    are the residuals at the ends of an edge and `R_2` the curvature between them.
"""

from __future__ import annotations

from typing import TypeVar

import sympy as sp

__all__ = [
    "LATEX",
    "R_2",
    "Z_2",
    "Delta",
    "E",
    "Position",
    "R_e",
    "R_s",
    "Sequence",
    "Z",
    "Z_tilde",
    "Z_tilde_2",
    "a",
    "alpha",
    "alpha_prime",
    "b",
    "beta",
    "beta_prime",
    "coefficient",
    "d",
    "declare",
    "eta",
    "gamma",
    "gamma_tilde",
    "i",
    "k",
    "kappa",
    "omega",
    "rho",
    "t",
    "u",
    "v",
    "x",
]


class Sequence(sp.Symbol):
    """A sequence of d coefficients, one for each position.

    Products of sequences are entrywise, so a polynomial in sequences is again a sequence. A number
    or a scalar symbol stands for the constant sequence.
    """


class Position(sp.Symbol):
    """A position 0 <= i < d: a named one (`a`, `b`), or a free one (`i`, `k`).

    Two named positions with different names are different positions; a free position may be equal
    to any other.
    """

    @property
    def is_free(self) -> bool:
        """Whether the position may coincide with positions of another name."""
        return self.name in {"i", "k"}

    def differs_from(self, other: Position) -> bool:
        """Tell whether the two positions are known to be different."""
        return not self.is_free and not other.is_free and self.name != other.name


SymbolT = TypeVar("SymbolT", bound=sp.Symbol)

LATEX: dict[str, str] = {}
"""LaTeX of every declared name, as the printer uses it."""

_declared: dict[str, tuple[type[sp.Symbol], str, tuple[tuple[str, bool], ...]]] = {}
_symbols: dict[str, sp.Symbol] = {}


def declare(kind: type[SymbolT], name: str, latex: str, **assumptions: bool) -> SymbolT:
    r"""Return the one symbol called `name`.

    Parameters
    ----------
    kind : type
        `sympy.Symbol`, `Sequence` or `Position`.
    name : str
        The name, in ASCII: ``gamma_tilde``.
    latex : str
        How it is printed: ``\tilde{\gamma}``.
    **assumptions : bool
        SymPy assumptions.

    Raises
    ------
    ValueError
        If the name was declared before with another meaning.
    """
    meaning = (kind, latex, tuple(sorted(assumptions.items())))
    if _declared.setdefault(name, meaning) != meaning:
        known = _declared[name]
        raise ValueError(
            f"name={name}: already declared as {known[0].__name__} {known[1]} "
            f"with assumptions {dict(known[2])}; one name has one meaning"
        )
    LATEX[name] = latex
    # SymPy's own cache forgets: it would hand out an equal symbol, not the same one.
    symbol: SymbolT = _symbols.setdefault(name, kind(name, **assumptions))
    return symbol


def coefficient(h: int) -> Sequence:
    """Return the generic coefficient sequence c_h, for the rules that hold for all linear forms."""
    return declare(Sequence, f"c_{h}", f"c_{{{h}}}", real=True)


d = declare(sp.Symbol, "d", "d", integer=True, positive=True)

a = declare(Position, "a", "a", integer=True, nonnegative=True)
b = declare(Position, "b", "b", integer=True, nonnegative=True)
i = declare(Position, "i", "i", integer=True, nonnegative=True)
k = declare(Position, "k", "k", integer=True, nonnegative=True)

gamma = declare(Sequence, "gamma", r"\gamma", positive=True)
gamma_tilde = declare(Sequence, "gamma_tilde", r"\tilde{\gamma}", positive=True)
E = declare(Sequence, "E", "E", positive=True)
t = declare(Sequence, "t", "t", real=True)
x = declare(Sequence, "x", "x", real=True)
u = declare(Sequence, "u", "u", real=True)
v = declare(Sequence, "v", "v", real=True)

Z = declare(sp.Symbol, "Z", "Z", positive=True)
Z_tilde = declare(sp.Symbol, "Z_tilde", r"\tilde{Z}", positive=True)
Z_2 = declare(sp.Symbol, "Z_2", "Z_{2}", positive=True)
Z_tilde_2 = declare(sp.Symbol, "Z_tilde_2", r"\tilde{Z}_{2}", positive=True)
omega = declare(sp.Symbol, "omega", r"\omega", positive=True)
kappa = declare(sp.Symbol, "kappa", r"\kappa", real=True)
Delta = declare(sp.Symbol, "Delta", r"\Delta", real=True)
eta = declare(sp.Symbol, "eta", r"\eta", positive=True)
rho = declare(sp.Symbol, "rho", r"\rho", real=True)

alpha = declare(sp.Symbol, "alpha", r"\alpha", nonnegative=True)
alpha_prime = declare(sp.Symbol, "alpha_prime", r"\alpha'", nonnegative=True)
beta = declare(sp.Symbol, "beta", r"\beta", nonnegative=True)
beta_prime = declare(sp.Symbol, "beta_prime", r"\beta'", nonnegative=True)
R_s = declare(sp.Symbol, "R_s", "R_{s}", nonnegative=True)
R_e = declare(sp.Symbol, "R_e", "R_{e}", nonnegative=True)
R_2 = declare(sp.Symbol, "R_2", "R_{2}", positive=True)
