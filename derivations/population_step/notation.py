"""The symbols of the explicit Theorem 2: what a budget fixes, and every named constant.

They join those of `derivations.notation`. A constant is the value of the symbol of the same name,
so its formula and its use elsewhere cannot drift apart.

The draw
    `m` the embedding dimension, `d` the number of positions; `s` the scores and `p` the orthogonal
    parts v_j^perp.A as sequences.
The budget
    `sigma`, `h`, `q` bound the largest score, |sum of scores| / d and sum of squared scores / d
    over the positions off the support; `l_h`, `l_q` are the levels that h and q come from; `rho_0`
    bounds the overlap; `D` bounds Delta where slopes are looked at; `y_low`, `y_high` are the ends
    of a slice of y and `r_low`, `r_high` those of a cell of rho; `l_a`, `l_A`, `l_f` are levels.
The step size
    `C` in eta >= C d^2, the tolerance `T` and its share `share`.
Probabilities
    `n`, `z` a dimension and a threshold; `phi_n`, `phi_m` largest densities; `T_sigma`, `T_rho`,
    `T_low`, `T_t`, `T_z`, `T_y` the values of T_m at sigma, rho_0, y_low, t_cell, z_cell and y_1.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Unit
from derivations.notation import Sequence, a, b, declare
from derivations.sample_step.notation import SAMPLE_SYMBOLS

__all__ = [
    "CONSTANT_SYMBOLS",
    "G_2",
    "OFF_SUPPORT",
    "C",
    "D",
    "G",
    "T",
    "T_low",
    "T_rho",
    "T_sigma",
    "T_t",
    "T_y",
    "T_z",
    "f",
    "h",
    "l_A",
    "l_a",
    "l_f",
    "l_h",
    "l_q",
    "m",
    "n",
    "p",
    "phi_m",
    "q",
    "r_high",
    "r_low",
    "rho_0",
    "s",
    "share",
    "sigma",
    "symbol",
    "y_1",
    "y_high",
    "y_low",
    "z",
]

s = declare(Sequence, "s", "s", real=True)
p = declare(Sequence, "p", "p", real=True)
f = declare(Sequence, "f", "f", real=True)
G = declare(Sequence, "G", "G", positive=True)
G_2 = declare(Sequence, "G_2", "G_{2}", positive=True)


OFF_SUPPORT = 1 - Unit(a) - Unit(b)
"""The indicator of the positions that are not in S."""


def _positive(name: str, latex: str) -> sp.Symbol:
    return declare(sp.Symbol, name, latex, positive=True)


def _nonnegative(name: str, latex: str) -> sp.Symbol:
    return declare(sp.Symbol, name, latex, nonnegative=True)


m = declare(sp.Symbol, "m", "m", integer=True, positive=True)
sigma = _positive("sigma", r"\sigma")
h, q = _nonnegative("h", "h"), _positive("q", "q")
l_h, l_q = _nonnegative("l_h", "l_{h}"), _nonnegative("l_q", "l_{q}")
l_a, l_A, l_f = (_nonnegative(f"l_{each}", f"l_{{{each}}}") for each in ("a", "A", "f"))
rho_0 = declare(sp.Symbol, "rho_0", r"\rho_{0}", real=True)
D = _positive("D", "D")
y_low, y_high = _nonnegative("y_low", "y_{i}"), _positive("y_high", "y_{i + 1}")
y_1 = _positive("y_1", "y_{1}")
r_low = declare(sp.Symbol, "r_low", "r_{j}", real=True)
r_high = declare(sp.Symbol, "r_high", "r_{j + 1}", real=True)
C, T = _positive("C", "C"), _positive("T", "T")
share = _positive("share", r"\varsigma")
n = declare(sp.Symbol, "n", "n", integer=True, positive=True)
z = declare(sp.Symbol, "z", "z", real=True)
phi_m = _positive("phi_m", r"\phi_{m}")
T_sigma, T_rho, T_low, T_t, T_z, T_y = (
    _nonnegative(name, rf"T_{{m}}({at})")
    for name, at in (
        ("T_sigma", r"\sigma"),
        ("T_rho", r"\rho_{0}"),
        ("T_low", "y_{i}"),
        ("T_t", "t"),
        ("T_z", "z"),
        ("T_y", "y_{1}"),
    )
)

CONSTANT_SYMBOLS = {
    name: declare(sp.Symbol, name, latex, **({assumption: True}))
    for assumption, table in {
        "positive": {
            "q_1": "q_{1}",
            "C_1": "C_{1}",
            "C_2": "C_{2}",
            "omega_low": r"\omega_{-}",
            "Z_low": "Z_{-}",
            "Z_high": "Z_{+}",
            "Z_2_low": "Z_{2,-}",
            "Z_2_high": "Z_{2,+}",
            "M_low": "M_{-}",
            "M_high": "M_{+}",
            "R": "R",
            "w": "w",
            "alpha_slope": r"\alpha",
            "r_lean": "r",
            "phi_n": r"\phi_{n}",
            "tail_power": r"T_{n}'",
            "tail_mills": r"T_{n}''",
            "D_slice": "D_{i}",
            "g_rho": r"g^{+}(\rho)",
            "g_zero": "g^{+}(0)",
            "g_rho_0": r"g^{+}(\rho_{0})",
        },
        "nonnegative": {
            "h_1": "h_{1}",
            "k_1": "k_{1}",
            "k_2": "k_{2}",
            "F": "F",
            "f_max": r"\bar{f}",
            "c_max": r"\bar{c}",
            "beta_slope": r"\beta",
            "c_up": "c'",
            "c_down": "c''",
            "e_Z": "e",
            "pi_1": r"\pi_{1}",
            "pi_2": r"\pi_{2}",
            "mu_M": r"\mu",
            "k_kappa": "k",
            "kappa_abs": r"|\kappa^{\circ}|",
            "K_shift": r"\delta_{K}",
            "lambda_c": r"\lambda",
            "w_0": "w_{0}",
            "excess": r"\epsilon",
            "I_1": "I_{1}",
            "I_2": "I_{2}",
            "tau_0": r"\tau_{0}",
            "tau_a": r"\tau_{a}",
            "r_loss": "r_{T}",
            "x_loss": "x_{T}",
            "P_slice": "P_{i}",
            "P_cell": "P_{j}",
            "cells": r"\Sigma_{j}",
            "nu": r"\nu",
            "Delta_cell": r"\Delta_{ij}",
            "t_prime": "t'",
            "t_second": "t''",
            "E_W": "E_{W}",
            "E_3": "E_{3}",
            "p_scores": "p",
            "largest_score": r"P_{\text{largest score}}",
            "sum_of_scores": r"P_{\text{sum of scores}}",
            "sum_of_squares": r"P_{\text{sum of squares}}",
            "overlap": r"P_{\text{overlap}}",
            "small_lean": r"P_{\text{small lean}}",
            "near_margin": r"P_{\text{near margin}}",
            "far_margin": r"P_{\text{far margin}}",
            "ambient_alignment": r"P_{\text{ambient alignment}}",
            "noise_support": r"P_{\text{noise, support}}",
            "noise_ambient": r"P_{\text{noise, ambient}}",
            "failure_upper": r"P_{\text{failure}}",
        },
        "real": {
            "kappa_low": r"\kappa_{-}",
            "kappa_high": r"\kappa_{+}",
            "K_low": "K_{-}",
            "K_high": "K_{+}",
            "c_margin": "c",
            "x_slice": "x_{i}",
            "rho_star": r"\rho^{*}",
            "rho_cell": r"\rho_{ij}",
            "z_cell": "z_{j}",
            "t_cell": "t",
            "a_square": "a^{2}",
            "failure_lower": r"P_{\text{failure}}^{-}",
        },
    }.items()
    for name, latex in table.items()
} | SAMPLE_SYMBOLS
"""The symbol of every named constant, with the sign that its derivation proves or assumes."""


def symbol(name: str) -> sp.Symbol:
    """Return the symbol of a named constant.

    Raises
    ------
    KeyError
        If there is none.
    """
    return CONSTANT_SYMBOLS[name]
