"""The changes: what someone may get wrong in a formula, made mechanically from the syntax tree.

An operator looks at one node and yields what may stand in its place, as source text. The text
around it is never touched, so the rest of the file stays as it is, to the letter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeGuard

from campaigns.mutants.mutant import Change, Mutant, identified
from campaigns.mutants.source import Place, Source

__all__ = ["OPERATORS", "mutants_of"]

Texts = Iterator[str]
Operator = Callable[[Source, Place], Texts]

_SIGNS: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
_BOUNDARIES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
_FUNCTIONS = {"cosh": "sinh", "sinh": "cosh", "cos": "sin", "sin": "cos"}
_RATIONALS = frozenset({"Rational", "Fraction"})
_HEAD_PAIRS = {"a": "b", "b": "a"}
_INDICES = {"0": "1", "1": "0"}
_TILDE = "_tilde"
# Words of identifiers for the two ends of an enclosure, and for the two directions of rounding.
_DIRECTIONS = (
    ("upper", "lower"),
    ("ceil", "floor"),
    ("CEILING", "FLOOR"),
    ("max", "min"),
    ("maximum", "minimum"),
    ("largest", "smallest"),
    ("largest", "least"),
    ("high", "low"),
)
# Ends that are methods of balls, arrays and numbers, or built in: they exist everywhere.
_EVERYWHERE = frozenset({"upper", "lower", "ceil", "floor", "max", "min", "maximum", "minimum"})
_ERROR_TERM = re.compile(r"rad\(|radius|err|slack|ulp|round|_UNIT")
_BOUND_FILE = re.compile(
    r"bounds?\b|bounds/|events|converse|theorem2|corollary3|tails|sphere|_step/|ledgers/|chance"
)
_HEADS = re.compile(r"heads|HEADS|queries|both")


@cache
def mutants_of(file: str, code: bytes) -> tuple[Mutant, ...]:
    """Return every mutant of a file, in the order of its lines.

    Parameters
    ----------
    file : str
        Path from the root of the repository, with slashes.
    code : bytes
        What it holds.
    """
    source = Source(code)
    changes: dict[tuple[int, int, str], Change] = {}
    for place in source.formulas():
        node = place.node
        if not isinstance(node, ast.expr | ast.AugAssign):
            continue
        start, end = source.span(node)
        for name, operator in OPERATORS.items():
            if name == "union" and not _BOUND_FILE.search(file):
                continue
            for after in operator(source, place):
                # What two operators yield alike belongs to the first.
                if (start, end, after) not in changes and _differs(node, after):
                    changes[start, end, after] = Change(
                        line=node.lineno,
                        function=place.function,
                        operator=name,
                        before=source.text(node),
                        after=after,
                        start=start,
                        end=end,
                    )
    return tuple(identified(file, changes.values()))


def _differs(node: ast.expr | ast.AugAssign, after: str) -> bool:
    """Whether the text means something else than the node; what cannot be read is an error."""
    if isinstance(node, ast.AugAssign):
        return ast.dump(ast.parse(after).body[0]) != ast.dump(node)
    # An expression may run over several lines, which only parentheses allow.
    return ast.dump(ast.parse(f"({after})", mode="eval").body) != ast.dump(node)


def _flipped_signs(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS and _is_numeric(node):
        yield _with_operator(source, node, node.left, node.right, *_SIGNS[type(node.op)])
    elif isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS and _is_number(node.value):
        old, new = _SIGNS[type(node.op)]
        yield _with_operator(source, node, node.target, node.value, f"{old}=", f"{new}=")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield source.grouped(node.operand)
    elif _is_product(node) and _is_number(node):
        yield f"-({source.text(node)})"


def _changed_factors(source: Source, place: Place) -> Texts:
    node = place.node
    if _is_product(node):
        for own in (node.left, node.right):
            for text in _scaled(source, own):
                yield _with_part(source, node, own, text)
        if _is_numeric(node):
            yield source.grouped(node.left)
            if isinstance(node.op, ast.Mult):
                yield source.grouped(node.right)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult | ast.Div):
        for text in _scaled(source, node.value):
            yield _with_part(source, node, node.value, text)
    elif isinstance(node, ast.Call) and _name(node.func) in _RATIONALS and node.args:
        for text in _scaled(source, node.args[0]):
            yield _with_part(source, node, node.args[0], text)


def _dropped_terms(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS and _is_numeric(node):
        yield source.grouped(node.left)
        right = source.grouped(node.right)
        yield right if isinstance(node.op, ast.Add) else f"(-{right})"


def _changed_exponents(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = node.right
        negative = isinstance(exponent, ast.UnaryOp) and isinstance(exponent.op, ast.USub)
        digits = exponent.operand if isinstance(exponent, ast.UnaryOp) else exponent
        if isinstance(digits, ast.Constant) and isinstance(digits.value, int):
            value = -digits.value if negative else digits.value
            for changed in (value - 1, value + 1):
                yield _with_part(source, node, exponent, str(changed))
    elif isinstance(node, ast.Call) and _name(node.func) == "sqrt":
        if len(node.args) == 1:
            yield source.grouped(node.args[0])
        elif isinstance(node.func, ast.Attribute):
            yield source.grouped(node.func.value)


def _swapped_heads(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        other = _other_head(node.id)
        if other in place.names:
            yield other
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        attribute = _other_head(node.attr)
        if node.attr not in _HEAD_PAIRS and attribute in source.attributes:
            yield _with_attribute(source, node, attribute)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        index = source.text(node.slice)
        if index in _INDICES and not of_shape:
            yield _with_part(source, node, node.slice, _INDICES[index])


def _swapped_functions(source: Source, place: Place) -> Texts:
    node = place.node
    if not isinstance(node, ast.Call):
        return
    name = _name(node.func)
    if name in _FUNCTIONS:
        yield _with_part(source, node, node.func, _renamed(source, node.func, _FUNCTIONS[name]))
    elif name == "exp" and len(node.args) == 1:
        yield _with_part(source, node, node.args[0], f"-{source.grouped(node.args[0])}")
    elif name == "exp" and isinstance(node.func, ast.Attribute) and not node.args:
        yield _with_part(source, node, node.func.value, f"(-{source.grouped(node.func.value)})")


def _wrong_cumulants(source: Source, place: Place) -> Texts:
    """Yield tables of coefficients with one of them wrong.

    Lists of positive integers are sizes, and what a loop visits are instances: both are left.
    """
    node = place.node
    if place.iterated or not isinstance(node, ast.Tuple | ast.List | ast.Dict):
        return
    entries = node.values if isinstance(node, ast.Dict) else node.elts
    numbers = [_literal(entry) for entry in entries]
    coefficients = any(
        number is not None and (number < 0 or "." in source.text(entry))
        for number, entry in zip(numbers, entries, strict=True)
    )
    if len(entries) > 1 and None not in numbers and coefficients:
        for number, entry in zip(numbers, entries, strict=True):
            if number:
                yield _with_part(source, node, entry, f"-{source.grouped(entry)}")
            for text in _scaled(source, entry):
                yield _with_part(source, node, entry, text)


def _union_over_one_head(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for own, other in ((node.left, node.right), (node.right, node.left)):
            if _literal(own) == 2:
                yield source.grouped(other)
    elif isinstance(node, ast.GeneratorExp | ast.ListComp):
        over = node.generators[0].iter
        if isinstance(over, ast.Tuple) and len(over.elts) == 2:
            yield _with_part(source, node, over, f"({source.text(over.elts[0])},)")
        elif isinstance(over, ast.Name | ast.Attribute) and _HEADS.search(source.text(over)):
            yield _with_part(source, node, over, f"{source.text(over)}[:1]")


def _inward_roundings(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        name = _name(node)
        known = place.names if isinstance(node, ast.Name) else source.attributes
        for other in _other_directions(name):
            if other in known or {name, other} <= _EVERYWHERE:
                yield _renamed(source, node, other)
    elif (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and _ERROR_TERM.search(source.text(node.right))
    ):
        yield source.grouped(node.left)


def _moved_boundaries(source: Source, place: Place) -> Texts:
    node = place.node
    if isinstance(node, ast.Compare):
        lefts = [node.left, *node.comparators[:-1]]
        for left, operator, right in zip(lefts, node.ops, node.comparators, strict=True):
            if type(operator) in _BOUNDARIES:
                yield _with_operator(source, node, left, right, *_BOUNDARIES[type(operator)])


OPERATORS: dict[str, Operator] = {
    "union": _union_over_one_head,
    "inward": _inward_roundings,
    "sign": _flipped_signs,
    "factor": _changed_factors,
    "term": _dropped_terms,
    "exponent": _changed_exponents,
    "head": _swapped_heads,
    "function": _swapped_functions,
    "cumulant": _wrong_cumulants,
    "boundary": _moved_boundaries,
}
"""The operators by name; what two of them yield alike belongs to the first."""


def _is_product(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)


def _is_numeric(node: ast.BinOp) -> bool:
    return _is_number(node.left) and _is_number(node.right)


def _is_number(node: ast.expr) -> bool:
    """Whether it may be a number: it is no text and no list."""
    if isinstance(node, ast.BinOp):
        return _is_numeric(node)
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str | bytes)
    return not isinstance(node, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)


def _literal(node: ast.expr) -> float | None:
    """Return the number that is written there, if one is."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _literal(node.operand)
        return None if value is None else -value
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return None
    return float(node.value) if isinstance(node.value, int | float) else None


