"""Feed-forward nets on sparse XOR: a bound for those that read few positions, and trained ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

from numerics.baselines.juntas import average_best_loss, enumerated_average, least_positions
from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.derivation import derivation_cell
from verify.evidence.sampling import Proportion, bonferroni_level, grade_at_most
from verify.seeds import Streams

if TYPE_CHECKING:
    from numerics.baselines.trained_nets import TrainedNet

__all__ = ["CLAIMS"]

_DIMENSIONS: Mapping[Profile, range] = {
    "quick": range(2, 8),
    "standard": range(2, 10),
    "full": range(2, 13),
}
_DEGREES = (2, 3, 4)

# The average loss for which positions are counted, and where.
_LOSS = Fraction(1, 20)
_SIZES = (64, 1024, 10**6)


def _check_enumeration(dimensions: range, streams: Streams) -> Evidence:
    """Hold the average over all supports against enumeration, with positions drawn for each r."""
    wrong, total = [], 0
    for d in dimensions:
        order = streams.trial(d).permutation(d).tolist()
        for k in _DEGREES:
            for r in range(d + 1):
                if k <= d:
                    total += 1
                    found = enumerated_average(d, order[:r], k)
                    if found != average_best_loss(d, r, k):
                        wrong.append(f"d={d}, r={r}, k={k}: {found}")
    return Evidence(
        cell=_enumeration_name(dimensions),
        subject="statement",
        method="exact enumeration of all inputs and all supports",
        grade=Grade.REFUTED if wrong else Grade.EXACT,
        computed=f"equal at {total - len(wrong)} of {total} (d, r, k)",
        claimed=f"the average best loss is 1 - C(r,k)/C(d,k) at all {total}",
        precision="exact",
        seed=streams.seed,
        reason=f"witness: {wrong[0]}" if wrong else None,
    )


def _enumeration_name(dimensions: range) -> str:
    return f"all 2^d inputs and all supports, d = {dimensions[0]}..{dimensions[-1]}, k = 2, 3, 4"


def _check_positions(_: Streams) -> Evidence:
    """Count the positions that an average loss of 1/20 takes, in integers."""
    found = {d: least_positions(d, _LOSS) for d in _SIZES}
    held = all(
        average_best_loss(d, r) <= _LOSS < average_best_loss(d, r - 1)
        and r**2 >= (1 - _LOSS) * d**2
        for d, r in found.items()
    )
    return Evidence(
        cell=_POSITIONS,
        subject="statement",
        method="integer arithmetic",
        grade=Grade.EXACT if held else Grade.REFUTED,
        computed="; ".join(f"d={d}: r = {r}" for d, r in found.items()),
        claimed=f"least r with an average loss of at most {float(_LOSS):g}; r >= "
        f"sqrt({1 - float(_LOSS):g}) d",
        precision="exact",
    )


_POSITIONS = "positions that an average loss of 0.05 takes"


def _floor_cells(profile: Profile) -> tuple[Cell, ...]:
    dimensions = _DIMENSIONS[profile]
    return (
        derivation_cell("feed_forward", cost=1),
        Cell(
            name=_enumeration_name(dimensions),
            check=partial(_check_enumeration, dimensions),
            # Each d has a third more of everything but inputs, and twice as many of these.
            cost=1e-3 * 2.6 ** (dimensions[-1] - 3),
        ),
        Cell(name=_POSITIONS, check=_check_positions),
    )


@dataclass(frozen=True)
class _Setting:
    """Nets that are trained alike.

    Attributes
    ----------
    d, width : int
        Positions, and hidden units of the net.
    trials : int
        Nets trained, each on samples and from starts of its own.
    cost : float
        Rough seconds.
    """

    d: int
    width: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        """Names the cell."""
        return f"d={self.d}, width {self.width}"


# Fixed before anything is trained: samples a position, most random starts, the population loss to
# be reached, and how often a net may be allowed to miss it.
_SAMPLES = 64
_STARTS = 8
_TARGET = 0.01
_MISSES = 0.3

_SETTINGS: Mapping[Profile, tuple[_Setting, ...]] = {
    "quick": (_Setting(16, 4, 40, 1),),
    "standard": (_Setting(16, 2, 45, 1.5), _Setting(32, 4, 45, 1.5)),
    "full": tuple(
        _Setting(d, width, 200, d * d / 80) for d in (16, 32, 64, 128) for width in (2, 4)
    ),
}
_LIBRARY_SETTINGS: Mapping[Profile, tuple[_Setting, ...]] = {
    "quick": (),
    "standard": (_Setting(16, 4, 40, 2),),
    "full": (_Setting(16, 2, 200, 10), _Setting(32, 4, 200, 10)),
}


def _count_misses(setting: _Setting, train: Callable[..., TrainedNet], streams: Streams) -> int:
    """Train, and count the nets whose population loss is not proved to be at most the target."""
    from numerics.baselines.dense_nets import loss_bracket
    from numerics.baselines.trained_nets import draw_sample

    misses = 0
    for i in range(setting.trials):
        rng = streams.trial(i)
        sample = draw_sample(rng, setting.d, _SAMPLES * setting.d)
        trained = train(rng, sample, width=setting.width, starts=_STARTS)
        _, upper = loss_bracket(trained.net, sample.support)
        # "not <=" rather than ">": a bound that is not a number proves nothing.
        misses += not upper <= _TARGET
    return misses


def _trained_evidence(
    setting: _Setting,
    level: float,
    streams: Streams,
    *,
    cell: str,
    library: str,
    subject: Literal["statement", "cross-check"],
    train: Callable[..., TrainedNet],
) -> Evidence:
    from numerics.baselines.dense_nets import dense_parameters

    found = Proportion(_count_misses(setting, train, streams), setting.trials, level)
    grade = grade_at_most(found, _MISSES)
    if grade is Grade.REFUTED:
        # Misses count nets whose loss was not enclosed well enough, too.
        grade = Grade.UNDECIDED
    parameters = dense_parameters(setting.d, setting.width)
    return Evidence(
        cell=cell,
        subject=subject,
        method=f"trained with {library}; an upper bound of each net's loss over all 2^d inputs; "
        "Clopper-Pearson interval",
        grade=grade,
        computed=f"{found} without a proved loss <= {_TARGET:g}; {parameters} parameters",
        claimed=f"P(population loss > {_TARGET:g}) <= {_MISSES:g}",
        margin=1 - found.interval[1] / _MISSES,
        precision="binary64",
        seed=streams.seed,
        trials=setting.trials,
        met=setting.trials,
        reason="too few nets with a proved loss" if grade is Grade.UNDECIDED else None,
    )


def _check_trained(setting: _Setting, level: float, streams: Streams) -> Evidence:
    from numerics.baselines.trained_nets import train

    return _trained_evidence(
        setting,
        level,
        streams,
        cell=setting.name,
        library="SciPy's L-BFGS",
        subject="statement",
        train=train,
    )


def _check_library(setting: _Setting, level: float, streams: Streams) -> Evidence:
    """Train with scikit-learn; without it, say what the claim rests on instead."""
    from numerics.baselines.trained_nets import has_scikit_learn, train_with_scikit_learn

    if has_scikit_learn():
        return _trained_evidence(
            setting,
            level,
            streams,
            cell=_library_name(setting),
            library="scikit-learn's MLPRegressor",
            subject="cross-check",
            train=train_with_scikit_learn,
        )
    return Evidence(
        cell=_library_name(setting),
        subject="cross-check",
        method="trained with scikit-learn's MLPRegressor",
        grade=Grade.VACUOUS,
        computed="nothing",
        claimed=f"P(population loss > {_TARGET:g}) <= {_MISSES:g}",
        reason="needs scikit-learn; pip install 'xorverify[rivals]'; without it the claim rests on "
        "the nets trained with SciPy alone",
    )


def _library_name(setting: _Setting) -> str:
    return f"scikit-learn, {setting.name}"


def _trained_cells(profile: Profile) -> tuple[Cell, ...]:
    settings, others = _SETTINGS[profile], _LIBRARY_SETTINGS[profile]
    level = bonferroni_level(len(settings) + len(others))
    return (
        *(
            Cell(name=each.name, check=partial(_check_trained, each, level), cost=each.cost)
            for each in settings
        ),
        *(
            Cell(
                name=_library_name(each), check=partial(_check_library, each, level), cost=each.cost
            )
            for each in others
        ),
    )


CLAIMS = (
    Claim(
        id="feed-forward-floor",
        title="a net that reads r positions chosen beforehand has average loss 1 - C(r,2)/C(d,2) "
        "or more",
        statement=(
            r"Let a net read $r$ of the $d$ positions, fixed before the support is drawn: any"
            r" function of these $r$ signs, with parameters that may depend on the support."
            r" Averaged over all supports $S$ of size $k$, its loss $\mathbb{E} (f - y)^2$ is at"
            r" least $1 - \binom{r}{k} / \binom{d}{k}$, with equality for the best one; for $k ="
            r" 2$ that is $1 - \frac{r (r - 1)}{d (d - 1)}$. For each support by itself it is at"
            r" least $1$ unless $S$ is among the positions read. An average of at most $\epsilon$"
            r" takes $r \ge \sqrt{1 - \epsilon}\, d$ positions at $k = 2$, and as many weights in"
            r" a first layer whose weights are not shared between positions, trained or frozen:"
            r" $\Omega(d)$. This is no bound on the number of trained parameters of a model whose"
            r" other parameters are frozen, nor on the parameters of one that shares weights."
        ),
        source="ours; arXiv:2502.07553v2 compares its model with feed-forward nets",
        cells=_floor_cells,
    ),
    Claim(
        id="feed-forward-trained",
        title="a dense ReLU net of width 2 to 4 learns sparse XOR, with parameters linear in d",
        statement=(
            r"At the $d$ and widths $n$ of the cells, a dense net with one hidden layer of ReLU"
            r" units, $n (d + 2) + 1$ parameters, trained by L-BFGS on $64 d$ samples from at most"
            r" $8$ random starts, the first that fits the samples, has a population loss"
            r" $\mathbb{E} (f - y)^2 \le 0.01$ with probability at least $0.7$ over support,"
            r" samples and starts."
        ),
        source="ours; arXiv:2502.07553v2 compares its model with feed-forward nets",
        cells=_trained_cells,
    ),
)
