"""Sums over positions and their derivatives, with fresh indices."""
