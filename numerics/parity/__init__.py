"""k heads on the parity of k bits: the population, one step, and the chance that the heads part."""
