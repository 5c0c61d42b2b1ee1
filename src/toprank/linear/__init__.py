"""Linear rankers: one estimator a file."""

from toprank.linear.direct import DirectRanker
from toprank.linear.exact import ExactRanker

__all__ = ["DirectRanker", "ExactRanker"]
