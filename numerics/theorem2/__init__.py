"""One draw of Theorem 2: the slopes of its scores, and which of the events happen."""
