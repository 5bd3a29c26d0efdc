from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import EmbeddingLaw, check_law, find_law, sample_embeddings
from numerics.plug_ins import load_plug_in

SOURCE = """
import numpy as np
from numerics.embeddings import EmbeddingLaw

def draw(rng, d, m):
    return rng.laplace(scale=(2 * m) ** -0.5, size=(d, m))

LAPLACE = EmbeddingLaw("entries Laplace, of variance 1/m", draw)
FRAME = EmbeddingLaw("needs room", draw, independent=True)
INTEGERS = EmbeddingLaw("integers", lambda rng, d, m: np.arange(d * m).reshape(d, m))
TURNED = EmbeddingLaw("turned", lambda rng, d, m: np.asfortranarray(draw(rng, d, m)))
SHORT = EmbeddingLaw("short", lambda rng, d, m: np.ones((d - 1, m)))
INFINITE = EmbeddingLaw("infinite", lambda rng, d, m: np.full((d, m), np.inf))
COMPLEX = EmbeddingLaw("complex", lambda rng, d, m: np.ones((d, m)) * 1j)
FAILING = EmbeddingLaw("failing", lambda rng, d, m: 1 / 0)
NOTHING = None
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch) -> str:
    """A module of a user's own in the working directory, which Python does not search yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    name = f"own_laws_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    yield name
    sys.modules.pop(name, None)


def test_a_law_of_ones_own_draws_from_the_generator(module: str) -> None:
    V = sample_embeddings(np.random.default_rng(4), 5, 3, law=f"{module}:LAPLACE")
    expected = np.random.default_rng(4).laplace(scale=6**-0.5, size=(5, 3))
    assert np.array_equal(V, expected)
    assert find_law(f"{module}:LAPLACE").title == "entries Laplace, of variance 1/m"


def test_what_it_draws_is_made_binary64_in_row_order(module: str) -> None:
    integers = sample_embeddings(np.random.default_rng(0), 3, 2, law=f"{module}:INTEGERS")
    assert integers.dtype == np.float64
    assert integers.tolist() == [[0, 1], [2, 3], [4, 5]]
    turned = sample_embeddings(np.random.default_rng(0), 3, 2, law=f"{module}:TURNED")
    assert turned.flags.c_contiguous


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("SHORT", r"drew an array of shape \(3, 2\); it must be \(4, 2\)$"),
        ("INFINITE", r"drew no embeddings: V\[0, 0\]=inf: must be finite$"),
        ("COMPLEX", r"drew no embeddings: V=array of complex128: must be real"),
        ("FAILING", r"drew no embeddings: ZeroDivisionError: division by zero$"),
        ("NOTHING", "is a NoneType; must be a numerics.embeddings.EmbeddingLaw$"),
        ("ABSENT", r"own_laws\w+ \(.*\.py\) has no ABSENT$"),
        ("FRAME", r"needs d <= m, and d = 4, m = 2$"),
        ("LAPLACE.title", "must be module:ATTRIBUTE, by their names$"),
    ],
)
def test_a_law_that_cannot_be_used_is_refused(module: str, attribute: str, message: str) -> None:
    name = f"{module}:{attribute}"
    with pytest.raises(InvalidArgumentError, match=rf"^law={name}: {message}"):
        sample_embeddings(np.random.default_rng(0), 4, 2, law=name)


def test_a_module_that_cannot_be_imported_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_law.py").write_text("raise RuntimeError('not\\ntoday')")
    (tmp_path / "leaving_law.py").write_text("raise SystemExit(3)")
    (tmp_path / "needy_law.py").write_text("import no_such_module")
    folder = f"neither installed nor in {tmp_path}"
    cases = {
        "no_such_module:LAW": f"no module no_such_module, {folder}",
        "no_such_folder.law:LAW": f"no module no_such_folder, {folder}",
        "broken_law:LAW": "importing broken_law failed: RuntimeError: not today",
        "leaving_law:LAW": "importing leaving_law failed: SystemExit: 3",
        "needy_law:LAW": "importing needy_law failed: ModuleNotFoundError: "
        "No module named 'no_such_module'",
    }
    for name, reason in cases.items():
        with pytest.raises(InvalidArgumentError) as refused:
            check_law(name, 3, 2)
        assert str(refused.value) == f"law={name}: {reason}"


@pytest.mark.parametrize("name", [":LAW", "module:", "a-b:LAW", "os; exit:LAW", "..x:LAW", "x:y:z"])
def test_other_forms_are_refused_and_nothing_is_imported(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="must be module:ATTRIBUTE"):
        load_plug_in("law", name, EmbeddingLaw)


def test_the_working_directory_hides_no_installed_module(module: str, tmp_path: Path) -> None:
    (tmp_path / "threadpoolctl.py").write_text("raise RuntimeError('the wrong one')")
    code = (
        "import os, sys; sys.path = [p for p in sys.path if p not in ('', os.getcwd())]\n"
        "from numerics.embeddings import find_law\n"
        f"find_law('{module}:LAPLACE'); import threadpoolctl"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_what_a_module_prints_is_no_result(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "talkative.py").write_text("print('hello')\nX = 5\n")
    assert load_plug_in("what", "talkative:X", int) == 5
    assert capsys.readouterr() == ("", "hello\n")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", "E: without a text"),
        ("import asyncio\nraise asyncio.CancelledError", "failed: CancelledError:"),
        ("def __getattr__(name): raise ZeroDivisionError", "has no X"),
    ],
)
def test_a_module_may_fail_in_any_way(tmp_path: Path, monkeypatch, source, message) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"failing_{abs(hash(message))}"
    (tmp_path / f"{name}.py").write_text(source)
    with pytest.raises(InvalidArgumentError) as caught:
        load_plug_in("what", f"{name}:X", int)
    assert message in caught.value.fix
