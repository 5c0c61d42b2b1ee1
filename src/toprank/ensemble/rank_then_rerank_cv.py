"""`RankThenRerank` with its size and prices chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toprank.control import Callback, Seed
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.rankers.exact import ExactRanker
from toprank.rankers.tuning.search_cv import RankerCV
from toprank.statistics import RankStatistic

__all__ = ["RankThenRerankCV"]


class RankThenRerankCV(RankerCV):
    """`RankThenRerank` with the size of the top, the price of a feature and the margin chosen by folds.

    Every combination is tried, and judged by the statistic of the whole list of the rows held out: with too
    small a top there is little to learn from, with too large a one there is no time to find the best order
    (Rudin & Wang 2018, Observation 2). Among equally good ones the first tried wins.

    Parameters
    ----------
    base, reranker : estimators, optional
        As in `RankThenRerank`.
    tops : sequence of int or float
        Numbers of rows to rerank, or shares of them below 1.
    penalties : sequence of float or None
        Prices of a feature, the reranker's parameter `penalty`; None: that of the reranker.
    margins : sequence of float or None
        By how much a pair is to be won, the reranker's parameter `margin`; None: that of the reranker.
    base_cv : int, cross-validation generator, "prefit" or None
        Folds in which the base scores the rows that the reranker learns from: `cv` of `RankThenRerank`.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is; "auto" tells it from `y`.
    statistic, cv, time_limit, random_state, pos_label, callback, verbose
        As in `RankerCV`; None as the statistic is the reranker's own.

    Attributes
    ----------
    params_, best_params_, scores_, ranker_, outcome_
        As in `RankerCV`.
    top_ : int or float
        The size chosen; `ranker_.top_` says whether it had to be widened.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from toprank import DirectRanker, RankThenRerankCV
    >>> X, y = make_classification(n_samples=300, weights=[0.8], random_state=0)
    >>> quick = DirectRanker(n_restarts=1)
    >>> search = RankThenRerankCV(reranker=quick, tops=[30, 60], penalties=[0.0, 0.5], cv=2, random_state=0)
    >>> len(search.fit(X, y).params_)
    4
    """

    top_: int | float

    def __init__(
        self,
        base: Any = None,
        reranker: Any = None,
        *,
        tops: Sequence[int | float] = (25, 50, 100),
        penalties: Sequence[float] | None = None,
        margins: Sequence[float] | None = None,
        base_cv: Any = 5,
        levels: str = "auto",
        statistic: str | RankStatistic | None = None,
        cv: Any = 5,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.reranker = reranker
        self.tops = tops
        self.penalties = penalties
        self.margins = margins
        self.base_cv = base_cv
        self.levels = levels
        self.statistic = statistic
        self.cv = cv
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _prototype(self) -> RankThenRerank:
        reranker = ExactRanker() if self.reranker is None else self.reranker
        return RankThenRerank(self.base, reranker, cv=self.base_cv, levels=self.levels)

    def _points(self) -> list[dict[str, Any]]:
        given = {
            "top": ("tops", self.tops),
            "reranker__penalty": ("penalties", self.penalties),
            "reranker__margin": ("margins", self.margins),
        }
        grid = {name: values for name, (_, values) in given.items() if values is not None}
        known = self._prototype().get_params()
        for name, values in grid.items():
            argument = given[name][0]
            if name not in known:
                raise ValueError(
                    f"{argument}: {type(self.reranker).__name__} has no parameter"
                    f" {name.removeprefix('reranker__')!r}; leave it out, or choose ExactRanker."
                )
            if not len(values):
                raise ValueError(f"{argument} is empty; give at least one value to try.")
        return self._combinations(grid)

    def _fit(self, data: Any, run: Any) -> Any:
        outcome = super()._fit(data, run)
        self.top_ = self.best_params_["top"]
        return outcome

    def _scored_by(self) -> RankStatistic:
        own = getattr(self._prototype().reranker, "statistic", None)
        return self._judged_by(own)
