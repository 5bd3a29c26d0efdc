"""Attention maps that cannot represent the target: floors, their mean, and the antisymmetric start.

Every inequality, size and threshold is fixed here, before anything is drawn.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.attention_kernels import descent_cell, floor_cell, forms_cell
from verify.evidence.derivation import derivation_cell
from verify.instances.instance import draw_instance
from verify.seeds import Streams

__all__ = ["CLAIMS"]

_DIGITS = 5

# (d, m) and what every loss is at least, whatever the support and the queries.
_FLOORS: dict[Profile, tuple[tuple[int, int, Fraction], ...]] = {
    "quick": ((256, 16, Fraction(96, 100)),),
    "standard": (
        (256, 16, Fraction(96, 100)),
        (1024, 16, Fraction(998, 1000)),
        (4096, 64, Fraction(998, 1000)),
    ),
    "full": (
        (256, 16, Fraction(96, 100)),
        (1024, 16, Fraction(998, 1000)),
        (4096, 64, Fraction(998, 1000)),
        (16_384, 128, Fraction(999, 1000)),
    ),
}

# (d, m): all losses exactly; and sizes at which the dimension alone is found.
_EXACT: dict[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((12, 4),),
    "standard": ((12, 4), (24, 8)),
    "full": ((12, 4), (24, 8), (64, 16)),
}
_RANKS: dict[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((256, 8),),
    "standard": ((256, 8), (1024, 16)),
    "full": ((256, 8), (1024, 16), (4096, 32)),
}
# Positions enough for the forms, and some to spare: C(3 m, 2) > m (m + 1) / 2.
_POSITIONS_PER_DIMENSION = 3

_HALF_SIZES: dict[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((6, 12),),
    "standard": ((6, 12), (12, 24)),
    "full": ((6, 12), (12, 24), (16, 32)),
}
_DESCENT = (16, 32)  # (d, m), where independent starts learn
_ETA, _STEPS = Fraction(1, 10), 100
_HALF = Fraction(1, 2)


def _name(d: int, m: int) -> str:
    return f"d={d}, m={m}"


def _below(x: Fraction) -> str:
    from numerics.balls.arithmetic.exact import lower_digits

    return lower_digits(x, _DIGITS)


def _above(x: Fraction) -> str:
    from numerics.balls.arithmetic.exact import upper_digits

    return upper_digits(x, _DIGITS)


def _check_floor(d: int, m: int, least: Fraction, streams: Streams) -> Evidence:
    from numerics.balls.reach.concave_floor import concave_floor

    found = concave_floor(draw_instance(streams.trial(0), d, m).V)
    holds = found.loss >= least
    leverage = "unknown" if found.leverage is None else _above(found.leverage)
    return Evidence(
        cell=_name(d, m),
        subject="statement",
        method="leverages and elimination in balls, at drawn embeddings",
        # A bound that misses its mark refutes nothing: it leaves the statement open.
        grade=Grade.CERTIFIED if holds else Grade.UNDECIDED,
        computed=f"every loss >= {_below(found.loss)} from leverages <= {leverage}; "
        f">= {_below(found.loss_by_singular)} from sigma^2 >= {_below(found.singular_square)}",
        claimed=f"every loss >= {_below(least)}, for every support and all queries",
        margin=float((1 - least) - (1 - found.loss)) / float(1 - least),
        precision=f"{found.bits} bits",
        seed=streams.seed,
        trials=1,
        reason=None if holds else "the bound misses what is claimed",
    )


def _check_formula(_: Streams) -> Evidence:
    """Hold the kernel's floor against the ledger's."""
    from flint import arb

    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.reach.concave_floor import floor_at
    from verify.ledgers.symbolic_to_ball import evaluate_real_in_balls

    apart = []
    with working_precision(192):
        for k in range(4, 64):
            h = arb(1) / k
            ledger = evaluate_real_in_balls("concave_attention", "floor", {"leverage": h})
            by_sigma = evaluate_real_in_balls(
                "concave_attention", "floor_sigma", {"least_singular": arb(k).sqrt()}
            )
            if not (floor_at(h).overlaps(ledger) and floor_at(h).overlaps(by_sigma)):
                apart.append(k)
    return Evidence(
        cell="both forms of the floor",
        subject="cross-check",
        method="the ledger's formulas in balls",
        grade=Grade.REFUTED if apart else Grade.CERTIFIED,
        computed=f"apart at h = 1/{apart[0]}" if apart else "equal at h = 1/4, ..., 1/63",
        claimed="the kernel's floor is the ledger's, in h and in sigma",
        precision="192 bits",
    )


def _floor_cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        derivation_cell("concave_attention", cost=2),
        *(
            Cell(name=_name(d, m), check=partial(_check_floor, d, m, least), cost=d * m * 4e-6)
            for d, m, least in _FLOORS[profile]
        ),
        Cell(name="both forms of the floor", check=_check_formula, cost=0.3),
        floor_cell(),
    )


def _check_exact_mean(d: int, m: int, streams: Streams) -> Evidence:
    from numerics.exact.quadratic_forms import form_space

    forms = m * (m + 1) // 2
    found = form_space(draw_instance(streams.trial(0), d, m).V)
    loose = 1 - Fraction(m * (m + 1), d * (d - 1))
    holds = found.dimension == forms and found.mean_loss >= loose
    return Evidence(
        cell=_name(d, m),
        subject="statement",
        method="quadratic forms in rational arithmetic, at drawn embeddings",
        grade=Grade.EXACT if holds else Grade.REFUTED,
        computed=f"r = {found.dimension}, lambda_0 = {float(found.constant):.5f}: mean loss >="
        f" {_below(found.mean_loss)}",
        claimed=f"r = {forms}, mean loss >= {_below(loose)}",
        margin=float((found.mean_loss - loose) / (1 - loose)),
        precision="exact",
        seed=streams.seed,
        trials=1,
    )


def _check_rank(d: int, m: int, streams: Streams) -> Evidence:
    from numerics.exact.quadratic_forms import rank_at_least

    forms = m * (m + 1) // 2
    V = draw_instance(streams.trial(0), d, m).V
    rank = rank_at_least(V, positions=_POSITIONS_PER_DIMENSION * m)
    loose = 1 - Fraction(m * (m + 1), d * (d - 1))
    found = rank == forms
    return Evidence(
        cell=f"dimension at {_name(d, m)}",
        subject="statement",
        method="rank modulo 2^61 - 1 from below, number of forms from above",
        grade=Grade.EXACT if found else Grade.UNDECIDED,
        computed=f"{rank} <= r <= {forms}: mean loss >= {_below(loose)}",
        claimed=f"r = {forms}",
        precision="exact",
        seed=streams.seed,
        trials=1,
        reason=None if found else "the rank modulo the prime is smaller",
    )


def _average_cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        derivation_cell("linear_average", cost=1),
        *(
            Cell(name=_name(d, m), check=partial(_check_exact_mean, d, m), cost=0.1)
            for d, m in _EXACT[profile]
        ),
        *(
            Cell(name=f"dimension at {_name(d, m)}", check=partial(_check_rank, d, m), cost=0.1)
            for d, m in _RANKS[profile]
        ),
        forms_cell(),
    )


def _check_attained(d: int, m: int, streams: Streams) -> Evidence:
    """Independent rows reach any scores: linear attention the weights at which L is 1/2."""
    from numerics.enumeration import enumerate_loss
    from numerics.exact.rank import exact_rank

    instance = draw_instance(streams.trial(0), d, m)
    gamma = [Fraction(0)] * d
    for position, value in zip(instance.support, (Fraction(1, 2), Fraction(-1, 2)), strict=True):
        gamma[position] = value
    loss = enumerate_loss(gamma, [-weight for weight in gamma], instance.support).mean
    rank = exact_rank(instance.V)
    return Evidence(
        cell=_name(d, m),
        subject="statement",
        method="rank over the integers at drawn embeddings, and all 2^d inputs",
        grade=Grade.EXACT if loss == Fraction(1, 2) and rank == d else Grade.REFUTED,
        computed=f"rank {rank} of {d} rows; L = {loss} at gamma_a = -gamma_b = 1/2",
        claimed=f"rank {d}, so that these weights are reached; L = 1/2",
        precision="exact",
        seed=streams.seed,
        trials=1,
    )


def _check_descent(attention: str, streams: Streams) -> Evidence:
    """Follow gradient descent from the antisymmetric start, where other starts would learn."""
    from numerics.balls.attention_descent import certify_descent

    d, m = _DESCENT
    instance = draw_instance(streams.trial(0), d, m)
    found = certify_descent(
        *instance.arguments,
        attention=attention,
        eta=_ETA,
        steps=_STEPS,
        tolerance=_HALF,
    )
    low, high = found.mean_loss or (Fraction(0), Fraction(1))
    grades = {"refuted": Grade.CERTIFIED, "certified": Grade.REFUTED, "undecided": Grade.UNDECIDED}
    return Evidence(
        cell=f"{attention} attention, {_name(d, m)}",
        subject="cross-check",
        method=f"{_STEPS} steps with eta = {_ETA} in balls, from the antisymmetric start",
        grade=Grade.REFUTED if high < _HALF else grades[found.verdict],
        computed=f"L - 1/2 in [{_below(low - _HALF)}, {_above(high - _HALF)}]",
        claimed="L >= 1/2",
        precision=f"{found.bits} bits",
        seed=streams.seed,
        trials=1,
        reason=None if found.verdict == "refuted" else f"at {found.bits} bits",
    )


def _half_cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        derivation_cell("odd_attention", cost=1),
        *(
            Cell(name=_name(d, m), check=partial(_check_attained, d, m), cost=0.1)
            for d, m in _HALF_SIZES[profile]
        ),
        *(
            Cell(
                name=f"{attention} attention, {_name(*_DESCENT)}",
                check=partial(_check_descent, attention),
                cost=0.5,
            )
            for attention in ("linear", "erf")
        ),
        descent_cell(),
    )


_SETTING = (
    r"$\gamma_i = \phi(v_i \cdot \theta)$ with $\phi$ odd and, on $[0, \infty)$, concave, not"
    r" negative and not decreasing, as in linear, $\mathrm{erf}$ and $\tanh$ attention"
)

CLAIMS = (
    Claim(
        id="concave-attention-floor",
        title="linear, erf or tanh attention cannot represent the target if leverages are small",
        statement=(
            rf"{_SETTING}. If every leverage $v_i^T (V^T V)^{{-1}} v_i$ is at most $h < 1/2$, then"
            r" $L \ge 1 - 4 h^2 / (1 - 2 h)$ for every support, all $\theta$, $\tilde\theta$ and"
            r" any output gain, however trained. For unit rows and $\sigma$ the least singular"
            r" value of $V$, $L \ge 1 - 4 / (\sigma^2 (\sigma^2 - 2))$ if $\sigma^2 > 2$. At the"
            r" drawn $V$ of the cells, of $m \le d / 16$, that is nearly the loss $1$ of predicting"
            r" $0$. A small $m$ is not enough: where the support has leverages $1$, linear"
            r" attention may be right on every input."
        ),
        source="ours",
        cells=_floor_cells,
        dependencies=("population-loss",),
    ),
    Claim(
        id="concave-attention-average",
        title="averaged over supports, linear attention has a loss of 1 - m(m+1)/(d(d-1)) at best",
        statement=(
            r"Linear attention, $\gamma = V \theta$. Let $r$ be the dimension of the space of the"
            r" functions $x^T V A V^T x$ and $\lambda_0$ the squared length of the projection of"
            r" $1$ on it. The best losses, over all queries and output gains, have a mean over"
            r" supports of at least $1 - (r - \lambda_0) / \binom{d}{2} \ge 1 - m (m + 1) / (d (d -"
            r" 1))$, and $r = m (m + 1) / 2$ if the columns of $V$ are independent and no more than"
            r" one leverage is $1$. A mean: at a single support the bound is $1$ minus the squared"
            r" projection of $x_a x_b$. Empty where $V$ has rank $d$; what $m$ and $d$ alone say"
            r" is empty from $m = d - 1$ on."
        ),
        source="ours",
        cells=_average_cells,
        dependencies=("population-loss",),
    ),
    Claim(
        id="antisymmetric-half",
        title="from the antisymmetric start, odd attention keeps a loss of 1/2 or more for ever",
        statement=(
            r"$\gamma_i = \phi(v_i \cdot \theta)$ with $\phi$ odd and differentiable,"
            r" $\tilde\theta^0 = -\theta^0$. After any number of gradient steps of any sizes, on"
            r" the population or on samples that both heads share, $\tilde\theta = -\theta$, $f ="
            r" p^2 \ge 0$ and the population loss is $L \ge 1/2$, whatever $V$, $d$ and $m$ are."
            r" Equality at $\gamma_a = -\gamma_b = 1/2$ and all other weights $0$, which"
            r" independent rows reach if $\phi$ reaches $1/2$."
        ),
        source="ours; the start is that of arXiv:2502.07553v2",
        cells=_half_cells,
        dependencies=("population-gradient",),
    ),
)
