"""What rankers share that maximise a statistic by name or by its position weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from toprank.base import LinearRanker
from toprank.exact.problem import RankingProblem
from toprank.statistics import RankStatistic

__all__ = ["WeightedRanker"]


class WeightedRanker(LinearRanker):
    """A linear ranker whose `statistic` may be an array of position weights."""

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """The statistic this ranker maximises on `X`, the mean over queries; ties are mistakes."""
        statistic = self.statistic
        if isinstance(statistic, str | RankStatistic):
            return super().score(X, y, sample_weight=sample_weight, qid=qid)
        if sample_weight is not None:
            raise ValueError(
                "sample_weight: positions have their weights already, as `statistic` gives them."
            )
        positive = np.asarray(y) == self.classes_[1]
        scores = self._scores_to_judge(X, qid)[:, None]
        problem = RankingProblem.from_labels(scores, positive, statistic, qid=qid, queries="mean")
        return problem.evaluate([1.0])
