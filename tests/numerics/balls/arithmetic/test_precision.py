from __future__ import annotations

import threading

import flint
import pytest
from flint import arb

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.precision import precisions, working_precision


@pytest.fixture(autouse=True)
def callers_precision():
    before = flint.ctx.prec
    flint.ctx.prec = 77
    yield
    flint.ctx.prec = before


class StoppedError(Exception):
    pass


def test_precision_is_local_and_nests():
    with working_precision(200):
        assert (arb(1) / 3).rel_accuracy_bits() > 190
        with working_precision(30):
            assert (arb(1) / 3).rel_accuracy_bits() < 40
        assert flint.ctx.prec == 200
    assert flint.ctx.prec == 77


def test_an_exception_leaves_the_callers_precision():
    def fail():
        raise StoppedError

    with pytest.raises(StoppedError), working_precision(500):
        fail()
    assert flint.ctx.prec == 77


def test_threads_take_turns_and_none_sees_anothers_precision():
    seen = []
    inside, checked = threading.Event(), threading.Event()

    def other():
        inside.wait()
        with working_precision(300):
            seen.append((flint.ctx.prec, checked.is_set()))

    worker = threading.Thread(target=other)
    worker.start()
    with working_precision(150):
        inside.set()
        # Long enough for the other thread to get in, if anything let it.
        worker.join(timeout=0.2)
        assert flint.ctx.prec == 150
        checked.set()
    worker.join()
    assert seen == [(300, True)]
    assert flint.ctx.prec == 77


@pytest.mark.parametrize("bits", [1, 0, -5, 1.5, True])
def test_a_bad_precision_is_refused_and_changes_nothing(bits):
    with pytest.raises(InvalidArgumentError, match="bits="), working_precision(bits):
        pass
    assert flint.ctx.prec == 77


def test_precisions_double_up_to_the_limit():
    assert list(precisions(128, 1000)) == [128, 256, 512, 1000]
    assert list(precisions(128, 128)) == [128]
