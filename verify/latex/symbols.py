r"""The notation, as a table: what each symbol means, in the words that a paper would use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from verify.latex.width import MARK

__all__ = ["BUDGET", "GROUPS", "Group", "Row", "occurring"]


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    symbols : str
        The symbols, as math between dollars.
    meaning : str
        Prose, with math between dollars.
    marks : tuple of str
        The line belongs into a document in which one of these is a mark, or a mark with its index.
    """

    symbols: str
    meaning: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Lines under one heading."""

    heading: str
    rows: tuple[Row, ...]


GROUPS = (
    Group(
        r"\emph{The model}",
        (
            Row("$x$, $d$", r"the input, uniform on $\{-1, +1\}^{d}$", ("x", "d")),
            Row(r"$S = \{a, b\}$", "the support, two different positions", ("S", "a", "b")),
            Row("$y$", "the label, $y = -x_{a} x_{b}$", ("f",)),
            Row(
                r"$v_{i} \in \mathbb{R}^{m}$",
                "the frozen embedding of position $i$; the rows of $V$",
                ("v", "V"),
            ),
            Row(
                r"$\theta$, $\tilde{\theta}$",
                r"the two trained queries, in $\mathbb{R}^{m}$",
                (r"\theta",),
            ),
            Row(
                r"$s_{i}$, $\gamma_{i}$",
                r"score $s_{i} = v_{i} \cdot \theta$ and attention $\gamma_{i} = e^{s_{i}} /"
                r" \sum_{j} e^{s_{j}}$ of the first head; those of the second head, with"
                r" $\tilde{\theta}$, have a tilde",
                ("s", r"\gamma"),
            ),
            Row(
                r"$\bar{v}$",
                r"the mean embedding under the attention, $\bar{v} = \sum_{i} \gamma_{i} v_{i}$",
                (r"\bar{v}",),
            ),
            Row(
                "$p$, $q$, $f$",
                r"the heads $p = \langle \gamma, x \rangle$ and $q = \langle \tilde{\gamma}, x"
                r" \rangle$, and the prediction $f = -p q$",
                ("p", "f"),
            ),
            Row(
                r"$\langle c, c' \rangle$, $|c|^{2}$",
                r"sums over all positions, $\sum_{i} c_{i} c'_{i}$ and $\sum_{i} c_{i}^{2}$",
                (r"\langle",),
            ),
            Row(
                "$A$, $t_{i}$",
                r"an arbitrary direction in $\mathbb{R}^{m}$, and $t_{i} = v_{i} \cdot A$",
                ("A",),
            ),
            Row(
                r"$\eta$",
                r"the step: $\theta^{1} = \theta^{0} - \eta \nabla_{\theta} L$, and so for"
                r" $\tilde{\theta}$, both gradients taken at time $0$",
                (r"\eta",),
            ),
        ),
    ),
    Group(
        r"\emph{The antisymmetric start,} $\tilde{\theta} = -\theta$",
        (
            Row(
                "$E_{i}$, $Z$, $Z_{2}$",
                r"$E_{i} = e^{s_{i}}$, $Z = \sum_{i} e^{s_{i}}$, $Z_{2} = \sum_{i} e^{2 s_{i}}$",
                ("E", "Z"),
            ),
            Row(
                r"$\tilde{Z}$, $\tilde{Z}_{2}$",
                r"$\tilde{Z} = \sum_{i} e^{-s_{i}}$, $\tilde{Z}_{2} = \sum_{i} e^{-2 s_{i}}$",
                (r"\tilde{Z}",),
            ),
            Row(
                r"$\omega$, $\Delta$",
                r"$\omega = 1 / (Z \tilde{Z})$, $\Delta = s_{a} - s_{b}$",
                (r"\omega", r"\Delta"),
            ),
            Row(
                r"$\kappa$, $c_{i}$",
                "constant and weights of what the first step subtracts",
                (r"\kappa", "c_{i}", "c_{j}"),
            ),
        ),
    ),
)
"""The symbols of the model, in the order in which they are explained."""

BUDGET = Group(
    r"\emph{What the budget of a bound fixes}",
    (
        Row(r"$\sigma$", "bounds the size of every score", (r"\sigma",)),
        Row(
            "$h$, $q$",
            r"bound $|\sum_{j} s_{j}| / d$ and $\sum_{j} s_{j}^{2} / d$ over the positions off $S$",
            ("h", "q"),
        ),
        Row(
            "$l_{h}$, $l_{q}$, $l_{a}$, $l_{A}$",
            "levels: each event has probability $e^{-l}$ or a small multiple of it",
            ("l_{h}", "l_{q}", "l_{a}", "l_{A}", "l_{F}", "l_{E}", "l_{k}"),
        ),
        Row(r"$\rho_{0}$", r"bounds the overlap $\rho = v_{a} \cdot v_{b}$", (r"\rho_{0}",)),
        Row("$D$", r"bounds $\Delta$ where slopes are looked at", ("D",)),
        Row(
            "$y_{i}$, $r_{j}$",
            r"ends of the slices of the lean $|\theta \cdot A| / |A|$, and of the cells of $\rho$",
            ("y_{i}", "r_{j}"),
        ),
        Row("$C$, $T$", r"the step $\eta \ge C d^{2}$, and the tolerance", ("C", "T")),
        Row(
            r"$\varsigma$",
            "share of the tolerance that the other position of $S$ gets",
            (r"\varsigma",),
        ),
        Row(
            "$T_{m}(t)$",
            r"bounds the probability that a coordinate on the unit sphere of $\mathbb{R}^{m}$"
            " exceeds $t$",
            (r"T_{m}",),
        ),
    ),
)
"""The symbols of the explicit bounds."""


def occurring(groups: Iterable[Group], texts: Iterable[str]) -> list[Group]:
    """Return what of a table is spoken of: the groups with the lines whose symbols occur.

    Parameters
    ----------
    groups : iterable of Group
        The table.
    texts : iterable of str
        LaTeX of math mode.
    """
    marks: set[str] = set()
    for text in texts:
        tokens = MARK.findall(re.sub(r"\\(?:text|mathbb|operatorname)\{[^{}]*\}", " ", text))
        marks.update(tokens)
        marks.update(f"{a}{b}{c}{d}{e}" for a, b, c, d, e in zip(*_shifted(tokens), strict=False))
        marks.update(f"{a}{b}{c}{d}" for a, b, c, d in zip(*_shifted(tokens)[:4], strict=False))
    found = [
        Group(group.heading, tuple(row for row in group.rows if marks.intersection(row.marks)))
        for group in groups
    ]
    return [group for group in found if group.rows]


def _shifted(tokens: list[str]) -> list[list[str]]:
    return [tokens[start:] for start in range(5)]
