"""`GradientFreeBoosting`: boosting of single columns, every so often by the ranking loss itself."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.base import TWO_LABELS, Matrix, RankingData, WatchedRanker
from toprank.boosting.componentwise import Boosted, Columns, boost_columns
from toprank.boosting.families import FAMILIES, Family, expected_level, make_family
from toprank.boosting.watching import Watcher, parts_of
from toprank.control import Callback, Outcome, Run, Seed, Status
from toprank.labels import KINDS, LabelKind
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count
from toprank.rankers.parts.weighted import asks_who
from toprank.statistics import DCG, NDCG, BipartiteStatistic, RankStatistic

__all__ = ["GradientFreeBoosting"]

Floats = NDArray[np.float64]


class GradientFreeBoosting(WatchedRanker):
    """Boosts single columns; every `singular_every`-th step takes the one that most improves the list itself.

    A usual step adds the simple regression of what is left of the labels that lowers the squared error most
    (component-wise L2-boosting; Bühlmann & Yu 2003). In a singular step the same regressions compete, but the
    one wins after which `statistic`, the hard ranking loss or any other, is best: no gradient of it is needed
    (Werner & Ruckdeschel 2019; Werner 2020, Section 3.2). m steps on n rows and p columns take
    O(m p n log n). The score is linear, and zero for columns that were never taken.

    Without early stopping it overfits, and which columns it takes depends on the sample:
    `StabilitySelection` looks for those that come again.

    Parameters
    ----------
    statistic : str or RankStatistic
        What singular steps improve, held-out rows are judged by and `score` reports: the hard ranking loss
        over pairs with different labels by default, ``"weak_ranking_loss@10"``,
        ``"localized_ranking_loss@10%"`` or any other.
    family : {"l2", "logit", "multi_logit"}
        What usual steps fit: the labels as numbers, the odds of two labels (LogitBoost), or one function for
        each level, where rows are ranked by the level to be expected and the score is not linear.
    singular_every : int or None
        Each so manyth step is singular; None for none, which is plain boosting.
    n_estimators : int
        Steps.
    learning_rate : float
        How much of each regression is taken.
    validation_fraction : float or None
        Share of the rows to hold out; boosting stops when the statistic there has not improved for
        `n_iter_no_change` steps, and those after the best are dropped. Not looked at where `fit` gets rows
        to stop by (`X_val`, `y_val`).
    n_iter_no_change : int
        Steps to wait for an improvement.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it from
        `y`.
    time_limit : float or None
        Seconds; None for no limit.
    random_state : int, Generator, RandomState or None
        Which rows are held out.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Zero but for the columns taken; of "multi_logit", an array with a row for each level.
    features_ : ndarray
        The column of each step.
    selection_frequencies_ : ndarray of shape (n_features,)
        The share of the steps that took each column.
    losses_ : ndarray
        What usual steps lower, after each step.
    validation_values_ : ndarray
        The statistic of the rows held out, or brought to stop by, after each step, dropped ones too.
    n_iter_ : int
        Steps in the model.
    outcome_ : Outcome
        The value is the statistic of the training rows, ties counting as mistakes.

    Examples
    --------
    One large label makes the second column fit best; the first one ranks all rows without a mistake.

    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 0.0], [5.0, 1.0], [6.0, 9.0]]
    >>> y = [0.1, 0.2, 0.3, 0.4, 0.5, 90.0]
    >>> plain = GradientFreeBoosting(singular_every=None, n_estimators=1).fit(X, y)
    >>> ranking = GradientFreeBoosting(singular_every=1, n_estimators=1).fit(X, y)
    >>> plain.features_, ranking.features_
    (array([1]), array([0]))
    """

    coef_: Floats
    features_: NDArray[np.int64]
    selection_frequencies_: Floats
    losses_: Floats
    validation_values_: Floats
    n_iter_: int

    def __init__(
        self,
        statistic: str | RankStatistic = "hard_ranking_loss(standardize=true)",
        *,
        family: str = "l2",
        singular_every: int | None = 10,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.statistic = statistic
        self.family = family
        self.singular_every = singular_every
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        every, statistic = self._check(), statistics.get(self.statistic)
        part, watch = parts_of(data, self.validation_fraction, run.rng)
        X, known, weight = part.X, part.grade, part.sample_weight
        family, columns = make_family(self.family, known, weight), Columns(X)
        held = None
        if watch is not None:
            judge = _worth(statistic, watch.grade, watch.sample_weight)
            held = Watcher(columns, family, watch.X, judge, int(self.n_iter_no_change))
        model = boost_columns(
            columns,
            family,
            run,
            steps=int(self.n_estimators),
            rate=float(self.learning_rate),
            every=every,
            judge=_worth(statistic, known, weight),
            watch=held,
        )
        taken = model if held is None else model.first(held.best, family.start())
        self._keep(taken, columns, family)
        self.validation_values_ = np.array([] if held is None else held.values)
        if not statistic.greater_is_better:
            self.validation_values_ = -self.validation_values_
        value = float(statistic(known, self._scores(X), sample_weight=weight))
        status = run.stopped_by or Status.FINISHED
        return Outcome(value, status=status, seconds=run.seconds, iterations=len(model.features))

    def _prepare(self, data: RankingData) -> None:
        # Compiled here, not on the clock.
        _worth(statistics.get(self.statistic), data.grade, None)(np.zeros(len(data.y)))

    def _check(self) -> int | None:
        check_choice("family", self.family, FAMILIES)
        check_count("n_estimators", self.n_estimators)
        check_count("n_iter_no_change", self.n_iter_no_change)
        check_at_least("learning_rate", self.learning_rate, 0)
        return None if self.singular_every is None else check_count("singular_every", self.singular_every)

    def _keep(self, model: Boosted, columns: Columns, family: Family) -> None:
        coef = model.coef / columns.scale
        self._offset = model.offset - coef @ columns.shift
        self.coef_ = coef if self.family == "multi_logit" else coef[0]
        self.features_ = np.array(model.features, dtype=np.int64)
        self.losses_ = np.array(model.losses)
        self.n_iter_ = max(1, len(model.features))
        counts = np.bincount(self.features_, minlength=columns.shape[1])
        self.selection_frequencies_ = counts / max(1, len(model.features))

    def _label_kinds(self) -> frozenset[LabelKind]:
        if self.family == "logit" or _of_two_labels(str(self.statistic)):
            return TWO_LABELS
        return KINDS - {"continuous"} if self.family == "multi_logit" else KINDS

    def _why_not(self, kind: LabelKind) -> str:
        if _of_two_labels(str(self.statistic)):
            return f"{self.statistic} judges lists of two labels"
        if self.family == "multi_logit":
            return "family='multi_logit' has a function for each level; family='l2' takes any numbers"
        return "family='logit' fits the odds of two labels; family='l2' takes any numbers"

    def _scored_by(self) -> RankStatistic:
        return statistics.get(self.statistic)

    # -- ranking ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        if self.family != "multi_logit":
            return np.asarray(X @ self.coef_, dtype=np.float64)
        return expected_level(np.asarray(X @ self.coef_.T) + self._offset)

    # -- tags ---------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = True
        tags.ranker_tags.linear = self.family != "multi_logit"
        tags.ranker_tags.at_top = "@" in str(self.statistic)
        tags.ranker_tags.weak = asks_who(self.statistic) or str(self.statistic).startswith(
            "weak_ranking_loss"
        )
        return tags


@lru_cache(maxsize=64)
def _of_two_labels(statistic: str) -> bool:
    """Whether a statistic has no meaning for grades; whether there is such a one is found out by `fit`."""
    try:
        found = statistics.get(statistic)
    except ValueError:
        return False
    return isinstance(found, BipartiteStatistic) and not isinstance(found, DCG | NDCG)


def _worth(statistic: RankStatistic, labels: Floats, weight: Floats | None) -> Any:
    """The statistic as a function of the scores, turned so that more is better."""
    sign = 1.0 if statistic.greater_is_better else -1.0
    return lambda scores: sign * float(statistic(labels, scores, sample_weight=weight))
