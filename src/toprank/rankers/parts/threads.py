"""Fits in as many threads as their matrices are worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from toprank.base import PairData, RankingData
from toprank.control import Outcome, Run
from toprank.control.threads import threads_for

__all__ = ["in_few_threads"]

Ranker = TypeVar("Ranker")
Data = TypeVar("Data", RankingData, PairData)


def in_few_threads(
    fit: Callable[[Ranker, Data, Run], Outcome],
) -> Callable[[Ranker, Data, Run], Outcome]:
    """A ranker's fit, with the threads of its linear algebra limited by the size of its matrices."""

    @wraps(fit)
    def limited(self: Ranker, data: Data, run: Run) -> Outcome:
        with threads_for(_side(self, *data.X.shape)):
            return fit(self, data, run)

    return limited


def _side(ranker: Any, n_rows: int, n_features: int) -> int:
    """Rows of the largest square matrix: those of the kernel, of its approximation, or the features."""
    if getattr(ranker, "kernel", None) is None:
        return min(n_rows, n_features)
    return n_rows if ranker.approximation is None else min(n_rows, int(ranker.n_components))
