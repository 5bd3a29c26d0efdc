"""The parts of the antisymmetric start."""
