"""Finite samples: packed signs, their sums and moments, and the gradients they give."""
