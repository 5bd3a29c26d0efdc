"""The named constants of the explicit theorems, each by a short formula in those before it.

They are statements: derivations score_bounds, theorem2, converse and corollary3 prove what each of
them bounds. Where a constant depends on D it is meant for all Delta <= D; where it depends on a
slice or a cell, for that one. Every probability is an upper bound and may exceed 1.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import LATEX, Delta, d, rho
from derivations.population_step.notation import (
    CONSTANT_SYMBOLS,
    C,
    D,
    T,
    T_low,
    T_rho,
    T_sigma,
    T_t,
    T_y,
    T_z,
    h,
    l_A,
    l_a,
    l_f,
    l_h,
    l_q,
    m,
    n,
    phi_m,
    q,
    r_high,
    r_low,
    rho_0,
    share,
    sigma,
    symbol,
    y_1,
    y_high,
    y_low,
    z,
)
from derivations.printing.latex import equation, latex
from derivations.proof.ledger import Formula
from derivations.sample_step.constants import sample_constants

__all__ = [
    "CONSTANTS",
    "SAMPLE_CONSTANTS",
    "defined",
    "formulas",
    "growth_rate",
    "right_side",
    "value",
]


def growth_rate(x: sp.Expr) -> sp.Expr:
    """Return g(x) = (e^x - 1 - x) / x^2."""
    return (sp.exp(x) - 1 - x) / x**2


def _cosh_rate(x: sp.Expr) -> sp.Expr:
    """Return a (cosh(k sigma) - 1) / sigma^2, x = k sigma."""
    return (sp.cosh(x) - 1) / sigma**2


def _product_move(k: int) -> sp.Expr:
    """Return pi_k: how far Z_k Z~_k / d^2 moves when the scores of the support are put to 0."""
    x = k * sigma
    even = 4 * (sp.cosh(x) - 1) * symbol(f"C_{k}")
    odd = 4 * sp.sinh(x) * (k * h + q * (sp.sinh(x) - x) / sigma**2)
    return (even + odd + 4 * (sp.exp(x) - 1) ** 2 / d) / d


def _constants() -> dict[str, sp.Expr]:
    at = CONSTANT_SYMBOLS
    K_low, K_high, M_low, M_high = at["K_low"], at["K_high"], at["M_low"], at["M_high"]
    Z_low, Z_high, omega_low = at["Z_low"], at["Z_high"], at["omega_low"]
    f_max, c_max, w, R, F = at["f_max"], at["c_max"], at["w"], at["R"], at["F"]
    alpha, beta, c, r = at["alpha_slope"], at["beta_slope"], at["c_margin"], at["r_lean"]
    growth, growth_2 = sp.exp(sigma), sp.exp(2 * sigma)
    largest_K = sp.Max(sp.Abs(K_low), sp.Abs(K_high))
    log_room = sp.log(1 / (share * at["x_loss"]))
    log_room_all = sp.log(d / ((1 - share) * at["x_loss"])) + 2 * sigma
    moment = 1 + 2 / (m - 1)
    slow, fast = at["I_1"] / (2 * alpha), 1 / at["g_zero"]
    within = 1 - 2 * T_rho
    scores = {
        "h": sp.sqrt(2 * (d - 2) * l_h / m) / d,
        "q": (d - 2 + 2 * sp.sqrt((d - 2) * l_q) + 2 * l_q) / (d * m),
        "h_1": h + 2 * sigma / d,
        "q_1": q + 2 * sigma**2 / d,
        "C_1": 1 + at["q_1"] * _cosh_rate(sigma),
        "C_2": 1 + at["q_1"] * _cosh_rate(2 * sigma),
        "omega_low": at["C_1"] ** -2,
        "Z_low": 1 - at["h_1"],
        "Z_high": 1 + at["h_1"] + at["q_1"] * growth_rate(sigma),
        "Z_2_low": 1 - 2 * at["h_1"],
        "Z_2_high": 1 + 2 * at["h_1"] + 4 * at["q_1"] * growth_rate(2 * sigma),
        "kappa_low": 2 / d - at["C_2"] ** 2,
        "kappa_high": 2 * sp.cosh(D) - omega_low * (3 - 2 / d),
        "K_low": sp.Min(at["kappa_low"] / Z_low, at["kappa_low"] / Z_high),
        "K_high": sp.Max(at["kappa_high"] / Z_low, at["kappa_high"] / Z_high),
        "M_low": omega_low * at["Z_2_low"],
        "M_high": at["Z_2_high"],
    }
    slopes = {
        "k_1": sp.Max(sp.Abs(K_high + 2 * M_high), sp.Abs(K_low + 2 * M_low)),
        "k_2": sp.Max(
            sp.Abs(
                sp.Max(K_high * growth_rate(sigma), K_high * growth_rate(-sigma))
                + 4 * M_high * growth_rate(2 * sigma)
            ),
            sp.Abs(
                sp.Min(K_low * growth_rate(sigma), K_low * growth_rate(-sigma))
                + 4 * M_low * growth_rate(-2 * sigma)
            ),
        ),
        "F": at["k_1"] + at["k_2"] * sigma,
        "R": F * sp.sqrt(at["q_1"] / d),
        "f_max": F * sigma / d,
        "c_max": 2 * sp.cosh(D) / d + 2 * f_max,
        "w": sp.sqrt(4 * sp.cosh(D) ** 2 / d + R**2),
        "beta_slope": sp.cosh(D) * h + R * sp.sqrt(q * d) / 2,
        "c_up": sp.Max(0, sp.Max(K_high * growth, K_high / growth) + 2 * M_high * growth_2) / d,
        "c_down": (largest_K * growth + 2 * M_high * growth_2) / d,
        "alpha_slope": 1 - at["c_up"] / 2,
        "c_margin": 1 - beta / alpha,
    }
    freezing = {
        "e_Z": 2 * (growth - 1) / d,
        "pi_1": _product_move(1),
        "pi_2": _product_move(2),
        "mu_M": at["pi_1"] * M_high + 2 * (growth_2 - 1) / d,
        "k_kappa": 2 * sp.cosh(D) - 2 + at["pi_2"] + (at["C_2"] ** 2 + 2) * at["pi_1"],
        "kappa_abs": sp.Max(at["C_2"] ** 2 - 2 / d, sp.Abs(2 - omega_low * (3 - 2 / d))),
        "K_shift": at["k_kappa"] / Z_low + at["kappa_abs"] * at["e_Z"] / Z_low**2,
        "lambda_c": at["K_shift"] * growth + at["mu_M"] * growth_2 + 2 * at["pi_1"],
        "w_0": sp.sqrt(4 / d + R**2) + at["lambda_c"] / sp.sqrt(d),
    }
    step_size = {
        "r_loss": sp.Max(0, 1 - sp.sqrt(T)),
        "x_loss": (1 - sp.sqrt(at["r_loss"])) / (1 + sp.sqrt(at["r_loss"])),
        "tau_0": sp.Max(0, log_room) / (2 * C * omega_low),
        "tau_a": sp.Max(0, log_room_all) / (2 * C * omega_low),
    }
    tails = {
        "phi_n": sp.gamma(sp.Rational(1, 2) * n) / (sp.sqrt(sp.pi) * sp.gamma((n - 1) / 2)),
        "tail_power": (1 - z**2) ** ((n - 1) / 2) / 2,
        "tail_mills": at["phi_n"] * (1 - z**2) ** ((n - 1) / 2) / ((n - 1) * z),
    }
    wedge = {
        "excess": 1 - c,
        "r_lean": 1 + at["excess"] / (c - rho_0),
        "I_1": (m - 2) / (m - 3) + at["excess"] * r * (m - 2) / (m - 5),
        "I_2": ((m - 2) / (m - 5)) ** sp.Rational(3, 4) * r,
    }
    slices = {
        "D_slice": sp.Min(2 * sigma, 2 * y_high),
        "P_slice": 2 * sp.Min(T_low, (y_high - y_low) * phi_m * (1 - y_low**2) ** ((m - 3) / 2)),
        "x_slice": 2 * (alpha * (1 - rho_0) - beta) * y_low - at["tau_0"] / sp.sqrt(2 - 2 * rho_0),
        "nu": 4 * f_max
        + 3 * c_max
        + 2 * sigma * (2 * sp.cosh(D) * (h + sigma / d) + R * sp.sqrt(q * d))
        + w * (sp.sqrt(2 * l_a / (m - 1)) + sp.sqrt(2 * l_A / (m - 1)))
        + at["tau_a"],
        "Delta_cell": sp.sqrt(2 - 2 * r_high) * y_low,
        "rho_star": -sp.exp(-2 * Delta) - at["nu"] * sp.exp(Delta),
        "rho_cell": sp.Min(r_high, sp.Max(r_low, at["rho_star"])),
        "t_cell": (sp.exp(Delta) + rho * sp.exp(-Delta) - at["nu"])
        / sp.sqrt(2 * sp.cosh(2 * Delta) + 2 * rho),
        "z_cell": sp.Max(r_low, -r_high, 0),
        "P_cell": sp.Min(T_z, (r_high - r_low) * phi_m * (1 - at["z_cell"] ** 2) ** ((m - 3) / 2)),
    }
    events = {
        "largest_score": 2 * d * T_sigma,
        "sum_of_scores": 2 * sp.exp(-l_h),
        "sum_of_squares": sp.exp(-l_q),
        "overlap": T_rho,
        "small_lean": phi_m * at["tau_0"] * at["I_2"] / (sp.sqrt(2) * alpha),
        "near_margin": sp.atan(at["w_0"] * at["I_1"] / (2 * alpha)) / sp.pi,
        "far_margin": at["P_slice"] * sp.exp(-(m - 1) * sp.Max(0, at["x_slice"]) ** 2 / (2 * w**2)),
        "cells": at["P_cell"] * sp.Min(1, (d - 2) * T_t),
        "ambient_alignment": at["P_slice"] * sp.Min(1, at["cells"]),
        "noise_support": sp.exp(-l_a),
        "noise_ambient": (d - 2) * sp.exp(-l_A),
        "failure_upper": at["largest_score"]
        + at["sum_of_scores"]
        + at["sum_of_squares"]
        + at["overlap"]
        + at["small_lean"]
        + 2 * at["near_margin"]
        + 2 * at["far_margin"]
        + 2 * at["ambient_alignment"]
        + 2 * at["noise_support"]
        + 2 * at["noise_ambient"],
    }
    converse = {
        "p_scores": at["largest_score"] + at["sum_of_scores"] + at["sum_of_squares"],
        "g_rho": 2 * ((sp.sinh(D) / D + at["c_down"] / 2) * (1 - rho) + beta),
        "t_prime": at["lambda_c"] * sp.sqrt(2 * l_f / (d * (m - 1))),
        "t_second": at["t_prime"] / sp.sqrt(1 - y_1**2),
        "a_square": (2 - 2 * c_max) ** 2 / (d - 2) - c_max**2 * q * d,
        "E_W": sp.sqrt(at["a_square"] / moment),
        "E_3": w**3 * (moment * 3 / ((m - 1) * (m + 1))) ** sp.Rational(3, 4),
        "failure_lower": 2
        * (
            (1 - at["p_scores"] - 2 * T_rho) * at["E_W"] * fast / sp.pi
            - phi_m * at["t_second"] * (fast + slow)
            - R / (2 * sp.pi) * (slow - within * fast)
            - m / 6 * phi_m * at["E_3"] / at["g_rho_0"] ** 3
        )
        - 4 * T_sigma
        - 4 * T_y * sp.exp(-(m - 1) * (at["g_rho_0"] * y_1) ** 2 / (2 * w**2))
        - 8 * phi_m * y_1 * sp.exp(-l_f),
    }
    groups = (scores, slopes, freezing, step_size, tails, wedge, slices, events, converse)
    return {name: expr for group in groups for name, expr in group.items()}


CONSTANTS = _constants()
"""The formula of every constant of Theorem 2 and its converse; each uses only earlier symbols.

