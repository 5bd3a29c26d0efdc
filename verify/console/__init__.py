"""The command line as a person meets it: arguments, progress, interruption, output."""
