"""`RankBoost`: boosting on the exponential loss of misordered pairs."""

from __future__ import annotations

from typing import Any

from toprank.base import PairData, PairRanker, RankingData
from toprank.control import Callback, Outcome, Run, Seed
from toprank.convex.p_norm_push.boosting import Items
from toprank.labels import KINDS, LabelKind
from toprank.losses.exponential_grades import ExponentialGrades
from toprank.rankers.parts.boosting import PNormPushBooster
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["RankBoost"]


class RankBoost(PNormPushBooster, PairRanker):
    """Boosts weak rankers until few positives are scored below negatives.

    Coordinate descent on the mean over pairs of exp(-(s_i - s_j)), positive i, negative j, or of all rows
    with different labels, i the higher, where labels are grades or a response (Freund et al. 2003; Rudin &
    Wang 2018, Eq. (3)); with `qid` the mean over queries of its logarithm. Each round adds the weak ranker
    along which the loss falls fastest, as far as it falls. The pairs are never listed: a round takes time
    proportional to the rows. `PNormPush` with p = 1 minimises the same loss of two labels.

    With sample weights a pair weighs the product of its rows' weights.

    Parameters
    ----------
    weak_rankers : {"features", "stumps"} or estimator
        Single features, scaled to a range of one, which make a linear score; thresholds on single features;
        or what any ranker or classifier that takes weights, such as a small `TreeRank`, learns from rows that
        weigh what the loss would gain by moving them.
    n_estimators : int
        Rounds of boosting.
    validation_fraction : float or None
        Share of the rows (queries) to hold out; boosting stops early when the loss there has not fallen for
        `n_iter_no_change` rounds, and the rounds after the best one are dropped. Not looked at where `fit`
        gets rows to stop by (`X_val`, `y_val`).
    validation_statistic : str, RankStatistic or None
        What is looked at on the rows held out, ``"dcg@50"`` say, instead of the loss; where labels are grades
        or a response, one that is meant for two labels stands for the concordance index.
    n_iter_no_change : int
        Rounds to wait for the held-out loss to fall, or for that statistic to get better.
    tol : float
        Stop when the loss falls less than this per unit of the best weak ranker.
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
        Weight of each feature, where single features are the weak rankers.
    stump_features_, stump_thresholds_, stump_weights_ : ndarrays
        The stumps, where those are the weak rankers.
    weak_estimators_, weak_weights_ : list, ndarray
        The fitted estimators and what their scores count, where those are the weak rankers.
    losses_ : ndarray
        Logarithm of the loss after each round.
    validation_values_ : ndarray
        The loss of the rows to stop by, or `validation_statistic`, after each round, dropped ones too.
    outcome_ : Outcome
        The value is the logarithm of the loss; boosting knows no bound.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> RankBoost(n_estimators=20).fit(X, [0, 1, 0, 1]).rank(X).tolist()
    [1, 3, 0, 2]

    Judged by rows of one's own, the first two of three rounds are kept:

    >>> rows, labels = [[0.0, 2.0], [2.0, 2.0]], [0, 1]
    >>> ranker = RankBoost(n_iter_no_change=2).fit(X, [0, 1, 0, 1], X_val=rows, y_val=labels)
    >>> ranker.n_iter_, len(ranker.validation_values_)
    (2, 3)
    """

    def __init__(
        self,
        *,
        weak_rankers: Any = "features",
        n_estimators: int = 100,
        validation_fraction: float | None = None,
        validation_statistic: Any = None,
        n_iter_no_change: int = 10,
        tol: float = 1e-9,
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_rankers = weak_rankers
        self.n_estimators = n_estimators
        self.validation_fraction = validation_fraction
        self.validation_statistic = validation_statistic
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        return self._boost(data, run, 1.0)

    def _items(self, data: RankingData) -> Items:
        if data.kind == "binary":
            return super()._items(data)
        return ExponentialGrades.from_labels(data.y, qid=data.qid, sample_weight=data.sample_weight)

    def _prepare(self, data: RankingData) -> None:
        if data.kind != "binary":
            ExponentialGrades.from_labels([0.0, 1.0])  # compiles its kernel

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS

    @in_few_threads
    def _fit_pairs(self, data: PairData, run: Run) -> Outcome:
        """The setting of Freund et al. (2003): a distribution over pairs, weighted by their weights."""
        return self._boost_pairs(data, run)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = tags.ranker_tags.queries = True
        # Estimators learn from rows of two classes, which pairs do not make.
        tags.ranker_tags.pairs = self.validation_fraction is None and not hasattr(self.weak_rankers, "fit")
        tags.ranker_tags.linear = self._by_features()
        return tags
