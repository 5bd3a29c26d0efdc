"""What changes in the weights when the two scores of the support are put to 0.

`frozen_sums` has the first half of the way, to omega. Frozen weights c_j^o are functions of the
scores off the support alone, hence independent of the direction of v_a - v_b. Steps of
`derivations.score_bounds`; a circle marks what is frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derivations.antisymmetric import kappa_value
from derivations.notation import Z_2, Delta, Z_tilde_2, d, omega
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import D, sigma, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step
from derivations.proof.refusal import require

__all__ = ["MOVED", "Moves", "steps"]

_rate, _rate_frozen = sp.symbols("rate rate_frozen", positive=True)  # d^2 omega, frozen too


@dataclass(frozen=True, kw_only=True)
class Moves:
    """What freezing changes in sums, and the constants that bound what follows for the weights.

    Attributes
    ----------
    first : sympy.Symbol
        Bounds the changes of Z Z~/d^2 and of d^2 omega.
    second : sympy.Expr
        Bounds the change of Z_2 Z~_2/d^2.
    total, total_2 : sympy.Expr
        Bound the changes of Z/d and of Z_2/d.
    reach : sympy.Expr
        Bounds Delta, which is 0 when frozen.
    M, kappa, K, weight : str
        The constants that bound the changes of d M, kappa, d K and d c_j.
    """

    first: sp.Symbol
    second: sp.Expr
    total: sp.Expr
    total_2: sp.Expr
    reach: sp.Expr
    M: str
    kappa: str
    K: str
    weight: str

    def check_M(self) -> None:
        """Check the bound of the change of d M."""
        mean, mean_frozen = sp.symbols("mean mean_frozen", positive=True)  # Z~_2 / d
        move, room, below, shift = sp.symbols("move room below shift", nonnegative=True)
        most = sp.Symbol("most", positive=True)
        for sign in (1, -1):
            require_at_least(
                value(self.M),
                sign * (_rate * mean - _rate_frozen * mean_frozen),
                self.first * room + mean * move + most * below + _rate_frozen * shift,
                "the change of M",
                slacks={
                    most: self.total_2,
                    move: self.first - sign * (_rate - _rate_frozen),
                    room: symbol("M_high") - mean,
                    below: 1 - _rate_frozen,
                    shift: self.total_2 - sign * (mean - mean_frozen),
                },
            )

    def check_kappa(self) -> None:
        """Check the bound of the change of kappa."""
        product, frozen = sp.symbols("product frozen", positive=True)  # Z_2 Z~_2 / d^2
        grown, lean, move, below, room, shift, others = sp.symbols(
            "grown lean move below room shift others", nonnegative=True
        )
        cosh, C_2 = sp.Symbol("cosh", positive=True), symbol("C_2")
        most = sp.Symbol("most", nonnegative=True)
        moved = _in_units(cosh, _rate, product)
        still = _in_units(sp.S.One, _rate_frozen, frozen)
        for sign in (1, -1):
            require_at_least(
                value(self.kappa),
                sign * (moved - still),
                2 * grown
                + (1 - sign) * 2 * lean
                + self.first * room
                + product * move
                + most * below
                + _rate_frozen * shift
                + 2 * others * move / d
                + 2 * self.first / d,
                "the change of kappa",
                slacks={
                    most: self.second,
                    grown: sp.cosh(self.reach) - cosh,
                    lean: cosh - 1,
                    others: d - 1,
                    move: self.first + sign * (_rate - _rate_frozen),
                    room: C_2**2 - product,
                    below: 1 - _rate_frozen,
                    shift: self.second + sign * (product - frozen),
                },
            )

    def check_K(self) -> None:
        """Check the bound of the change of d K."""
        mean, mean_frozen = sp.symbols("mean mean_frozen", positive=True)  # Z / d
        kappa, kappa_frozen = sp.symbols("kappa kappa_frozen", real=True)
        low = symbol("Z_low")
        _check_kappa_frozen()
        require_equal(
            kappa / mean - kappa_frozen / mean_frozen,
            (kappa - kappa_frozen) / mean
            + kappa_frozen * (mean_frozen - mean) / (mean * mean_frozen),
            "the change of d K",
        )
        # The sizes of the changes of kappa and Z/d, and of the frozen kappa.
        move, shift, size = sp.symbols("move shift size", nonnegative=True)
        above, above_frozen, room, near, inside = sp.symbols(
            "above above_frozen room near inside", nonnegative=True
        )
        k, largest = symbol(self.kappa), symbol("kappa_abs")
        e = sp.Symbol("e", nonnegative=True)
        require_at_least(
            value(self.K),
            move / mean + size * shift / (mean * mean_frozen),
            room / mean
            + k * above / (mean * low)
            + (inside * e + size * near) / (mean * mean_frozen)
            + largest
            * e
            * (above * mean_frozen + low * above_frozen)
            / (low**2 * mean * mean_frozen),
            "the bound and the change of d K",
            slacks={
                e: self.total,
                room: k - move,
                near: self.total - shift,
                inside: largest - size,
                above: mean - low,
                above_frozen: mean_frozen - low,
            },
        )

    def check_weights(self) -> None:
        """Check the bound of the change of d c_j."""
        term = sp.Symbol("term", positive=True)  # e^(s_j)
        growth = sp.Symbol("growth", positive=True)
        K, M, rate = sp.symbols("K M rate", real=True)  # the changes of d K, d M and d^2 omega
        move_K, move_M, move, below, others = sp.symbols(
            "move_K move_M move below others", nonnegative=True
        )
        shift_K, mu = symbol(self.K), symbol(self.M)
        for sign in (1, -1):
            require_at_least(
                value(self.weight),
                sign * (K * term + M * term**2 + 2 * (d - 1) * rate / d),
                move_K * term
                + shift_K * below
                + move_M * term**2
                + mu * below * (growth + term)
                + 2 * others * move / d
                + 2 * self.first / d,
                "the change of d c_j",
                slacks={
                    growth: sp.exp(sigma),
                    below: sp.exp(sigma) - term,
                    others: d - 1,
                    move_K: shift_K - sign * K,
                    move_M: mu - sign * M,
                    move: self.first - sign * rate,
                },
            )


MOVED = Moves(
    first=symbol("pi_1"),
    second=symbol("pi_2"),
    total=symbol("e_Z"),
    total_2=2 * (sp.exp(2 * sigma) - 1) / d,
    reach=D,
    M="mu_M",
    kappa="k_kappa",
    K="K_shift",
    weight="lambda_c",
)
"""The two scores of the support are put to 0."""


def steps() -> tuple[Step, ...]:
    """Return the steps that bound what freezing changes."""
    return (
        Step(
            label="frozen-M",
            uses=("M", "frozen-sums", "frozen-omega"),
            statement=rf"d |M - M^{{\circ}}| \le \mu, \quad {defined('mu_M')}",
            reason=r"$M - M^{\circ} = (\omega - \omega^{\circ}) \tilde{Z}_{2} + \omega^{\circ}"
            r" (\tilde{Z}_{2} - \tilde{Z}_{2}^{\circ})$, with $\tilde{Z}_{2} \le M_{+} d$.",
            check=MOVED.check_M,
        ),
        Step(
            label="frozen-kappa",
            uses=("frozen-products", "frozen-omega"),
            statement=rf"|\kappa - \kappa^{{\circ}}| \le k, \quad {defined('k_kappa')}",
            reason=r"Frozen, $\Delta$ is $0$. $\omega Z_{2} \tilde{Z}_{2}$ changes by at most"
            r" $\pi_{1} C_{2}^{2} + \pi_{2}$, and $2 d (d - 1) \omega$ by at most $2 \pi_{1}$.",
            check=MOVED.check_kappa,
        ),
        Step(
            label="frozen-K",
            uses=("Z", "frozen-sums", "frozen-kappa"),
            statement=r"d |K - K^{\circ}| \le \delta_{K}, \quad"
            rf" {defined('K_shift')}, \quad {defined('kappa_abs')}",
            reason=r"$K - K^{\circ} = (\kappa - \kappa^{\circ}) / Z + \kappa^{\circ} (Z^{\circ} -"
            r" Z) / (Z Z^{\circ})$, where $Z$ and $Z^{\circ}$ are at least $Z_{-} d$. The ends of"
            r" $\kappa^{\circ}$ are $2 / d - C_{2}^{2}$ and $2 - \omega_{-} (3 - 2 / d)$, as its"
            r" $D$ is $0$; the first is not positive.",
            check=MOVED.check_K,
        ),
        Step(
            label="frozen-weights",
            uses=("frozen-omega", "frozen-M", "frozen-K"),
            statement=r"d |c_{j} - c_{j}^{\circ}| \le \lambda \text{ for } j \notin S, \quad"
            rf" {defined('lambda_c')}",
            reason=r"$c_{j} = K e^{s_{j}} + M e^{2 s_{j}} + 2 (d - 1) \omega$, and $s_{j}$ is not"
            r" changed.",
            check=MOVED.check_weights,
        ),
        Step(
            label="frozen-norm",
            uses=("norm", "frozen-weights"),
            statement=r"\left(\sum_{j \notin S} (|c_{j}^{\circ}| + \lambda /"
            rf" d)^{{2}}\right)^{{1/2}} \le w_{{0}}, \quad {defined('w_0')}",
            reason=r"The triangle inequality: $|c^{\circ}| \le \sqrt{4 / d + R^{2}}$, which is"
            r" $w$ at $D = 0$, and the constant $\lambda / d$ on at most $d$ positions has norm at"
            r" most $\lambda / \sqrt{d}$.",
            check=_check_norm,
        ),
    )


def _in_units(cosh: sp.Expr, rate: sp.Expr, product: sp.Expr) -> sp.Expr:
    """Return kappa for given cosh(Delta), d^2 omega and Z_2 Z~_2 / d^2."""
    in_products = kappa_value().xreplace({sp.cosh(Delta): cosh, Z_2: d**2 * product / Z_tilde_2})
    return sp.expand(in_products.xreplace({omega: rate / d**2}))


def _check_kappa_frozen() -> None:
    high, low = value("kappa_high").xreplace({D: sp.S.Zero}), value("kappa_low")
    require(
        value("kappa_abs") == sp.Max(-low, sp.Abs(high)),
        "the largest frozen kappa is not at an end",
    )
    beyond, others = sp.symbols("beyond others", nonnegative=True)
    require_at_least(
        -low,
        sp.S.Zero,
        beyond + others / d,
        "the lower end is not positive",
        slacks={beyond: symbol("C_2") ** 2 - 1, others: d - 2},
    )


def _check_norm() -> None:
    # x is the norm of c^o, y that of the constant, and inner their inner product.
    x, y, inner, cauchy = sp.symbols("x y inner cauchy", nonnegative=True)
    require_at_least(
        (x + y) ** 2,
        x**2 + 2 * inner + y**2,
        2 * cauchy,
        "the triangle inequality",
        slacks={cauchy: x * y - inner},
    )
    require_equal(
        value("w_0"),
        value("w").xreplace({D: sp.S.Zero}) + symbol("lambda_c") / sp.sqrt(d),
        "w_0 and the two norms",
    )
    lam = symbol("lambda_c")
    require_at_least(
        (lam / sp.sqrt(d)) ** 2,
        (d - 2) * (lam / d) ** 2,
        2 * lam**2 / d**2,
        "the norm of the constant",
    )
