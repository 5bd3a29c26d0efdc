"""The claims about the Transformer: they hold, they can fail, and they say what they rest on."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import numerics.transformer.descent
from numerics.population import PopulationGradient
from numerics.transformer.variants import BROKEN, EQUIVALENT
from verify.claim import Grade
from verify.claims import transformer
from verify.claims.transformer import CLAIMS
from verify.seeds import Streams

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "transformer.md"

_, VARIANTS, TRAINING = CLAIMS[0].cells("quick")
_, CONTROLS, _ = CLAIMS[1].cells("quick")


@pytest.fixture(autouse=True)
def _few_trials(monkeypatch):
    """Two instances refute what is wrong at every instance; a share of 1 lets right ones pass."""
    for name in ("_TRIALS", "_CONTROL_TRIALS"):
        monkeypatch.setattr(transformer, name, {"quick": (2, 0.95), "standard": (2, 0.95)})
    monkeypatch.setattr(transformer, "_COMPLETE_TRIALS", {"quick": 0, "standard": 1})


def evidence(cell, seed=5):
    return cell.check(Streams(seed, cell.name))


def beyond(found):
    """Return how many of the two instances failed."""
    return int(re.search(r"(\d)/2, ", found.computed).group(1))


@pytest.mark.parametrize("cell", [VARIANTS, TRAINING, CONTROLS], ids=lambda cell: cell.name)
def test_right_ones_pass(cell):
    found = evidence(cell)
    assert beyond(found) == 0
    assert found.grade is Grade.SAMPLED
    assert found.subject == "cross-check"
    assert found.cell == cell.name
    assert (found.seed, found.trials) == (5, 2)


def test_none_out_of_all_trials_is_within_the_inequality():
    """Read off the module itself, not off what the fixture made of it."""
    code = (
        "from verify.claims.transformer import _CONTROL_TRIALS, _TRIALS\n"
        "from verify.evidence.sampling import Proportion, bonferroni_level\n"
        "for table, cells in ((_TRIALS, 2), (_CONTROL_TRIALS, 1)):\n"
        "    for trials, share in table.values():\n"
        "        upper = Proportion(0, trials, bonferroni_level(cells)).interval[1]\n"
        "        assert 0.7 * share < upper < share, (trials, share, upper)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_closed_form_off_by_a_billionth_is_seen(monkeypatch):
    right = numerics.transformer.descent.gradient

    def wrong(*at):
        found = right(*at)
        return PopulationGradient(found.loss, (1 + 1e-9) * found.theta, found.theta_tilde)

    monkeypatch.setattr(numerics.transformer.descent, "gradient", wrong)
    assert beyond(evidence(VARIANTS)) == 2
    assert beyond(evidence(TRAINING)) == 2


@pytest.mark.parametrize("factor", [1 + 1e-9, np.nan])
def test_a_wrong_derivative_of_the_layer_is_seen(monkeypatch, factor):
    def wrong(right):
        def differentiate(*given, **options):
            gradient = right(*given, **options)

            def mutated(parameters):
                value, slopes = gradient(parameters)
                return value, {name: factor * slope for name, slope in slopes.items()}

            return mutated

        return differentiate

    monkeypatch.setattr(transformer, "jax_gradient", wrong(transformer.jax_gradient))
    monkeypatch.setattr(
        transformer, "complex_step_gradient", wrong(transformer.complex_step_gradient)
    )
    assert beyond(evidence(TRAINING)) == 2


def test_an_unmasked_layer_is_seen(monkeypatch):
    right = transformer.Architecture
    monkeypatch.setattr(
        transformer, "Architecture", lambda **options: right(masked=False, **options)
    )
    assert beyond(evidence(TRAINING)) == 2


LIBRARY = "those of the library layer"


def test_all_gradients_and_the_library_layer_are_compared(monkeypatch):
    architecture = transformer.Architecture(scale=0.5)

    def differences():
        rng = Streams(5).trial(0)
        return transformer._differences(rng, architecture, complete=True)

    found = differences()
    assert set(found) == {"six steps", "loss and gradients", LIBRARY}
    assert all(error <= transformer._BOUNDS[what] for what, error in found.items())
    assert all(bound <= 1e-12 for bound in transformer._BOUNDS.values())
    with monkeypatch.context() as without:
        without.setattr(transformer, "has_library_attention", lambda: False)
        assert set(differences()) == {"six steps", "loss and gradients"}
    right = transformer.complex_step_gradient

    def wrong(*given, by, loss, slope):
        gradient = right(*given, by=by)

        def mutated(parameters):
            value, slopes = gradient(parameters)
            return value + loss, {**slopes, "W_V": slopes["W_V"] + slope}

        return mutated

    for off in ({"loss": 2e-9, "slope": 0.0}, {"loss": 0.0, "slope": 2e-9}):
        monkeypatch.setattr(transformer, "complex_step_gradient", partial(wrong, **off))
        seen = differences()
        for what in ("loss and gradients", LIBRARY):
            assert seen[what] == pytest.approx(2e-9, rel=1e-5)


def test_a_layer_of_equinox_that_is_off_is_seen(monkeypatch):
    """In training and beside complex steps, even where the layer written out is right."""
    import equinox

    layer = equinox.nn.MultiheadAttention
    right = layer.__call__
    monkeypatch.setattr(
        layer, "__call__", lambda *given, **options: (1 + 1e-9) * right(*given, **options)
    )
    architecture = transformer.Architecture(scale=0.5)
    found = transformer._differences(Streams(5).trial(0), architecture, complete=True)
    assert found["loss and gradients"] <= transformer._BOUNDS["loss and gradients"]
    for what in ("six steps", LIBRARY):
        assert found[what] > 100 * transformer._BOUNDS[what]


@pytest.mark.parametrize("what", ["six steps", "loss and gradients", LIBRARY])
@pytest.mark.parametrize("error", [1.01, np.nan])
def test_every_difference_has_a_bound(monkeypatch, what, error):
    made = dict.fromkeys(transformer._BOUNDS, 0.0) | {what: error * transformer._BOUNDS[what]}
    monkeypatch.setattr(transformer, "_differences", lambda *_, **__: made)
    assert beyond(evidence(TRAINING)) == 2
    made[what] = 0.99 * transformer._BOUNDS[what]
    assert beyond(evidence(TRAINING)) == 0


def test_a_control_that_does_not_differ_is_a_finding(monkeypatch):
    same = replace(EQUIVALENT[0], since=1)
    monkeypatch.setattr(transformer, "BROKEN", (*BROKEN[:2], same))
    found = evidence(CONTROLS)
    assert beyond(found) == 2
    assert "as stated" in found.computed


def test_a_control_that_differs_too_early_is_a_finding(monkeypatch):
    early = next(each for each in BROKEN if each.name == "layer norm")
    monkeypatch.setattr(transformer, "BROKEN", (replace(early, since=2),))
    assert beyond(evidence(CONTROLS)) == 2


def test_a_variant_that_is_not_equivalent_is_seen(monkeypatch):
    monkeypatch.setattr(transformer, "EQUIVALENT", BROKEN[:3])
    assert beyond(evidence(VARIANTS)) == 2


def test_an_error_that_is_not_a_number_is_one(monkeypatch):
    monkeypatch.setattr(transformer, "_variant_error", lambda _: np.nan)
    assert beyond(evidence(VARIANTS)) == 2


def test_without_jax_the_row_says_what_it_rests_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    (training,) = (each for each in CLAIMS[0].cells("standard") if each.name == TRAINING.name)
    found = evidence(training)
    assert beyond(found) == 0
    assert found.method == "complex steps alone, beside the closed form"
    assert found.reason == (
        "JAX is not installed, so this rests on complex-step differentiation;"
        " pip install 'xorverify[rivals]'"
    )
    assert "loss and gradients" not in found.computed


def test_without_equinox_the_row_says_what_it_rests_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "equinox", None)
    found = evidence(TRAINING)
    assert beyond(found) == 0
    assert found.method.startswith("JAX's derivative of the layer written out, in binary64")
    assert found.reason == (
        "Equinox is not installed, so this rests on no library's layer, but on ours;"
        " pip install 'xorverify[rivals]'"
    )


def test_with_equinox_the_row_rests_on_the_library_layer():
    found = evidence(TRAINING)
    assert found.method.startswith("JAX's derivative of Equinox's attention layer, in binary64")
    assert found.reason is None


def test_jax_is_not_imported_until_it_is_used():
    code = (
        "import sys, verify.claims.transformer;"
        "sys.exit(bool({'jax', 'equinox'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_of_the_page_run(number):
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 2
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", examples[number]],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert float(result.stdout) < 1e-13


def test_the_table_of_the_page_is_what_its_command_wrote():
    with (ROOT / "docs" / "figures" / "transformer_controls.csv").open(newline="") as stream:
        rows = {row["variant"]: row for row in csv.DictReader(stream)}
    page = PAGE.read_text().replace(r"\|", "|")
    assert list(rows) == [each.name for each in (*BROKEN, *EQUIVALENT)]
    for variant in BROKEN:
        row = rows[variant.name]
        shown = [row[f"queries_{step}"] for step in (1, 2, 3)] + [row["predictions"]]
        assert f"| {variant.name} | {' | '.join(shown)} |" in page
    for variant in EQUIVALENT:
        assert set(list(rows[variant.name].values())[2:]) == {"< 1e-12"}
