"""Rank then rerank over partitioned rows: the base sees all of them, the reranker the top, which fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from toprank.base import RankingData, ranking_scores
from toprank.control import check_time_limit
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.scale.partitions.blocks import aligned_blocks, computed, delayed
from toprank.scale.partitions.boosting import fitted_here, is_dask_learner
from toprank.scale.partitions.logistic import Batches, batches_of, logistic_regression, parts_of

__all__ = ["Blocks", "FetchedRows", "learn_partitioned", "placed_scores", "reranked_top"]

Floats = NDArray[np.float64]


def learn_partitioned(
    ranker: RankThenRerank, X: Any, y: Any = None, sample_weight: Any = None
) -> RankThenRerank:
    """Fit `RankThenRerank` to Dask arrays or data frames, or batches, that do not fit into memory.

    The base learns in passes over the partitions; its scores (8 bytes a row) and the labels are then brought
    into memory, and of the rows only those at the top, which the reranker learns from as always. The result
    is what ``RankThenRerank(base, cv="prefit")`` makes of the same rows in memory.

    Parameters
    ----------
    ranker : RankThenRerank
        Not changed. Its base is None, for logistic regression (`toprank.scale.partitions.logistic`), a
        `LogisticRegression` whose `C` is then used, a `lightgbm.DaskLGBMClassifier` or
        `xgboost.dask.DaskXGBClassifier`, which learn on the cluster of the current Dask client, or with
        ``cv="prefit"`` any fitted estimator.
    X : dask array or data frame of shape (n_samples, n_features), or callable
        Numbers, none missing. Or a function without arguments that gives batches ``(X, y)`` or
        ``(X, y, sample_weight)``, the same ones each time it is called; `y` is then left out.
    y : dask array, series or array-like of shape (n_samples,)
    sample_weight : dask array, series or array-like, optional

    Returns
    -------
    RankThenRerank
        Fitted, with the fitted base as its `base`.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from toprank import RankSVM, RankThenRerank
    >>> X, y = make_classification(n_samples=400, weights=[0.8], random_state=0)
    >>> ranker = RankThenRerank(reranker=RankSVM(), top=50)
    >>> learn_partitioned(ranker, da.from_array(X, chunks=(100, -1)), y).n_top_
    50
    """
    check_time_limit(ranker.time_limit)
    batches = batches_of(X)
    base = _fitted_base(ranker, X, y, sample_weight)
    if batches is not None:
        pieces = [_scored(*parts_of(batch), base) for batch in batches()]
        fetch: Callable[[NDArray[np.intp]], Floats] = _FromBatches(batches, [len(one[0]) for one in pieces])
    else:
        blocks = aligned_blocks(X, y, sample_weight)
        pieces = computed([delayed(_scored)(*block, base) for block in blocks])
        fetch = Blocks([block[0] for block in blocks], [len(one[0]) for one in pieces])
    scores, labels = (np.concatenate([one[k] for one in pieces]) for k in (0, 1))
    weight = None if pieces[0][2] is None else np.concatenate([one[2] for one in pieces]).astype(np.float64)
    rows = FetchedRows(pieces[0][3], scores, fetch)
    return reranked_top(ranker, base, rows, labels, weight)


def reranked_top(
    ranker: RankThenRerank, base: Any, rows: FetchedRows, y: Any, weight: Any = None
) -> RankThenRerank:
    """A copy of a ranker, fitted to rows whose base scores are known; of the rows it fetches the top alone.

    Parameters
    ----------
    ranker : RankThenRerank
        Not changed.
    base : estimator
        Fitted; the scores of `rows` are its own.
    rows : FetchedRows
    y, weight : arrays
    """
    # A callback may be tied to a screen, which cannot be copied.
    plain = type(ranker)(**{**ranker.get_params(deep=False), "callback": None, "base": None})
    made = clone(plain).set_params(base=_with_known_scores(base), cv="prefit", callback=ranker.callback)
    _fit(made, rows, y, weight)
    made.base_ = base
    return made.set_params(base=base)


def placed_scores(ranker: RankThenRerank, rows: FetchedRows) -> Floats:
    """The scores a fitted ranker gives to rows whose base scores are known."""
    return np.asarray(ranker._placed(rows, rows.scores, None) + ranker.intercept_)  # type: ignore[arg-type]


def _fitted_base(ranker: RankThenRerank, X: Any, y: Any, sample_weight: Any) -> Any:
    if isinstance(ranker.cv, str) and ranker.cv == "prefit":
        return ranker.base
    if ranker.base is None or type(ranker.base) is LogisticRegression:
        C = 1.0 if ranker.base is None else ranker.base.C
        return logistic_regression(X, y, sample_weight, C=C)
    if is_dask_learner(ranker.base) and batches_of(X) is None:
        return fitted_here(clone(ranker.base), X, y, sample_weight)
    raise ValueError(
        f"base={type(ranker.base).__name__} does not learn in passes: leave it out, give a"
        " LogisticRegression or a Dask learner of LightGBM or XGBoost, or fit it yourself and say"
        ' cv="prefit".'
    )


def _scored(X: Any, y: Any, weight: Any, base: Any) -> tuple[Floats, Any, Any, int]:
    rows, mass = np.asarray(X, dtype=np.float64), None if weight is None else np.asarray(weight)
    return ranking_scores(base, rows), np.asarray(y), mass, rows.shape[1]


def _fit(ranker: RankThenRerank, rows: FetchedRows, y: Any, weight: Any) -> None:
    """What `fit` does, for rows whose values were looked at partition by partition."""
    ranker._refuse(qid=None, sample_weight=weight)
    ranker.n_features_in_ = rows.shape[1]
    labels = ranker._read_labels(y)
    ranker._keep_labels(labels)
    if weight is not None:
        ranker._check_weights(labels.y, weight)
    data = RankingData(rows, labels.y, None, weight, kind=labels.kind)  # type: ignore[arg-type]
    ranker._prepare(data)
    with ranker._make_run() as run:
        ranker._fit_in(data, run)
    ranker._warn_if_cut_short()
    ranker._warn_of_answer()


class FetchedRows:
    """Rows that are elsewhere, in the place of a matrix: chosen ones are fetched when they are asked for.

    Parameters
    ----------
    width : int
        Number of features.
    scores : array
        The base's score of every row.
    fetch : callable
        Of row numbers, to their features.
    """

    data: Floats = np.zeros(0)
    """As of a sparse matrix: the values among which some may be missing; there are none such here."""

    def __init__(self, width: int, scores: Floats, fetch: Callable[[NDArray[np.intp]], Floats]) -> None:
        self.shape = (len(scores), width)
        self.scores = scores
        self._fetch = fetch
        self._last: tuple[NDArray[np.intp], Floats] | None = None

    def __getitem__(self, wanted: NDArray[np.intp]) -> Floats:
        if self._last is None or not np.array_equal(self._last[0], wanted):
            self._last = (wanted, self._fetch(wanted))
        return self._last[1]


class Blocks:
    """Rows of partitions, fetched by Dask."""

    def __init__(self, blocks: list[Any], sizes: list[int]) -> None:
        self._blocks = blocks
        self._ends = np.cumsum(sizes)

    def __call__(self, wanted: NDArray[np.intp]) -> Floats:
        owner = np.searchsorted(self._ends, wanted, side="right")
        begins = np.concatenate(([0], self._ends[:-1]))
        different = np.unique(owner).tolist()
        pieces = computed(
            [delayed(_taken)(self._blocks[k], wanted[owner == k] - begins[k]) for k in different]
        )
        found = np.empty((len(wanted), pieces[0].shape[1]))
        for k, piece in zip(different, pieces, strict=True):
            found[owner == k] = piece
        return found


class _FromBatches:
    """Rows of batches, fetched by going through them once more."""

    def __init__(self, batches: Batches, sizes: list[int]) -> None:
        self._batches = batches
        self._sizes = sizes

    def __call__(self, wanted: NDArray[np.intp]) -> Floats:
        found: list[tuple[NDArray[np.intp], Floats]] = []
        begin, sizes = 0, []
        for batch in self._batches():
            X = parts_of(batch)[0]
            sizes.append(len(X))
            here = np.flatnonzero((wanted >= begin) & (wanted < begin + len(X)))
            if len(here):
                found.append((here, _taken(X, wanted[here] - begin)))
            begin += len(X)
        if sizes != self._sizes:
            raise ValueError("the batches are not the same ones each time: a pass had others than the last.")
        rows = np.empty((len(wanted), found[0][1].shape[1]))
        for here, piece in found:
            rows[here] = piece
        return rows


def _taken(X: Any, rows: NDArray[np.intp]) -> Floats:
    return np.asarray(X, dtype=np.float64)[rows]


def _with_known_scores(base: Any) -> Any:
    """A fitted base that knows its scores of the training rows; the same estimator to whoever looks at it."""
    kind = type(base)
    method = next(name for name in ("decision_function", "predict_proba", "predict") if hasattr(base, name))

    def known(self: Any, X: Any) -> Any:
        if not isinstance(X, FetchedRows):
            return getattr(super(kept, self), method)(X)
        return np.column_stack((1.0 - X.scores, X.scores)) if method == "predict_proba" else X.scores

    kept: Any = type(kind.__name__, (kind,), {method: known})
    copy = kept.__new__(kept)
    copy.__dict__.update(base.__dict__)
    return copy
