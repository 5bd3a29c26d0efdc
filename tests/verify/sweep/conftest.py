"""The program as a process of its own, to be killed and restarted."""

import json
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

PROGRAM = Path(__file__).with_name("trouble.py")


@dataclass
class Program:
    """Runs a configuration of the kind of trials that make trouble, always in the same folder."""

    config: Path
    out: Path
    options: tuple[str, ...] = ("--jobs", "2")
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *, out: Path | None = None, **options) -> subprocess.Popen[str]:
        command = [sys.executable, str(PROGRAM), "sweep", str(self.config), "--json"]
        command += ["--out", str(out or self.out), *self.options]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
        )
        self.processes.append(process)
        return process

    def finish(self, **options) -> tuple[int, dict, str]:
        """Run to the end; return exit code, document (empty if there is none), messages."""
        process = self.start(**options)
        out, err = process.communicate(timeout=120)
        return process.returncode, json.loads(out) if out else {}, err

    def rows(self, out: Path | None = None) -> list[tuple]:
        connection = sqlite3.connect((out or self.out) / "results.sqlite")
        try:
            return connection.execute("SELECT * FROM trials ORDER BY cell, trial").fetchall()
        finally:
            connection.close()

    def count(self) -> int:
        """Return how many rows there are, without getting in anyone's way."""
        path = self.out / "results.sqlite"
        if not path.exists():
            return 0
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:  # it is being created
            return 0
        finally:
            connection.close()


@pytest.fixture
def program(tmp_path: Path):
    """Return a function that writes a configuration and returns its `Program`."""
    made = []

    def write(sweep: str, grid: str, *options: str) -> Program:
        config = tmp_path / "sweep.toml"
        config.write_text(f'[sweep]\nname = "x"\nkind = "trouble"\n{sweep}\n[grid]\n{grid}\n')
        made.append(Program(config, tmp_path / "out", options or ("--jobs", "2")))
        return made[-1]

    yield write
    for each in made:
        for process in each.processes:
            process.kill()
            process.communicate()


def workers(pid: int) -> list[psutil.Process]:
    """Return the worker processes of a process."""
    found = []
    for child in psutil.Process(pid).children():
        try:
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:  # it has ended meanwhile
            continue
    return found


@pytest.fixture
def workers_of():
    """Return the function that finds the worker processes of a process."""
    return workers
