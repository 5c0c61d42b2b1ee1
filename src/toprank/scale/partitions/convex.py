"""The convex rankers on partitioned rows: the same solvers, with passes over partitions for products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from toprank.base import BaseRanker, RankingData
from toprank.control import Outcome, Run, check_time_limit
from toprank.convex.p_norm_push.newton import LogPush, log_push
from toprank.convex.pairwise.rank_svm import PairLoss
from toprank.convex.top_push.problem import TopPushProblem
from toprank.losses.p_norm_push import PNormPushItems
from toprank.losses.pairs import Pairs
from toprank.losses.top_push import SURROGATES
from toprank.rankers.accuracy_at_top import AccuracyAtTop
from toprank.rankers.p_norm_push import PNormPush
from toprank.rankers.parts.items import gather, items_of_points, prices_of_labels
from toprank.rankers.parts.parameters import check_at_least, check_penalty_weight
from toprank.rankers.parts.spaces import Features
from toprank.rankers.parts.top_push import TopPushRanker
from toprank.rankers.rank_svm import RankSVM
from toprank.scale.partitions.blocks import aligned_blocks, computed, delayed
from toprank.scale.partitions.design import PartitionedDesign, PartitionedRows

__all__ = ["fit_partitioned"]

Solver = Callable[[Any, Any, RankingData, Run], Outcome]


def fit_partitioned(ranker: BaseRanker, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a linear convex ranker to Dask arrays or data frames that do not fit into memory.

    Every product of a solver with the rows is a pass over the partitions; scores, labels and what losses make
    of them are in memory, some dozen bytes a row. Solvers of the top-push family start from an eighth of the
    rows, which they bring into memory, and ``AccuracyAtTop`` fetches about a tenth at a time.

    Parameters
    ----------
    ranker : RankSVM, PNormPush, TopPush, TopPushK, TauFPL, InfinitePush or AccuracyAtTop
        Not changed. Linear, with the penalty l2; PNormPush with solver="newton", AccuracyAtTop with
        solver="local".
    X : dask array or data frame of shape (n_samples, n_features)
        Numbers, none missing.
    y : dask array, series or array-like of shape (n_samples,)
    sample_weight : dask array, series or array-like, optional
        Above zero.

    Returns
    -------
    ranker
        A fitted copy: its objective is that of the same rows in memory, to `tol`.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from toprank import TopPush
    >>> X, y = make_classification(n_samples=300, weights=[0.7], class_sep=2.0, random_state=0)
    >>> ranker = fit_partitioned(TopPush(), da.from_array(X, chunks=(100, -1)), y)
    >>> bool(np.allclose(ranker.coef_, TopPush().fit(X, y).coef_, atol=1e-3))
    True
    """
    made: Any = clone(ranker)
    solve = _solver(made)
    check_time_limit(made.time_limit)
    blocks = aligned_blocks(X, y, sample_weight)
    labels, weight = _columns(blocks)
    design = PartitionedRows(X) if isinstance(made, AccuracyAtTop) else _design(made, X)
    rows: Any = design if isinstance(design, PartitionedRows) else design.X
    made._refuse(qid=None, sample_weight=weight)
    made.n_features_in_ = rows.shape[1]
    read = made._read_labels(labels)
    made._keep_labels(read)
    if weight is not None:
        made._check_weights(read.y, weight)
    data = RankingData(_Plain(rows), read.y, None, weight, kind=read.kind)  # type: ignore[arg-type]
    made._prepare(data)
    with made._make_run() as run:
        made.outcome_ = solve(made, design, data, run)
        made._finish(data)
    made._warn_if_cut_short()
    made._warn_of_answer()
    return made


def _design(ranker: Any, X: Any) -> PartitionedDesign:
    return PartitionedDesign(X, direct=not isinstance(ranker, RankSVM))


class _Plain:
    """Rows as they are, not relative to their mean, for the scores that a fitted ranker gives them."""

    def __init__(self, rows: PartitionedRows) -> None:
        self._rows = rows
        self.shape = rows.shape

    def __matmul__(self, coef: Any) -> Any:
        return self._rows @ coef + float(self._rows.center @ coef)


