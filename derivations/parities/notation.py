"""The symbols of k heads and k relevant positions, for any k.

Head h has the attention gamma^h, the scores s^h and, to first order, u^h_i = s^h_i less their mean;
positions s_1, ..., s_k are the support. `k_heads` is k as a number.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import Position, Sequence, declare

__all__ = ["attention", "exponential", "k_heads", "lean", "normaliser", "relevant", "score"]

k_heads = declare(sp.Symbol, "k_heads", "k", integer=True, positive=True)


def attention(h: int) -> Sequence:
    """Return gamma^h, the attention of head h = 1, 2, ..."""
    return declare(Sequence, f"gamma_{h}", rf"{{\gamma^{{{h}}}}}", positive=True)


def exponential(h: int) -> Sequence:
    """Return E^h, the exponentials of the scores of head h."""
    return declare(Sequence, f"E_h{h}", rf"{{E^{{{h}}}}}", positive=True)


def normaliser(h: int) -> sp.Symbol:
    """Return Z_h, the sum of E^h."""
    return declare(sp.Symbol, f"Z_h{h}", f"Z_{{{h}}}", positive=True)


def score(h: int) -> Sequence:
    """Return s^h, the scores of head h."""
    return declare(Sequence, f"score_{h}", rf"{{s^{{{h}}}}}", real=True)


def lean(h: int) -> Sequence:
    """Return u^h, the scores of head h less their mean over all positions."""
    return declare(Sequence, f"u_{h}", rf"{{u^{{{h}}}}}", real=True)


def relevant(r: int) -> Position:
    """Return s_r, the relevant position number r = 1, 2, ..."""
    return declare(Position, f"s_{r}", f"s_{{{r}}}", integer=True, nonnegative=True)
