"""``python -m verify``: check the paper's claims."""

import sys

from verify.cli import main

if __name__ == "__main__":
    sys.exit(main())
