"""The symbols of the explicit Corollary 3: what its budget fixes beyond Theorem 2's, its constants.

They join those of `derivations.population_step.notation`, with two changes of meaning: there
`sigma` bounds the scores of the draw, here also the frozen ones, and follows from `sigma_0`; and
`tau_a` is here the share `t_a` of the sampling noise.

The budget
    `n_samples` the number of samples; `sigma_0` bounds the scores of the draw; `y_I` is the end of
    the slices on which the noise is frozen, `y_low` and `y_high` the ends of one of them; `l_F`,
    `l_E`, `l_k` are the levels of freezing and of the two energies.
Composed
    `Lambda` is the largest of `Lambda_slice` over the slices, `theta_0` the value of `theta_lean`
    on the innermost, and `T_sigma_0` that of T_m at sigma_0.
Tails
    `t_tail`, `v_tail`, `c_tail`: threshold, variance and scale of a sub-gamma variable.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import declare

__all__ = [
    "SAMPLE_SYMBOLS",
    "Lambda",
    "T_sigma_0",
    "c_tail",
    "l_E",
    "l_F",
    "l_k",
    "n_samples",
    "sigma_0",
    "t_a",
    "t_tail",
    "theta_0",
    "v_tail",
    "y_I",
]

n_samples = declare(sp.Symbol, "n_samples", "n", integer=True, positive=True)
sigma_0 = declare(sp.Symbol, "sigma_0", r"\sigma_{0}", positive=True)
y_I = declare(sp.Symbol, "y_I", "y_{I}", positive=True)
l_F, l_E, l_k = (
    declare(sp.Symbol, f"l_{each}", f"l_{{{each}}}", nonnegative=True) for each in ("F", "E", "k")
)
t_a = declare(sp.Symbol, "t_a", "t_{a}", positive=True)
Lambda = declare(sp.Symbol, "Lambda", r"\Lambda", nonnegative=True)
theta_0 = declare(sp.Symbol, "theta_0", r"\theta(y_{0})", nonnegative=True)
T_sigma_0 = declare(sp.Symbol, "T_sigma_0", r"T_{m}(\sigma_{0})", nonnegative=True)
t_tail = declare(sp.Symbol, "t_tail", "t", positive=True)
v_tail = declare(sp.Symbol, "v_tail", "v", positive=True)
c_tail = declare(sp.Symbol, "c_tail", "c", nonnegative=True)

SAMPLE_SYMBOLS = {
    name: declare(sp.Symbol, name, latex, **({assumption: True}))
    for assumption, table in {
        "positive": {
            "N_norm": "N",
            "gamma_high": r"\gamma_{+}",
            "E_support": r"\mathcal{E}",
            "E_ambient": r"\mathcal{E}_{k}",
            "b_support": r"b",
            "b_ambient": r"b_{k}",
            "v_support": r"v_{b}",
            "v_ambient": r"v_{k}",
            "H_square": "H^{2}",
            "H_square_ambient": "H_{k}^{2}",
            "sub_gamma_tail": r"\Psi(t; v, c)",
            "far_variance": r"v_{\text{far}}",
            "sampling_variance": r"v_{\text{sampling}}",
            "R_square": r"\bar{R}^{2}",
            "V_square": "V",
            "w_1": "w_{1}",
            "R_high": "R_{+}",
            "tau_mean": r"\tau",
            "r_near": "r_{I}",
            "I_near": "I",
        },
        "nonnegative": {
            "q_E": "q_{E}",
            "q_k": "q_{k}",
            "far_scale": r"c_{\text{far}}",
            "sampling_scale": r"c_{\text{sampling}}",
            "delta_s": r"\delta",
            "zeta": r"\zeta",
            "zeta_2": r"\zeta_{2}",
            "pi_lean": r"\varpi",
            "k_lean": "k_{y}",
            "K_lean": r"\delta_{K,y}",
            "M_lean": r"\delta_{M,y}",
            "lambda_lean": r"\lambda_{y}",
            "N_move": "N'",
            "s_move": "s'",
            "tau_move": r"\tau'",
            "R_move": "R'",
            "b_move": "b_{D}",
            "v_move": "v_{D}",
            "theta_lean": r"\theta(y_{i + 1})",
            "Lambda_slice": r"\Lambda_{i}",
            "beta_near": r"\beta_{I}",
            "excess_near": r"\epsilon_{I}",
            "largest_score_0": r"P_{\text{largest score}}^{0}",
            "overlap_both": r"P_{\text{overlap}}^{\pm}",
            "energy_support": r"P_{\text{energy, support}}",
            "near_joint": r"P_{\text{near}}'",
            "near_apart": r"P_{\text{near}}''",
            "near_sampled": r"P_{\text{near margin}}^{n}",
            "innermost": r"P_{\text{innermost}}",
            "freezing": r"P_{\text{freezing}}",
            "far_sampled": r"P_{\text{far margin}}^{n}",
            "energy_ambient": r"P_{\text{energy, ambient}}",
            "sampling_ambient": r"P_{\text{sampling, ambient}}",
            "failure_sampled": r"P_{\text{failure}}^{n}",
        },
        "real": {"c_near": "c_{I}"},
    }.items()
    for name, latex in table.items()
}
"""The symbol of every named constant of the corollary, with the sign that it has."""
