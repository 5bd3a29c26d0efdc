"""What holds for all tests: a profile of Hypothesis, and signals that arrive.

The profile is HYPOTHESIS_PROFILE, or "ci".
"""

import os
import signal

from hypothesis import settings

from verify.testing.strategies import register_profiles

register_profiles()
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A shell that starts the tests in the background has them ignore these, and so would all that they
# start: tests that send them would wait for ever.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
