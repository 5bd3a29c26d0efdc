"""What a run leaves behind: the table on the terminal, report.md and results.json."""
