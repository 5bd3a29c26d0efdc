"""The full layer: explicit maps, its training, and the conditions of its equivalence."""
