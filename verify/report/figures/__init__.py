"""Figures of a sweep and of a report, one module each."""
