"""Formulas and claims as LaTeX: fragments to paste, a document of them all, a check of pastes."""