def _columns(blocks: list[Any]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Labels and weights, in memory."""
    pieces = computed([delayed(_small)(label, mass) for _, label, mass in blocks])
    labels = np.concatenate([one for one, _ in pieces])
    if pieces[0][1] is None:
        return labels, None
    weight = np.concatenate([mass for _, mass in pieces]).astype(np.float64)
    if not (weight > 0).all():
        raise ValueError("sample_weight must be above zero in partitioned rows: leave out those of weight 0.")
    return labels, weight


def _small(label: Any, mass: Any) -> tuple[Any, Any]:
    return np.asarray(label), None if mass is None else np.asarray(mass)


# -- one for each family ---------------------------------------------------------------------------


def _solver(ranker: Any) -> Solver:
    if getattr(ranker, "kernel", None) is not None or getattr(ranker, "norm", "l2") != "l2":
        raise ValueError("partitioned rows take linear scores and the penalty l2: kernel=None, norm='l2'.")
    known: list[tuple[type, str, Solver]] = [
        (RankSVM, "newton", _rank_svm),
        (PNormPush, "newton", _p_norm_push),
        (TopPushRanker, "column_generation", _top_push),
        (AccuracyAtTop, "local", _accuracy_at_top),
    ]
    for kind, solver, solve in known:
        if isinstance(ranker, kind):
            given = getattr(ranker, "solver", solver)
            if given != solver:
                raise ValueError(f"solver={given!r}: partitioned rows are for solver={solver!r}.")
            return solve
    names = "RankSVM, PNormPush, TopPush, TopPushK, TauFPL, InfinitePush or AccuracyAtTop"
    raise ValueError(f"{type(ranker).__name__} does not learn from partitioned rows: take {names}.")


def _rank_svm(ranker: Any, design: PartitionedDesign, data: RankingData, run: Run) -> Outcome:
    ranker._check_parameters()
    pairs = Pairs.from_labels(
        data.grade, qid=None, sample_weight=data.sample_weight, weighting=ranker._weighting(data)
    )
    problem = PairLoss(design, pairs, float(ranker.C), ranker.loss)
    # From zero: the usual start needs a part of the rows in memory.
    coef, outcome = ranker._solve(problem, run, np.zeros(design.n_features))
    return _kept(ranker, coef, outcome)


def _p_norm_push(ranker: Any, design: PartitionedDesign, data: RankingData, run: Run) -> Outcome:
    p, C = check_at_least("p", ranker.p, 1), check_penalty_weight(ranker.C)
    items = PNormPushItems.from_labels(data.y, qid=None, sample_weight=data.sample_weight)
    limits: Any = {"tol": ranker.tol, "max_iter": int(ranker.max_iter)}
    ranker.coef_, outcome = log_push(LogPush(design, items, C, p), np.zeros(design.n_features), run, **limits)
    ranker.n_iter_ = max(1, outcome.iterations)
    return outcome


def _kept(ranker: Any, coef: Any, outcome: Outcome) -> Outcome:
    ranker._keep(coef)
    ranker.n_iter_ = max(1, outcome.iterations)
    return outcome


def _top_push(ranker: Any, design: PartitionedDesign, data: RankingData, run: Run) -> Outcome:
    ranker._check_parameters()
    weight = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    said: Any = {"C": float(ranker.C), "surrogate": SURROGATES[ranker._loss()], "rule": ranker._rule()}
    outcome: Outcome = ranker._learned(TopPushProblem.of_design(design, data.y, weight, **said), run)
    return outcome


def _accuracy_at_top(ranker: Any, rows: PartitionedRows, data: RankingData, run: Run) -> Outcome:
    said: Any = {"top_share": ranker.top_share, "C": ranker.C, "weighting": ranker.weighting}
    prices = prices_of_labels(data.y, data.sample_weight, **said)
    ranker.pin_rows_, merged = gather(np.zeros((0, 0)), prices, merge=False)
    space = Features(np.zeros((0, 0)))
    space._center, space._basis = rows.center, None
    ranker._space, ranker.n_top_ = space, merged.top
    outcome: Outcome = ranker._locally(items_of_points(rows, merged), run)  # type: ignore[arg-type]
    return outcome
