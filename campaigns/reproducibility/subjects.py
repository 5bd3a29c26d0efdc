"""What is repeated: every command whose output a paper may rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verify.claim import Profile
from verify.claims import CLAIMS

__all__ = ["JOBS", "Subject", "subjects"]

JOBS = "{jobs}"
"""Stands in a command for the number of worker processes."""

_CHEAP = 2.0  # seconds that a claim's cells may take together at profile standard, roughly

_WORKERS = ("--jobs", JOBS, "--quiet", "--json")

# Orthonormal embeddings come from a factorisation, which a library divides among threads at this
# size.
_INSTANCE = (
    "xorverify instance --d 256 --m 300 --law orthonormal --seed {seed} --out instance.npz",
    "xorverify gradient instance.npz --digits 12 --json",
    "xorverify certify instance.npz --eta 1e8 --bundle bundle.json --json",
    "xorverify replay bundle.json --json",
)
_SWEEP = """
[sweep]
name = "repeated"
kind = "theorem2"
trials = 12
seed = {seed}

[grid]
d = [16, 64]
m = [8, 16]
eta_scale = [10, 1000]
law = "sphere"
"""


@dataclass(frozen=True)
class Subject:
    """Commands that are run one after the other in a folder of their own.

    Parameters
    ----------
    name : str
        Names them in the table.
    commands : sequence of tuple of str
        Arguments of Python each; `JOBS` stands for the number of workers. Each must print:
        what is refused or breaks down is the same everywhere, and shows nothing.
    files : mapping
        Files that are there before, text by name.
    """

    name: str
    commands: Sequence[tuple[str, ...]]
    files: Mapping[str, str] = field(default_factory=dict)


def subjects(*, full: bool, seed: int) -> list[Subject]:
    """Return the subjects of the campaign at its small or full size."""
    return [*_small(seed), *(_only_full(seed) if full else ())]


def _small(seed: int) -> list[Subject]:
    # A derivation, a figure, balls, and draws of which so many fail that their count tells them.
    few = ("zero-start", "parameter-count", "theorem2-instances", "unequal-norms")
    return [
        Subject("run, a few claims", [_run("quick", few, seed)]),
        Subject("instance, gradient, certify, replay", [_of(each, seed) for each in _INSTANCE]),
        Subject("sweep", [_sweep(seed)], {"sweep.toml": _SWEEP.format(seed=seed)}),
        Subject(
            "latex, derivations",
            [
                _of("xorverify latex population.loss theorem2-loss --out tex", seed),
                _of("derivations antisymmetric --latex", seed),
            ],
        ),
    ]


def _only_full(seed: int) -> list[Subject]:
    cheap = [
        claim.id
        for claim in CLAIMS.values()
        if sum(cell.cost for cell in claim.cells("standard")) <= _CHEAP
    ]
    sampled = {
        "theorem2": "theorem2 --d 256 --m 64 --trials 200",
        "corollary3, samples": "corollary3 --d 64 --m 32 --n 2000 --trials 40",
        "corollary3, surrogate": "corollary3 --d 100 --m 64 --n 1e12 --trials 20",
        "compare": "compare --d 16 --m 32 --start independent --seeds 2 --steps 300",
    }
    printed = {
        "theorem2 --bound": "xorverify theorem2 --bound --d 1e6 --m 512 --json",
        "corollary3 --bound": "xorverify corollary3 --bound --d 1e4 --m 512 --json",
        "latex, all fragments": "xorverify latex --out tex",
        "list": "xorverify list --json",
    }
    return [
        Subject("run --profile quick", [_run("quick", CLAIMS, seed)]),
        Subject("run --profile standard, cheap claims", [_run("standard", cheap, seed)]),
        *(
            Subject(name, [(*_of(f"xorverify {text} --seed {{seed}}", seed), *_WORKERS)])
            for name, text in sampled.items()
        ),
        *(Subject(name, [_of(text, seed)]) for name, text in printed.items()),
        Subject(
            "sweep, figures",
            [_sweep(seed), _of("xorverify figures sweep --formats svg pdf", seed)],
            {"sweep.toml": _SWEEP.format(seed=seed)},
        ),
        Subject("show, all claims", [_of(f"xorverify show {id_} --json", seed) for id_ in CLAIMS]),
        Subject(
            "derivations, all", [_of(f"derivations {each} --latex", seed) for each in _names()]
        ),
    ]


def _names() -> Sequence[str]:
    from derivations.catalogue import TITLES

    return tuple(TITLES)


def _run(
    profile: Profile, claims: Sequence[str] | Mapping[str, object], seed: int
) -> tuple[str, ...]:
    start = _of(f"xorverify run --profile {profile} --seed {{seed}} --out report", seed)
    return (*start, *_WORKERS, "--claim", *claims)


def _sweep(seed: int) -> tuple[str, ...]:
    return (*_of("xorverify sweep sweep.toml --out sweep --export csv", seed), *_WORKERS)


def _of(text: str, seed: int) -> tuple[str, ...]:
    """Return the arguments of Python for a command as a user types it."""
    program, *arguments = text.format(seed=seed).split()
    return ("-m", {"xorverify": "verify"}.get(program, program), *arguments)
