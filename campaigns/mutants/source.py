"""The formulas of a source file: which expressions stand in one, and which only speak of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

__all__ = ["MODULE", "Place", "Source"]

MODULE = "module"
"""The name of what stands outside of any function."""

_ATOMS = (ast.Attribute, ast.Call, ast.Constant, ast.Name, ast.Subscript)

# What a piece of evidence tells the reader beside its grade.
_TOLD = frozenset({"claimed", "computed", "margin", "reason"})
# Arguments that are printed, that name something, or that say how long a check takes.
_SPOKEN = _TOLD | {
    "cost",
    "label",
    "left",
    "maxsize",
    "name",
    "setting",
    "source",
    "statement",
    "title",
}
_SPEAKING_FUNCTIONS = frozenset({"__repr__", "__str__", "_latex", "_sympystr", "as_json", "margin"})
_SPEAKING_CALLS = frozenset({"declare", "equation", "errstate", "print", "warn"})
# Its functions read arguments, and refuse.
_ARGUMENTS = "numerics.arguments"
_CONDITIONS = frozenset({"TYPE_CHECKING", "__name__"})


@dataclass(frozen=True)
class Place:
    """A node of a formula, and where it stands.

    Attributes
    ----------
    node : ast.AST
        An expression or a statement.
    function : str
        The function around it, with its class; ``module`` outside of any.
    iterated : bool
        Whether it is part of what a loop runs over.
    names : frozenset of str
        The names that may have a value there: those of the outermost function or class, and those
        of the module.
    """

    node: ast.AST
    function: str
    iterated: bool
    names: frozenset[str]


class Source:
    """A source file as bytes and as a syntax tree.

    Parameters
    ----------
    code : bytes
        The file.
    """

    def __init__(self, code: bytes) -> None:
        self._code = code
        self._starts = [0]
        for line in code.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._tree = ast.parse(code)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes, without parentheses around it."""
        last_line, last_column = node.end_lineno, node.end_col_offset
        if last_line is None or last_column is None:
            raise ValueError("node: must come from the parser")
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[last_line - 1] + last_column,
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return a node as it is written."""
        start, end = self.span(node)
        return self.between(start, end)

    def between(self, start: int, end: int) -> str:
        """Return what is written between two places."""
        return self._code[start:end].decode()

    def grouped(self, node: ast.expr) -> str:
        """Return an expression as it can stand anywhere: in parentheses, or one that needs none."""
        text = self.text(node)
        return text if isinstance(node, _ATOMS) else f"({text})"

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes and methods that the file speaks of."""
        nodes = list(ast.walk(self._tree))
        read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        return frozenset(read | {node.name for node in nodes if isinstance(node, ast.FunctionDef)})

    @cached_property
    def compiled_functions(self) -> tuple[range, ...]:
        """The lines of the functions that Numba compiles."""
        return tuple(
            range(node.lineno, (node.end_lineno or node.lineno) + 1)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.FunctionDef)
            and any("jit" in self.text(decorator) for decorator in node.decorator_list)
        )

    @cached_property
    def function_lines(self) -> frozenset[int]:
        """The lines inside of functions, without those that define them."""
        return frozenset(
            line
            for node in ast.walk(self._tree)
            if isinstance(node, ast.FunctionDef | ast.Lambda)
            for statement in (node.body if isinstance(node, ast.FunctionDef) else [node.body])
            for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        )

    def statement_lines(self, line: int) -> frozenset[int]:
        """Return the lines of the innermost statement around a line; of a block, of its head."""
        found = frozenset({line})
        for node in ast.walk(self._tree):  # outer statements come before inner ones
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                body = getattr(node, "body", None)
                head_end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
                found = frozenset(range(node.lineno, max(head_end, node.lineno) + 1)) | {line}
        return found

    @cached_property
    def imported_modules(self) -> frozenset[str]:
        """The modules that the file imports from, at its top or inside of a function."""
        return frozenset(
            node.module
            for node in ast.walk(self._tree)
            if isinstance(node, ast.ImportFrom) and node.module
        )

    def formulas(self) -> Iterator[Place]:
        """Yield the nodes that stand in formulas, in the order of the file.

        Left out: docstrings and messages, annotations, decorators, imports, ``__all__``, what is
        printed or logged, checks of arguments and what is raised.
        """
        everywhere = frozenset().union(*(_bound(statement) for statement in self._tree.body))
        for statement in self._tree.body:
            names = everywhere | _named(statement)
            for node, function, iterated in self._walk(statement, (), iterated=False):
                yield Place(node, function, iterated, names)

    @cached_property
    def _argument_checks(self) -> frozenset[str]:
        return frozenset(
            alias.asname or alias.name
            for node in ast.walk(self._tree)
            if isinstance(node, ast.ImportFrom) and node.module == _ARGUMENTS
            for alias in node.names
        )

    def _walk(
        self, node: ast.AST, scope: tuple[str, ...], *, iterated: bool
    ) -> Iterator[tuple[ast.AST, str, bool]]:
        if self._only_speaks(node):
            return
        yield node, ".".join(scope) or MODULE, iterated
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            scope = (*scope, node.name)
        for child, runs_over in self._parts(node):
            yield from self._walk(child, scope, iterated=iterated or runs_over)

    def _only_speaks(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return True
        if isinstance(node, ast.FunctionDef):
            return node.name in _SPEAKING_FUNCTIONS
        if isinstance(node, ast.Assign):
            given = {each.id for to in node.targets for each in ast.walk(to) if _is_name(each)}
            return given == {"__all__"} or (bool(given) and given <= _TOLD)
        if isinstance(node, ast.keyword):
            return node.arg in _SPOKEN
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            return name in _SPEAKING_CALLS or name in self._argument_checks
        if isinstance(node, ast.If):
            named = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}
            return bool(named & _CONDITIONS) or (_refuses(node) and not node.orelse)
        return False

    def _parts(self, node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
        """Yield the parts that can hold formulas, each with whether a loop runs over it."""
        if isinstance(node, ast.FunctionDef):
            yield from ((each, False) for each in (*node.args.defaults, *node.body))
            yield from ((each, False) for each in node.args.kw_defaults if each is not None)
        elif isinstance(node, ast.ClassDef):
            yield from ((each, False) for each in node.body)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                yield node.value, False
        elif isinstance(node, ast.If) and _refuses(node):
            yield from ((each, False) for each in node.orelse)
        else:
            loop = isinstance(node, ast.For | ast.comprehension)
            for name, value in ast.iter_fields(node):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield child, loop and name == "iter"


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _refuses(node: ast.If) -> bool:
    """Whether the branch does nothing but raise: its test is a check of arguments."""
    return all(isinstance(statement, ast.Raise) for statement in node.body)


def _bound(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement of the module gives a value."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return frozenset({statement.name})
    if isinstance(statement, ast.ImportFrom):
        return frozenset(alias.asname or alias.name for alias in statement.names)
    return frozenset(
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _named(statement: ast.stmt) -> frozenset[str]:
    nodes = list(ast.walk(statement))
    return frozenset(
        {node.id for node in nodes if isinstance(node, ast.Name)}
        | {node.arg for node in nodes if isinstance(node, ast.arg)}
    )


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
