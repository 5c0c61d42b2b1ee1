"""Contract checks that ship: run your own statistic or ranker through what the library's own must pass."""

from __future__ import annotations

from toprank.testing.rankers import check_ranker, ranker_checks
from toprank.testing.statistics import check_statistic, statistic_checks
from toprank.testing.tags import expected_failures

__all__ = ["check_ranker", "check_statistic", "expected_failures", "ranker_checks", "statistic_checks"]
