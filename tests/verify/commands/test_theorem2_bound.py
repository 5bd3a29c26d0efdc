"""``theorem2 --bound``: the contract, the sides to which it rounds, and what it refuses."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from numerics.balls.arithmetic.exact import upper_end
from numerics.balls.bounds import explicit_theorem2 as engine
from verify.cli import main

PROVED = ("--d", "1e4", "--m", "128", "--eta-scale", "5e3")


def run(capsys, *argv: str) -> tuple[int, str, str]:
    code = main(["theorem2", "--bound", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys, *argv: str, code: int = 0) -> dict:
    found, out, err = run(capsys, *argv, "--json")
    assert found == code
    assert err == ""
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_document_has_the_keys_of_the_contract(capsys) -> None:
    found = document(capsys, *PROVED)
    assert found["verdict"] == "certified"
    assert (found["d"], found["m"]) == (10_000, 128)
    assert found["eta_scale"] == "5e3"
    assert found["tolerance"] == "0.01"
    assert Decimal(found["eta_min"]) == 5 * 10**11
    assert 0 < Decimal(found["failure_lower"]) < Decimal(found["failure_limit"])
    assert Decimal(found["failure_limit"]) <= Decimal(found["failure_upper"]) < 1
    assert found["leading_order"] == pytest.approx(2 / math.pi * math.atan(0.01))
    words = " ".join(found["assumptions"])
    for needed in ("d >= 3", "m >= 6", "fixed before V", "theta~^0 = -theta^0", "1/2", "<= 0.01"):
        assert needed in words


def test_every_event_is_named_with_its_head_and_all_of_them_add_up(capsys) -> None:
    found = document(capsys, *PROVED)
    events = found["events"]
    assert len({event["name"] for event in events}) == len(events)
    for head in ("theta", "theta_tilde"):
        assert sum(event["name"].endswith(f"({head})") for event in events) == 5
        assert sum(event["head"] == head for event in events) == 5
    assert sum(event["head"] is None for event in events) == 5
    total = sum(Decimal(event["probability_upper"]) for event in events)
    assert float(total) == pytest.approx(float(found["failure_upper"]), rel=1e-14)


def test_without_a_scale_the_failure_is_at_most_half_as_much_again(capsys) -> None:
    found = document(capsys, "--d", "1000", "--m", "256")
    upper, limit = Fraction(found["failure_upper"]), Fraction(found["failure_limit"])
    assert limit < upper <= Fraction(3, 2) * limit * (1 + Fraction(1, 10**15))
    assert Fraction(found["eta_min"]) == Fraction(found["eta_scale"]) * 10**6
    # A fiftieth less is not enough.
    smaller = str(float(found["eta_scale"]) * 0.98)
    less = document(capsys, "--d", "1000", "--m", "256", "--eta-scale", smaller)
    assert Fraction(less["failure_upper"]) > Fraction(3, 2) * limit


@pytest.mark.parametrize("digits", [1, 3, 17])
def test_bounds_are_rounded_to_the_safe_side(capsys, monkeypatch, digits: int) -> None:
    exact = engine.explicit_theorem2(10_000, 128, scale=Fraction(5000))
    monkeypatch.setattr("verify.commands.bound_events._DIGITS", digits)
    found = document(capsys, *PROVED)
    unit = Fraction(1, 10 ** (digits - 1))
    for key, value in (
        ("failure_upper", exact.failure_upper),
        ("failure_limit", exact.failure_limit),
    ):
        assert value <= Fraction(found[key]) <= value * (1 + unit)
    lower = exact.failure_lower
    assert lower * (1 - unit) <= Fraction(found["failure_lower"]) <= lower
    for event, shown in zip(exact.events, found["events"], strict=True):
        end = upper_end(event.probability)
        assert end is not None
        assert end <= Fraction(shown["probability_upper"]) <= end * (1 + unit)


def test_a_scale_with_more_digits_than_are_shown_gives_a_step_size_rounded_up(capsys) -> None:
    scale = "5000.00000000000000000000000000000001"
    found = document(capsys, "--d", "1e4", "--m", "128", "--eta-scale", scale)
    assert found["eta_scale"] == scale
    exact = Fraction(scale) * 10**8
    assert exact < Fraction(found["eta_min"]) <= exact * (1 + Fraction(1, 10**16))


@pytest.mark.parametrize(
    ("d", "m", "event"),
    [
        ("2", "100", "ambient alignment"),
        ("2", "1", "ambient alignment"),
        ("100", "1", "near margin"),
        ("100", "2", "near margin"),
        ("1e15", "5", "near margin"),
        ("3", "6", "sum of scores"),
        ("1e6", "6", "near margin"),
    ],
)
def test_where_nothing_is_proved_the_event_is_named(capsys, d: str, m: str, event: str) -> None:
    found = document(capsys, "--d", d, "--m", m, code=3)
    assert found["verdict"] == "vacuous"
    assert found["failure_upper"] == found["failure_limit"] == "1"
    assert found["failure_lower"] == "0"
    assert found["eta_min"] is None
    assert found["eta_scale"] is None
    assert found["reason"]
    assert any(each["name"].startswith(event) for each in found["events"])
    assert any(Decimal(each["probability_upper"]) == 1 for each in found["events"]) or (
        sum(Decimal(each["probability_upper"]) for each in found["events"]) >= 1
    )
    code, out, _ = run(capsys, "--d", d, "--m", m)
    assert code == 3
    assert out.startswith("vacuous")


def test_a_step_too_small_is_vacuous_and_the_limit_still_stands(capsys) -> None:
    found = document(capsys, "--d", "1000", "--m", "256", "--eta-scale", "1e-3", code=3)
    assert found["verdict"] == "vacuous"
    assert Decimal(found["eta_min"]) == 1000
    assert Decimal(found["failure_limit"]) < Decimal("0.03")
    assert "small lean" in found["reason"] or "ambient" in found["reason"]


def test_all_supports_at_once_and_the_share_of_them(capsys) -> None:
    found = document(capsys, *PROVED)
    uniform = found["uniform_over_supports"]
    assert uniform["verdict"] == "vacuous"
    assert uniform["failure_upper"] == "1"
    assert "delta" in uniform["share_of_failing_supports"]
    expected = Fraction(found["failure_lower"]) * math.comb(10_000, 2)
    shown = Fraction(uniform["expected_failures_lower"])
    assert float(shown) == pytest.approx(float(expected), rel=1e-14)


def test_a_union_that_says_something_would_be_shown(capsys, monkeypatch) -> None:
    rare = replace(engine.explicit_theorem2(3, 6), failure_upper=Fraction(1, 1000))
    monkeypatch.setattr(engine, "explicit_theorem2", lambda *_, **__: rare)
    uniform = document(capsys, "--d", "3", "--m", "6")["uniform_over_supports"]
    assert uniform["verdict"] == "certified"
    assert uniform["failure_upper"] == "0.003"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--trials 5", "trials=5: only without --bound"),
        ("--law sphere", "law=sphere: only without --bound"),
        ("--seed 0", "seed=0: only without --bound"),
        ("--jobs 2", "jobs=2: only without --bound"),
        ("--eta-scale 0", "eta_scale=0: must be positive"),
        ("--eta-scale -1e-3", "eta_scale=-1e-3: must be positive"),
        ("--eta-scale inf", "eta_scale=inf: must be a finite decimal number"),
        ("--tolerance 0", "tolerance=0: must be positive"),
        ("--tolerance nan", "tolerance=nan: must be a finite decimal number"),
        ("--d 1000000000000001", "d=1000000000000001: must be in 2..1000000000000000"),
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


def test_quiet_is_accepted(capsys) -> None:
    assert run(capsys, *PROVED, "--quiet")[0] == 0


def test_the_table_puts_the_costliest_event_first(capsys) -> None:
    code, out, _ = run(capsys, *PROVED)
    assert code == 0
    lines = out.splitlines()
    first = next(i for i, line in enumerate(lines) if "costliest first" in line)
    costs = [Decimal(line.split()[0]) for line in lines[first + 1 : first + 16]]
    assert costs == sorted(costs, reverse=True)
    shares = [float(line.split()[1]) for line in lines[first + 1 : first + 16]]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert lines[first + 1].split("%")[1].strip() in lines[first]
    assert "arctan" in out


@pytest.mark.parametrize("tolerance", ["1e-200", "1e-9999", "1", "4", "1e9999"])
def test_no_tolerance_is_too_small_or_too_large(capsys, tolerance: str) -> None:
    found = document(capsys, "--d", "1000", "--m", "256", "--tolerance", tolerance)
    assert found["verdict"] == "certified"
    assert found["tolerance"] == tolerance


@pytest.mark.parametrize(("d", "m"), [("1e15", "100"), ("1e15", "104")])
def test_a_limit_near_one_still_gets_a_step_size(capsys, d: str, m: str) -> None:
    found = document(capsys, "--d", d, "--m", m)
    assert Decimal("0.6") < Decimal(found["failure_limit"]) < 1
    assert Decimal(found["failure_limit"]) <= Decimal(found["failure_upper"]) < 1


def test_sympy_is_not_loaded() -> None:
    code = (
        "import sys; from verify.cli import main;"
        "code = main(['theorem2', '--bound', '--d', '1e15', '--m', '512', '--json']);"
        "sys.exit(code or 'sympy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
