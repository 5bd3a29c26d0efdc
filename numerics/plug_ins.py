"""Attention maps and embedding laws of a user's own, named on the command line.

``module:ATTRIBUTE`` is a name that travels to worker processes as a string and is looked up
there. The code it names is the user's, and runs because the user wrote the name; nothing that is
read from a file is ever looked up this way.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from numerics.arguments import InvalidArgumentError

__all__ = ["failure_in_a_line", "load_plug_in"]

Kind = TypeVar("Kind")


def load_plug_in(what: str, name: str, kind: type[Kind]) -> Kind:
    """Return the object that ``module:ATTRIBUTE`` names.

    Parameters
    ----------
    what : str
        Name of the argument, for the message.
    name : str
        The module may be installed or be a file of the working directory, which stays on the
        import path.
    kind : type
        What the object must be an instance of.

    Raises
    ------
    InvalidArgumentError
        If the name has another form, the module does not exist or fails, or it has no such object.
    """
    module_name, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), attribute)):
        raise InvalidArgumentError(what, name, "must be module:ATTRIBUTE, by their names")
    module = _import(what, name, module_name)
    try:
        found = getattr(module, attribute)
    except Exception:  # a module may have a function that finds its attributes, and fails
        place = getattr(module, "__file__", None) or "a folder"
        raise InvalidArgumentError(
            what, name, f"{module_name} ({place}) has no {attribute}"
        ) from None
    if not isinstance(found, kind):
        raise InvalidArgumentError(
            what,
            name,
            f"is a {type(found).__name__}; must be a {kind.__module__}.{kind.__name__}",
        )
    return found


def failure_in_a_line(failure: BaseException) -> str:
    """Return what kind of failure a user's own code met, and what it says of itself."""
    try:
        text = str(failure)
    except Exception:  # even that is the user's own code
        text = "without a text"
    return " ".join(f"{type(failure).__name__}: {text}".split())


def _import(what: str, name: str, module_name: str) -> ModuleType:
    try:
        folder = str(Path.cwd())
    except OSError as failure:
        reason = f"the working directory cannot be searched: {failure.strerror}"
        raise InvalidArgumentError(what, name, reason) from None
    if folder not in sys.path:
        # At the end, so that no file here takes the place of an installed module; and for good, as
        # the module may import more when it is used.
        sys.path.append(folder)
    importlib.invalidate_caches()  # the file may be newer than the last look at its folder
    try:
        # Standard output is for results: what the module prints goes where progress goes.
        with redirect_stdout(sys.stderr):
            return importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # whatever the module runs into
        missing = failure.name if isinstance(failure, ModuleNotFoundError) else None
        if missing is not None and f"{module_name}.".startswith(f"{missing}."):
            reason = f"no module {missing}, neither installed nor in {folder}"
        else:
            reason = f"importing {module_name} failed: {failure_in_a_line(failure)}"
        raise InvalidArgumentError(what, name, reason) from None
