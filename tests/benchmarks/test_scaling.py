import csv

import numpy as np
import pytest

from benchmarks import scaling
from benchmarks.scaling import Growth, fitted_exponent
from benchmarks.scaling_figure import write

SIZES = tuple(float(1 << k) for k in range(10, 16))


def test_a_power_is_found_exactly():
    k, lower, upper = fitted_exponent(SIZES, tuple(3e-9 * size**1.25 for size in SIZES))
    assert k == pytest.approx(1.25, rel=1e-12)
    assert upper - lower < 1e-6  # the root of what rounding leaves of the squares


def test_a_fixed_cost_lowers_the_exponent_and_widens_the_interval():
    k, lower, upper = fitted_exponent(SIZES, tuple(3e-9 * (size + 1000) for size in SIZES))
    assert k < 0.95
    assert upper - lower > 0.05


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        noise = np.exp(0.05 * rng.standard_normal(len(SIZES)))
        _, lower, upper = fitted_exponent(SIZES, tuple(np.array(SIZES) * noise))
        hits += lower <= 1 <= upper
    # 950 are expected, with a standard deviation of 7.
    assert 920 <= hits <= 980


@pytest.mark.parametrize("ladder", scaling._LADDERS, ids=lambda each: each.varied)
def test_every_ladder_spans_a_decade_and_a_half_in_five_points_or_more(ladder):
    sizes = [ladder.measure(*point) for point in ladder.points]
    assert len(sizes) >= 5
    assert sizes == sorted(sizes)
    assert sizes[-1] >= 10**1.5 * sizes[0]


@pytest.mark.parametrize(
    "prepare", [scaling._gradient, scaling._certificate, scaling._samples, scaling._worst_case]
)
def test_what_is_timed_runs_at_a_small_size(prepare):
    assert prepare(16, 8)() is not None


def growth(kernel: str, varied: str) -> Growth:
    return Growth(
        f"{kernel} by {varied}",
        "1.000",
        kernel=kernel,
        size="d log d",
        varied=varied,
        sizes=SIZES,
        seconds=tuple(1e-9 * size for size in SIZES),
    )


def test_the_figure_and_its_data_are_the_same_bytes_every_time(tmp_path):
    growths = [growth("one", "d"), growth("one", "m"), growth("other", "d")]
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        write(growths, folder)
        found.append(
            [(folder / f"benchmarks_scaling.{kind}").read_bytes() for kind in ("csv", "svg")]
        )
    assert found[0] == found[1]
    rows = list(csv.DictReader(found[0][0].decode().splitlines()))
    assert len(rows) == 3 * len(SIZES)
    assert rows[0] == {
        "kernel": "one",
        "size": "d log d",
        "varied": "d",
        "value": "1024",
        "seconds": "1.024e-06",
    }
