"""What a derivation is: steps, their reasons, the checks that decide them, what they leave open."""
