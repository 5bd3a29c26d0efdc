"""What is true symbolically: the paper's formulas derived with SymPy, exactly, for symbolic `d`.

`derivations.catalogue` names the derivations; each lives in a module of its own name, and
``python -m derivations`` prints and checks them.
"""