def _scaled(source: Source, node: ast.expr) -> Texts:
    """Yield twice and half of a number that is written there."""
    number = _literal(node)
    if number is None or number == 0:
        return
    text = source.text(node)
    whole = re.fullmatch(r"-?\d+", text)
    yield str(2 * int(text)) if whole else f"(2 * {text})"
    if not whole:
        yield f"(0.5 * {text})"
    elif int(text) % 2 == 0:
        yield str(int(text) // 2)


def _other_head(name: str) -> str:
    if name in _HEAD_PAIRS:
        return _HEAD_PAIRS[name]
    return name.removesuffix(_TILDE) if name.endswith(_TILDE) else name + _TILDE


def _other_directions(name: str) -> Iterator[str]:
    words = re.split(r"(_)", name)
    for pair in _DIRECTIONS:
        for old, new in (pair, pair[::-1]):
            if old in words:
                yield "".join(new if word == old else word for word in words)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _renamed(source: Source, node: ast.expr, name: str) -> str:
    return _with_attribute(source, node, name) if isinstance(node, ast.Attribute) else name


def _with_attribute(source: Source, node: ast.Attribute, name: str) -> str:
    return source.text(node).removesuffix(node.attr) + name


def _with_part(source: Source, node: ast.expr | ast.stmt, part: ast.expr, text: str) -> str:
    """Return `node` as it is written, with `text` in the place of one of its parts."""
    start, end = source.span(node)
    first, last = source.span(part)
    return source.between(start, first) + text + source.between(last, end)


def _with_operator(
    source: Source, node: ast.expr | ast.stmt, left: ast.expr, right: ast.expr, old: str, new: str
) -> str:
    """Return `node` as it is written, with another operator between two of its parts."""
    start, end = source.span(node)
    first, last = source.span(left)[1], source.span(right)[0]
    # Around it stand blanks, parentheses and comments; it comes first outside of a comment.
    gap = re.sub(
        rf"^((?:[\s()]|#.*\n)*){re.escape(old)}",
        lambda found: found.group(1) + new,
        source.between(first, last),
    )
    return source.between(start, first) + gap + source.between(last, end)
