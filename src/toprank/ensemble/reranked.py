"""A reranked list: the base's scores below a cut, the reranker's above it, as one score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from toprank.base import BaseRanker, Matrix, best_first, query_codes, ranking_scores
from toprank.ensemble.calibration import Calibration
from toprank.ensemble.explaining import MEASURED, coefficients_of, importances_of
from toprank.ensemble.handover import Passage
from toprank.ensemble.heads import Heads, heads_of, squeezed

__all__ = ["RerankedList", "part_of"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64] | None
CERTAIN = 1e-3
"""For probabilities' sake, a base that is surer than this is taken to be this sure."""


def _has_probabilities(ranker: Any) -> bool:
    base = getattr(ranker, "base_", ranker._first)
    if not hasattr(base, "predict_proba"):
        raise AttributeError(f"{type(base).__name__} has no predict_proba.")
    return True


class RerankedList(BaseRanker):
    """How a fitted `RankThenRerank` scores rows and what it says about features."""

    threshold: float | None
    base_: Any
    base_scores_: Floats
    reranker_: Any
    reranked_: bool
    by_query_: bool
    top_: int | float
    top_rows_: NDArray[np.intp]
    threshold_: float
    n_top_: int
    passes_score_: bool
    _fill: Floats | None
    _base_spread: float
    _rerank_middle: float
    _rerank_spread: float
    _spreads: Floats
    _below_curve: Floats
    _top_curve: Floats

    # -- who is in the top, and in which order ------------------------------------------------

    @property
    def _passage(self) -> Passage:
        """How rows reach the reranker."""
        return Passage(self._fill, (self.threshold_, self._base_spread) if self.passes_score_ else None)

    def _two_classes(self) -> NDArray[Any] | None:
        """The labels, where there are two and a base may have learned other ones."""
        return self.classes_ if self.kind_ == "binary" else None

    def _codes(self, qid: ArrayLike | None) -> Codes:
        """Query numbers, where the top is taken of each query."""
        return None if qid is None or not self.by_query_ else query_codes(qid)

    def _heads(self, scores: Floats, codes: Codes) -> Heads:
        """The rows to rerank: of each query, or those from the learned threshold on."""
        threshold = self.threshold_ if codes is None else self.threshold
        return heads_of(scores, codes, top=self.top_, threshold=threshold)

    def _reranked(self, X: Matrix, scores: Floats, codes: Codes) -> Floats:
        """The reranker's scores of rows with these base scores."""
        return ranking_scores(self.reranker_, self._passage.rows(X, scores), codes)

    def _keys(self, X: Matrix, base: Floats, codes: Codes) -> tuple[Heads | None, Floats]:
        """Which rows are in the top, and every row's score there or below: the order without any rounding."""
        heads = self._heads(base, codes)
        if not self.reranked_ or not heads.inside.any():
            return None, base
        inside, own = np.flatnonzero(heads.inside), base.copy()
        own[inside] = self._reranked(X[inside], base[inside], part_of(codes, inside))
        return heads, own

    def _placed(self, X: Matrix, base: Floats, codes: Codes) -> Floats:
        """The base's score below the cut; above it, the reranker's squeezed into what lies beyond."""
        heads, own = self._keys(X, base, codes)
        if heads is not None:
            unit = squeezed((own[heads.inside] - self._rerank_middle) / self._rerank_spread)
            own[heads.inside] = heads.row_cuts[heads.inside] + self._base_spread * unit
        return own

    def _scores(self, X: Matrix, codes: Codes = None) -> Floats:
        return self._placed(X, ranking_scores(self.base_, X, codes), codes)

    def _checked(self, X: ArrayLike, qid: ArrayLike | None) -> Matrix:
        check_is_fitted(self)
        rows: Matrix = validate_data(self, X, reset=False, **self._accepted())
        if qid is not None:
            check_consistent_length(rows, qid)
        return rows

    def decision_function(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Scores: the higher, the nearer to the top; above zero where `predict` says positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        qid : array-like of shape (n_samples,), optional
            Query of each row. After a fit with queries the first `top` rows of each query are reranked;
            without, the rows that the base scores at or above `threshold_`.
        """
        return self._scores(self._checked(X, qid), self._codes(qid)) + self.intercept_

    def _scores_to_judge(self, X: ArrayLike, qid: ArrayLike | None) -> Floats:
        return self.decision_function(X, qid)

    def rank(self, X: ArrayLike, qid: ArrayLike | None = None) -> NDArray[np.intp]:
        """Row numbers, best first; with `qid` query after query. Equal scores keep the order of the rows.

        The order is that of `decision_function`, decided before its rounding.
        """
        rows, codes = self._checked(X, qid), self._codes(qid)
        heads, own = self._keys(rows, ranking_scores(self.base_, rows, codes), codes)
        order = best_first(own)
        if heads is not None:
            order = order[np.argsort(~heads.inside[order], kind="stable")]
        return order if qid is None else order[np.argsort(query_codes(qid)[order], kind="stable")]

    # -- probabilities ------------------------------------------------------------------------

    def _places(self, X: Matrix, base: Floats, codes: Codes) -> tuple[Floats, NDArray[np.bool_], Floats]:
        """How far below the cut each row is, in log-odds; whether it is in the top; where there."""
        heads, own = self._keys(X, base, codes)
        if heads is None:
            under = self._odds(base) - self._odds(np.array(self.threshold_))
            return under, np.zeros(len(base), dtype=bool), base
        under = np.minimum(self._odds(base) - self._odds(heads.row_cuts), 0.0)
        return under, heads.inside, squeezed((own - self._rerank_middle) / self._rerank_spread)

    def _odds(self, scores: Floats) -> Floats:
        """Base scores on a scale where a logistic curve suits: probabilities as log-odds."""
        if hasattr(self.base_, "decision_function"):
            return scores / self._base_spread
        share = np.clip(scores, CERTAIN, 1.0 - CERTAIN)
        return np.asarray(np.log(share) - np.log1p(-share))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    def predict_proba(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Probabilities of the two labels, where the base has some; they rise with the score.

        What is calibrated is the score of the whole, on the training rows, whose base scores are out of fold:
        by isotonic regression below the cut, by a logistic curve in the top. The reranker has seen the rows
        of the top, so within the top probabilities are spread somewhat too widely.

        Parameters
        ----------
        X, qid
            As in `decision_function`.
        """
        rows, codes = self._checked(X, qid), self._codes(qid)
        places = self._places(rows, ranking_scores(self.base_, rows, codes), codes)
        upper = Calibration(self._below_curve, self._top_curve).probabilities(*places)
        return np.column_stack((1.0 - upper, upper))

    # -- what counts --------------------------------------------------------------------------

    @property
    def coef_(self) -> Floats:
        """Weights of the features in the score that orders the top, where that is linear in them."""
        check_is_fitted(self)
        n = self.n_features_in_
        base = coefficients_of(self.base_, n)
        if not self.reranked_:
            found = base
        else:
            found = coefficients_of(self.reranker_, n + self.passes_score_)
            if found is not None and self.passes_score_:
                found = None if base is None else found[:n] + found[n] / self._base_spread * base
        if found is None:
            raise AttributeError(
                "the order of the top is not linear in the features; see feature_importances_."
            )
        return found

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the order of the top: size of its weight times its spread there.

        A reranker's own importances count where it has any. The share of the base's score, where it is
        passed on, is dealt to the features by the base's own importances. Where one that is needed has none
        (`HistGradientBoostingClassifier` as a base, say) this is an AttributeError, and
        `sklearn.inspection.permutation_importance` measures on labelled rows what counts.
        """
        check_is_fitted(self)
        n = self.n_features_in_
        base = importances_of(self.base_, self._spreads[:n]) if hasattr(self, "_spreads") else None
        found = importances_of(self.reranker_, self._spreads) if self.reranked_ else base
        if found is not None and len(found) > n:
            found = None if base is None else found[:n] + found[n] * base
        if found is None:
            raise AttributeError(
                f"no coefficients or importances tell which features count here; {MEASURED}."
            )
        return found


def part_of(codes: Codes, rows: NDArray[np.intp]) -> Codes:
    """Queries of some rows."""
    return None if codes is None else codes[rows]
