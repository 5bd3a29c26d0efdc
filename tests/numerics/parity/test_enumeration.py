import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.parity.enumeration import enumerate_parity_loss


@pytest.mark.parametrize(("k", "d"), [(2, 2), (2, 5), (3, 4), (3, 7), (4, 6), (5, 6)])
def test_the_mean_of_the_definition(k: int, d: int) -> None:
    rng = np.random.default_rng(d)
    heads = [
        [Fraction(int(n), int(rng.integers(1, 9))) for n in row]
        for row in rng.integers(-5, 6, size=(k, d))
    ]
    support = rng.permutation(d)[:k].tolist()
    sign = (-1) ** (k - 1)
    losses = [
        (
            sign * math.prod(sum(w * s for w, s in zip(head, x, strict=True)) for head in heads)
            - sign * math.prod(x[position] for position in support)
        )
        ** 2
        for x in itertools.product((-1, 1), repeat=d)
    ]
    assert enumerate_parity_loss(heads, support) == sum(losses) / len(losses)


def test_bad_arguments_are_refused() -> None:
    one, zero = Fraction(1), Fraction(0)
    with pytest.raises(InvalidArgumentError, match=r"^gamma=\[\]: must have a row for each head"):
        enumerate_parity_loss([], ())
    with pytest.raises(InvalidArgumentError, match=r"^gamma=\[2, 3\]: lengths must be equal"):
        enumerate_parity_loss([[one, zero], [one, zero, zero]], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^d=21: must be at most 20"):
        enumerate_parity_loss([[zero] * 21] * 2, (0, 1))
    with pytest.raises(InvalidArgumentError, match="positions must differ"):
        enumerate_parity_loss([[one, zero]] * 2, (1, 1))
