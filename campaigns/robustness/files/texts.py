"""Configurations, tables of symbols and papers that nobody would write."""

from __future__ import annotations

from collections.abc import Iterator

from campaigns.robustness.attack import Attack
from campaigns.robustness.files.reader import Reader, content

__all__ = ["odd_configurations", "odd_notations", "odd_papers"]

_TOML_VALUES = (
    *("-1", "0", "1.5", "1e400", "1e-400", "1e5000000", "nan", "inf", "-0", "+5", "1_0", "0x10"),
    *('""', '"x"', '"3"', r'"\u0000"', r'"a\nb"', r'"\u001B[31m"', "true", "[]", "[[]]", "{}"),
    *("[1, 1]", "[1, true]", "1979-05-27", "[2.5, 8]", "9" * 30, "0x" + "f" * 10_000),
    *('"os:system"', '"file:/dev/zero"', '"file:missing"', '"' + "x" * 10_000 + '"'),
)

_NO_TOML = {
    "nested lists without end": b"[sweep]\nname = " + b"[" * 100_000,
    "nested lists": b"[sweep]\nname = " + b"[" * 50_000 + b"]" * 50_000,
    "nested tables": b"[sweep]\nname = " + b"{a=" * 50_000,
    "deep tables": b"[" + b".".join([b"a"] * 20_000) + b"]\n",
    "a deep key": b".".join([b"a"] * 20_000) + b" = 1\n",
    "many tables": b"".join(b"[t%d]\n" % number for number in range(20_000)),
    "a number of 100,000 digits": b"x = " + b"9" * 100_000,
    "a float of 100,000 digits": b"x = 1." + b"9" * 100_000,
    "an exponent of 100,000 digits": b"x = 1e" + b"9" * 100_000,
    "a string without end": b'x = """' + b"y" * 100_000,
    "a key of 100,000 letters": b"k" * 100_000 + b" = 1",
    "a key twice": b"[sweep]\nname = 'a'\nname = 'b'\n",
    "a table twice": b"[sweep]\n[sweep]\n",
    "YAML": b"sweep:\n  name: !!python/object/apply:os.system ['touch executed']\n",
    "JSON": b'{"sweep": {"name": "a"}}',
    "a lone surrogate": b'x = "\\ud800"',
    "control letters": b'x = "\x01\x1b"',
    "nothing but comments": b"# a\n" * 100_000,
    "more than a MiB": b"# " + b"a" * (1 << 20) + b"\n",
}


def odd_configurations(reader: Reader) -> Iterator[Attack]:
    """Yield attacks on a reader of a sweep's configuration."""
    for name, text in _NO_TOML.items():
        yield content(reader, name, text)
    lines = reader.original().decode().splitlines()
    for number, line in enumerate(lines):
        key, equals, _ = line.partition(" = ")
        without = [*lines[:number], *lines[number + 1 :]]
        yield _lines(reader, f"line {number} missing", without)
        if not equals:
            continue
        for value in _TOML_VALUES:
            altered = [*lines[:number], f"{key} = {value}", *lines[number + 1 :]]
            yield _lines(reader, f"line {number}: {key} = {value[:40]} ({len(value)})", altered)
        yield _lines(reader, f"line {number}: {key} misspelt", [*without, f"{key}x = 1"])
    many = ", ".join(map(str, range(2, 20_000)))
    yield _lines(reader, "too many cells", [*lines, f"law = [{many}]", f"d = [{many}]"])
    crowded = [line.replace("16]", f"16, {many[50:]}]") for line in lines]
    yield _lines(reader, "forty thousand cells", crowded)
    yield _lines(reader, "trials beyond measure", [*lines[:3], "trials = 1e9999", *lines[4:]])


def odd_notations(reader: Reader) -> Iterator[Attack]:
    """Yield attacks on a reader of a table of symbols."""
    for name, text in _NO_TOML.items():
        yield content(reader, name, text)
    symbols = {
        "nothing": "",
        "a space": " ",
        "two symbols": "a b",
        "a command": r"\input{/etc/passwd}",
        "a program": r"\write18{touch executed}",
        "a definition": r"\def\alpha{x}",
        "a comment": "% x",
        "a dollar": "$x$",
        "an end": r"\end{document}",
        "nested accents": r"\bar" * 5000 + "x",
        "nested braces": "{" * 5000 + "x" + "}" * 5000,
        "nested powers": "x^{" * 2000 + "y" + "}" * 2000,
        "an open brace": "x_{",
        "a closing brace": "x}",
        "two indices": "x_a_b",
        "letters beyond ASCII": "é",
        "a line break": "x\ny",
        "a long name": "x" * 100_000,
    }
    for name, symbol in symbols.items():
        for key in ("gamma", "d", "nothing"):
            table = f"[symbols]\n{key} = {_basic(symbol)}\n"
            yield content(reader, f"{key} is {name}", table.encode())
    for value in ("1", "true", "[]", "{}", "1e400", "1979-05-27"):
        table = f"[symbols]\ngamma = {value}\n"
        yield content(reader, f"gamma = {value}", table.encode())
    yield content(reader, "two alike", b"[symbols]\ngamma = 'x'\nd = 'x'\n")
    yield content(reader, "no table", b"symbols = 1\n")
    yield content(reader, "a table more", b"[symbols]\nd = 'n'\n[other]\n")


def odd_papers(reader: Reader) -> Iterator[Attack]:
    """Yield attacks on a reader of papers with pasted fragments."""
    good = reader.original()
    lines = good.splitlines(keepends=True)
    opening = next(line for line in lines if b"sha256:" in line)
    closing = next(line for line in lines if b"end xorverify" in line)
    papers = {
        "a thousand pastes": good * 1000,
        "twenty thousand openings": opening * 20_000,
        "twenty thousand ends": closing * 20_000,
        "no end": opening + b"x\n" * 100_000,
        "a line of a million letters": b"x" * 10**6,
        "a comment of a million letters": b"%" + b" a) v" * 200_000,
        "a million percent signs": b"%" * 10**6,
        "a million backslashes": b"\\" * 10**6,
        "an opening of a million letters": b"% xorverify " + b"x" * 10**6 + b" (",
        "an opening that never closes": b"% xorverify a (" + b") v" * 300_000,
        "a hash of a million digits": opening.replace(b"sha256:", b"sha256:" + b"a" * 10**6),
        "a name that is a path": good.replace(b"theorem2-loss", b"../../etc/passwd"),
        "a name that is a program": good.replace(b"theorem2-loss", b"os:system"),
        "a name with a colour": good.replace(b"theorem2-loss", b"\x1b[31m"),
        "no line breaks": good.replace(b"\n", b" "),
        "lines ended by CR": good.replace(b"\n", b"\r"),
        "4 MiB in a line": b"x" * (1 << 22),
        "4 MiB of empty lines": b"\n" * (1 << 22),
        "more than 4 MiB": b"x" * ((1 << 22) + 1),
    }
    for name, paper in papers.items():
        yield content(reader, name, paper)


def _basic(text: str) -> str:
    """Return a text as a basic string of TOML."""
    escaped = text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return f'"{escaped}"'


def _lines(reader: Reader, name: str, lines: list[str]) -> Attack:
    return content(reader, name, "\n".join(lines).encode())