`rho_star` and `t_cell` are functions of Delta and rho, to be read at `Delta_cell` and `rho_cell`;
`g_rho` is a function of rho, whose values at 0 and rho_0 are `g_zero` and `g_rho_0`; `far_margin`
and `ambient_alignment` are the terms of one slice, `cells` the term of one cell. Their symbols
stand for the sums over slices and cells. `T_t` is 1 where the numerator of t_cell is not positive,
`T_z` is 1 where z_cell is 0, `T_low` is 1/2 where y_low is 0, and `tail_mills` is for z > 0.
"""

SAMPLE_CONSTANTS = sample_constants(CONSTANT_SYMBOLS)
"""The formula of every further constant of Corollary 3, in such an order too.

Those from `delta_s` to `Lambda_slice` are read on one near slice, with w at D = 2 y_high; `w_1`
with R at D = 0; `beta_near` to `I_near` at D = 2 y_I; `far_sampled` is the term of one slice.
"""


def value(name: str) -> sp.Expr:
    """Return the formula of a constant.

    Raises
    ------
    KeyError
        If there is none.
    """
    return (CONSTANTS if name in CONSTANTS else SAMPLE_CONSTANTS)[name]


def formulas(*names: str) -> tuple[Formula, ...]:
    """Return constants as they enter a derivation."""
    return tuple(Formula(name=name, left=LATEX[name], right=value(name)) for name in names)


def defined(name: str) -> str:
    """Return LaTeX that defines a constant: its symbol, equal to its formula."""
    (constant,) = formulas(name)
    return equation(constant.left, constant.right)


def right_side(name: str) -> str:
    """Return LaTeX of the formula of a constant."""
    return latex(value(name))
