"""Property tests draw the same examples in every run, so that a red test stays red."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
