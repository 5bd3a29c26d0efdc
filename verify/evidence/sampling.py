"""How trials become evidence: intervals for proportions, and the rule of a sampled claim."""

from __future__ import annotations

from dataclasses import dataclass

from numerics.binomial import clopper_pearson
from verify.claim import Grade

__all__ = ["LEVEL", "Proportion", "bonferroni_level", "grade_at_most"]

LEVEL = 0.95


@dataclass(frozen=True)
class Proportion:
    """A proportion estimated from independent trials, with its Clopper-Pearson interval.

    Parameters
    ----------
    count, trials : int
        How often the event happened, out of how many.
    level : float
        Confidence level of the two-sided interval.
    """

    count: int
    trials: int
    level: float = LEVEL

    @property
    def interval(self) -> tuple[float, float]:
        """The Clopper-Pearson interval ``(lower, upper)``."""
        return clopper_pearson(self.count, self.trials, level=self.level)

    def as_json(self) -> dict[str, float | int]:
        """Return the fields the command-line contract names."""
        lower, upper = self.interval
        return {
            "count": self.count,
            "point": self.count / self.trials,
            "lower": lower,
            "upper": upper,
            "level": self.level,
        }

    def __str__(self) -> str:
        lower, upper = self.interval
        return f"{self.count}/{self.trials}, {100 * self.level:.4g}% in [{lower:.4f}, {upper:.4f}]"


def bonferroni_level(cells: int) -> float:
    """Return the level of each of `cells` intervals that hold jointly at the 95% level."""
    return 1 - (1 - LEVEL) / cells


def grade_at_most(proportion: Proportion, bound: float) -> Grade:
    """Grade the inequality "probability <= `bound`", which was stated before the draw.

    Sampled if the interval lies inside the inequality, refuted if it lies wholly outside,
    undecided otherwise.
    """
    lower, upper = proportion.interval
    if upper <= bound:
        return Grade.SAMPLED
    if lower > bound:
        return Grade.REFUTED
    return Grade.UNDECIDED
