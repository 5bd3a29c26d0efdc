"""Figures of a sweep, one module each: points that were simulated beside what is certified."""
