"""The parts of Theorem 2: what one step on the population does, off rare events."""
