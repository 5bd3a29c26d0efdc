"""The lemmas of probability that a derivation rests on, as data: name, statement, source.

A step that uses one names it. What the step adds, that its constants follow from the lemma, is
checked with the step, and so is the lemma itself at instances where everything is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ANDERSON",
    "COORDINATE_LAW",
    "COORDINATE_TAIL",
    "HOEFFDING",
    "HOELDER",
    "HOELDER_PRODUCTS",
    "INDEPENDENT_LEAN",
    "INVARIANCE",
    "JENSEN",
    "MINKOWSKI",
    "NEGATIVE_MOMENTS",
    "SQUARES",
    "SUB_GAMMA",
    "SUB_GAUSSIAN",
    "UNION_BOUND",
    "WEDGE",
    "Lemma",
]


@dataclass(frozen=True, kw_only=True)
class Lemma:
    """A fact of probability that is used and not proved by machine.

    Attributes
    ----------
    name : str
        How steps refer to it.
    statement : str
        Prose, with math between dollars.
    source : str
        Where it is proved, or "ours" with the proof in a few words; prose like the statement.
    """

    name: str
    statement: str
    source: str


UNION_BOUND = Lemma(
    name="union bound",
    statement=r"The probability that one of several events happens is at most the sum of theirs.",
    source="Boole",
)

COORDINATE_LAW = Lemma(
    name="law of a coordinate",
    statement=r"A coordinate $y$ of a uniform point on the unit sphere of $\mathbb{R}^{n}$, $n \ge"
    r" 3$, has the density $\phi_{n} (1 - y^{2})^{(n - 3) / 2}$ with $\phi_{n} = \Gamma(n / 2) /"
    r" (\sqrt{\pi} \Gamma((n - 1) / 2))$, even and, for $y \ge 0$, not increasing.",
    source=r"classical: Archimedes for $n = 3$, Beta$(1/2, (n - 1)/2)$ for the square",
)

COORDINATE_TAIL = Lemma(
    name="tail of a coordinate",
    statement=r"For $0 < t < 1$, $P(y > t)$ is at most $T_{n}(t)$, the smaller of $(1 -"
    r" t^{2})^{(n - 1) / 2} / 2$ and $\phi_{n} (1 - t^{2})^{(n - 1) / 2} / ((n - 1) t)$.",
    source=r"ours, from the law: $(1 - t^{2})^{(n - 1) / 2} - P(|y| > t)$ vanishes at $0$ and at"
    r" $1$ and first increases, then decreases; and $1 \le y / t$ on $y > t$",
)

SUB_GAUSSIAN = Lemma(
    name="strict sub-Gaussianity of a coordinate",
    statement=r"$\mathbb{E} e^{l y} \le e^{l^{2} / (2 n)}$ for all real $l$. Hence a sum $X ="
    r" \sum_{j} a_{j} y_{j}$ of independent ones has $P(X > t) \le \exp(-t^{2} n / (2 |a|^{2}))$"
    r" for $t \ge 0$.",
    source=r"Marchal and Arbel, Electron. Commun. Probab. 22 (2017); ours too: the even moments $(2"
    r" k - 1)!! / (n (n + 2) \cdots (n + 2 k - 2))$ are at most those of a Gaussian of variance"
    r" $1 / n$",
)

SQUARES = Lemma(
    name="sum of squares",
    statement=r"For independent coordinates $y_{1}, \ldots, y_{N}$ and $l \ge 0$, $P(n \sum_{j}"
    r" y_{j}^{2} > N + 2 \sqrt{N l} + 2 l) \le e^{-l}$.",
    source=r"Laurent and Massart, Ann. Statist. 28 (2000), Lemma 1, for Gaussians; its proof uses"
    r" $\mathbb{E} e^{l n y^{2}}$, $l \ge 0$, which is no larger for coordinates, moment by moment",
)

INVARIANCE = Lemma(
    name="invariance under rotations",
    statement=r"Given $\theta$, the scores $s_{j}$ are independent coordinates, and $v_{j} = s_{j}"
    r" \theta + \sqrt{1 - s_{j}^{2}} u_{j}$ with $u_{j}$ uniform on the unit sphere orthogonal to"
    r" $\theta$, independent of all scores. $A = v_{a} - v_{b}$ has a uniform direction, which is"
    r" independent of $\rho = v_{a} \cdot v_{b}$, of $\theta$ and of the other $v_{j}$.",
    source=r"rotations preserve the law of $V$ and $\theta$",
)

ANDERSON = Lemma(
    name="Anderson's lemma on the line",
    statement=r"If $Y = \sum_{j} c_{j} X_{j}$ with independent symmetric unimodal $X_{j}$, then"
    r" $P(|Y| > x)$ does not decrease when some $|c_{j}|$ is enlarged.",
    source="Anderson, Proc. AMS 6 (1955); sums of symmetric unimodal variables are unimodal:"
    " Wintner, Asymptotic Distributions and Infinite Convolutions (1938)",
)

WEDGE = Lemma(
    name="wedge in the plane",
    statement=r"A law on the plane with a density that does not increase with the distance from"
    r" $0$ gives a wedge with apex $0$ and angle $\phi$ the probability $\phi / (2 \pi)$, and no"
    r" more after a translation that takes no point of the wedge closer to $0$.",
    source="rotation, and comparison of the densities point by point",
)

NEGATIVE_MOMENTS = Lemma(
    name="negative moments of a Beta variable",
    statement=r"$(1 - \rho) / 2$ is Beta$(x, x)$ with $x = (m - 1) / 2$, and a Beta$(x, y)$"
    r" variable $B$ has $\mathbb{E} B^{-k} = \prod_{i = 1}^{k} (x + y - i) / (x - i)$ for $k < x$.",
    source="the Beta integral",
)

JENSEN = Lemma(
    name="Jensen's inequality",
    statement=r"$\mathbb{E} \psi(X) \le \psi(\mathbb{E} X)$ for concave $\psi$, and $\ge$ for"
    r" convex $\psi$.",
    source="Jensen, Acta Math. 30 (1906)",
)

HOELDER = Lemma(
    name="Hoelder's inequality",
    statement=r"$\mathbb{E} X^{2} \le (\mathbb{E} X)^{2 / 3} (\mathbb{E} X^{4})^{1 / 3}$ and"
    r" $\mathbb{E} X^{3 r / 4} \le (\mathbb{E} X^{r})^{3 / 4}$ for $X \ge 0$, $r > 0$.",
    source="Hoelder, Nachr. Ges. Wiss. Goettingen (1889)",
)

HOELDER_PRODUCTS = Lemma(
    name="Hoelder's inequality for products",
    statement=r"$\mathbb{E} \prod_{h = 1}^{n} |X_{h}| \le \prod_{h = 1}^{n} (\mathbb{E}"
    r" |X_{h}|^{n})^{1 / n}$.",
    source="Hoelder, Nachr. Ges. Wiss. Goettingen (1889)",
)

MINKOWSKI = Lemma(
    name="Minkowski's inequality",
    statement=r"$\|X\|_{k} = (\mathbb{E} |X|^{k})^{1 / k}$, $k \ge 1$, is a norm; the same for the"
    r" mean over several things that are drawn.",
    source="Minkowski, Geometrie der Zahlen (1896), Teubner",
)

SUB_GAMMA = Lemma(
    name="Bernstein's inequality for moments",
    statement=r"Let $G_{1}, \ldots, G_{n}$ be independent copies of $G$ with $\mathbb{E} G^{2} \le"
    r" v$ and $\mathbb{E} |G|^{k} \le (k! / 2) v c^{k - 2}$ for all $k \ge 3$. Then $X ="
    r" \frac{1}{n} \sum_{h} G_{h} - \mathbb{E} G$, and $-X$, have $\log \mathbb{E} e^{l X} \le"
    r" \frac{v l^{2}}{2 n (1 - c l / n)}$ for $0 \le l < n / c$: sub-gamma, of variance $v / n$ and"
    r" scale $c / n$. A variable of variance $v$ and scale $c$ is $\sqrt{2 v L} + c L$ or more"
    r" with probability at most $e^{-L}$; a sub-Gaussian one has scale $0$, and of a sum the"
    r" variances and scales may be added if one is sub-gamma given the other.",
    source="Boucheron, Lugosi and Massart, Concentration Inequalities (2013), Theorem 2.10 and"
    " section 2.4; G need not be centred",
)

HOEFFDING = Lemma(
    name="Hoeffding's inequality",
    statement=r"The mean of $n$ independent variables with values in an interval of length $2 H$,"
    r" less its expectation, is sub-Gaussian of variance $H^{2} / n$.",
    source="Hoeffding, J. Amer. Statist. Assoc. 58 (1963)",
)

INDEPENDENT_LEAN = Lemma(
    name="independence of the lean",
    statement=r"Let $A / |A| = y \theta + \sqrt{1 - y^{2}} n'$, $\theta = y A / |A| + \sqrt{1 -"
    r" y^{2}} \theta'$, $B = v_{a} + v_{b}$, $\beta' = \theta' \cdot B / |B|$. Given $\theta$, $y$"
    r" is independent of $(\rho, \beta', n', (v_{j})_{j \notin S})$, whose parts are independent;"
    r" $\beta'$ is a coordinate, and $n'$ a uniform point, on the unit sphere of $\mathbb{R}^{m -"
    r" 1}$.",
    source=r"ours: $A / |A|$ is uniform and independent of $\rho$; given both, $B / |B|$ is uniform"
    r" on the unit sphere orthogonal to $A$",
)
