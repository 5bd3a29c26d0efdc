"""The command line computes on one thread in its own process too, whatever the user's settings."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

# At this size OpenBLAS divides the factorisation among threads, and the last bits show it.
INSTANCE = ("instance", "--d", "256", "--m", "300", "--law", "orthonormal", "--out")
COUNT = (
    "from threadpoolctl import threadpool_info;"
    "import numpy, scipy.linalg;"
    "print({pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'})"
)


def in_a_process(threads: str | None, *arguments: str) -> str:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    if threads is not None:
        environment |= dict.fromkeys(names, threads)
    ended = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout


@pytest.mark.parametrize("early", ["", "import numpy, scipy.linalg;"])
def test_libraries_that_are_loaded_and_those_to_come_use_one_thread(early: str) -> None:
    limit = "from verify.running.threads import use_one_thread; use_one_thread();"
    assert in_a_process("2", "-c", f"{early}{limit}{COUNT}") == "{1}\n"


def test_an_instance_has_the_same_bits_from_any_threads(tmp_path) -> None:
    digests = set()
    for threads in (None, "1", "2", "4"):
        path = tmp_path / f"{threads}.npz"
        in_a_process(threads, "-m", "verify", *INSTANCE, str(path))
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1
