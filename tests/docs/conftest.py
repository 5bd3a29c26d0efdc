"""The pages as blocks of code and commands, and a folder to run a page in.

A page has a folder of its own with what a clone has: `.venv`, `examples/`, `docs/`. Output that a
page shows must come, `...` standing for whatever is left out. A page, block or command that is
added is run without being named anywhere, and a block of a form that is not known fails.
`declared.toml` names the exceptions, each with its reason.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from numerics.arguments import InvalidArgumentError
from verify.commands import COMMANDS
from verify.latex.notation import read_notation
from verify.sweep.config import read_config

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
]
DECLARED = tomllib.loads(Path(__file__).with_name("declared.toml").read_text())
PARSERS = {}
for _command in COMMANDS:
    PARSERS[_command.NAME] = argparse.ArgumentParser(_command.NAME, allow_abbrev=False)
    _command.add_arguments(PARSERS[_command.NAME])

PROGRAMS = "xorverify python python3 make pip pytest sqlite3 nohup dask ssh export git cd"
IS_COMMAND = re.compile(rf"(\.venv/bin/)?({PROGRAMS.replace(' ', '|')})( |$)")
FORMULA = re.compile(r"[^\x00-\x7f]")
CODE = re.compile(r"(?m)^(\$ |import |from \w+ import|def |class |assert |print\(|\[\w+\]$)")
FILE_NAME = re.compile(r"`([\w/]+\.py)`[^`]*:$")
NEEDS_TEX = re.compile(r" --compile| pgf")
SECONDS = 120


@dataclass(frozen=True)
class Block:
    """A piece of a page.

    `kind` is shell, python, cell (of a notebook), toml, fragment (of LaTeX), directive, or plain:
    formulas and text.
    """

    page: str
    line: int
    kind: str
    text: str
    file: str = "example.py"

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each command with the output that is shown for it."""
        lines = self.text.replace("\\\n", "").splitlines()
        prompted = any(line.startswith("$ ") for line in lines)
        command, shown = "", []
        for line in lines:
            if prompted and not line.startswith("$ "):
                shown.append(line)
                continue
            if command:
                yield command, "\n".join(shown)
            command, shown = " ".join(line.removeprefix("$ ").split()), []
            assert IS_COMMAND.match(command), f"{self.where}: not a known command: {command}"
        if command:
            yield command, "\n".join(shown)

    def bare_commands(self) -> list[str]:
        """Return the commands as the table knows them."""
        return [_bare(command) for command, _ in self.commands()]


def blocks(path: Path, text: str | None = None) -> list[Block]:
    page = path.relative_to(ROOT).as_posix()
    found, before = [], ""
    for token in MarkdownIt("commonmark").parse(path.read_text() if text is None else text):
        if token.type == "inline":
            before = " ".join(token.content.split())
        elif token.type in {"fence", "code_block"}:
            assert token.map is not None
            kind = _kind(page, token)
            found.append(Block(page, token.map[0] + 1, kind, token.content, _file(token, before)))
            before = ""
    return found


def _file(token: Token, before: str) -> str:
    """Return the file that a block of Python is: named in its first line, or just before it."""
    named = re.match(r"# (\w+\.py)\n", token.content) or FILE_NAME.search(before)
    return named[1] if named else "example.py"


def _kind(page: str, token: Token) -> str:
    first = token.content.strip().partition("\n")[0].strip()
    if _declared("text", page, first) is not None:
        return "plain"
    language = token.info.split()[0] if token.info.strip() else ""
    if language in {"console", "sh", "bash", "shell"}:
        return "shell"
    if language in {"python", "toml"}:
        return language
    if language == "latex" and first.startswith("% xorverify "):
        return "fragment"
    if language == "bibtex":
        return "plain"
    if language == "{code-cell}":
        return "cell"
    if language in {"{toctree}", "{eval-rst}", "{commands}", "{claims}"}:
        return "directive"
    if token.type == "code_block":
        if first.startswith("$ ") or IS_COMMAND.match(first):
            return "shell"
        if FORMULA.search(token.content) and not CODE.search(token.content):
            return "plain"
    line = token.map[0] + 1 if token.map else 0
    pytest.fail(f"{page}:{line}: a block of unknown form: {language} {first}")


def _declared(table: str, page: str, first: str) -> dict[str, str] | None:
    return next(
        (each for each in DECLARED[table] if (each["page"], each["first"]) == (page, first)), None
    )


def _matching(table: str, command: str) -> dict[str, str] | None:
    return next((each for each in DECLARED[table] if fnmatchcase(command, each["command"])), None)


def _bare(command: str) -> str:
    """Return a command as the table knows it: without comment, and without the folder `.venv`."""
    without_comment = re.sub(r" # .*$", "", command)
    return without_comment.replace(".venv/bin/xorverify", "xorverify").strip()


def _filled(command: str) -> str:
    for word, fixture in DECLARED["placeholders"].items():
        command = re.sub(rf"(?<![\w.]){re.escape(word)}(?![\w.])", fixture, command)
    return command


