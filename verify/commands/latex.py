"""``latex``: formulas and claims as fragments, as a document, and found again in a paper."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from numerics.arguments import InvalidArgumentError
from verify.commands.options import add_json, add_quiet, read_path
from verify.console.outcome import Outcome, not_written
from verify.decimals import parse_choice

if TYPE_CHECKING:
    from verify.console.progress import Progress
    from verify.latex.fragment import Fragment
    from verify.latex.notation import Notation

NAME = "latex"
SUMMARY = "print formulas, claims and proofs as LaTeX, compile them, check a paper's pastes"

_FAILED, _UNDONE = 1, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="fragments (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the fragments, a line each")
    what.add_argument("--out", metavar="DIR", help="write the fragments and a document of them")
    what.add_argument("--check", metavar="FILE.tex", help="judge the fragments pasted in a file")
    what.add_argument(
        "--verify", action="store_true", help="read the formulas back and evaluate them in balls"
    )
    parser.add_argument(
        "--proof",
        nargs="+",
        metavar="DERIVATION",
        help="write derivations to DIR as articles, step by step, each step checked",
    )
    parser.add_argument(
        "--compile", action="store_true", help="make a PDF of each document in DIR, by latexmk"
    )
    parser.add_argument(
        "--notation", metavar="FILE.toml", help="print in the symbols of a paper, from a file"
    )
    add_quiet(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Print, write, list or check fragments."""
    if options.compile and options.out is None:
        raise InvalidArgumentError("compile", "yes", "needs --out DIR, the folder to compile in")
    if options.names and (options.list or options.check is not None):
        raise InvalidArgumentError(
            "NAME", " ".join(options.names), "goes with neither --list nor --check"
        )
    if options.notation is not None and options.list:
        raise InvalidArgumentError("notation", options.notation, "does not go with --list")
    progress = _progress(quiet=options.quiet)
    if options.proof is not None:
        return _prove(options, progress)
    if options.check is not None:
        return _check(read_path("check", options.check), _notation(options), progress)

    from verify.latex.catalogue import TITLES, choose

    if options.list:
        return _list(TITLES)
    chosen = choose(options.names)
    notation = _notation(options)
    if options.verify:
        return _verify(chosen, notation, progress)
    if options.out is None:
        return _print(chosen, notation, progress)
    out = read_path("out", options.out)
    return _write(chosen, out, notation, compiling=options.compile, progress=progress)


def _notation(options: argparse.Namespace) -> Notation | None:
    if options.notation is None:
        return None

    from verify.latex.notation import read_notation

    return read_notation(read_path("notation", options.notation))


def _progress(*, quiet: bool) -> Progress:
    """Return a bar on a terminal; elsewhere this is a part of some build, whose log it spares."""
    from verify.console.progress import Progress
    from verify.console.terminal import can_move_cursor

    return Progress(quiet=quiet or not can_move_cursor(sys.stderr))


def _build(names: tuple[str, ...], notation: Notation | None, progress: Progress) -> list[Fragment]:
    """Return the named fragments; a formula is derived for each, which takes a while."""
    from verify.latex.catalogue import build
    from verify.latex.notation import OWN

    fragments = []
    with progress.track(len(names)):
        for name in names:
            fragments.append(build(name, notation or OWN))
            progress.advance(name)
    return fragments


def _list(titles: dict[str, str]) -> Outcome:
    def show() -> None:
        width = max(map(len, titles))
        for name, title in titles.items():
            print(f"{name:{width}}  {title}")

    document = [{"name": name, "title": title} for name, title in titles.items()]
    return Outcome({"fragments": document}, show)


def _print(names: tuple[str, ...], notation: Notation | None, progress: Progress) -> Outcome:
    fragments = _build(names, notation, progress)
    document = [
        {
            "name": each.name,
            "title": each.title,
            "source": each.source,
            "sha256": each.fingerprint,
            "latex": each.text,
        }
        | ({"notation": each.notation} if each.notation else {})
        for each in fragments
    ]
    return Outcome(
        {"fragments": document},
        lambda: print("\n".join(each.text for each in fragments), end=""),
    )


def _write(
    names: tuple[str, ...],
    folder: Path,
    notation: Notation | None,
    *,
    compiling: bool,
    progress: Progress,
) -> Outcome:
    from verify.files.writing import prepare_folder

    # A notation that clashes leaves no folder; without one the folder is the first to be refused.
    fragments = [] if notation is None else _build(names, notation, progress)
    prepare_folder("out", folder)

    from verify.latex.document import write_document
    from verify.latex.notation import OWN

    fragments = fragments or _build(names, notation, progress)
    try:
        files = write_document(folder, fragments, notation or OWN)
    except InvalidArgumentError as failure:
        return not_written(failure)
    written: dict[str, object] = {"out": str(folder), "files": [path.name for path in files]}
    noun = "fragment" if len(names) == 1 else "fragments"
    line = f"wrote {len(names)} {noun} and {files[-1]}"
    if not compiling:
        return Outcome(written, lambda: print(line))

    pdfs, reason = _compiled([files[-1]], progress)
    if reason:
        document = {**written, "pdf": None, "reason": reason}
        return Outcome(document, lambda: print(line), exit_code=_UNDONE)
    (pdf,) = pdfs
    return Outcome({**written, "pdf": pdf}, lambda: print(f"{line}\ncompiled {pdf}"))


