"""Where derivations meet numbers: formulas evaluated, and signs decided, in balls."""
