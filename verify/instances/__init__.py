"""The instances that are judged: drawn under a law or read from a file, and their origin."""
