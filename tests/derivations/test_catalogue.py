import subprocess
import sys

import pytest

from derivations.catalogue import TITLES, load, names
from derivations.proof.ledger import Status


def test_names_and_titles():
    assert names() == tuple(TITLES)
    assert len(set(TITLES.values())) == len(TITLES)


def test_an_unknown_name():
    with pytest.raises(KeyError):
        load("foo")


@pytest.mark.parametrize("name", names())
def test_every_step_holds(name):
    derivation = load(name)
    assert (derivation.name, derivation.title) == (name, TITLES[name])
    results = derivation.check()
    assert len(results) == len(derivation.steps) > 0
    assert [result.detail for result in results if result.failed] == []
    assert any(result.status is Status.PROVED for result in results)
    assert len({formula.name for formula in derivation.formulas}) == len(derivation.formulas)


def test_names_come_without_sympy():
    code = (
        "import sys, derivations.catalogue, derivations.command; sys.exit('sympy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
