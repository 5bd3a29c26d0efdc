"""The parts of Corollary 3: what changes when the step is taken from n samples."""
