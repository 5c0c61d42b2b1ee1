"""`PairRanker`: what rankers share that learn from pairs of rows as well as from labels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from toprank.base.data import Matrix
from toprank.base.ranker import BaseRanker
from toprank.base.text import text_explained
from toprank.control import Outcome, Run, check_time_limit
from toprank.preferences import read_pairs, share_in_order

__all__ = ["PairData", "PairRanker"]


@dataclass(frozen=True, slots=True)
class PairData:
    """Clean training data in pairs.

    Parameters
    ----------
    X : array or CSR matrix of float64
    pairs : array of int64, shape (P, 2)
        Rows (i, k): i belongs above k.
    weight : array of float64, shape (P,)
        Positive.

    Examples
    --------
    >>> data = PairData(np.eye(3), np.array([[2, 0], [2, 1]]), np.ones(2))
    >>> data.pairs[0]  # the last row belongs above the first
    array([2, 0])
    """

    X: Matrix
    pairs: NDArray[np.int64]
    weight: NDArray[np.float64]


class PairRanker(BaseRanker):
    """A ranker that also learns from pairs of rows: which of two belongs above the other.

    Subclasses implement `_fit_pairs(data, run)` beside what `BaseRanker` wants.

    Examples
    --------
    >>> from toprank import RankSVM
    >>> X = [[3.0], [1.0], [2.0]]
    >>> ranker = RankSVM().fit_pairs(X, [[0, 1], [0, 2], [2, 1]])
    >>> ranker.rank(X)
    array([0, 2, 1])
    """

    def fit_pairs(self, X: ArrayLike, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from preferences instead of labels (Rudin & Wang 2018, Appendix A.2).

        Pairs may contradict each other, run in circles and occur more than once. There are no labels to
        predict then: `predict` answers 1 for what scores above the middle of the training rows, else 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        pairs : array-like of int, shape (n_pairs, 2)
            Rows (i, k): i is preferred to k.
        sample_weight : array-like of shape (n_pairs,), optional
            What each pair counts, positive.

        Returns
        -------
        self
        """
        check_time_limit(getattr(self, "time_limit", None))
        with text_explained():
            rows = validate_data(self, X, **self._accepted())
        data = PairData(rows, *read_pairs(pairs, sample_weight, rows.shape[0], name="sample_weight"))
        self.kind_, self.classes_ = "binary", np.array([0, 1])
        self._prepare_pairs(data)
        with self._make_run() as run:
            self.outcome_ = self._fit_pairs(data, run)
            self.intercept_ = self._middle(data)
        self._warn_if_cut_short()
        self._warn_of_answer()
        return self

    def score_pairs(self, X: ArrayLike, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of the pairs, by weight, that the scores put in order; ties are mistakes."""
        scores = self.decision_function(X)
        return share_in_order(scores, *read_pairs(pairs, sample_weight, len(scores), name="sample_weight"))

    @abstractmethod
    def _fit_pairs(self, data: PairData, run: Run) -> Outcome:
        """Learn from clean pairs, set the learned attributes, say how it went."""

    def _prepare_pairs(self, data: PairData) -> None:
        """Do what must not count against the time limit."""

    def _middle(self, data: PairData) -> float:
        """The intercept that leaves as many training rows above zero as below."""
        return -float(np.median(self._scores(data.X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.pairs = True
        return tags
