"""References to attention maps and laws of a user's own that lead nowhere, or somewhere bad."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from campaigns.robustness.attack import Attack, Found
from campaigns.robustness.files.reader import Reader, observe

__all__ = ["odd_references"]

_NAMES = (
    *("", ":", "x:", ":x", "a:b:c", "os:system", "json:dumps", "sys:path", "builtins:eval", "é:x"),
    *(".:x", "..:x", "a..b:x", ".a:x", "a.:x", "a b:x", "a-b:x", "1:x", "os.path:join", "\udcff:x"),
    *("__main__:x", "verify:x", "numerics:__path__", "missing:X", "missing.inner:X", "os:nothing"),
    *("x" * 100_000, "x" * 100_000 + ":y", "a." * 10_000 + "a:y", "os:" + "y" * 100_000),
    *("softmax:x", "sphere:x", "Softmax", "sofmax", "FILE:x", "http://localhost/V.npy"),
    *("file", "file:", "file:.", "file:/", "file:missing", "file:/dev/zero", "file:/dev/null"),
    *("file:a\0b", "file:" + "x" * 300, "file:" + "x/" * 3000, "file:#sha256=", "-1", "nan"),
    "file:/dev/null#sha256=00",
)

# Modules in the working folder; each name is imported once in a process.
_MODULES: Mapping[str, str] = {
    "exits": "raise SystemExit(0)",
    "exits_badly": "raise SystemExit('no')",
    "interrupted_by_itself": "import asyncio\nraise asyncio.CancelledError",
    "recurses": "def f(): f()\nf()",
    "broken_syntax": "def",
    "nul_bytes": "X = 1\0",
    "no_utf8": "# \udcff",
    "long_failure": "raise ValueError('x' * 10**6)",
    "odd_failure": "raise ValueError('a\\n\\x1b[31mb\\ud800')",
    "failure_without_text": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "fails_when_asked": "def __getattr__(name): raise ZeroDivisionError",
    "imports_what_is_missing": "import not_there_at_all",
    "imports_itself": "import imports_itself\nimports_itself.X",
    "wrong_kind": "X = 5",
    "takes_the_path": "import sys\nsys.path[:] = []\nX = 1",
}
_LAW = "from numerics.embeddings import EmbeddingLaw\nimport numpy as np\n"
_LAWS: Mapping[str, str] = {
    "law_of_nan": "X = EmbeddingLaw('t', lambda rng, d, m: np.full((d, m), np.nan))",
    "law_of_another_shape": "X = EmbeddingLaw('t', lambda rng, d, m: np.ones((m, d, 1)))",
    "law_of_text": "X = EmbeddingLaw('t', lambda rng, d, m: 'text')",
    "law_of_nothing": "X = EmbeddingLaw('t', lambda rng, d, m: None)",
    "law_that_fails": "X = EmbeddingLaw('t', lambda rng, d, m: 1 / 0)",
    "law_that_exits": "X = EmbeddingLaw('t', lambda rng, d, m: exit(0))",
    "law_that_is_none": "X = EmbeddingLaw('t', None)",
    "law_that_prints": "print('x')\nX = EmbeddingLaw('t', lambda rng, d, m: np.ones((d, m)))",
}
_MAP = "from numerics.attention_maps import AttentionMap, pointwise\nimport numpy as np\n"
_MAPS: Mapping[str, str] = {
    "map_with_a_wrong_derivative": "X = pointwise('x', 't', np.tanh, np.cos)",
    "map_of_nan": "X = pointwise('x', 't', lambda s: s * np.nan, np.cos)",
    "map_of_text": "X = pointwise('x', 't', lambda s: 'text', np.cos)",
    "map_of_another_shape": "X = pointwise('x', 't', lambda s: np.ones((3, 3)), np.cos)",
    "map_that_fails": "X = pointwise('x', 't', lambda s: 1 / 0, np.cos)",
    "map_that_exits": "X = pointwise('x', 't', lambda s: exit(1), np.cos)",
    "map_that_changes_scores": "def f(s):\n    s += 1\n    return s\nX = pointwise('x', 't', f, f)",
    "map_that_prints": "print('x')\nX = pointwise('x', 't', np.copy, np.ones_like, odd=True)",
    "map_that_is_none": "X = AttentionMap(None, None, None, None)",
}
_COMPARE = ("compare", "--d", "4", "--m", "3", "--steps", "2", "--seeds", "1", "--jobs", "1")
_MAP_READER = Reader(
    "attention map, compare", (*_COMPARE, "--quiet", "--json", "--attention={}"), "", bytes
)
_LAW_READER = Reader(
    "law, instance", ("instance", "--d", "4", "--m", "3", "--out", "o.npz", "--law={}"), "", bytes
)


def odd_references() -> Iterator[Attack]:
    """Yield attacks by the name of an attention map, and of a law."""
    for reader, head, own in ((_MAP_READER, _MAP, _MAPS), (_LAW_READER, _LAW, _LAWS)):
        for number, name in enumerate(_NAMES):
            run = partial(_observe, reader, name, {})
            yield Attack(reader.name, f"{number}: {name[:30]!r}", run)
        modules = {**_MODULES, **{name: head + text for name, text in own.items()}}
        for name, text in modules.items():
            source = text.encode("utf-8", "surrogateescape")
            run = partial(_observe, reader, f"{name}:X", {f"{name}.py": source})
            yield Attack(reader.name, f"a module that is {name.replace('_', ' ')}", run)


def _observe(
    reader: Reader, name: str, modules: Mapping[str, bytes], folder: Path, _: int
) -> Found:
    for file, source in modules.items():
        (folder / file).write_bytes(source)
    return observe(reader, folder, name, may_differ=True)
