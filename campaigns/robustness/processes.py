"""Attacks on the verifier as a process, and on the system around it."""

from __future__ import annotations

from campaigns.robustness import disks, environments, sharing, signals, streams
from campaigns.robustness.attack import Attack
from campaigns.robustness.material import material

__all__ = ["attacks"]


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks on places, streams, environments, by signals, and on what is shared."""
    material()  # here and now, for all workers of the campaign
    modules = (disks, streams, environments, signals, sharing)
    return [attack for module in modules for attack in module.attacks(full=full)]