class Session:
    """A folder in which the commands and blocks of one page run one after the other."""

    def __init__(self, folder: Path, found: list[Block], *, long: bool, seconds: float) -> None:
        self.folder, self.blocks, self.long, self.seconds = folder, found, long, seconds
        tools = Path(sys.executable).parent
        self.environment = os.environ | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder),
            "MPLBACKEND": "agg",
            "COLUMNS": "100",
            "MAKEFLAGS": "n",  # make says what it would do: most of it is to run these tests
        }
        (folder / ".venv").symlink_to(tools.parent)
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        for name in ("examples", "docs/figures", "docs/witnesses"):
            shutil.copytree(ROOT / name, folder / name)
        if not long:
            for path in (folder / "examples").glob("*.toml"):
                path.write_text(_smaller_sweep(path.read_text()))
        paper = "\n".join(block.text for block in found if block.kind == "fragment")
        (folder / "paper.tex").write_text(paper)
        for block in found:
            if block.kind == "toml" and block.text.startswith("[symbols]"):
                (folder / "notation.toml").write_text(block.text)

    def run(self) -> None:
        for block in self.blocks:
            self._block(block)
        cells = [block for block in self.blocks if block.kind == "cell"]
        if cells:
            self._notebook(cells[0], "\n".join(cell.text for cell in cells))

    def _block(self, block: Block) -> None:
        if block.kind == "shell":
            for command, shown in block.commands():
                self._command(block, command, shown)
        elif block.kind == "python":
            self._python(block)
        elif block.kind == "toml":
            self._configuration(block)
        elif block.kind == "fragment":
            name = block.text.split()[2]
            printed = self._output(block, f"xorverify latex {name}")
            assert printed == block.text, f"{block.where}: latex {name} prints something else"

    def _command(self, block: Block, command: str, shown: str) -> None:
        bare = _bare(command)
        _check_arguments(block, bare)
        smaller, parsed = _matching("smaller", bare), _matching("parsed", bare)
        has_tex = shutil.which("latexmk") is not None or "CI" in os.environ
        without_tex = NEEDS_TEX.search(bare) and not has_tex
        if without_tex or (parsed is not None and not (self.long and parsed.get("long"))):
            for script in re.findall(r"\S+\.py", bare):
                if (self.folder / script).exists():
                    compile((self.folder / script).read_text(), script, "exec")
            return
        if smaller is not None and not self.long:
            _check_arguments(block, smaller["instead"])
            command, shown = smaller["instead"], ""
        printed = self._output(block, _filled(command))
        if shown:
            assert _pattern(shown).fullmatch(printed.rstrip("\n") + "\n"), (
                f"{block.where}: {command}\nis shown with\n{shown}\nand prints\n{printed}"
            )

    def _python(self, block: Block) -> None:
        path = self.folder / block.file
        path.write_text(block.text)
        compile(block.text, block.where, "exec")
        first = block.text.partition("\n")[0]
        if _declared("compiled", block.page, first) is not None:
            return
        runner = (
            "-m pytest -q -p no:cacheprovider" if block.file.startswith("test_") else "-W error"
        )
        self._output(block, f"python {runner} {block.file}")

    def _notebook(self, first: Block, text: str) -> None:
        """Compile the cells; `make docs` runs them, and the marker `long` does without a kernel."""
        compile(text, first.where, "exec")
        if self.long:
            (self.folder / "notebook.py").write_text(text)
            self._output(first, "python -W error notebook.py")

    def _configuration(self, block: Block) -> None:
        path = self.folder / "page.toml"
        path.write_text(block.text)
        is_sweep = block.text.startswith("[sweep]")
        try:
            (read_config if is_sweep else read_notation)(path)
        except InvalidArgumentError as refusal:
            pytest.fail(f"{block.where}: {refusal}")
        if self.long and is_sweep:
            path.write_text(_smaller_sweep(block.text))
            self._output(block, "xorverify sweep page.toml --out page")

    def _output(self, block: Block, command: str) -> str:
        started = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            shell=True,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            printed, said = started.communicate(timeout=None if self.long else self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)  # the shell's group: all that it started
            started.communicate()
            pytest.fail(f"{block.where}: {command}\ntakes more than {self.seconds} s")
        assert started.returncode == 0, (
            f"{block.where}: {command}\nends with exit code {started.returncode}\n{printed}{said}"
        )
        return printed


def _smaller_sweep(text: str) -> str:
    """Return a configuration with two trials a cell, and two values on each axis."""
    text = re.sub(r"(?m)^trials = \d+", "trials = 2", text)
    text = re.sub(r"(?m)^steps = \d+", "steps = 3", text)
    return re.sub(r"= \[([^,\]]+), ([^,\]]+),[^\]]*\]", r"= [\1, \2]", text)


def _pattern(shown: str) -> re.Pattern[str]:
    """Return what output must match: `...` alone is any lines, within a line any characters."""
    lines = [
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in shown.splitlines()
    ]
    return re.compile("".join(lines))


def _check_arguments(block: Block, command: str) -> None:
    """Parse the command lines of the program, and those of the derivations by their names."""
    words = shlex.split(re.split(r" \| | 2?> | &$", _filled(command))[0], comments=True)
    if words[:1] == ["nohup"]:
        words = words[1:]
    if words[:1] != ["xorverify"] or words[1:] == ["--version"]:
        return
    given = words[1:] if words[1:] and not words[1].startswith("-") else ["run", *words[1:]]
    assert given[0] in PARSERS, f"{block.where}: no such command: {command}"
    try:
        PARSERS[given[0]].parse_args(given[1:])
    except SystemExit:
        pytest.fail(f"{block.where}: the program does not take {command}")


@pytest.fixture(scope="session")
def pages() -> dict[Path, list[Block]]:
    return {path: blocks(path) for path in PAGES}


@pytest.fixture
def collect() -> Callable[[str], list[Block]]:
    """Return the blocks of a page that only the test has."""
    return lambda text: blocks(DOCS / "strategies.md", text)


@pytest.fixture
def run_page(tmp_path: Path) -> Callable[..., None]:
    """Run the blocks of a page, long or in a smaller size."""
    return lambda found, *, long=False, seconds=SECONDS: Session(
        tmp_path, found, long=long, seconds=seconds
    ).run()


@pytest.fixture
def declared() -> dict[str, Any]:
    return DECLARED


@pytest.fixture
def parsers() -> dict[str, argparse.ArgumentParser]:
    return PARSERS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
