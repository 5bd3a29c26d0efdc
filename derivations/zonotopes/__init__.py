"""The range of the predictions over the inputs, as a planar zonotope."""
