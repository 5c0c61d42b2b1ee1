"""Settings for all tests."""

import os

from hypothesis import settings

# The first call of a compiled kernel takes seconds, on a busy machine any call may: no deadline per example.
# Where a change is judged (CI) every run draws the same examples; elsewhere new ones are tried.
settings.register_profile("toprank", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("toprank")
