"""Named rankers that choose C by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.base import RankingData
from toprank.control import Callback, Run, Seed
from toprank.convex.pairwise.least_squares import LeavePairOut
from toprank.rankers.p_norm_push import PNormPush
from toprank.rankers.rank_rls import RankRLS
from toprank.rankers.rank_svm import RankSVM
from toprank.rankers.tuning.search_cv import DEFAULT_CS, RankerCV
from toprank.statistics import RankStatistic

__all__ = ["PNormPushCV", "RankRLSCV", "RankSVMCV"]

Floats = NDArray[np.float64]


class RankSVMCV(RankerCV):
    """`RankSVM` with C chosen by cross-validation on any rank statistic.

    Parameters
    ----------
    Cs : array-like
        The values to try.
    loss, norm, q, weighting, levels, tol, max_iter
        As in `RankSVM`.
    kernel, gamma, degree, coef0, kernel_params, approximation, n_components, n_landmarks
        As in `RankSVM`.
    statistic, cv, time_limit, random_state, pos_label, callback, verbose
        As in `RankerCV`.

    Attributes
    ----------
    C_, Cs_, scores_, ranker_
        As in `RankerCV`.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [1.0, 0.0], [0.0, 2.0]]
    >>> RankSVMCV(cv=3, statistic="average_precision", random_state=0).fit(X, [0, 1, 0, 1, 0, 1]).C_
    0.001
    """

    def __init__(
        self,
        Cs: ArrayLike = DEFAULT_CS,
        *,
        loss: str = "hinge",
        norm: str = "l2",
        q: float = 0.5,
        kernel: Any = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        weighting: Any = "pairs",
        levels: str = "auto",
        statistic: str | RankStatistic | None = None,
        cv: Any = 5,
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.loss = loss
        self.norm = norm
        self.q = q
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.weighting = weighting
        self.levels = levels
        self.statistic = statistic
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _prototype(self) -> RankSVM:
        return RankSVM(
            loss=self.loss,
            norm=self.norm,
            q=self.q,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            approximation=self.approximation,
            n_components=self.n_components,
            n_landmarks=self.n_landmarks,
            weighting=self.weighting,
            levels=self.levels,
            tol=self.tol,
            max_iter=self.max_iter,
        )


class PNormPushCV(RankerCV):
    """`PNormPush` with C chosen by cross-validation on any rank statistic.

    Parameters
    ----------
    p : float
        As in `PNormPush`.
    Cs : array-like
        The values to try.
    tol, max_iter
        As in `PNormPush`.
    statistic, cv, time_limit, random_state, pos_label, callback, verbose
        As in `RankerCV`.

    Attributes
    ----------
    C_, Cs_, scores_, ranker_
        As in `RankerCV`.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [1.0, 0.0], [0.0, 2.0]]
    >>> PNormPushCV(p=8, cv=3, random_state=0).fit(X, [0, 1, 0, 1, 0, 1]).scores_.shape
    (3, 7)
    """

    def __init__(
        self,
        p: float = 4.0,
        Cs: ArrayLike = DEFAULT_CS,
        *,
        statistic: str | RankStatistic | None = None,
        cv: Any = 5,
        tol: float = 1e-4,
        max_iter: int = 200,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.Cs = Cs
        self.statistic = statistic
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _prototype(self) -> PNormPush:
        return PNormPush(self.p, tol=self.tol, max_iter=self.max_iter)


class RankRLSCV(RankerCV):
    """`RankRLS` with C chosen by exact leave-pair-out cross-validation, or by folds.

    Parameters
    ----------
    Cs : array-like
        The values to try.
    kernel, gamma, degree, coef0, kernel_params, approximation, n_components, n_landmarks, levels
        As in `RankRLS`.
    cv : "leave_pair_out", int or splitter
        The first leaves out every pair in turn, at the price of one fit: for up to some ten thousand rows; it
        takes no weights.
    statistic
        As in `RankerCV`; leave-pair-out knows only the concordance, which is the AUC for two labels.
    time_limit, random_state, pos_label, callback, verbose
        As in `RankerCV`.

    Attributes
    ----------
    C_, Cs_, scores_, ranker_
        As in `RankerCV`; leave-pair-out makes one row of scores.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [1.0, 0.0], [0.0, 2.0]]
    >>> RankRLSCV().fit(X, [0.1, 0.9, 0.0, 0.7, 0.1, 0.6]).C_
    1.0
    """

    def __init__(
        self,
        Cs: ArrayLike = DEFAULT_CS,
        *,
        kernel: Any = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        levels: str = "auto",
        statistic: str | RankStatistic | None = None,
        cv: Any = "leave_pair_out",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.levels = levels
        self.statistic = statistic
        self.cv = cv
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _prototype(self) -> RankRLS:
        return RankRLS(
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            approximation=self.approximation,
            n_components=self.n_components,
            n_landmarks=self.n_landmarks,
            levels=self.levels,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights &= self.cv != "leave_pair_out"
        return tags

    def _search(self, data: RankingData, run: Run) -> Floats:
        if self.cv != "leave_pair_out":
            return super()._search(data, run)
        if self.statistic not in (None, "auc", "c_index"):
            raise ValueError(
                "cv='leave_pair_out' judges single pairs and cannot compute"
                f" statistic={self.statistic!r}; use cv=5."
            )
        if len(data.grade) < 4:
            raise ValueError(f"cv='leave_pair_out' needs at least 4 rows, got {len(data.grade)}.")
        features = data.X if self.kernel is None else self._prototype().kernel_map().fit(data.X)
        held_out = LeavePairOut(features, data.grade, data.qid)
        return np.array([[held_out.concordance(C) for C in self.Cs_]])
