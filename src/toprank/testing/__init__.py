"""Contract checks that ship: run your own statistic through what the library's own must pass."""

from __future__ import annotations

from toprank.testing.statistics import check_statistic, statistic_checks

__all__ = ["check_statistic", "statistic_checks"]
