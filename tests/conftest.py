"""Which Hypothesis profile the tests run under: HYPOTHESIS_PROFILE, or "ci"."""

import os

from hypothesis import settings

from verify.testing.strategies import register_profiles

register_profiles()
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
