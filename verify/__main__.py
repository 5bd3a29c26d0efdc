"""``python -m verify`` and ``xorverify``: check the paper's claims."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; an interruption while it is still loading ends quietly too."""
    try:
        from verify.console.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 3


if __name__ == "__main__":
    sys.exit(main())
