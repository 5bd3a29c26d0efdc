"""The model in mpmath: the witness that does not trust ball arithmetic."""
