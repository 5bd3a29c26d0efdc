"""The claims on feed-forward nets and fixed embeddings: shown something wrong, each goes red."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from numerics.baselines import dense_nets, exact_features, fixed_features, juntas, trained_nets
from verify.claim import Evidence, Grade, conclude
from verify.claims import CLAIMS, feed_forward, fixed_embedding
from verify.seeds import Streams


def evidence(claim_id: str, name: str, *, profile: str = "quick", seed: int = 0) -> Evidence:
    cell = next(each for each in CLAIMS[claim_id].cells(profile) if each.name.startswith(name))
    return cell.check(Streams(seed, f"{claim_id}/{cell.name}"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda d, r, k=2: 1 - Fraction(r, d) ** k,
        lambda d, r, k=2: juntas.average_best_loss(d, r, k) / 2,
        lambda d, r, k=2: juntas.average_best_loss(d, max(r - 1, 0), k),
    ],
)
def test_a_wrong_average_is_refuted(monkeypatch, wrong) -> None:
    monkeypatch.setattr(feed_forward, "average_best_loss", wrong)
    found = evidence("feed-forward-floor", "all 2^d inputs")
    assert found.grade is Grade.REFUTED
    assert found.reason.startswith("witness: d=")


@pytest.mark.parametrize("off", [-1, 1])
def test_another_number_of_positions_is_refuted(monkeypatch, off: int) -> None:
    right = juntas.least_positions
    monkeypatch.setattr(feed_forward, "least_positions", lambda d, loss: right(d, loss) + off)
    assert evidence("feed-forward-floor", "positions").grade is Grade.REFUTED


def test_positions_below_the_linear_bound_are_refuted(monkeypatch) -> None:
    monkeypatch.setattr(feed_forward, "_SIZES", (64,))
    monkeypatch.setattr(feed_forward, "least_positions", lambda _d, _loss: 30)
    monkeypatch.setattr(
        feed_forward, "average_best_loss", lambda _d, r: Fraction(0) if r >= 30 else Fraction(1)
    )
    assert evidence("feed-forward-floor", "positions").grade is Grade.REFUTED


def test_the_counts_are_those_of_the_text() -> None:
    found = evidence("feed-forward-floor", "positions")
    assert found.grade is Grade.EXACT
    assert found.computed == "d=64: r = 63; d=1024: r = 999; d=1000000: r = 974680"


@pytest.mark.parametrize("upper", [np.nan, np.inf, 0.011])
def test_nets_without_a_proof_leave_the_claim_open(monkeypatch, upper: float) -> None:
    monkeypatch.setattr(dense_nets, "loss_bracket", lambda *_: (0.0, upper))
    monkeypatch.setattr(
        feed_forward, "_SETTINGS", {"quick": (feed_forward._Setting(6, 2, 12, 0.1),)}
    )
    found = evidence("feed-forward-trained", "d=6")
    assert found.grade is Grade.UNDECIDED
    assert found.reason
    assert found.computed.startswith("12/12")


def test_nets_that_are_not_trained_leave_the_claim_open(monkeypatch) -> None:
    right = trained_nets._Objective.random_start
    monkeypatch.setattr(trained_nets, "_ITERATIONS", 1)
    monkeypatch.setattr(
        trained_nets._Objective, "random_start", lambda self, rng: 0.1 * right(self, rng)
    )
    monkeypatch.setattr(
        feed_forward, "_SETTINGS", {"quick": (feed_forward._Setting(6, 2, 12, 0.1),)}
    )
    assert evidence("feed-forward-trained", "d=6").grade is Grade.UNDECIDED


def small_library_cell(monkeypatch) -> Evidence:
    small = (feed_forward._Setting(16, 4, 20, 0.1),)
    monkeypatch.setattr(feed_forward, "_LIBRARY_SETTINGS", {"standard": small})
    return evidence("feed-forward-trained", "scikit-learn", profile="standard")


def test_scikit_learn_trains_nets_of_its_own(monkeypatch) -> None:
    calls = []
    right = trained_nets.train_with_scikit_learn

    def counted(*given, **options):
        calls.append(options)
        return right(*given, **options)

    monkeypatch.setattr(trained_nets, "train_with_scikit_learn", counted)
    found = small_library_cell(monkeypatch)
    assert len(calls) == 20
    assert (found.grade, found.subject) == (Grade.SAMPLED, "cross-check")
    assert "scikit-learn" in found.method


def test_without_scikit_learn_the_row_says_so_and_is_no_pass(monkeypatch) -> None:
    monkeypatch.setattr(trained_nets, "has_scikit_learn", lambda: False)
    missing = small_library_cell(monkeypatch)
    assert (missing.grade, missing.subject) == (Grade.VACUOUS, "cross-check")
    assert "pip install 'xorverify[rivals]'" in missing.reason
    assert conclude([missing])[0] is Grade.VACUOUS
    trained = replace(missing, subject="statement", grade=Grade.SAMPLED)
    assert conclude([missing, trained]) == (Grade.SAMPLED, trained)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        # Losses that are too small, and a rank that is: the first miss the bound.
        (lambda fit: replace(fit, losses=tuple(loss / 2 for loss in fit.losses)), "below: ['ReLU'"),
        (lambda fit: replace(fit, rank=fit.rank + 30), "below: ['ReLU'"),
        (
            lambda fit: replace(fit, losses=tuple((9 * loss + 1) / 10 for loss in fit.losses)),
            "not attained: ['parities', 'products of 2 forms']",
        ),
    ],
)
def test_wrong_projections_are_refuted(monkeypatch, wrong, reason: str) -> None:
    right = exact_features.exact_best_losses
    monkeypatch.setattr(
        exact_features, "exact_best_losses", lambda table, k: wrong(right(table, k))
    )
    found = evidence("fixed-embedding-floor", "d=10, k=2")
    assert found.grade is Grade.REFUTED
    assert reason in found.reason


def test_parities_of_another_degree_do_not_attain_the_bound(monkeypatch) -> None:
    right = fixed_features.parity_features
    monkeypatch.setattr(
        fixed_features, "parity_features", lambda rng, d, D, *, k: right(rng, d, D, k=k + 1)
    )
    found = evidence("fixed-embedding-floor", "d=10, k=3")
    assert found.grade is Grade.REFUTED
    assert "not attained: ['parities']" in found.reason


@pytest.mark.parametrize(
    "wrong",
    [
        lambda fit: replace(fit, losses=fit.losses + 1e-9),
        lambda fit: replace(fit, rank=fit.rank + 1),
        lambda fit: replace(fit, losses=fit.losses * np.nan),
    ],
)
def test_a_wrong_kernel_turns_the_cross_check_red(monkeypatch, wrong) -> None:
    right = fixed_features.best_losses
    monkeypatch.setattr(fixed_features, "best_losses", lambda table, k: wrong(right(table, k)))
    found = evidence("fixed-embedding-floor", "binary64", profile="standard")
    assert found.subject == "cross-check"
    assert found.grade is Grade.REFUTED


def test_rounded_features_have_few_digits() -> None:
    drawn = fixed_embedding._embeddings(np.random.default_rng(0), 3, 5)
    for table in drawn.values():
        assert table.shape == (1024, 5)
        assert (table * 64 == np.round(table * 64)).all()
