import pytest

from benchmarks import timing
from benchmarks.timing import Figure, in_words, interleaved


def test_contenders_take_turns_after_a_warm_up_of_each():
    order = []
    contenders = {name: lambda name=name: order.append(name) for name in "AB"}
    figures = interleaved(contenders, rounds=2)
    assert "".join(order) == "AB" + "ABAB"
    assert [len(figures[name].seconds) for name in "AB"] == [2, 2]
    interleaved(contenders, rounds=1, warm=False)
    assert "".join(order) == "AB" + "ABAB" + "AB"


@pytest.mark.parametrize(("threads", "paused"), [("1", False), ("2", True)])
def test_with_more_cores_than_one_each_waits_for_the_threads_of_the_one_before(
    monkeypatch, threads, paused
):
    slept = []
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(timing.time, "sleep", slept.append)
    interleaved({"A": int, "B": int}, rounds=3)
    assert len(slept) == 6
    assert all((pause > 0) is paused for pause in slept)


def test_ratios_are_formed_round_by_round():
    ratio = Figure((2.0, 9.0, 4.0)).ratio(Figure((1.0, 3.0, 4.0)))
    assert ratio.factors == (2.0, 3.0, 1.0)
    assert str(ratio) == "2 (1 to 3)"
    assert str(Figure((2.0, 9.0, 4.0))) == "4 s (2 s to 9 s, n = 3)"


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.5e-5, "35 us"), (0.0123, "12.3 ms"), (1.0, "1 s"), (61.26, "61.3 s")]
)
def test_times_have_three_digits_and_a_unit(seconds, words):
    assert in_words(seconds) == words
