"""Single trials: a draw, a step, and what came of it."""
