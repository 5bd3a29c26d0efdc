"""The fragments by name: formulas in the order of the derivations, then claims in theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from numerics.arguments import InvalidArgumentError, suggestion
from verify.claims import CLAIMS
from verify.latex.claims import claim_fragment
from verify.latex.formulas import FORMULAS, formula_fragment
from verify.latex.fragment import Fragment
from verify.latex.notation import OWN, Notation

__all__ = ["TITLES", "build", "choose"]

TITLES = {
    **{name: described.title for name, described in FORMULAS.items()},
    **{claim.id: claim.title for claim in CLAIMS.values()},
}
"""Name and title of every fragment, in order; nothing is derived to know them."""


def choose(names: Iterable[str]) -> tuple[str, ...]:
    """Return the named fragments' names in the order of `TITLES`, each once; all if none is named.

    Raises
    ------
    InvalidArgumentError
        If there is no fragment of a name.
    """
    wanted = set()
    for name in names:
        if name not in TITLES:
            near = suggestion(name, TITLES)
            raise InvalidArgumentError(
                "NAME", name, f"no such fragment; 'latex --list' names them all{near}"
            )
        wanted.add(name)
    return tuple(name for name in TITLES if name in wanted or not wanted)


def build(name: str, notation: Notation = OWN) -> Fragment:
    """Return the fragment called `name`, one of `TITLES`; a formula is derived for it.

    Raises
    ------
    InvalidArgumentError
        If the notation clashes with the fragment.
    """

    def printed(notation: Notation) -> Fragment:
        if name in FORMULAS:
            return formula_fragment(name, notation)
        return claim_fragment(CLAIMS[name], notation)

    if notation == OWN:
        return printed(OWN)
    return replace(printed(notation), notation=notation.fingerprint, plain=printed(OWN).fingerprint)
