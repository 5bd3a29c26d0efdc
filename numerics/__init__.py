"""What is true of numbers: binary64 kernels of the model, written for speed and stability.

The kernels are written from the paper, not generated from `derivations`, so that comparing
the two says something. Import the modules; nothing is re-exported here, and importing the
package loads no array library.
"""
