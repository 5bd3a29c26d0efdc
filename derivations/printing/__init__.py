"""Derivations in print: LaTeX and plain text."""
