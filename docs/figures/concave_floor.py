"""Figure and data: what linear and error-function attention cannot reach, against m/d.

Run ``python docs/figures/concave_floor.py`` with the extra ``figures`` installed (about a minute on
one core); it writes ``concave_floor.csv`` and ``concave_floor.svg`` beside itself. At each m one V
is drawn, seed 0; the floors are certified, the mean bound of linear attention is exact, and the
losses found are the least of a few starts of a quasi-Newton search over both queries and the output
gain, at a few supports: they show how much room the bounds leave, and prove nothing.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from numerics.attention_maps import AttentionMap, find_map
from numerics.balls.reach.concave_floor import concave_floor
from numerics.balls.reach.softmax_reach import softmax_reach
from numerics.exact.quadratic_forms import form_space
from verify.instances.instance import draw_instance
from verify.seeds import Streams

D = 64
WIDTHS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64)
# Beyond this many dimensions the exact mean takes minutes; it is small there anyway.
MOST_EXACT = 16
MAPS = ("linear", "erf")
SUPPORTS, STARTS = 8, 8
TOLERANCE = Fraction(1, 100)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """The loss of one attention map at one V and support, with the best output gain.

    Attributes
    ----------
    V : ndarray, shape (d, m)
        Embeddings.
    support : pair of int
        The positions (a, b).
    attention : AttentionMap
        The map.
    """

    V: Array
    support: tuple[int, int]
    attention: AttentionMap

    def value(self, queries: Array) -> tuple[float, Array]:
        """Return 1 - M^2/Q and its gradient by both queries, stacked."""
        a, b = self.support
        scores = [self.V @ query for query in np.split(queries, 2)]
        g, t = (self.attention.weights(each) for each in scores)
        M, overlap = g[a] * t[b] + g[b] * t[a], g @ t
        Q = (g @ g) * (t @ t) + 2 * overlap**2 - 2 * (g * g) @ (t * t)
        if not Q > 0:
            return 1.0, np.zeros_like(queries)
        slopes = []
        for score, head, other in zip(scores, (g, t), (t, g), strict=True):
            of_Q = 2 * head * (other @ other) + 4 * overlap * other - 4 * head * other**2
            of_M = np.zeros_like(head)
            of_M[[a, b]] = other[[b, a]]
            along = M / Q * (M / Q * of_Q - 2 * of_M)
            slopes.append(self.V.T @ self.attention.pull_back(score, head, along))
        return 1 - M * M / Q, np.concatenate(slopes)


def least_loss(problem: Problem, rng: np.random.Generator) -> float:
    """Return the least loss that a few starts find."""
    m = problem.V.shape[1]
    best = 1.0
    for _ in range(STARTS):
        start = rng.standard_normal(2 * m) * 10 ** rng.uniform(-1, 1)
        found = minimize(problem.value, start, jac=True, method="L-BFGS-B")
        best = min(best, float(found.fun))
    return best


def row(m: int) -> dict[str, object]:
    """Return what is known at one m."""
    V = draw_instance(Streams(0, f"figure/{D}/{m}").trial(0), D, m).V
    floor, reach = concave_floor(V), softmax_reach(V, tolerance=TOLERANCE)
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(m,)))
    supports = [tuple(map(int, rng.permutation(D)[:2])) for _ in range(SUPPORTS)]
    found = {
        name: [least_loss(Problem(V, (a, b), find_map(name)), rng) for a, b in supports]
        for name in MAPS
    }
    mean = f"{float(form_space(V).mean_loss):.6f}" if m <= MOST_EXACT else ""
    return {
        "d": D,
        "m": m,
        "floor": f"{float(floor.loss):.6f}",
        "floor_by_singular": f"{float(floor.loss_by_singular):.6f}",
        "linear_mean_bound": mean,
        **{f"{name}_found_mean": f"{np.mean(losses):.6f}" for name, losses in found.items()},
        **{f"{name}_found_least": f"{np.min(losses):.6f}" for name, losses in found.items()},
        "softmax_sup": "" if reach is None else f"{float(reach.sup_loss):.6f}",
    }


def main() -> None:
    """Measure, write the data and draw the figure."""
    rows = [row(m) for m in WIDTHS]
    path = Path(__file__)
    with path.with_suffix(".csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    mpl.rcParams["svg.hashsalt"] = path.stem
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")

    def draw(column: str, style: str, label: str) -> None:
        kept = [each for each in rows if each[column] != ""]
        shares, values = [each["m"] / D for each in kept], [float(each[column]) for each in kept]
        axes.plot(shares, values, style, label=label)

    draw("floor", "-", "floor, every support (certified)")
    draw("floor_by_singular", "--", "the same from the least singular value")
    draw("linear_mean_bound", ":", "linear, mean over supports (exact)")
    draw("linear_found_mean", "o", f"linear, best found, mean of {SUPPORTS} supports")
    draw("erf_found_mean", "x", f"erf, best found, mean of {SUPPORTS} supports")
    draw("softmax_sup", "s", "softmax, every support and input (certified)")
    axes.set(xscale="log", xlabel="embedding dimensions over positions, $m/d$", ylabel="loss")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
