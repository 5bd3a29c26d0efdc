"""What the verifier says about a case, each statement held against the truth.

A check yields what is unsound, a line each. "Undecided" and None claim nothing, so that they never
are.
"""
