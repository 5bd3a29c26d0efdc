"""A seeded sample of the mutants in which every file and every operator has weight."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from campaigns.mutants.mutant import Mutant

__all__ = ["round_robin"]


def round_robin(mutants: Mapping[str, Sequence[Mutant]], count: int, *, seed: int) -> list[Mutant]:
    """Draw mutants from the files in turn, without replacement.

    The files stand in a random order, and each gives one mutant a round as long as it has any; so
    do its operators, in a random order of theirs, so that rare changes have as much weight as
    frequent ones. Every order is by a random number of its own for each name and id: an edit
    changes the sample where it was made, and little elsewhere.

    Parameters
    ----------
    mutants : mapping of str to sequence of Mutant
        By file.
    count : int
        How many; fewer if there are fewer.
    seed : int
        The draw is a function of it and of `mutants`.
    """
    files = sorted((file for file in mutants if mutants[file]), key=lambda file: _rank(seed, file))
    queues = [_queue(mutants[file], seed) for file in files]
    drawn: list[Mutant] = []
    for turn in range(max(map(len, queues), default=0)):
        drawn += [queue[turn] for queue in queues if turn < len(queue)]
        if len(drawn) >= count:
            break
    return drawn[:count]


def _queue(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Return the mutants of a file in the order of their turns."""
    by_operator: dict[str, list[Mutant]] = {}
    for mutant in sorted(mutants, key=lambda mutant: _rank(seed, mutant.id)):
        by_operator.setdefault(mutant.change.operator, []).append(mutant)
    turns = [
        (number, _rank(seed, f"{mutant.file} {operator}"), mutant)
        for operator, members in by_operator.items()
        for number, mutant in enumerate(members)
    ]
    return [mutant for _, _, mutant in sorted(turns, key=lambda turn: turn[:2])]


def _rank(seed: int, name: str) -> int:
    """Return a random number that depends on the seed and on a name alone."""
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest())
    return int(np.random.SeedSequence([seed, digest]).generate_state(1, np.uint64)[0])
