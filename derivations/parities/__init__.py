"""Parities of k bits: their symbols, moments and remainders."""
