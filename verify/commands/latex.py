"""``latex``: formulas and claims as fragments, as a document, and found again in a paper."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from numerics.arguments import InvalidArgumentError
from verify.commands.options import add_json, read_path
from verify.outcome import Outcome

NAME = "latex"
SUMMARY = "print formulas and claims as LaTeX, write and compile a document, check a paper's pastes"

_ALTERED_OR_STALE, _UNDONE = 1, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="fragments (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the fragments, a line each")
    what.add_argument("--out", metavar="DIR", help="write the fragments and a document of them")
    what.add_argument("--check", metavar="FILE.tex", help="judge the fragments pasted in a file")
    parser.add_argument(
        "--compile", action="store_true", help="make a PDF of the document in DIR, by latexmk"
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Print, write, list or check fragments."""
    if options.compile and options.out is None:
        raise InvalidArgumentError("compile", "yes", "needs --out DIR, the folder to compile in")
    if options.names and (options.list or options.check is not None):
        raise InvalidArgumentError(
            "NAME", " ".join(options.names), "goes with neither --list nor --check"
        )
    if options.check is not None:
        return _check(read_path("check", options.check))

    from verify.latex.catalogue import TITLES, choose

    if options.list:
        return _list(TITLES)
    chosen = choose(options.names)
    if options.out is None:
        return _print(chosen)
    return _write(chosen, read_path("out", options.out), compiling=options.compile)


def _list(titles: dict[str, str]) -> Outcome:
    def show() -> None:
        width = max(map(len, titles))
        for name, title in titles.items():
            print(f"{name:{width}}  {title}")

    document = [{"name": name, "title": title} for name, title in titles.items()]
    return Outcome({"fragments": document}, show)


def _print(names: tuple[str, ...]) -> Outcome:
    from verify.latex.catalogue import build

    fragments = [build(name) for name in names]
    document = [
        {
            "name": each.name,
            "title": each.title,
            "source": each.source,
            "sha256": each.fingerprint,
            "latex": each.text,
        }
        for each in fragments
    ]
    return Outcome(
        {"fragments": document},
        lambda: print("\n".join(each.text for each in fragments), end=""),
    )


def _write(names: tuple[str, ...], folder: Path, *, compiling: bool) -> Outcome:
    from verify.files import prepare_folder
    from verify.latex.catalogue import build

    prepare_folder("out", folder)

    from verify.latex.document import write_document

    files = write_document(folder, [build(name) for name in names])
    written: dict[str, object] = {"out": str(folder), "files": [path.name for path in files]}
    noun = "fragment" if len(names) == 1 else "fragments"
    line = f"wrote {len(names)} {noun} and {files[-1]}"
    if not compiling:
        return Outcome(written, lambda: print(line))

    from verify.latex.compilation import CompilationError, compile_document

    try:
        pdf = compile_document(files[-1])
    except CompilationError as failure:
        reason = str(failure)
        print(reason, file=sys.stderr)
        document = {**written, "pdf": None, "reason": reason}
        return Outcome(document, lambda: print(line), exit_code=_UNDONE)
    return Outcome({**written, "pdf": str(pdf)}, lambda: print(f"{line}\ncompiled {pdf}"))


def _check(path: Path) -> Outcome:
    from verify.latex.pasted import State, find_pastes, judge, read_paper

    pastes = list(find_pastes(read_paper(path)))
    if not pastes:
        reason = f"{path} holds no fragments"
        print(reason, file=sys.stderr)
        empty = {"file": str(path), "fragments": [], "reason": reason}
        return Outcome(empty, lambda: None, exit_code=_UNDONE)

    from verify.latex.catalogue import TITLES, build

    def today(name: str) -> str | None:
        return build(name).fingerprint if name in TITLES else None

    judged = [(paste, judge(paste, today)) for paste in pastes]

    def show() -> None:
        for paste, verdict in judged:
            detail = f" ({verdict.detail})" if verdict.detail else ""
            print(f"{path}:{paste.line}: {paste.name}: {verdict.state}{detail}")

    document = {
        "file": str(path),
        "fragments": [
            {"name": paste.name, "line": paste.line, "state": verdict.state}
            | ({"reason": verdict.detail} if verdict.detail else {})
            for paste, verdict in judged
        ],
    }
    states = {verdict.state for _, verdict in judged}
    if states & {State.ALTERED, State.STALE}:
        code = _ALTERED_OR_STALE
    else:
        code = _UNDONE if State.UNKNOWN in states else 0
    return Outcome(document, show, exit_code=code)
