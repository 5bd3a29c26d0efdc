"""Certificates and counterexamples that travel: one JSON file from which a verdict is re-decided.

There are two questions: what one step of softmax attention reaches, and what many steps of another
attention map do. The file holds the exact inputs and what was concluded from them. Replaying reads
the inputs, checks that they are the ones the file was made from, and decides again; what the file
says was concluded is compared, never believed. Numbers are strings of exact values: the arrays in
binary64 hexadecimal, step size and tolerance in decimal. Large embeddings that were drawn are kept
as their draw. Nothing in the file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, check_support, finite_array
from verify.decimals import ExactDecimal, parse_positive
from verify.decisions.question import DescentQuestion, Question
from verify.environment import package_versions, version
from verify.files.reading import read_bytes
from verify.files.strict_json import needed_bytes, parse_json
from verify.files.writing import write_atomically
from verify.instances.instance import Instance, draw_origin
from verify.instances.origin import Origin
from verify.running.memory import embedding_bytes, refuse_beyond_memory

__all__ = ["DESCENT", "ONE_STEP", "load_bundle", "refuse_too_large", "save_bundle"]

FORMAT = "xorverify-bundle-1"
ONE_STEP, DESCENT = "theorem2-instances", "softmax-is-necessary"
"""The claims that a bundle can belong to, one for each question."""

# Above this many entries, drawn embeddings are kept as their draw.
_WRITTEN_OUT = 4096
_HEX = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?0x0\.0p\+0")
_LARGEST_FILE = 1 << 30
# What a number of an array has at most in the file, with its line and its comma.
_LONGEST_NUMBER = b'    "-0x1.fffffffffffffp-1022",\n'
_MOST_STEPS = 100_000
_NAMES = ("V", "theta", "theta_tilde")
_ENTRIES = {
    ONE_STEP: {"support", "eta", "tolerance"},
    DESCENT: {"support", "eta", "tolerance", "attention", "steps"},
}


def refuse_too_large(path: Path, instance: Instance) -> None:
    """Refuse an instance whose numbers would make a bundle that `load_bundle` refuses.

    Parameters
    ----------
    path : Path
        Where the bundle would go.
    instance : Instance
        Drawn ones are no matter, as they are kept as their draw.

    Raises
    ------
    InvalidArgumentError
        If the file could be longer than 1 GiB, or take more memory than there is.
    """
    if instance.origin is None:
        _refuse_many_numbers(path, sum(getattr(instance, name).size for name in _NAMES))


def save_bundle(path: Path, question: Question, result: Mapping[str, object]) -> None:
    """Write a bundle.

    Parameters
    ----------
    path : Path
        Where it goes.
    question : Question
        What was decided.
    result : mapping
        The document of the decision; strict JSON.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be written, or `load_bundle` would refuse it by its length.
    """
    instance = question.instance
    arrays = {name: getattr(instance, name) for name in _NAMES}
    inputs = {
        **_written(path, instance, arrays),
        "support": list(instance.support),
        "eta": question.eta.text,
        "tolerance": question.tolerance.text,
    }
    claim = ONE_STEP
    if isinstance(question, DescentQuestion):
        claim = DESCENT
        inputs |= {"attention": question.attention, "steps": question.steps}
    digests = {name: _digest(array) for name, array in arrays.items()}
    document = {
        "format": FORMAT,
        "claim": claim,
        "versions": {"xorverify": version(), **package_versions()},
        "inputs": inputs,
        "sha256": {**digests, "inputs": _text_digest(inputs)},
        "result": dict(result),
    }
    text = (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()
    if len(text) > _LARGEST_FILE:
        raise _too_large(path, len(text))
    refuse_beyond_memory("bundle", path, needed_bytes(text))
    write_atomically("bundle", path, lambda stream: stream.write(text))


def load_bundle(path: Path) -> tuple[Question, str]:
    """Read a bundle, check that its inputs are the ones it was made from, and return them.

    Returns
    -------
    question : Question
        What to decide again; a `DescentQuestion` if the bundle is about many steps.
    verdict : str
        What was concluded when the bundle was saved.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, is no bundle, or an array does not have its recorded hash.
    """
    document = _read(path)
    try:
        inputs, hashes, claim = document["inputs"], document["sha256"], document["claim"]
        if claim not in (ONE_STEP, DESCENT):
            raise _unusable(path, f"no bundle belongs to the claim {claim}")
        # What would not be read may not be there: it could make one question look like another.
        other = sorted(inputs.keys() - _ENTRIES[claim] - {"origin", *_NAMES})
        if other:
            raise _unusable(path, f"the claim {claim} has no input {other[0]}")
        instance = _instance(path, inputs)
        for name in _NAMES:
            if hashes[name] != _digest(getattr(instance, name)):
                raise _unusable(path, f"the numbers of {name} do not fit their hash")
        eta, tolerance = (_number(path, name, inputs[name]) for name in ("eta", "tolerance"))
        if hashes["inputs"] != _text_digest(inputs):
            raise _unusable(path, "the inputs do not fit their hash")
        verdict = document["result"]["verdict"]
        if verdict not in ("certified", "refuted"):
            raise _unusable(path, "its verdict is neither certified nor refuted")
        if claim == DESCENT:
            return DescentQuestion(instance, eta, tolerance, *_descent(path, inputs)), verdict
        return Question(instance, eta, tolerance), verdict
    except (AttributeError, KeyError, TypeError) as missing:
        raise _unusable(path, f"an entry is missing or of the wrong kind ({missing})") from None


def _refuse_many_numbers(path: Path, count: int) -> None:
    """Refuse more numbers than a bundle can hold in full, before they are turned into texts."""
    length = count * len(_LONGEST_NUMBER)
    if length > _LARGEST_FILE:
        raise _too_large(path, length)
    refuse_beyond_memory("bundle", path, count * needed_bytes(_LONGEST_NUMBER))


def _too_large(path: Path, length: int) -> InvalidArgumentError:
    return InvalidArgumentError(
        "bundle",
        path,
        f"would have {length / 2**30:.3g} GiB, and {_LARGEST_FILE >> 30} GiB are read at most; "
        "an instance that `xorverify instance` drew is kept as its draw",
    )


def _written(
    path: Path, instance: Instance, arrays: Mapping[str, NDArray[np.float64]]
) -> dict[str, object]:
    if instance.V.size > _WRITTEN_OUT and instance.origin is not None:
        again = draw_origin(instance.origin)
        if all(_digest(getattr(again, name)) == _digest(arrays[name]) for name in _NAMES):
            return {"origin": instance.origin.as_json()}
    _refuse_many_numbers(path, sum(array.size for array in arrays.values()))
    return {
        name: {"shape": list(array.shape), "hex": [value.hex() for value in array.ravel().tolist()]}
        for name, array in arrays.items()
    }


def _instance(path: Path, inputs: Mapping[str, Any]) -> Instance:
    support = inputs["support"]
    if "origin" in inputs:
        if not inputs.keys().isdisjoint(_NAMES):
            raise _unusable(path, "it holds both a draw and arrays")
        origin = Origin.from_json("bundle", inputs["origin"])
        refuse_beyond_memory("bundle", path, embedding_bytes(origin.d, origin.m))
        drawn = draw_origin(origin)
        return Instance(
            drawn.V, drawn.theta, drawn.theta_tilde, check_support((*support,), origin.d)
        )
    V, theta, theta_tilde = (_array(path, name, inputs[name]) for name in _NAMES)
    if V.ndim != 2 or not theta.shape == theta_tilde.shape == V.shape[1:]:
        raise _unusable(path, "the shapes of V, theta and theta_tilde do not fit")
    return Instance(V, theta, theta_tilde, check_support((*support,), len(V)))


def _descent(path: Path, inputs: Mapping[str, Any]) -> tuple[str, int]:
    attention, steps = inputs["attention"], inputs["steps"]
    if not isinstance(attention, str) or type(steps) is not int:
        raise _unusable(path, "attention must be a name and steps an integer")
    if not 0 <= steps <= _MOST_STEPS:
        raise _unusable(path, f"steps must be in 0..{_MOST_STEPS}")
    return attention, steps


def _array(path: Path, name: str, given: Mapping[str, Any]) -> NDArray[np.float64]:
    shape, values = given["shape"], given["hex"]
    whole = len(shape) <= 2 and all(type(size) is int and size > 0 for size in shape)
    if not whole or not isinstance(values, list) or len(values) != math.prod(shape):
        raise _unusable(path, f"{name} does not have the entries of its shape")
    if not all(isinstance(value, str) and _HEX.fullmatch(value) for value in values):
        raise _unusable(path, f"an entry of {name} is no hexadecimal binary64 number")
    try:
        flat = np.array([float.fromhex(value) for value in values])
    except OverflowError:
        raise _unusable(path, f"an entry of {name} is beyond binary64") from None
    return finite_array(name, flat.reshape(shape), len(shape))


def _number(path: Path, name: str, text: object) -> ExactDecimal:
    if not isinstance(text, str):
        raise _unusable(path, f"{name} is no string")
    return parse_positive(name, text)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_bytes(path, most=_LARGEST_FILE)
        refuse_beyond_memory("bundle", path, needed_bytes(text))
        document = parse_json(text)
    except OSError as failure:
        raise _unusable(path, failure.strerror or str(failure)) from None
    except InvalidArgumentError:
        raise
    except ValueError as failure:
        raise _unusable(path, f"not a JSON document: {failure}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _unusable(path, f"not a document of the format {FORMAT}")
    return document


def _digest(array: NDArray[np.float64]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f8").data).hexdigest()


def _text_digest(inputs: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _unusable(path: Path, reason: str) -> InvalidArgumentError:
    return InvalidArgumentError("bundle", path, f"unusable bundle: {reason}")
