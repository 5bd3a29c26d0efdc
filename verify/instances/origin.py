"""Where a drawn instance came from: the few numbers that draw it again, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numerics.arguments import InvalidArgumentError, check_support, integer_at_least
from numerics.embeddings import LAWS, check_law

__all__ = ["Origin"]

_MOST = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The draw of a Monte Carlo trial.

    Parameters
    ----------
    d, m : int
        Sizes.
    law : str
        Law of the embeddings, a key of `numerics.embeddings.LAWS`: a draw under a law of a
        user's own cannot be repeated from a name.
    seed, trial : int
        Root seed, and which trial.
    support : pair of int, optional
        The support, where it was given and not drawn.
    """

    d: int
    m: int
    law: str
    seed: int
    trial: int
    support: tuple[int, int] | None = None

    def as_json(self) -> dict[str, object]:
        """Return the fields, the support only if it was given."""
        fields: dict[str, object] = {
            "d": self.d,
            "m": self.m,
            "law": self.law,
            "seed": self.seed,
            "trial": self.trial,
        }
        return fields if self.support is None else fields | {"support": list(self.support)}

    @classmethod
    def from_json(cls, what: str, given: object) -> Origin:
        """Read what `as_json` wrote, trusting nothing.

        Raises
        ------
        InvalidArgumentError
            If a field is missing or unknown, or has a value no draw can have.
        """
        if not isinstance(given, Mapping) or not set(given) <= _FIELDS or _REQUIRED - set(given):
            names = ", ".join(sorted(_REQUIRED))
            raise InvalidArgumentError(what, "origin", f"must have the fields {names}")
        d, m = _integer(given, "d", 2), _integer(given, "m", 1)
        law = str(given["law"])
        # What comes from a file never makes this program import or open anything.
        if law not in LAWS:
            raise InvalidArgumentError("law", law, f"must be one of {', '.join(LAWS)}")
        check_law(law, d, m)
        support = given.get("support")
        if support is not None:
            if not isinstance(support, list):
                raise InvalidArgumentError("support", support, "must be a list of two positions")
            support = check_support((*support,), d)
        return cls(
            d=d,
            m=m,
            law=law,
            seed=_integer(given, "seed", 0),
            trial=_integer(given, "trial", 0),
            support=support,
        )


_REQUIRED = {"d", "m", "law", "seed", "trial"}
_FIELDS = _REQUIRED | {"support"}


def _integer(given: Mapping[str, object], name: str, least: int) -> int:
    value = given[name]
    if not isinstance(value, int):
        raise InvalidArgumentError(name, value, f"must be an integer >= {least}")
    number = integer_at_least(name, value, least)
    if number > _MOST:
        raise InvalidArgumentError(name, number, f"must be at most {_MOST}")
    return number
