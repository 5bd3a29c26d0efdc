"""Attacks on every file that a command reads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from campaigns.robustness.attack import Attack
from campaigns.robustness.files import originals
from campaigns.robustness.files.archives import hostile_archives, hostile_members
from campaigns.robustness.files.corruptions import damaged_bytes, other_things, unsteady_files
from campaigns.robustness.files.databases import odd_databases
from campaigns.robustness.files.deceptions import deceiving_archives
from campaigns.robustness.files.plug_ins import odd_references
from campaigns.robustness.files.reader import Reader, content
from campaigns.robustness.files.refusals import (
    doubled_claims,
    doubled_entries,
    doubled_values,
    lost_rows,
)
from campaigns.robustness.files.texts import odd_configurations, odd_notations, odd_papers
from campaigns.robustness.files.trees import altered_entries, no_documents, rehashed

__all__ = ["attacks"]

GRADIENT = Reader(
    "instance, gradient",
    ("gradient", "{}", "--json"),
    "i.npz",
    originals.instance,
    has_checksums=True,
)
CERTIFY = Reader(
    "instance, certify",
    ("certify", "{}", "--support", "0", "2", "--json"),
    "i.npz",
    originals.instance,
    has_checksums=True,
)
BUNDLE = Reader(
    "bundle, replay", ("replay", "{}", "--json"), "b.json", originals.bundle, has_checksums=True
)
DESCENT = Reader(
    "bundle of many steps, replay",
    ("replay", "{}", "--json"),
    "b.json",
    originals.descent_bundle,
    has_checksums=True,
)
RESULTS = Reader(
    "results.json, diff",
    ("diff", "other.json", "{}", "--json"),
    "r.json",
    originals.results,
    around=lambda: {"other.json": originals.results()},
)
CONFIG = Reader(
    "configuration, sweep",
    ("sweep", "{}", "--out", "s", "--jobs", "1", "--quiet", "--json"),
    "c.toml",
    lambda: originals.CONFIGURATION,
)
NOTATION = Reader(
    "notation, latex",
    ("latex", "theorem2-loss", "--notation", "{}", "--json"),
    "n.toml",
    lambda: originals.NOTATION,
)
PAPER = Reader(
    "paper, latex --check", ("latex", "--check", "{}", "--json"), "p.tex", originals.paper
)
FIGURES = Reader(
    "database, figures",
    ("figures", "s", "--out", "f", "--jobs", "1", "--quiet", "--json"),
    "s/results.sqlite",
    lambda: originals.sweep_files(originals.CONFIGURATION)["results.sqlite"],
)
RESUMED = Reader(
    "database, sweep",
    ("sweep", "c.toml", "--out", "s", "--jobs", "1", "--quiet", "--json"),
    "s/results.sqlite",
    lambda: originals.sweep_files(originals.CONFIGURATION)["results.sqlite"],
    around=lambda: {"c.toml": originals.CONFIGURATION},
)
LAW = Reader(
    "embeddings, instance --law",
    ("instance", "--d", "4", "--m", "3", "--law", "file:{}", "--out", "o.npz"),
    "V.npy",
    originals.embeddings,
)
CHECKPOINT = Reader(
    "checkpoint, sweep",
    ("sweep", "c.toml", "--out", "s", "--jobs", "1", "--quiet", "--json"),
    originals.CHECKPOINT,
    originals.checkpoint,
    around=lambda: {"c.toml": originals.TRAINING},
    has_checksums=True,
)
READERS = (
    GRADIENT,
    CERTIFY,
    BUNDLE,
    DESCENT,
    RESULTS,
    CONFIG,
    NOTATION,
    PAPER,
    FIGURES,
    RESUMED,
    LAW,
    CHECKPOINT,
)
_SLOW = (FIGURES,)


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks, at the small or the full size."""
    return [*_attacks(full=full)]


def _attacks(*, full: bool) -> Iterator[Attack]:
    for reader in READERS:
        few = reader in _SLOW
        flips, cuts = (10 if few else 100, 50) if full else (1 if few else 6, 3)
        yield from damaged_bytes(reader, flips=flips, cuts=cuts)
        yield from other_things(reader)
        if "/" not in reader.file:
            yield from unsteady_files(reader, rounds=30 if full else 5)
    yield from hostile_archives(GRADIENT, originals.arrays())
    yield from deceiving_archives(GRADIENT)
    if full:
        yield from hostile_archives(CERTIFY, originals.arrays())
        yield from deceiving_archives(CERTIFY)
        yield from hostile_archives(CHECKPOINT, originals.trajectory_arrays())
    for name, member in hostile_members(originals.arrays()["V"]).items():
        yield content(LAW, name, member)
    rng = np.random.default_rng(0)
    for reader in (BUNDLE, DESCENT, RESULTS):
        yield from no_documents(reader)
        yield from altered_entries(reader, rng, most=600 if full else 40)
    for reader in (BUNDLE, DESCENT):
        yield from altered_entries(reader, rng, most=600 if full else 40, mend=rehashed)
    yield from odd_configurations(CONFIG)
    yield from odd_notations(NOTATION)
    yield from odd_papers(PAPER)
    yield from odd_databases(RESUMED, full=full)
    if full:
        yield from odd_databases(FIGURES, full=full)
    yield from odd_references()
    for reader in (BUNDLE, DESCENT, RESULTS):
        yield from doubled_entries(reader)
    yield from doubled_claims(RESULTS)
    yield from doubled_values(CONFIG)
    for reader in (FIGURES, RESUMED):
        yield from lost_rows(reader)
