"""The named constants of the explicit Corollary 3, each by a short formula in those before it.

They are statements, as those of Theorem 2 are; derivation corollary3 proves what each bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from derivations.notation import d
from derivations.population_step.notation import (
    T_rho,
    h,
    m,
    phi_m,
    q,
    rho_0,
    sigma,
    y_high,
    y_low,
)
from derivations.sample_step.notation import (
    Lambda,
    T_sigma_0,
    c_tail,
    l_E,
    l_F,
    l_k,
    n_samples,
    sigma_0,
    t_a,
    t_tail,
    theta_0,
    v_tail,
    y_I,
)

__all__ = ["sample_constants", "sub_gamma_tail"]


def sub_gamma_tail(t: sp.Expr, variance: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """Return exp(-L) with L from t = sqrt(2 variance L) + scale L."""
    root = sp.sqrt(variance) + sp.sqrt(variance + 2 * scale * t)
    return sp.exp(-2 * (t / root) ** 2)


def _sum_of_squares(positions: sp.Expr, level: sp.Expr) -> sp.Expr:
    """Return q with q d m = N + 2 sqrt(N l) + 2 l."""
    return (positions + 2 * sp.sqrt(positions * level) + 2 * level) / (d * m)


def sample_constants(at: Mapping[str, sp.Symbol]) -> dict[str, sp.Expr]:
    """Return the formula of every constant, in an order in which each uses only earlier symbols.

    Parameters
    ----------
    at : mapping of name to Symbol
        The symbols of all constants, those of Theorem 2 included.
    """
    inverse = d**2 / at["omega_low"]  # bounds 1/omega
    share = at["zeta"] / (d * at["Z_low"])  # bounds |Z - Z^o| / Z
    own = sp.sqrt((1 + rho_0) / 2)  # bounds |t_a| = |t_b|
    N, gamma_high, alpha = at["N_norm"], at["gamma_high"], at["alpha_slope"]
    spread, mean = at["R_high"], at["tau_mean"]
    root = sp.sqrt(3) + sp.sqrt(105) * N**2
    one_sample = {
        "sigma": sigma_0 / sp.sqrt(1 - y_I**2),
        "N_norm": sp.sqrt(at["Z_2_high"] / d) / at["Z_low"],
        "gamma_high": sp.exp(sigma) / (d * at["Z_low"]),
        "sub_gamma_tail": sub_gamma_tail(t_tail, v_tail, c_tail),
        "q_E": _sum_of_squares(d - 2, l_E),
        "E_support": (sp.sqrt(at["q_E"] * d) + y_I * sp.sqrt(q * d)) ** 2 / (1 - y_I**2)
        + 1
        + rho_0,
        "b_support": N * gamma_high * sp.sqrt(at["E_support"]) * inverse,
        "v_support": (at["b_support"] * root) ** 2,
        "H_square": 4 * gamma_high * at["E_support"] * inverse**2,
        "q_k": _sum_of_squares(d - 3, l_k),
        "E_ambient": 4 * at["q_k"] * d + 12,
        "b_ambient": N * gamma_high * sp.sqrt(at["E_ambient"]) * inverse,
        "v_ambient": (at["b_ambient"] * root) ** 2,
        "H_square_ambient": 4 * gamma_high * at["E_ambient"] * inverse**2,
    }
    frozen_weights = {
        "delta_s": own * y_high + y_high**2,
        "zeta": 2 * sp.exp(sigma) * (sp.exp(at["delta_s"]) - 1),
        "zeta_2": 2 * sp.exp(2 * sigma) * (sp.exp(2 * at["delta_s"]) - 1),
        "pi_lean": 2 * at["Z_high"] * at["zeta"] / d,
        "k_lean": 2 * sp.cosh(2 * y_high)
        - 2
        + 2 * at["Z_2_high"] * at["zeta_2"] / d
        + (at["C_2"] ** 2 + 2) * at["pi_lean"],
        "K_lean": at["k_lean"] / at["Z_low"]
        + at["kappa_abs"] * at["zeta"] / (d * at["Z_low"] ** 2),
        "M_lean": at["pi_lean"] * at["M_high"] + at["zeta_2"] / d,
        "lambda_lean": at["K_lean"] * sp.exp(sigma)
        + at["M_lean"] * sp.exp(2 * sigma)
        + 2 * at["pi_lean"],
    }
    frozen_noise = {
        "N_move": (N + 1 / sp.sqrt(2)) * share,
        "s_move": sp.exp(sigma) * (sp.exp(at["delta_s"]) - 1 + share) / (d * at["Z_low"]),
        "R_high": gamma_high * sp.sqrt(at["E_support"]),
        "tau_mean": sp.sqrt(gamma_high * at["E_support"]),
        "tau_move": 2 * at["s_move"] * own
        + mean * share
        + y_high * (h + q * (sp.exp(sigma) - 1) / sigma) / at["Z_low"]
        + y_high**2 * mean,
        "R_move": sp.sqrt(2) * at["s_move"] * (own + mean)
        + (spread + N * mean) * share
        + y_high * gamma_high * sp.sqrt(q * d)
        + y_high**2 * spread
        + N * at["tau_move"],
        "b_move": 2 * (at["N_move"] * spread + N * at["R_move"]) * inverse
        + 2 * at["pi_lean"] * d**2 * N * spread
        + 2 * at["N_move"] * spread * inverse,
        "v_move": (at["lambda_lean"] / sp.sqrt(d) + y_high**2 * at["w"]) ** 2 / (m - 1)
        + 3 * at["b_move"] ** 2 / n_samples,
        "theta_lean": sp.sqrt(2 * at["v_move"] * l_F) + 2 * at["b_move"] * l_F / n_samples,
        "Lambda_slice": at["theta_lean"] / y_low,
    }
    near = {
        "R_square": N**2 * (1 + N**2) / (m - 1) + sp.exp(2 / (m - 1)) / (d * at["Z_low"]) ** 2,
        "V_square": inverse**2
        * (
            sp.sqrt(N**2 * at["R_square"] + 2 * (d**2 * N**2 - d) / ((m - 1) * d**4))
            + sp.sqrt(105) * N**3 * sp.sqrt(at["R_square"])
        )
        ** 2,
        "w_1": sp.sqrt(4 / d + at["R"] ** 2),
        "beta_near": at["beta_slope"] + Lambda / 2,
        "c_near": 1 - at["beta_near"] / alpha,
        "excess_near": 1 - at["c_near"],
        "r_near": 1 + at["excess_near"] / (at["c_near"] - rho_0),
        "I_near": sp.sqrt((m - 2) / (m - 5)) * at["r_near"] / (2 * alpha),
    }
    events = {
        "largest_score_0": 2 * d * T_sigma_0,
        "overlap_both": 2 * T_rho,
        "energy_support": sp.exp(-l_E),
        "near_joint": phi_m
        * at["I_near"]
        * sp.sqrt(at["w_1"] ** 2 / (m - 1) + at["V_square"] / n_samples),
        "near_apart": at["w_1"] * at["I_near"] / sp.pi
        + phi_m * at["I_near"] * sp.sqrt(at["V_square"] / n_samples),
        "near_sampled": sp.Min(at["near_joint"], at["near_apart"]),
        "innermost": 2 * phi_m * at["I_near"] * theta_0,
        "freezing": sp.Min(1, 2 * phi_m * y_I) * sp.exp(-l_F),
        "far_variance": at["w"] ** 2 / (m - 1) + at["v_support"] / n_samples,
        "far_scale": sp.Rational(40, 3) * at["b_support"] / n_samples,
        "far_sampled": at["P_slice"]
        * sub_gamma_tail(sp.Max(0, at["x_slice"]), at["far_variance"], at["far_scale"]),
        "energy_ambient": (d - 2) * sp.exp(-l_k),
        "sampling_variance": at["v_ambient"] / n_samples,
        "sampling_scale": sp.Rational(40, 3) * at["b_ambient"] / n_samples,
        "sampling_ambient": (d - 2)
        * sub_gamma_tail(t_a, at["sampling_variance"], at["sampling_scale"]),
        "failure_sampled": at["largest_score_0"]
        + at["sum_of_scores"]
        + at["sum_of_squares"]
        + at["overlap_both"]
        + at["energy_support"]
        + 2 * at["near_sampled"]
        + 2 * at["innermost"]
        + 2 * at["freezing"]
        + 2 * at["far_sampled"]
        + 2 * at["ambient_alignment"]
        + 2 * at["noise_support"]
        + 2 * at["noise_ambient"]
        + 2 * at["energy_ambient"]
        + 2 * at["sampling_ambient"],
    }
    groups = (one_sample, frozen_weights, frozen_noise, near, events)
    return {name: expr for group in groups for name, expr in group.items()}
