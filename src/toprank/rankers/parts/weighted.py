"""What rankers share that maximise a statistic by name or by its position weights."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank import statistics
from toprank.base import TWO_LABELS, LinearRanker
from toprank.exact.objective import PositionWeights
from toprank.exact.problem import RankingProblem
from toprank.labels import LabelKind
from toprank.statistics import LinearRankStatistic, RankStatistic

__all__ = ["WeightedRanker", "asks_who", "kinds_of_labels", "value_of_scores", "weighs_the_top"]


class WeightedRanker(LinearRanker):
    """A linear ranker whose `statistic` may be an array of position weights."""

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """The statistic this ranker maximises on `X`, the mean over queries; ties are mistakes."""
        statistic = self.statistic
        if isinstance(statistic, str | RankStatistic):
            return super().score(X, y, sample_weight=sample_weight, qid=qid)
        positive = np.asarray(y) == self.classes_[1]
        return value_of_scores(
            statistic, positive, self._scores_to_judge(X, qid), qid=qid, sample_weight=sample_weight
        )

    def _label_kinds(self) -> frozenset[LabelKind]:
        return kinds_of_labels(self.statistic)

    def _why_not(self, kind: LabelKind) -> str:
        if not isinstance(self.statistic, str | RankStatistic):
            return "position weights are for two labels; statistic='ndcg' or 'kendall_tau' takes more"
        name = statistics.get(self.statistic)
        other = "'ndcg', 'c_index' or 'kendall_tau'" if kind == "ordinal" else "'c_index' or 'kendall_tau'"
        return f"{str(name)!r} has no meaning for them that could be maximised; statistic={other} has"

    def _problem_of(
        self, X: Any, y: NDArray[Any], kind: LabelKind, qid: ArrayLike | None, **options: Any
    ) -> RankingProblem:
        """The problem of these labels, the mean over queries."""
        make = RankingProblem.from_labels if kind == "binary" else RankingProblem.from_grades
        return make(X, y, self.statistic, qid=qid, queries="mean", **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.queries = True
        tags.ranker_tags.at_top = weighs_the_top(self.statistic)
        tags.ranker_tags.weak = asks_who(self.statistic)
        return tags


def kinds_of_labels(statistic: Any) -> frozenset[LabelKind]:
    """Kinds of labels on which a statistic, or position weights, can be maximised directly.

    >>> [sorted(kinds_of_labels(name)) for name in ("kendall_tau", "ndcg", "auc")]
    [['binary', 'continuous', 'ordinal'], ['binary', 'ordinal'], ['binary']]
    """
    return _named_kinds(str(statistic)) if isinstance(statistic, str | RankStatistic) else TWO_LABELS


@lru_cache(maxsize=64)
def _named_kinds(name: str) -> frozenset[LabelKind]:
    found = statistics.get(name)
    # Labels that are all different: what a statistic makes of grades it makes of these.
    graded = found.graded_form(np.arange(200.0)) is not None
    return found.labels if graded else TWO_LABELS


def value_of_scores(
    statistic: Any,
    y: ArrayLike,
    scores: NDArray[np.float64],
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """A statistic, by name or by its position weights, of the order of these scores; ties are mistakes.

    >>> value_of_scores([1.0, 0.5, 0.0], [1, 0, 1], np.array([3.0, 1.0, 2.0]))
    1.5
    """
    if isinstance(statistic, str | RankStatistic):
        return float(statistics.get(statistic)(y, scores, qid=qid, sample_weight=sample_weight))
    if sample_weight is not None:
        raise ValueError("sample_weight: positions have their weights already, as `statistic` gives them.")
    problem = RankingProblem.from_labels(scores[:, None], y, statistic, qid=qid, queries="mean")
    return problem.evaluate([1.0])


def asks_who(statistic: Any) -> bool:
    """Whether some first positions count alike and all others nothing: who stands there, not in which order.

    >>> [asks_who(name) for name in ("precision@10", "weak_ranking_loss@10", "dcg@10", "auc")]
    [True, True, False, False]
    """
    if isinstance(statistic, PositionWeights):
        return False
    if isinstance(statistic, str | RankStatistic):
        return _named_asks_who(str(statistic))
    return _one_step(np.asarray(statistic, dtype=np.float64))


@lru_cache(maxsize=64)
def _named_asks_who(name: str) -> bool:
    table = statistics.get(name).count_table(250, 1_750)
    if table is None or table.stride != 1 or table.factor is not None:
        return False  # no weights of positions
    return _one_step(table.values)


def _one_step(weights: NDArray[np.float64]) -> bool:
    return bool(np.count_nonzero(np.diff(weights)) == 1)


def weighs_the_top(statistic: Any) -> bool:
    """Whether some positions gain more over the next than others do: those of AUC all gain the same.

    >>> [weighs_the_top(name) for name in ("dcg", "auc", "average_precision", "pairwise_misranking_error")]
    [True, False, True, False]
    """
    if isinstance(statistic, str | RankStatistic):
        return _named_weighs_the_top(str(statistic))
    if isinstance(statistic, PositionWeights):
        return True
    return _uneven(np.asarray(statistic, dtype=np.float64))


@lru_cache(maxsize=64)
def _named_weighs_the_top(name: str) -> bool:
    found = statistics.get(name)
    # A list long enough for any usual cut-off to lie within.
    if isinstance(found, LinearRankStatistic):
        return _uneven(found.weights(10_000, 2_500))
    table = found.count_table(250, 1_750)
    places, counts = np.array([[0], [125], [249]]), np.arange(1_751)[None, :]
    return table is not None and _uneven(table.at(places, counts))


def _uneven(weights: NDArray[np.float64]) -> bool:
    """Whether some pair won gains more than another."""
    steps = np.diff(weights).ravel()
    return bool(len(steps) and not np.allclose(steps, steps[0], rtol=1e-9, atol=0))
