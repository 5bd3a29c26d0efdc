"""The truth about a case, as accurate as each comparison needs.

Whoever compares what the verifier says with the truth asks for a side, and gets it: the accuracy
is raised until the true number is told from the one it is compared with. So the error of brute
force is below the distance that it judges, however narrow the enclosure. What 12,800 bits do not
tell apart is not decided in the verifier's favour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from campaigns.soundness.after_step import AfterStep, Estimate, after_step
from campaigns.soundness.before_step import Scored
from campaigns.soundness.cases import Case, Near
from campaigns.soundness.rounding import rounded

__all__ = ["Truth", "UnresolvedError"]

Answer = TypeVar("Answer")

_ACCURACIES = (200, 800, 3200, 12_800)
_LEAST_EXPONENT = -9999  # of a decimal number that the verifier reads


class UnresolvedError(ArithmeticError):
    """Brute force does not tell two numbers apart."""


class Truth:
    """What is true of a case after one step.

    Parameters
    ----------
    case : Case
        The case.

    Attributes
    ----------
    scored : Scored
        The instance in integers.
    eta_text, tolerance_text : str
        Step size and tolerance as the verifier is to read them, the latter worked out if it was
        given by the largest loss.
    eta, tolerance : Fraction
        The same, not read by a parser of the verifier.
    """

    def __init__(self, case: Case) -> None:
        self.scored = Scored.of(case.V, case.theta, case.theta_tilde, case.support)
        self.eta_text = case.eta
        self.eta = Fraction(case.eta)
        self._steps: list[AfterStep] = []
        self.tolerance_text = (
            self._beside_the_supremum(case.tolerance)
            if isinstance(case.tolerance, Near)
            else case.tolerance
        )
        self.tolerance = Fraction(self.tolerance_text)

    def step(self, level: int = 0) -> AfterStep:
        """Return the state after the step, at one of the accuracies."""
        while len(self._steps) <= level:
            accuracy = _ACCURACIES[len(self._steps)]
            self._steps.append(after_step(self.scored, self.eta, accuracy))
        return self._steps[level]

    def supremum_side(self, x: Fraction) -> int:
        """Return 1, 0 or -1 where the largest loss is above, at or below x.

        Raises
        ------
        UnresolvedError
            As all of these, if it cannot be told.
        """
        return self._side(AfterStep.supremum, x, Fraction(4))

    def loss_side(self, signs: Sequence[int], x: Fraction) -> int:
        """Return the side of x on which the loss of an input is."""
        return self._side(lambda step: step.loss(signs), x, Fraction(4))

    def attention_side(self, head: int, position: int, x: Fraction) -> int:
        """Return the side of x on which the attention of a head on a position is."""
        return self._side(lambda step: step.attention(head, position), x, Fraction(1))

    def leads(self, head: int, position: int) -> bool:
        """Whether a head has more attention on this position than on any other."""
        return self.resolve(lambda step: step.leads(head, position))

    def resolve(self, ask: Callable[[AfterStep], Answer | None]) -> Answer:
        """Return the answer, at the first accuracy that has one."""
        for level in range(len(_ACCURACIES)):
            answer = ask(self.step(level))
            if answer is not None:
                return answer
        raise UnresolvedError(f"not told apart at {_ACCURACIES[-1]} bits")

    def _side(self, of: Callable[[AfterStep], Estimate], x: Fraction, most: Fraction) -> int:
        # Attention is positive everywhere, so that none is 1, and |p|, |q| = 1 only if p q = 1.
        if x >= most:
            return -1
        if x < 0:
            return 1
        return self.resolve(lambda step: of(step).side(x))

    def _beside_the_supremum(self, near: Near) -> str:
        largest = self.step().supremum().near(1 << 15)
        mantissa, exponent = 1, _LEAST_EXPONENT
        if largest is not None:
            mantissa, exponent = rounded(largest, near.digits)
            mantissa = max(mantissa + near.ulps, 1)
        if exponent < _LEAST_EXPONENT:
            mantissa, exponent = 1, _LEAST_EXPONENT
        return f"{mantissa}e{exponent}"
