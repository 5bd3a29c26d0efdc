"""Every command and every block of code in the README and the pages, run in the order of its page.

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
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

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
        if FORMULA.search(token.content) and "$ " not in token.content:
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

    def __init__(self, folder: Path, found: list[Block], *, long: bool) -> None:
        self.folder, self.blocks, self.long = folder, found, long
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
            assert _pattern(shown).fullmatch(printed.rstrip("\n")), (
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
            printed, said = started.communicate(timeout=None if self.long else SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)  # the shell's group: all that it started
            started.communicate()
            pytest.fail(f"{block.where}: {command}\ntakes more than {SECONDS} s")
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
        r"(?s:.*)" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*")
        for line in shown.splitlines()
    ]
    return re.compile(r"\n?".join(lines)) if "..." in shown else re.compile("\n".join(lines))


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


ALL = {path: blocks(path) for path in PAGES}
WITH_CODE = [
    pytest.param(path, id=path.relative_to(ROOT).as_posix())
    for path, found in ALL.items()
    if {block.kind for block in found} - {"plain", "directive"}
]


@pytest.mark.parametrize("page", WITH_CODE)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    Session(tmp_path, ALL[page], long=False).run()


@pytest.mark.long
@pytest.mark.parametrize("page", WITH_CODE)
def test_a_page_does_what_it_says_at_full_size(page: Path, tmp_path: Path) -> None:
    Session(tmp_path, ALL[page], long=True).run()


def test_every_exception_is_of_use() -> None:
    commands = {
        _bare(command)
        for found in ALL.values()
        for block in found
        if block.kind == "shell"
        for command, _ in block.commands()
    }
    firsts = {
        (block.page, block.text.strip().partition("\n")[0].strip())
        for found in ALL.values()
        for block in found
    }
    idle = [
        each["command"]
        for table in ("smaller", "parsed")
        for each in DECLARED[table]
        if not any(fnmatchcase(command, each["command"]) for command in commands)
    ]
    idle += [
        each["first"]
        for table in ("compiled", "text")
        for each in DECLARED[table]
        if (each["page"], each["first"]) not in firsts
    ]
    idle += [
        word
        for word in DECLARED["placeholders"]
        if not any(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", each) for each in commands)
    ]
    assert not idle


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_named_in_passing_exists(page: Path) -> None:
    """Commands, options and extras in the prose: their names, in whatever form they are shown."""
    text = page.read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for extra in re.findall(r"xorverify\[(\w+)\]|'\.\[(\w+)\]'", text):
        assert "".join(extra) in extras
    targets = re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text())
    for target in re.findall(r"`make ([\w-]+)`", text):
        assert target in targets
    for span in re.findall(r"`([^`]+)`", text):
        words = (
            span.replace("\n", " ").removeprefix(".venv/bin/").removeprefix("xorverify ").split()
        )
        if words and words[0] in PARSERS and ("xorverify " in span or " --" in span):
            known = PARSERS[words[0]].format_help()
            for option in re.findall(r"--[\w-]+", span):
                assert re.search(rf"{option}(?![\w-])", known), f"{page.name}: {span}"


def test_the_readme_lists_every_command() -> None:
    readme = (ROOT / "README.md").read_text()
    rows = " ".join(re.findall(r"(?m)^\| (`.*?`) \|", readme))
    assert [name for name in PARSERS if not re.search(rf"`{name}\b", rows)] == []


def _page(text: str) -> list[Block]:
    return blocks(DOCS / "strategies.md", text)


GOOD = "```console\n$ xorverify --version\nxorverify ...\n```\n"


def test_a_good_page_passes(tmp_path: Path) -> None:
    Session(tmp_path, _page(GOOD), long=False).run()


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("xorverify ...", "xorverify 0.0.0"),
        GOOD.replace("xorverify ...", "...\nmore"),
        GOOD.replace("--version", "--versions"),
        "    xorverify show no-such-claim\n",
        "    xorverify compare --d 8 --m 16 --step 1\n",
        "    xorverify theorem2 --d 8\n",
        "    $ python -c 'raise SystemExit(1)'\n",
        "```python\nassert 1 == 2\n```\n",
        "`test_it.py`:\n\n```python\ndef test_it():\n    assert 1 == 2\n```\n",
        "```toml\n[sweep]\nname = 'x'\nkind = 'nothing'\n```\n",
        "```latex\n% xorverify population.loss by hand\nL = 1\n```\n",
        "```{code-cell} python\n1 +\n```\n",
        "    ssh SOMEWHERE\n    xorverify sweep A.toml --out B --scheduler tcp://C:1 --jobbs 2\n",
    ],
)
def test_a_broken_page_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, SyntaxError, pytest.fail.Exception)):
        Session(tmp_path, _page(text), long=False).run()


@pytest.mark.parametrize(
    "text",
    [
        "```\nxorverify list\n```\n",
        "```text\nxorverify list\n```\n",
        "```julia\n1\n```\n",
        "    import numpy\n",
        "    frobnicate --all\n",
        "- a list\n\n  ```zsh\n  ls\n  ```\n",
        "    θ = 1\n    $ xorverify list\n",
    ],
)
def test_a_block_of_unknown_form_fails(text: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="unknown form"):
        _page(text)


def test_a_command_that_takes_too_long_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "SECONDS", 0.3)
    with pytest.raises(pytest.fail.Exception, match="takes more than"):
        Session(tmp_path, _page("    python -c 'import time; time.sleep(60)'\n"), long=False).run()


def test_an_unknown_program_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not a known command"):
        Session(tmp_path, _page("    xorverify list\n    frobnicate --all\n"), long=False).run()
