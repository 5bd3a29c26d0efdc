"""``python -m verify`` and ``xorverify``: check the paper's claims."""

from __future__ import annotations

import sys

__all__ = ["main"]

_LEAST_BYTES = 512 << 20
"""Address space in which all libraries can be loaded that every command needs; extras take more."""


def main() -> int:
    """Be the command line of a process, whose streams and signals are ours to the end of it."""
    try:
        from verify.console import interruption, streams

        interruption.take_over()
        streams.take_over()
        code = _run()
    except KeyboardInterrupt:
        code = 3
    from verify.console.interruption import ignore

    ignore()
    # What `python -m` runs ends by SIGINT, whatever its exit code, if the last text that was
    # executed was interrupted, as libraries execute some: with another text Python forgets that.
    exec("")  # noqa: S102
    return code


def _run() -> int:
    """Run the command, unless not even the libraries would fit that it needs."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    # OpenBLAS ends a process in which it cannot be loaded, with 1, or tries for ever.
    if limit != resource.RLIM_INFINITY and limit < _LEAST_BYTES:
        least = _LEAST_BYTES >> 20
        print(
            f"cannot go on: the address space is limited to {limit >> 20} MiB, and {least} are "
            "needed; raise the limit (ulimit -v)",
            file=sys.stderr,
        )
        return 3
    from verify.running.threads import use_one_thread

    # What is computed here and not by a worker has the same bits too, whatever the threads; and
    # libraries that have not been loaded yet take less memory with one.
    use_one_thread()
    from verify.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
