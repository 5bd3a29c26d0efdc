"""The single-layer Transformer behind the two queries: its layer, gradient, descent, variants."""
