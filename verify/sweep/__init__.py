"""Sweeps: the same trials at every point of a grid, kept in a database as they finish.

A configuration (`config`) names a kind of trial (`kinds`) and a grid of parameters (`parameters`).
Its trials are cut into chunks (`chunk`, `plan`), which an executor runs somewhere (`local`); the
submitting process alone writes their rows (`store`), and counts them (`summary`).
"""
