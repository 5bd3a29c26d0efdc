"""The explicit bounds of Theorem 2 and Corollary 3, in ball arithmetic."""
