"""The evidence that a probability lies where a claim says, from the trials in which it happened."""

from __future__ import annotations

from dataclasses import dataclass

from verify.claim import Evidence, Grade
from verify.evidence.sampling import Proportion

__all__ = ["Band", "band_evidence", "grade_between"]


@dataclass(frozen=True)
class Band:
    """An event, and the interval in which its probability is claimed to lie.

    Parameters
    ----------
    described : str
        The event in words.
    low, high : float
        The ends; 0 and 1 bound nothing.
    """

    described: str
    low: float = 0.0
    high: float = 1.0

    def __str__(self) -> str:
        if self.low <= 0:
            return f"P({self.described}) <= {self.high:.4g}"
        if self.high >= 1:
            return f"P({self.described}) >= {self.low:.4g}"
        return f"P({self.described}) in [{self.low:.4g}, {self.high:.4g}]"

    def margin(self, found: Proportion) -> float:
        """Return the least share of a bound that the interval leaves."""
        lower, upper = found.interval
        left = 1 - upper / self.high if self.high < 1 else 1.0
        return min(left, lower / self.low - 1) if self.low > 0 else left


def grade_between(proportion: Proportion, low: float, high: float, *, slack: float) -> Grade:
    """Grade "the probability is between `low` and `high`".

    Sampled if the interval lies between low/slack and high slack, refuted if it misses the
    bounds altogether, undecided otherwise.
    """
    lower, upper = proportion.interval
    if lower > high or upper < low:
        return Grade.REFUTED
    inside = low / slack <= lower and upper <= high * slack
    return Grade.SAMPLED if inside else Grade.UNDECIDED


def band_evidence(
    cell: str, band: Band, found: Proportion, *, method: str, seed: int, beside: str = ""
) -> Evidence:
    """Return the evidence of independent trials, all of which count.

    Parameters
    ----------
    cell : str
        Name of the cell.
    band : Band
        What was claimed before the draw.
    found : Proportion
        In how many of the trials the event happened.
    method : str
        How the trials were run.
    seed : int
        Root seed.
    beside : str
        What else is to be read beside the proportion.
    """
    return Evidence(
        cell=cell,
        subject="statement",
        method=f"{method}, Clopper-Pearson interval",
        grade=grade_between(found, band.low, band.high, slack=1),
        computed=f"{found}{beside}",
        claimed=str(band),
        margin=band.margin(found),
        precision="binary64",
        seed=seed,
        trials=found.trials,
        met=found.trials,
    )
