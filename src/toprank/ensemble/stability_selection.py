"""`StabilitySelection`: the columns a sparse ranker takes again and again, and the ranker on them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.base import BaseRanker, Matrix, RankingData, abilities, fit_copy, ranking_scores, take
from toprank.boosting.watching import hold_out
from toprank.control import Callback, Outcome, Progress, Run, Seed, Status, worker_count
from toprank.ensemble.inner import set_tags
from toprank.ensemble.supports import path_of, supports_along
from toprank.labels import LabelKind
from toprank.rankers.parts.parameters import check_choice, check_count, check_share
from toprank.statistics import RankStatistic
from toprank.trees.nodes import in_threads

__all__ = ["StabilitySelection"]

Floats = NDArray[np.float64]
MOST_SETS = 30
"""Sets of columns that are tried on held-out rows."""


class StabilitySelection(BaseRanker):
    """Fits a sparse ranker to many subsamples and keeps the columns that come again.

    How often each column is taken, along a path from few columns to many, is its stability path; its
    probability is the highest point (Meinshausen & Bühlmann 2010). Those with a probability of at least
    `threshold` are stable. With ``rule="loss"`` no threshold has to be chosen: for each possible one the
    ranker is fitted to the columns above it and judged on held-out rows by the statistic, and the smallest of
    the best sets is taken; `best_share` lets only those subsamples vote whose ranker was good on the rows
    they left out (the modification of Werner 2019, outlined in Werner 2020, Section 3.2, by the loss that is
    to be small instead of a number of false columns).

    Parameters
    ----------
    ranker : ranker or None
        A ranker with a sparse `coef_`; None is `GradientFreeBoosting`.
    rule : {"loss", "threshold"}
        How columns are chosen by their probabilities.
    threshold : float
        For ``rule="threshold"``: the least probability, above one half.
    parameter : str or None
        What the path runs along, with a fit for each of `values`. None: the steps of a ranker that takes one
        column after the other, all of them from one fit, else "C".
    values : sequence of numbers or None
        Of that parameter, from few columns to many; None is 20 numbers of steps, or 8 values of C.
    statistic : str, RankStatistic or None
        What held-out rows are judged by; None is the ranker's own, else the AUC, or the C-index of grades or
        a response.
    n_subsamples : int
        Subsamples.
    sample_share : float
        How large each is, as a share of the rows it is drawn from.
    best_share : float
        The share of the subsamples that vote, the best first; 1 is all.
    validation_fraction : float
        For ``rule="loss"``: the share of the rows that sets of columns are judged on.
    n_jobs : int
        Threads; -1 is one for each processor.
    time_limit : float or None
        Seconds; None for no limit. Subsamples that were not begun in time are left out.
    random_state : int, Generator, RandomState or None
        Seed of the subsamples, and of the ranker where it has none of its own.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The columns taken.
    probabilities_ : ndarray of shape (n_features,)
        The highest share of the subsamples that took each column.
    paths_ : ndarray of shape (n_values, n_features)
        Those shares along the path.
    path_values_ : ndarray of shape (n_values,)
        What the path runs along.
    sizes_, held_out_values_ : ndarrays
        For ``rule="loss"``: how many columns the sets had, and the statistic of each on the held-out rows.
    false_selections_bound_ : float
        For ``rule="threshold"``: so many columns that mean nothing are to be expected at most, q^2 / ((2
        threshold - 1) p), q the mean number of columns a subsample took.
    stable_ranker_ : ranker
        Fitted to the columns taken.
    coef_ : ndarray of shape (n_features,)
        Its coefficients, zero for the other columns.
    outcome_ : Outcome
        The value is the statistic of the training rows; `iterations` is the number of subsamples.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import GradientFreeBoosting, StabilitySelection
    >>> X = np.random.default_rng(0).normal(size=(300, 10))
    >>> y = X[:, 2] - X[:, 5] > 0.5
    >>> ranker = StabilitySelection(GradientFreeBoosting(n_estimators=20), rule="threshold", n_subsamples=20)
    >>> np.flatnonzero(ranker.set_params(random_state=0).fit(X, y).support_)
    array([2, 5])
    """

    support_: NDArray[np.bool_]
    probabilities_: Floats
    paths_: Floats
    path_values_: Floats
    sizes_: NDArray[np.int64]
    held_out_values_: Floats
    false_selections_bound_: float
    stable_ranker_: Any
    coef_: Floats

    def __init__(
        self,
        ranker: Any = None,
        *,
        rule: str = "loss",
        threshold: float = 0.6,
        parameter: str | None = None,
        values: Sequence[float] | None = None,
        statistic: str | RankStatistic | None = None,
        n_subsamples: int = 50,
        sample_share: float = 0.5,
        best_share: float = 1.0,
        validation_fraction: float = 0.25,
        n_jobs: int = 1,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.ranker = ranker
        self.rule = rule
        self.threshold = threshold
        self.parameter = parameter
        self.values = values
        self.statistic = statistic
        self.n_subsamples = n_subsamples
        self.sample_share = sample_share
        self.best_share = best_share
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    @property
    def _model(self) -> Any:
        from toprank.boosting.gradient_free import GradientFreeBoosting

        return GradientFreeBoosting() if self.ranker is None else self.ranker

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self._check()
        share = float(self.validation_fraction) if self.rule == "loss" else None
        learn, watch = hold_out(data, share, run.rng)
        part = take(data, learn)
        found = self._vote(part, run)
        if self.rule == "loss" and watch is not None:
            self.support_ = self._best_set(part, take(data, watch), run)
        else:
            self.support_ = self.probabilities_ >= float(self.threshold)
            taken = float(np.mean([one.taken.any(axis=0).sum() for one in found]))
            room = (2.0 * float(self.threshold) - 1.0) * data.X.shape[1]
            self.false_selections_bound_ = taken**2 / room
        notes: tuple[str, ...] = ()
        if not self.support_.any():
            self.support_ = np.arange(len(self.support_)) == int(np.argmax(self.probabilities_))
            notes = ("No column is stable enough; the most stable one was taken.",)
        counted = data if data.sample_weight is None else take(data, np.flatnonzero(data.sample_weight > 0))
        self.stable_ranker_ = fit_copy(
            self._model, self._columns(counted, self.support_), run.part(silent=True)
        )
        self._keep_coefficients()
        value = self._value(counted, self._scores(counted.X))
        status = run.stopped_by if len(found) < int(self.n_subsamples) else None
        return Outcome(
            value, status=status or Status.FINISHED, seconds=run.seconds, iterations=len(found), notes=notes
        )

    def _check(self) -> None:
        check_choice("rule", self.rule, ["loss", "threshold"])
        check_count("n_subsamples", self.n_subsamples)
        check_share("sample_share", self.sample_share, "the rows")
        check_share("validation_fraction", self.validation_fraction, "the rows")
        if self.best_share != 1:
            check_share("best_share", self.best_share, "the subsamples")
        if self.rule == "threshold" and not 0.5 < float(self.threshold) <= 1.0:
            raise ValueError(f"threshold={self.threshold!r} must be above 0.5 and at most 1.")

    def _keep_coefficients(self) -> None:
        coef = np.asarray(self.stable_ranker_.coef_, dtype=np.float64)
        if coef.ndim == 1:
            self.coef_ = np.zeros(len(self.support_))
            self.coef_[self.support_] = coef

    def _vote(self, data: RankingData, run: Run) -> list[_Vote]:
        """The columns each subsample takes, and what comes of them all."""
        self.path_values_ = path_of(self._model, self.parameter, self.values, data.X.shape[1])
        workers = worker_count(self.n_jobs)

        def vote(part: Run) -> _Vote:
            rows = _half(data, float(self.sample_share), part.rng)
            fitted, taken = supports_along(
                self._model, take(data, rows), part, self.parameter, self.path_values_
            )
            if self.best_share == 1:
                return _Vote(taken, 0.0)
            others = np.setdiff1d(np.arange(len(data.y)), rows)
            left_out = take(data, others)
            return _Vote(taken, self._value(left_out, ranking_scores(fitted, left_out.X)))

        found: list[_Vote] = []
        while len(found) < int(self.n_subsamples):
            batch = min(workers, int(self.n_subsamples) - len(found))
            found += in_threads(vote, [run.part(silent=True) for _ in range(batch)], workers)
            if not run.report(Progress(float(len(found)), iterations=len(found), phase="subsamples")):
                break
        sign = 1.0 if self._scored_by().greater_is_better else -1.0
        voting = max(1, round(float(self.best_share) * len(found)))
        best = sorted(range(len(found)), key=lambda one: -sign * found[one].value)[:voting]
        self.paths_ = np.mean([found[one].taken for one in best], axis=0)
        self.probabilities_ = self.paths_.max(axis=0)
        return found

    def _best_set(self, learn: RankingData, held: RankingData, run: Run) -> NDArray[np.bool_]:
        """The smallest of the sets of most probable columns that do best on the held-out rows."""
        thresholds = np.unique(self.probabilities_[self.probabilities_ > 0])[::-1]
        if len(thresholds) > MOST_SETS:
            thresholds = thresholds[np.linspace(0, len(thresholds) - 1, MOST_SETS).astype(int)]
        sets = [self.probabilities_ >= one for one in thresholds]
        values: list[float] = []
        for chosen in sets:
            fitted = fit_copy(self._model, self._columns(learn, chosen), run.part(silent=True))
            values.append(self._value(held, ranking_scores(fitted, held.X[:, chosen])))
            if not run.report(Progress(values[-1], iterations=len(values), phase="sets")):
                break
        self.sizes_ = np.array([int(one.sum()) for one in sets[: len(values)]], dtype=np.int64)
        self.held_out_values_ = np.array(values)
        if not values:
            return np.zeros(len(self.probabilities_), dtype=bool)
        sign = 1.0 if self._scored_by().greater_is_better else -1.0
        return np.asarray(sets[int(np.argmax(sign * self.held_out_values_))])

    def _columns(self, data: RankingData, chosen: NDArray[np.bool_]) -> RankingData:
        start = None if data.start is None else data.start[chosen]
        return replace(data, X=data.X[:, chosen], start=start)

    def _label_kinds(self) -> frozenset[LabelKind]:
        return abilities(self._model).labels

    def _scored_by(self) -> RankStatistic:
        own = getattr(self._model, "statistic", None) if self.statistic is None else self.statistic
        if own is None or (self.kind_ != "binary" and str(own) == "auc"):
            own = "auc" if self.kind_ == "binary" else "c_index"
        return statistics.get(own)

    def _value(self, data: RankingData, scores: Floats) -> float:
        return float(self._scored_by()(data.y, scores, sample_weight=data.sample_weight, qid=data.qid))

    # -- ranking ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_, dtype=np.float64)
        return ranking_scores(self.stable_ranker_, X[:, self.support_])

    # -- tags ---------------------------------------------------------------------------------

    def _inside(self) -> list[Any]:
        return [self._model]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_tags(tags, [self._model])
        tags.ranker_tags.queries = False
        tags.ranker_tags.linear = bool(getattr(getattr(self._model, "ranker_tags", None), "linear", True))
        return tags


@dataclass(frozen=True)
class _Vote:
    """What a subsample took along the path, and the statistic of its ranker on the rows it left out."""

    taken: NDArray[np.bool_]
    value: float


def _half(data: RankingData, share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows drawn without replacement, of like labels each."""
    drawn = hold_out(replace(data, sample_weight=None), share, rng)[1]
    assert drawn is not None
    return np.sort(drawn)
