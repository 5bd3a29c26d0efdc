"""Exact arithmetic on binary64 instances: integers and rationals, no rounding."""
