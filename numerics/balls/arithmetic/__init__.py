"""Balls as numbers: exact ends, working precision, three-valued comparison, exact products."""
