"""Hostile files: what is done to the documents that commands read."""
