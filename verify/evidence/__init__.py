"""How a cell of a claim earns its grade: by a derivation, by agreement, by a simulation."""
