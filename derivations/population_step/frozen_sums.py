"""What changes in Z and omega when the two scores of the support are put to 0.

Steps of `derivations.score_bounds`; a circle marks what is frozen.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.notation import E, a, b, d
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import OFF_SUPPORT, h, q, s, sigma, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step

__all__ = ["check_omega", "steps"]


def steps() -> tuple[Step, ...]:
    """Return the steps from the sums of exponentials to omega."""
    return (
        Step(
            label="frozen-sums",
            statement=rf"|Z - Z^{{\circ}}| \le e d, \quad {defined('e_Z')}; \quad |Z_{{2}} -"
            r" Z_{2}^{\circ}| \le 2 (e^{2 \sigma} - 1)",
            reason=r"Two terms change, each from $e^{k s}$ to $1$; and $|e^{u} - 1| \le e^{v} - 1$"
            r" for $|u| \le v$, as $1 - e^{-v} \le e^{v} - 1$.",
            check=_check_sums,
        ),
        Step(
            label="split",
            statement=r"Z \tilde{Z} - Z^{\circ} \tilde{Z}^{\circ} = (p + \tilde{p})"
            r" \frac{Z^{\circ} + \tilde{Z}^{\circ}}{2} + (p - \tilde{p}) \frac{\tilde{Z}^{\circ} -"
            r" Z^{\circ}}{2} + p \tilde{p}, \quad p = Z - Z^{\circ}, \quad \tilde{p} = \tilde{Z} -"
            r" \tilde{Z}^{\circ}",
            reason=r"The even and the odd part of the change meet the even and the odd part of"
            r" what is left, and the odd part of that is small.",
            check=_check_product_identity,
        ),
        Step(
            label="frozen-products",
            uses=("frozen-sums", "split", "cosh-sums"),
            statement=r"|Z \tilde{Z} - Z^{\circ} \tilde{Z}^{\circ}| \le \pi_{1} d^{2}, \quad"
            r" |Z_{2} \tilde{Z}_{2} - Z_{2}^{\circ} \tilde{Z}_{2}^{\circ}| \le \pi_{2} d^{2},"
            rf" \quad {defined('pi_1')}, \quad {defined('pi_2')}",
            reason=r"The previous identity, for $k = 1$ and $k = 2$: $|p + \tilde{p}| \le 4 (\cosh"
            r" k \sigma - 1)$, $|p - \tilde{p}| \le 4 \sinh k \sigma$, $|p|, |\tilde{p}| \le 2"
            r" (e^{k \sigma} - 1)$; half the sum of $Z^{\circ}$ and $\tilde{Z}^{\circ}$ is at most"
            r" $C_{k} d$, half their difference is $\sum_{j \notin S} \sinh k s_{j}$, in size at"
            r" most $k h d + q d (\sinh k \sigma - k \sigma) / \sigma^{2}$, as $(\sinh u - u) /"
            r" u^{2}$ increases.",
            check=_check_products,
        ),
        Step(
            label="frozen-omega",
            uses=("frozen-products",),
            statement=r"d^{2} |\omega - \omega^{\circ}| \le \pi_{1}",
            reason=r"$\omega - \omega^{\circ} = (Z^{\circ} \tilde{Z}^{\circ} - Z \tilde{Z}) \omega"
            r" \omega^{\circ}$, and both $d^{2} \omega$ and $d^{2} \omega^{\circ}$ are at most"
            r" $1$.",
            check=lambda: check_omega(symbol("pi_1")),
        ),
    )


def _check_sums() -> None:
    growth = sp.Symbol("growth", positive=True)  # e^(k sigma)
    term, room = sp.symbols("term room", positive=True)
    over, under, grown = sp.symbols("over under grown", nonnegative=True)
    # One term e^u with e^-v <= e^u <= e^v; both differences to 1 are at most e^v - 1.
    require_at_least(growth - 1, term - 1, over, "above", slacks={over: growth - term})
    require_at_least(
        growth - 1,
        1 - term,
        under + grown**2 / growth,
        "below",
        slacks={under: term - 1 / growth, grown: growth - 1},
    )
    for k in (1, 2):
        moved = PowerSum(E**k - (OFF_SUPPORT * E**k + Unit(a) + Unit(b)))
        both = (Entry(E, a) ** k - 1) + (Entry(E, b) ** k - 1)
        require_equal(moved, both, "the change of the sum and the two terms")
    first, second = sp.symbols("first second", nonnegative=True)
    for sign in (1, -1):
        change = sign * (term + room - 2)
        require_at_least(
            d * value("e_Z"),
            change,
            first + second,
            "e d and the change of Z",
            slacks={
                first: sp.exp(sigma) - 1 - sign * (term - 1),
                second: sp.exp(sigma) - 1 - sign * (room - 1),
            },
        )


def _check_product_identity() -> None:
    Z, Z_tilde, frozen, frozen_tilde = sp.symbols("Z Z_tilde frozen frozen_tilde")
    require_equal(
        Z * Z_tilde - frozen * frozen_tilde,
        _product_change(Z - frozen, Z_tilde - frozen_tilde, frozen, frozen_tilde),
        "the change of the product",
    )


def _product_change(
    p: sp.Expr, p_tilde: sp.Expr, frozen: sp.Expr, frozen_tilde: sp.Expr
) -> sp.Expr:
    even = (p + p_tilde) * (frozen + frozen_tilde) / 2
    return even + (p - p_tilde) * (frozen_tilde - frozen) / 2 + p * p_tilde


def _check_products() -> None:
    even, half_sum = sp.symbols("even half_sum", nonnegative=True)
    odd, half_difference, p, p_tilde = sp.symbols("odd half_difference p p_tilde", nonnegative=True)
    slack = sp.symbols("slack_0:6", nonnegative=True)
    for k in (1, 2):
        x = k * sigma
        cosh, sinh, growth = (
            sp.Symbol(f"{name}_k", positive=True) for name in ("cosh", "sinh", "growth")
        )
        rate = (sp.sinh(x) - x) / sigma**2
        odd_rate = sp.Symbol("odd_rate", positive=True)
        values = {
            cosh: sp.cosh(x) - 1,
            sinh: sp.sinh(x),
            growth: sp.exp(x) - 1,
            odd_rate: k * h + q * rate,
        }
        # The sizes of the three products, each factor at most its bound.
        slacks = {
            slack[0]: 4 * values[cosh] - even,
            slack[1]: symbol(f"C_{k}") * d - half_sum,
            slack[2]: 4 * values[sinh] - odd,
            slack[3]: values[odd_rate] * d - half_difference,
            slack[4]: 2 * values[growth] - p,
            slack[5]: 2 * values[growth] - p_tilde,
        }
        require_at_least(
            d**2 * value(f"pi_{k}"),
            even * half_sum + odd * half_difference + p * p_tilde,
            slack[0] * symbol(f"C_{k}") * d
            + even * slack[1]
            + slack[2] * odd_rate * d
            + odd * slack[3]
            + slack[4] * 2 * growth
            + p * slack[5],
            f"pi_{k} d^2 and the change of the product",
            slacks={**values, **slacks},
        )
        _check_odd_sum(k, rate)
        _check_parts(k)


def _check_odd_sum(k: int, rate: sp.Expr) -> None:
    """Check the bound of sum_{j not in S} sinh(k s_j), E^k = e^(k s) being a sequence."""
    sinh = (E**k - E**-k) / 2
    squares, room, terms = sp.symbols("squares room terms", nonnegative=True)
    excess = sp.Symbol("excess", positive=True)
    for sign in (1, -1):
        require_at_least(
            d * (k * h + q * rate),
            sign * PowerSum(OFF_SUPPORT * sinh),
            k * room + excess * squares + terms,
            "the bound of the odd part",
            slacks={
                room: h * d - sign * PowerSum(OFF_SUPPORT * s),
                excess: rate,
                squares: q * d - PowerSum(OFF_SUPPORT * s**2),
                terms: PowerSum(OFF_SUPPORT * (rate * s**2 - sign * (sinh - k * s))),
            },
        )
    frozen = OFF_SUPPORT * E**k + Unit(a) + Unit(b)
    frozen_tilde = OFF_SUPPORT * E**-k + Unit(a) + Unit(b)
    require_equal(
        (PowerSum(frozen) - PowerSum(frozen_tilde)) / 2,
        PowerSum(OFF_SUPPORT * sinh),
        "half the difference of the frozen sums",
    )


def _check_parts(k: int) -> None:
    """Check that even and odd part of the change are sums of two cosh - 1 and of two sinh."""
    p, p_tilde = (sp.Add(*(Entry(E, at) ** (sign * k) - 1 for at in (a, b))) for sign in (1, -1))
    cosh = sp.Add(*((Entry(E, at) ** k + Entry(E, at) ** -k) / 2 - 1 for at in (a, b)))
    sinh = sp.Add(*((Entry(E, at) ** k - Entry(E, at) ** -k) / 2 for at in (a, b)))
    require_equal(p + p_tilde, 2 * cosh, "the even part")
    require_equal(p - p_tilde, 2 * sinh, "the odd part")


def check_omega(most: sp.Symbol) -> None:
    """Check that what bounds the change of Z Z~/d^2 bounds that of d^2 omega."""
    product, frozen = sp.symbols("product frozen", positive=True)  # Z Z~ / d^2
    above, above_frozen, room = sp.symbols("above above_frozen room", nonnegative=True)
    for sign in (1, -1):
        require_at_least(
            most * product * frozen,
            sign * (1 / product - 1 / frozen) * product * frozen,
            most * (above + above_frozen + above * above_frozen) + room,
            "the change of omega",
            slacks={
                above: product - 1,
                above_frozen: frozen - 1,
                room: most - sign * (frozen - product),
            },
        )
