"""Every command and block of code in the README and the pages, run in the order of its page."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Pages = dict[Path, list[Any]]
Parsers = dict[str, argparse.ArgumentParser]
Collect = Callable[[str], list[Any]]
RunPage = Callable[..., None]


def test_a_page_does_what_it_says(page: Path, pages: Pages, run_page: RunPage) -> None:
    run_page(pages[page])


@pytest.mark.long
def test_a_page_does_what_it_says_at_full_size(page: Path, pages: Pages, run_page: RunPage) -> None:
    run_page(pages[page], long=True)


def test_every_exception_is_of_use(pages: Pages, declared: dict[str, Any]) -> None:
    commands = {
        command
        for found in pages.values()
        for block in found
        if block.kind == "shell"
        for command in block.bare_commands()
    }
    firsts = {
        (block.page, block.text.strip().partition("\n")[0].strip())
        for found in pages.values()
        for block in found
    }
    idle = [
        each["command"]
        for table in ("smaller", "parsed")
        for each in declared[table]
        if not any(fnmatchcase(command, each["command"]) for command in commands)
    ]
    idle += [
        each["first"]
        for table in ("compiled", "text")
        for each in declared[table]
        if (each["page"], each["first"]) not in firsts
    ]
    idle += [
        word
        for word in declared["placeholders"]
        if not any(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", each) for each in commands)
    ]
    assert not idle


def test_what_is_named_in_passing_exists(page: Path, parsers: Parsers) -> None:
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
    prose = re.sub(r"(?ms)^```.*?^```", "", text)  # else the fences would pair with the rest
    for span in re.findall(r"`([^`]+)`", prose):
        words = (
            span.replace("\n", " ").removeprefix(".venv/bin/").removeprefix("xorverify ").split()
        )
        if words and words[0] in parsers and ("xorverify " in span or " --" in span):
            known = parsers[words[0]].format_help()
            for option in re.findall(r"--[\w-]+", span):
                assert re.search(rf"{option}(?![\w-])", known), f"{page.name}: {span}"


def test_the_readme_lists_every_command(parsers: Parsers) -> None:
    readme = (ROOT / "README.md").read_text()
    rows = " ".join(re.findall(r"(?m)^\| (`.*?`) \|", readme))
    assert [name for name in parsers if not re.search(rf"`{name}\b", rows)] == []


def test_what_the_commands_of_the_readme_write_is_ignored_by_git(pages: Pages) -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    found = pages[ROOT / "README.md"]
    written = {block.file for block in found if block.kind == "python"}
    for block in found:
        if block.kind == "shell":
            commands = "\n".join(block.bare_commands())
            written |= set(re.findall(r"--(?:out|bundle) (\S+)", commands))
    assert len(written) > 4
    assert {name for name in written if not {f"/{name}", f"/{name}/"} & {*ignored}} == set()


GOOD = "```console\n$ xorverify --version\nxorverify ...\n```\n"


def test_a_good_page_passes(collect: Collect, run_page: RunPage) -> None:
    run_page(collect(GOOD))


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("xorverify ...", "xorverify 0.0.0"),
        GOOD.replace("xorverify ...", "...\nmore"),
        GOOD.replace("xorverify ...", "xorverify\n..."),
        GOOD.replace("--version", "--versions"),
        "```console\n$ python -c 'print(1); print(2)'\n1\n```\n",
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
def test_a_broken_page_fails(text: str, collect: Collect, run_page: RunPage) -> None:
    with pytest.raises((AssertionError, SyntaxError, pytest.fail.Exception)):
        run_page(collect(text))


@pytest.mark.parametrize(
    "text",
    [
        "```\nxorverify list\n```\n",
        "```text\nxorverify list\n```\n",
        "```julia\n1\n```\n",
        "    import numpy\n",
        "    θ = 1\n    import numpy\n",
        "    frobnicate --all\n",
        "- a list\n\n  ```zsh\n  ls\n  ```\n",
        "    θ = 1\n    $ xorverify list\n",
    ],
)
def test_a_block_of_unknown_form_fails(text: str, collect: Collect) -> None:
    with pytest.raises(pytest.fail.Exception, match="unknown form"):
        collect(text)


def test_a_command_that_takes_too_long_fails(collect: Collect, run_page: RunPage) -> None:
    with pytest.raises(pytest.fail.Exception, match="takes more than"):
        run_page(collect("    python -c 'import time; time.sleep(60)'\n"), seconds=0.3)


def test_an_unknown_program_fails(collect: Collect, run_page: RunPage) -> None:
    with pytest.raises(AssertionError, match="not a known command"):
        run_page(collect("    xorverify list\n    frobnicate --all\n"))
