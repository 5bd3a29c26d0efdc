"""Claims, verdicts and the command line: where the symbolic and the numeric side are confronted."""
