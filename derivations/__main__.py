"""``python -m derivations``; an interruption while it is still loading ends quietly too."""

import sys

try:
    from derivations.command import run
except KeyboardInterrupt:
    exec("")  # noqa: S102  (as in `run`)
    sys.exit(3)
run()
