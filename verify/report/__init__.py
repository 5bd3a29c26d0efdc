"""What a run leaves behind: the table on the terminal, report.md and results.json."""

__all__ = ["FILES"]

FILES = ("results.json", "report.md")
"""The files of a report: one for scripts, one for readers."""
