"""Proofs about exact numbers by ball arithmetic (Arb, through python-flint).

A ball is a midpoint and a radius; every operation returns a ball that contains all results of
its operands' members. Working precision decides how wide balls are, never whether they are right:
whoever needs a decision raises it until the balls are narrow enough. Import the modules; nothing
is re-exported here.
"""
