"""The toolkit timed beside what a user would pick instead: ``make bench``."""
