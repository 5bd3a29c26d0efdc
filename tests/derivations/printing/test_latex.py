import re

import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.catalogue import load, names
from derivations.notation import Delta, E, a, b, coefficient, d, gamma, gamma_tilde, i, omega, v
from derivations.printing.latex import broken_lines, equation, latex
from derivations.printing.layout import fragment


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Entry(gamma_tilde, i), r"\tilde{\gamma}_{i}"),
        (Entry(coefficient(1), i) ** 2, r"c_{1,i}^{2}"),
        (PowerSum(gamma**2), r"|\gamma|^{2}"),
        (PowerSum(gamma**2) ** 2, r"|\gamma|^{4}"),
        (PowerSum(gamma * gamma_tilde), r"\langle \gamma, \tilde{\gamma} \rangle"),
        (PowerSum(gamma * gamma_tilde) ** 2, r"\langle \gamma, \tilde{\gamma} \rangle^{2}"),
        (
            PowerSum(gamma**2 * gamma_tilde**2),
            r"\sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2}",
        ),
        (PowerSum(gamma**3) ** 2, r"\left(\sum_{i} \gamma_{i}^{3}\right)^{2}"),
        (PowerSum(gamma * v), r"\sum_{i} \gamma_{i} v_{i}"),
        (PowerSum(E**-2 * v), r"\sum_{i} E_{i}^{-2} v_{i}"),
        (Entry(gamma, i) * PowerSum(gamma**3), r"\gamma_{i} \sum_{j} \gamma_{j}^{3}"),
        (sp.KroneckerDelta(a, i), r"\delta_{ia}"),
        (2 * omega * sp.cosh(Delta), r"2 \omega \cosh \Delta"),
        (1 - 2 * d**-3 - d**-2, r"1 - \frac{1}{d^{2}} - \frac{2}{d^{3}}"),
        (omega * (d - 1), r"\omega \left(d - 1\right)"),
    ],
)
def test_golden_atoms(expr, expected):
    assert latex(expr) == expected


GOLDEN = {
    ("moments", "two_forms"): r"\langle c_{1}, c_{2} \rangle",
    ("moments", "four_forms"): (
        r"\langle c_{1}, c_{2} \rangle \langle c_{3}, c_{4} \rangle"
        r" + \langle c_{1}, c_{3} \rangle \langle c_{2}, c_{4} \rangle"
        r" + \langle c_{1}, c_{4} \rangle \langle c_{2}, c_{3} \rangle"
        r" - 2 \sum_{i} c_{1,i} c_{2,i} c_{3,i} c_{4,i}"
    ),
    ("moments", "sixth_power"): (
        r"15 |c_{1}|^{6} - 30 |c_{1}|^{2} \sum_{i} c_{1,i}^{4} + 16 \sum_{i} c_{1,i}^{6}"
    ),
    ("softmax", "attention_velocity"): (r"\gamma_{i} t_{i} - \gamma_{i} \langle \gamma, t \rangle"),
    ("softmax", "jacobian"): r"\delta_{ik} \gamma_{k} - \gamma_{i} \gamma_{k}",
    ("population", "cross_moment"): (
        r"\gamma_{a} \tilde{\gamma}_{b} + \gamma_{b} \tilde{\gamma}_{a}"
    ),
    ("population", "quartic_moment"): (
        r"|\gamma|^{2} |\tilde{\gamma}|^{2} + 2 \langle \gamma, \tilde{\gamma} \rangle^{2}"
        r" - 2 \sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2}"
    ),
    ("population", "loss"): (
        r"1 - 2 \gamma_{a} \tilde{\gamma}_{b} - 2 \gamma_{b} \tilde{\gamma}_{a}"
        r" + |\gamma|^{2} |\tilde{\gamma}|^{2} + 2 \langle \gamma, \tilde{\gamma} \rangle^{2}"
        r" - 2 \sum_{i} \gamma_{i}^{2} \tilde{\gamma}_{i}^{2}"
    ),
    ("gradient", "attention"): (
        r"- 2 \delta_{ia} \tilde{\gamma}_{b} - 2 \delta_{ib} \tilde{\gamma}_{a}"
        r" - 4 \gamma_{i} \tilde{\gamma}_{i}^{2} + 2 \gamma_{i} |\tilde{\gamma}|^{2}"
        r" + 4 \tilde{\gamma}_{i} \langle \gamma, \tilde{\gamma} \rangle"
    ),
    ("antisymmetric", "loss"): (
        r"1 + \omega^{2} \left(2 d^{2} + Z_{2} \tilde{Z}_{2} - 2 d\right) - 4 \omega \cosh \Delta"
    ),
    ("antisymmetric", "kappa"): (
        r"\omega \left(2 d - 2 d^{2} - Z_{2} \tilde{Z}_{2}\right) + 2 \cosh \Delta"
    ),
    ("antisymmetric", "sum_of_rest_weights"): r"2 \cosh \Delta",
    ("zero", "loss"): r"1 - \frac{1}{d^{2}} - \frac{2}{d^{3}}",
    ("worst_case", "residual_plus"): r"2 \alpha \beta' + 2 \alpha' \beta",
    ("worst_case", "residual_minus"): r"2 \alpha \beta + 2 \alpha' \beta'",
}


@pytest.mark.parametrize("key", sorted(GOLDEN), ids="-".join)
def test_golden_formulas(key):
    name, formula = key
    assert latex(load(name).formula(formula).right) == GOLDEN[key]


def test_long_formulas_are_broken_with_their_signs():
    c = [coefficient(h) for h in range(1, 8)]
    expr = sum(Entry(x, a) for x in c[:6]) - Entry(c[6], a)
    lines = broken_lines(expr)
    assert len(lines) == 2
    assert lines[0].startswith("c_{1,a} + c_{2,a}")
    assert lines[1].endswith("- c_{7,a}")
    assert equation("x", expr).startswith(r"\begin{aligned} x & = c_{1,a}")
    assert equation("x", Entry(gamma, b)) == r"x = \gamma_{b}"


@pytest.mark.parametrize("name", names())
def test_fragments_are_balanced_and_need_no_other_package(name):
    shown = fragment(load(name))
    assert "gamma_{tilde" not in shown
    assert "_growth" not in shown
    environments = re.findall(r"\\(begin|end)\{(\w+\*?)\}", shown)
    assert {environment for _, environment in environments} <= {"gather*", "align*", "aligned"}
    for environment in {environment for _, environment in environments}:
        assert shown.count(rf"\begin{{{environment}}}") == shown.count(rf"\end{{{environment}}}")
    bare = re.sub(r"\\[{}]", "", shown)
    assert bare.count("{") == bare.count("}")
    assert shown.count(r"\left") == shown.count(r"\right")
    assert re.sub(r"%.*", "", shown).count("$") % 2 == 0
