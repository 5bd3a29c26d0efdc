"""The command line as a person meets it: progress, interruption, enclosures, outcomes."""