def _compiled(files: list[Path], progress: Progress) -> tuple[list[str], str]:
    """Return the PDFs of documents, up to the first that cannot be made, and why it cannot."""
    from verify.latex.compilation import CompilationError, compile_document

    pdfs: list[str] = []
    for file in files:
        progress.say(f"latexmk is at work on {file}")
        try:
            pdfs.append(str(compile_document(file)))
        except CompilationError as failure:
            print(str(failure), file=sys.stderr)
            return pdfs, str(failure)
    return pdfs, ""


def _prove(options: argparse.Namespace, progress: Progress) -> Outcome:
    """Write the proofs of derivations; a failed check is in the proof, and in the exit code."""
    from derivations.catalogue import TITLES

    given = " ".join(options.proof)
    if options.names or options.list or options.verify or options.check is not None:
        raise InvalidArgumentError("proof", given, "goes with --out, --compile, --notation only")
    if options.out is None:
        raise InvalidArgumentError("proof", given, "needs --out DIR, the folder to write to")
    for name in options.proof:
        parse_choice("proof", name, TITLES)
    folder = read_path("out", options.out)
    notation = _notation(options)

    from verify.files.writing import prepare_folder
    from verify.latex.document import write_texts
    from verify.latex.notation import OWN
    from verify.latex.proof import file_of, prove

    names = [name for name in TITLES if name in options.proof]
    proofs = []
    with progress.track(len(names)):
        for name in names:
            proofs.append(prove(name, notation or OWN))
            progress.advance(name)
    prepare_folder("out", folder)
    try:
        files = write_texts(folder, {file_of(each.name): each.text for each in proofs})
    except InvalidArgumentError as failure:
        return not_written(failure)
    document: dict[str, object] = {
        "out": str(folder),
        "proofs": [
            {
                "name": each.name,
                "file": file.name,
                "holds": each.holds,
                "steps": [
                    {"number": result.number, "status": result.status.value}
                    | ({"reason": result.detail} if result.failed else {})
                    for result in each.results
                ],
                "signs": {name: found.verdict.value for name, found in each.discharges.items()},
            }
            for each, file in zip(proofs, files, strict=True)
        ],
    }
    lines = [f"wrote {file}" for file in files]
    lines += [f"{each.name}: a check failed, see the proof" for each in proofs if not each.holds]
    code = 0 if all(each.holds for each in proofs) else _FAILED
    if options.compile:
        pdfs, reason = _compiled(files, progress)
        document |= {"pdf": pdfs} | ({"reason": reason} if reason else {})
        lines += [f"compiled {pdf}" for pdf in pdfs]
        code = code or (_UNDONE if reason else 0)
    return Outcome(document, lambda: print("\n".join(lines)), exit_code=code)


def _verify(names: tuple[str, ...], notation: Notation | None, progress: Progress) -> Outcome:
    """Read the formulas among the fragments back, and compare their values in balls."""
    from verify.latex.formulas import FORMULAS, formula_of
    from verify.latex.meaning import misread
    from verify.latex.notation import OWN

    chosen = tuple(name for name in names if name in FORMULAS)
    if not chosen:
        raise InvalidArgumentError("NAME", " ".join(names), "is no formula; --verify reads those")
    found = {
        each.name: misread(formula_of(each.name), each.body, notation or OWN)
        for each in _build(chosen, notation, progress)
    }

    def show() -> None:
        for name, difference in found.items():
            print(f"{name}: {difference or 'says what is derived'}")

    document = [
        {"name": name, "agrees": not difference} | ({"reason": difference} if difference else {})
        for name, difference in found.items()
    ]
    return Outcome({"formulas": document}, show, exit_code=_FAILED if any(found.values()) else 0)


def _check(path: Path, notation: Notation | None, progress: Progress) -> Outcome:
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

    wanted = None if notation is None else notation.fingerprint
    judged = []
    with progress.track(len(pastes)):
        for paste in pastes:
            judged.append((paste, judge(paste, today, notation=wanted)))
            progress.advance(paste.name)

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
        code = _FAILED
    else:
        code = _UNDONE if State.UNKNOWN in states else 0
    return Outcome(document, show, exit_code=code)
