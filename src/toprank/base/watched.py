"""`WatchedRanker`: what rankers share that learn step by step and stop by rows they do not learn from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_array,
    column_or_1d,
    validate_data,
)

from toprank.base.data import RankingData, query_codes
from toprank.base.ranker import BaseRanker
from toprank.control import check_time_limit
from toprank.labels import as_numbers

__all__ = ["WatchedRanker"]


class WatchedRanker(BaseRanker):
    """A ranker that learns step by step, and stops when rows it does not learn from gain nothing any more.

    Those rows are a share of the training rows (`validation_fraction`), or brought by the user, in which case
    a subclass finds them in ``data.watch``.

    Attributes
    ----------
    validation_values_ : ndarray
        What was looked at on those rows, after each step, those that were dropped too; empty without such
        rows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from toprank import GradientBoostingRanker
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> ranker = GradientBoostingRanker(engine="sklearn").fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    >>> ranker.n_iter_ == 1 + int(ranker.validation_values_.argmax())
    True
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        qid_val: ArrayLike | None = None,
    ) -> Self:
        """Learn to rank; stop by rows of yours, where you bring some.

        What a ranker cannot use is a ValueError that names it; its tags
        (``sklearn.utils.get_tags(ranker).ranker_tags``) say what it can.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two different labels; `pos_label`, else the larger, marks the items that belong at the top. Where
            the tags allow it, grades or any numbers, the higher the nearer to the top.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        qid : array-like of shape (n_samples,), optional
            Query or group of each row, in any order; rows are only compared within their group.
        X_val : array-like or sparse matrix of shape (n_validation_samples, n_features), optional
            Rows to stop by instead of `validation_fraction`, which is not looked at then: all of `X` is
            learned from. `n_iter_no_change` says how long to wait, `validation_values_` what was seen.
        y_val : array-like of shape (n_validation_samples,), optional
            Their labels, two different ones at least.
        sample_weight_val : array-like of shape (n_validation_samples,), optional
            How much each of them counts.
        qid_val : array-like of shape (n_validation_samples,), optional
            Their queries: needed with `qid`, and with it only.

        Returns
        -------
        self
        """
        check_time_limit(getattr(self, "time_limit", None))
        given = {"y_val": y_val, "sample_weight_val": sample_weight_val, "qid_val": qid_val}
        self._refuse_validation(X_val, given, qid)
        if self._fitted_in_passes(X, y, qid, sample_weight):
            return self
        data = self._clean(X, y, qid, sample_weight)
        if X_val is not None and y_val is not None:
            data = replace(data, watch=self._watched(X_val, y_val, sample_weight_val, qid_val))
        return self._fit_clean(data)

    def _refuse_validation(self, X_val: Any, given: dict[str, Any], qid: Any) -> None:
        """Refuse what does not go together, before anything is looked at."""
        name = type(self).__name__
        if X_val is None:
            for one, value in given.items():
                if value is not None:
                    raise ValueError(f"{one} is given without X_val; give the rows it belongs to.")
            return
        if not self.ranker_tags.validation:
            raise ValueError(f"X_val: {name} {self._why_no_validation()}; fit without X_val.")
        if given["y_val"] is None:
            raise ValueError("X_val is given without y_val; give the labels of its rows.")
        if given["sample_weight_val"] is not None and not self.ranker_tags.weights:
            raise ValueError(f"sample_weight_val: {name} takes no weights; fit without sample_weight_val.")
        if (qid is None) != (given["qid_val"] is None):
            there, missing = ("qid", "qid_val") if given["qid_val"] is None else ("qid_val", "qid")
            raise ValueError(f"{there} is given without {missing}; both kinds of rows have queries, or none.")

    def _why_no_validation(self) -> str:
        """What to say of validation rows that cannot be used."""
        return "has no steps to stop between with the parameters it has"

    def _watched(self, X_val: Any, y_val: Any, sample_weight_val: Any, qid_val: Any) -> RankingData:
        """Rows to stop by, read as the training rows were, which are known by now."""
        rows = self._rows_to_watch(X_val)
        given = {"y_val": y_val, "sample_weight_val": sample_weight_val, "qid_val": qid_val}
        for name, value in given.items():
            if value is not None and _num_samples(value) != rows.shape[0]:
                raise ValueError(f"{name} has {_num_samples(value)} entries, X_val {rows.shape[0]} rows.")
        y = self._labels_to_watch(y_val)
        weight = None
        if sample_weight_val is not None:
            weight = _check_sample_weight(sample_weight_val, rows, ensure_non_negative=True)
        codes = None if qid_val is None else query_codes(qid_val)
        data = RankingData(rows, y, codes, weight, kind=self.kind_)
        if not _orders_something(data):
            within = "" if qid_val is None else " within any query of qid_val"
            counted = "" if weight is None else " with a positive sample_weight_val"
            raise ValueError(
                f"y_val has one class only{counted}{within}: there is no order to judge. Give rows of both."
            )
        return data

    def _rows_to_watch(self, X_val: Any) -> Any:
        try:
            return validate_data(self, X_val, reset=False, **self._accepted())
        except ValueError as error:
            raise ValueError(f"X_val: {error}") from error

    def _labels_to_watch(self, y_val: Any) -> NDArray[Any]:
        labels = column_or_1d(
            check_array(y_val, ensure_2d=False, dtype=None, input_name="y_val", estimator=self), warn=True
        )
        if self.kind_ != "binary":
            try:
                return as_numbers(labels)
            except ValueError as error:
                raise ValueError(f"y_val: {error}") from error
        unknown = sorted(set(labels.tolist()) - set(self.classes_.tolist()), key=str)
        if unknown:
            raise ValueError(f"y_val has {unknown[0]!r}, but y has only {self.classes_.tolist()}.")
        return (labels == self.classes_[1]).astype(np.int8)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.validation = True
        return tags


def _orders_something(data: RankingData) -> bool:
    """Whether two rows that count have different labels, in one query where there are queries."""
    counted = np.ones(len(data.y), dtype=bool) if data.sample_weight is None else data.sample_weight > 0
    y, query = data.grade[counted], np.zeros(int(counted.sum()), dtype=np.int64)
    if data.qid is not None:
        query = data.qid[counted]
    lists = len(np.unique(query))
    return len(np.unique(np.column_stack([query, y]), axis=0)) > lists
