"""``corollary3 --bound``: the contract, the sides to which it rounds, and what it refuses."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from numerics.balls.bounds import explicit_corollary3 as engine
from verify.cli import main

D, M = 10**9, 1024
PROVED = ("--d", "1e9", "--m", "1024")


@pytest.fixture(scope="module")
def proved() -> engine.ExplicitCorollary3:
    return engine.explicit_corollary3(D, M)


@pytest.fixture
def known(monkeypatch, proved) -> engine.ExplicitCorollary3:
    """Take the answer that is known already."""
    monkeypatch.setattr(engine, "explicit_corollary3", lambda *_, **__: proved)
    return proved


def run(capsys, *argv: str) -> tuple[int, str, str]:
    code = main(["corollary3", "--bound", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys, *argv: str, code: int = 0) -> dict:
    found, out, err = run(capsys, *argv, "--json")
    assert found == code
    assert err == ""
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_document_has_the_keys_of_the_contract(capsys, known) -> None:
    found = document(capsys, *PROVED)
    assert found["verdict"] == "certified"
    assert (found["d"], found["m"], found["failure"]) == (D, M, "0.25")
    assert known.n_sufficient is not None
    assert Decimal(found["n_sufficient"]) == known.n_sufficient
    assert Decimal(found["n_hoeffding"]) == known.n_hoeffding
    assert 0.2 < Decimal(found["failure_upper"]) <= Decimal("0.25")
    assert "reason" not in found
    words = " ".join(found["assumptions"])
    for needed in ("d >= 3", "m >= 6", "fixed before V", "theta~^0 = -theta^0", "every T > 0"):
        assert needed in words


def test_the_number_is_of_the_order_that_is_proved(known) -> None:
    assert known.n_sufficient is not None
    assert known.n_hoeffding is not None
    assert 2.5 < known.n_sufficient / (D**2 + D * M) < 6
    assert 10 < known.n_hoeffding / D**4 < 40


def test_events_are_named_with_their_heads_and_add_up(capsys, known) -> None:
    found = document(capsys, *PROVED)
    events = found["events"]
    assert len({event["name"] for event in events}) == len(events) == len(known.events)
    for head in ("theta", "theta_tilde"):
        assert sum(event["head"] == head for event in events) == 9
        assert sum(event["name"].endswith(f"({head})") for event in events) == 9
    total = sum(Decimal(event["probability_upper"]) for event in events)
    assert float(total) == pytest.approx(float(found["failure_upper"]), rel=1e-14)
    costs = {event["name"]: Decimal(event["probability_upper"]) for event in events}
    assert costs[found["costliest"]] == max(costs.values())
    assert found["costliest"].startswith("near margin")


@pytest.mark.parametrize("digits", [1, 3, 17])
def test_numbers_are_rounded_up(capsys, monkeypatch, known, digits: int) -> None:
    monkeypatch.setattr("verify.commands.bound_events._DIGITS", digits)
    found = document(capsys, *PROVED)
    unit = Fraction(1, 10 ** (digits - 1))
    for key in ("n_sufficient", "n_hoeffding", "failure_upper"):
        value = getattr(known, key)
        assert value <= Fraction(found[key]) <= value * (1 + unit)


def test_a_smaller_failure_takes_more_samples(capsys) -> None:
    found = document(capsys, *PROVED, "--failure", "1e-1")
    assert found["failure"] == "1e-1"
    assert Decimal(found["failure_upper"]) <= Decimal("0.1")
    # To leading order n is (d^2 + d m)/(2 pi failure^2).
    ratio = Fraction(found["n_sufficient"]) / (D**2 + D * M)
    assert 15.9 < ratio < 25


@pytest.mark.parametrize(
    ("d", "m", "words"),
    [
        ("2", "100", "d=2: the theorem asks for d >= 3"),
        ("100", "5", "m=5: the theorem asks for m >= 6"),
    ],
)
def test_where_nothing_is_proved_the_event_is_named(capsys, d: str, m: str, words: str) -> None:
    found = document(capsys, "--d", d, "--m", m, code=3)
    assert found["verdict"] == "vacuous"
    assert found["n_sufficient"] is None
    assert found["n_hoeffding"] is None
    assert found["failure_upper"] == "1"
    assert found["reason"].startswith(found["events"][0]["name"])
    assert found["reason"].endswith(words)
    code, out, _ = run(capsys, "--d", d, "--m", m)
    assert code == 3
    assert out.startswith("vacuous")
    assert "none" in out


def test_a_sum_that_stays_too_large_is_said_to_be(capsys, monkeypatch, proved) -> None:
    vacuous = replace(proved, n_sufficient=None, n_hoeffding=None, failure_upper=Fraction(1))
    monkeypatch.setattr(engine, "explicit_corollary3", lambda *_, **__: vacuous)
    found = document(capsys, *PROVED, "--failure", "0.001", code=3)
    assert "add up to more than 0.001" in found["reason"]
    assert found["costliest"] in found["reason"]


def test_the_range_may_give_nothing(capsys, monkeypatch, proved) -> None:
    alone = replace(proved, n_hoeffding=None)
    monkeypatch.setattr(engine, "explicit_corollary3", lambda *_, **__: alone)
    assert document(capsys, *PROVED)["n_hoeffding"] is None
    code, out, _ = run(capsys, *PROVED)
    assert code == 0
    assert "n_hoeffding    none" in out


def test_the_table_puts_the_costliest_event_first(capsys, known) -> None:
    code, out, _ = run(capsys, *PROVED, "--quiet")
    assert code == 0
    lines = out.splitlines()
    first = next(i for i, line in enumerate(lines) if "costliest first" in line)
    table = lines[first + 1 : first + 1 + len(known.events)]
    costs = [Decimal(line.split()[0]) for line in table]
    assert costs == sorted(costs, reverse=True)
    assert sum(float(line.split()[1]) for line in table) == pytest.approx(100, abs=1.2)
    assert "(d^2 + d m)" in out
    assert "d^4" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--n 5", "n=5: only without --bound"),
        ("--trials 5", "trials=5: only without --bound"),
        ("--eta-scale 5", "eta_scale=5: only without --bound"),
        ("--tolerance 0.01", "tolerance=0.01: only without --bound"),
        ("--method exact", "method=exact: only without --bound"),
        ("--seed 0", "seed=0: only without --bound"),
        ("--jobs 2", "jobs=2: only without --bound"),
        ("--failure 0", "failure=0: must be positive"),
        ("--failure 1", "failure=1: must be below 1"),
        ("--failure nan", "failure=nan: must be a finite decimal number"),
        ("--d 1e16", "d=1e16: must be in 2..1000000000000000"),
        ("--d 1", "d=1: must be in 2..1000000000000000"),
        ("--m 0", "m=0: must be an integer >= 1"),
    ],
)
def test_what_is_refused(capsys, options: str, message: str) -> None:
    code, out, err = run(capsys, "--d", "100", "--m", "50", *options.split(), "--json")
    assert code == 2
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
