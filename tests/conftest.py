"""Settings for all tests."""

from hypothesis import settings

# The first call of a compiled kernel takes seconds, on a busy machine any call may: no deadline per example.
settings.register_profile("toprank", deadline=None)
settings.load_profile("toprank")
