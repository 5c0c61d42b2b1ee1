"""One estimator a file."""

from toprank.rankers.direct import DirectRanker
from toprank.rankers.exact import ExactRanker

__all__ = ["DirectRanker", "ExactRanker"]
