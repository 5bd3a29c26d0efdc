"""What a run leaves behind: the table on the terminal, results.json, report.md and report.html."""

__all__ = ["FILES"]

FILES = ("results.json", "report.md", "report.html")
"""The files of a report: one for scripts, one for readers of plain text, one for a browser."""
