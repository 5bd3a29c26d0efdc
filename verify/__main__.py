"""``python -m verify`` and ``xorverify``: check the paper's claims."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Be the command line of a process, whose streams and signals are ours to the end of it."""
    try:
        from verify.console import interruption, streams

        interruption.take_over()
        streams.take_over()
        from verify.cli import main as run
        from verify.running.threads import use_one_thread

        # What is computed here and not by a worker has the same bits too, whatever the threads.
        use_one_thread()
        code = run()
    except KeyboardInterrupt:
        code = 3
    from verify.console.interruption import ignore

    ignore()
    return code


if __name__ == "__main__":
    sys.exit(main())
