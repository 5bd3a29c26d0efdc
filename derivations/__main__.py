"""``python -m derivations``."""

import sys

from derivations.command import main

sys.exit(main())
