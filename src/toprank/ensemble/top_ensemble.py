"""`TopEnsemble`: a blend of different rankers, weighted for the top of the list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from toprank.base import TWO_LABELS, BaseRanker, Matrix, RankingData, abilities, fit_copy
from toprank.control import Callback, Outcome, Progress, Run, SearchStoppedWarning, Seed, Status, warn_user
from toprank.ensemble.blend import (
    FEWEST_TO_CHOOSE,
    Blend,
    at_top,
    chosen_trust,
    fitting_weights,
    mixed,
    to_response,
    trust_in,
    usual_weights,
)
from toprank.ensemble.calibration import logistic_curve, shares
from toprank.ensemble.explaining import MEASURED, coefficients_of, importances_of, spreads_of
from toprank.ensemble.first_list import folds_of
from toprank.ensemble.inner import set_tags
from toprank.ensemble.members import USUAL_WEIGHTS, cross_fitted, default_members, logit_scores
from toprank.exact.certificate import Certificate
from toprank.labels import KINDS, LabelKind
from toprank.rankers.direct import DirectRanker
from toprank.rankers.exact import ExactRanker
from toprank.rankers.parts.weighted import weighs_the_top

__all__ = ["MemberLeftOutWarning", "TopEnsemble"]

Floats = NDArray[np.float64]
BLEND_SECONDS = (1.0, 5.0)
"""The search for the best weights takes as long as the cross-fitting, but no less and no more than this: its
answer is mixed with the usual weights anyway."""
LINES = 30
"""Line searches of the climb that stands in for it where trust is chosen."""


class MemberLeftOutWarning(UserWarning):
    """A member of an ensemble could not be fitted; the others go on without it."""


def _has_probabilities(ensemble: Any) -> bool:
    """Whether an ensemble learned two classes, or may do so, being told nothing else."""
    kind = getattr(ensemble, "kind_", "binary" if ensemble.levels == "auto" else ensemble.levels)
    if kind != "binary":
        raise AttributeError(f"{kind} labels have no probabilities of two classes; predict tells the label.")
    if hasattr(ensemble, "members_") and not hasattr(ensemble, "_odds_line"):
        raise AttributeError("it comes from a file that was written before ensembles had probabilities.")
    return True


class TopEnsemble(BaseRanker):
    """Blends different rankers, with weights between the usual ones and the best for the statistic.

    Every member is cross-fitted: each training row gets scores from copies that never saw it. On these
    out-of-fold scores, standardised, the exact search finds the weights with the best statistic and proves
    it where it can; the blend lies between those and the usual weights: the nearer to the best the more
    positives stand where the statistic looks, or as rows say that the weights never saw, where these are
    enough. Then every member is fitted to all rows. Of grades or a response the weights are those of least
    squares, and leads of scores are in its units.

    Parameters
    ----------
    members : list of (name, estimator) pairs or None
        Anything scikit-learn fits to two classes, rankers of this library included; to grades or a response,
        regressors. None: logistic regression, boosting, a forest, a bagged `DirectRanker`, and LightGBM and
        CatBoost where installed; of grades or a response ridge regression, the regressors among these, and
        `RankSVM`.
    statistic : str or LinearRankStatistic
        What the weights are chosen for, and what `score` reports. Of grades or a response, whose weights are
        those of least squares, `score` reports the concordance index where this is meant for two labels.
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it from
        `y`.
    cv : int, cross-validation generator or iterable of splits
        Folds of the cross-fitting; every row must be held out once.
    weights : dict of str to float, or None
        How much members count where nothing is trusted, above zero, 1 for those it does not name. None: all
        alike; but where `members` is None too, CatBoost counts twice.
    trust : "auto" or float
        0 for these weights, 1 for those best on the out-of-fold scores; "auto": ``t / (t + 300)``, t the
        positives that count. Where these are 50 or more, in one list, another trust is taken if it is better
        by more than a standard error on folds whose rows did not choose the weights. Of grades or a response
        the best weights are those, none below zero, with which the out-of-fold scores come nearest to it in
        least squares (within queries, where there are some); "auto" is 1, since all rows decide about them.
    time_limit : float or None
        Seconds; members that were not cross-fitted in time are left out, but never all of them.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    random_state : int, Generator, RandomState or None
        Seed of the folds, and of members that have none of their own.
    callback : callable or None
        Called with a `Progress` after each member; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    members_ : dict of str to estimator
        The members, fitted to all rows.
    weights_ : dict of str to float
        How much each counts; the squares add up to 1.
    trust_ : float
        Where the weights lie between the usual ones (0) and the best on the out-of-fold scores (1).
    certificate_ : Certificate or None
        Of the best weights; None when they were not looked for.
    out_of_fold_scores_ : ndarray of shape (n_samples,)
        The blend of the scores of each training row by members that never saw it: an honest order of the
        training rows.
    member_coefficients_, member_importances_ : dict of str to ndarray of shape (n_features,)
        What counts in the members: coefficients of the linear ones; shares of the features, where a member
        tells. `feature_importances_` is the mean of these, by the members' weights, the others left out.
    outcome_ : Outcome
        The statistic of that order; the bound is the certificate's: no weights reach more.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from toprank import TopEnsemble
    >>> X, y = make_classification(n_samples=300, weights=[0.8], random_state=0)
    >>> members = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
    >>> ranker = TopEnsemble(members, statistic="dcg@20", random_state=0).fit(X, y)
    >>> list(ranker.weights_), ranker.first(X, 3).shape
    (['logistic', 'bayes'], (3,))
    """

    members_: dict[str, Any]
    weights_: dict[str, float]
    trust_: float
    certificate_: Certificate | None
    out_of_fold_scores_: Floats
    _odds_line: Floats

    def __init__(
        self,
        members: Sequence[tuple[str, Any]] | None = None,
        *,
        statistic: Any = "dcg",
        levels: str = "auto",
        cv: Any = 5,
        weights: Mapping[str, float] | None = None,
        trust: str | float = "auto",
        time_limit: float | None = None,
        pos_label: Any = None,
        random_state: Seed = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.members = members
        self.statistic = statistic
        self.levels = levels
        self.cv = cv
        self.weights = weights
        self.trust = trust
        self.time_limit = time_limit
        self.pos_label = pos_label
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    # -- fitting ------------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        named = self._named_members(data.kind)
        self._feature_spreads = spreads_of(data.X)
        folds = list(folds_of(self.cv, data, run))
        unseen = self._cross_fit(named, data, folds, run)
        self._middle = {n: float(np.average(s, weights=data.sample_weight)) for n, s in unseen.items()}
        self._spread = {
            n: math.sqrt(np.average((s - self._middle[n]) ** 2, weights=data.sample_weight)) or 1.0
            for n, s in unseen.items()
        }
        stack = np.column_stack([self._standard(name, scores) for name, scores in unseen.items()])
        blend = self._blend(stack, self._usual_weights(list(unseen)), data, folds, run)
        self.weights_ = dict(zip(unseen, blend.weights.tolist(), strict=True))
        self.trust_, self.certificate_ = blend.trust, blend.certificate
        scores = stack @ blend.weights
        self._line = (0.0, 1.0)
        if data.kind != "binary":
            self._line = to_response(scores, data.grade, data.sample_weight)
        self.out_of_fold_scores_ = self._line[0] + self._line[1] * scores
        self.members_ = {name: fit_copy(dict(named)[name], data, run.part(silent=True)) for name in unseen}
        return self._outcome(data, run)

    def _named_members(self, kind: LabelKind = "binary") -> list[tuple[str, Any]]:
        named = default_members(self.statistic, kind) if self.members is None else list(self.members)
        names = [name for name, _ in named]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"members must be (name, estimator) pairs with different names, got {names}.")
        return named

    def _cross_fit(
        self, named: list[tuple[str, Any]], data: RankingData, folds: list[Any], run: Run
    ) -> dict[str, Floats]:
        """Out-of-fold scores of the members that could be fitted, in time."""
        unseen: dict[str, Floats] = {}
        failure: Exception | None = None
        for number, (name, member) in enumerate(named):
            if unseen and run.should_stop():
                rest = ", ".join(name for name, _ in named[number:])
                warn_user(f"TopEnsemble was stopped before the members {rest}.", SearchStoppedWarning)
                break
            try:
                part = run.part(1.0 / (len(named) - number + 1), silent=True)
                # Something must come of it, even when it is told to stop: the first member is fitted.
                unseen[name] = cross_fitted(member, data, folds, part, to_the_end=not unseen)
            except Exception as error:  # whatever a stranger's estimator raises, the others can do without it
                failure = failure or error
                if run.flagged:
                    continue
                warn_user(
                    f"the member {name!r} could not be fitted and is left out: {error}", MemberLeftOutWarning
                )
            run.report(Progress(math.nan, iterations=number + 1, phase=f"cross-fitted {name}"))
        if not unseen:
            assert failure is not None
            raise failure
        return unseen

    def _standard(self, name: str, scores: Floats) -> Floats:
        return (scores - self._middle[name]) / self._spread[name]

    def _blend(self, stack: Floats, usual: Floats, data: RankingData, folds: list[Any], run: Run) -> Blend:
        """Weights of the standardised scores."""
        trust = self._trust(stack @ usual, data)
        if trust == 0.0 or stack.shape[1] == 1:
            return Blend(usual, 0.0, None)
        if data.kind != "binary":
            best = fitting_weights(stack, data.grade, qid=data.qid, weight=data.sample_weight)
            return Blend(mixed(best, trust, usual), trust, None)
        part = run.part(0.5, time_limit=float(np.clip(run.seconds, *BLEND_SECONDS)), silent=True)
        search = ExactRanker(self.statistic, random_state=0)
        search.fit_within(stack, data.y, part, qid=data.qid, start=usual)
        if self._can_choose(stack @ usual, data) and not run.should_stop():
            held = self._weights_without(stack, usual, data, folds, run.part(0.5, silent=True))
            trust = chosen_trust(self.statistic, stack, data.y, held, trust, usual)
        return Blend(mixed(search.coef_, trust, usual), trust, search.certificate_)

    def _usual_weights(self, names: list[str]) -> Floats:
        """What the members count before their scores are looked at."""
        told = USUAL_WEIGHTS if self.weights is None and self.members is None else self.weights
        wrong = {name: weight for name, weight in (told or {}).items() if not 0.0 < weight < math.inf}
        if wrong:
            raise ValueError(f"weights={wrong!r}: each must be a number above zero.")
        return usual_weights(names, told)

    def _can_choose(self, scores: Floats, data: RankingData) -> bool:
        """Whether trust is left open, and positives enough stand in one list to choose it by."""
        one_list = self.trust == "auto" and data.qid is None
        return one_list and at_top(self.statistic, data.y, scores) >= FEWEST_TO_CHOOSE

    def _weights_without(
        self, stack: Floats, usual: Floats, data: RankingData, folds: list[Any], run: Run
    ) -> list[tuple[NDArray[np.int64], Floats]]:
        """Rows of each fold, and weights good for the other folds: a short climb finds what a proof would."""
        climb = DirectRanker(self.statistic, max_iter=LINES, n_restarts=0, random_state=0)
        found = []
        for number, (learn, judge) in enumerate(folds):
            part = run.part(1.0 / (len(folds) - number), silent=True)
            climb.fit_within(stack[learn], data.y[learn], part, start=usual)
            found.append((judge, climb.coef_))
        return found

    def _trust(self, scores: Floats, data: RankingData) -> float:
        if self.trust == "auto":
            if data.kind != "binary":
                return 1.0
            if data.sample_weight is not None:
                return 0.0
            return trust_in(self.statistic, data.y, scores)
        if not isinstance(self.trust, Real) or not 0 <= float(self.trust) <= 1:
            raise ValueError(f'trust={self.trust!r} must be "auto" or a number from 0 to 1.')
        if float(self.trust) > 0 and data.sample_weight is not None and data.kind == "binary":
            raise ValueError("the best weights of weighted rows are not searched for: set trust=0.")
        return float(self.trust)

    def _outcome(self, data: RankingData, run: Run) -> Outcome:
        value = self._scored_by()(
            data.y, self.out_of_fold_scores_, qid=data.qid, sample_weight=data.sample_weight
        )
        bound = math.nan if self.certificate_ is None else max(self.certificate_.bound, value)
        status = run.stopped_by if run.flagged else None
        return Outcome(float(value), bound, status or Status.FINISHED, run.seconds, len(self.members_))

    def _label_kinds(self) -> frozenset[LabelKind]:
        if self.members is None:
            return KINDS
        return frozenset().union(TWO_LABELS, *(abilities(member).labels for _, member in self.members))

    def _inside(self) -> list[Any]:
        # What was said of the labels, before any were seen.
        said = {"ordinal", "continuous"} & {self.levels}
        return [member for _, member in self._named_members("continuous" if said else "binary")]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_tags(tags, self._inside())
        # The weights of least squares do not look at the top, whatever the statistic.
        tags.ranker_tags.at_top |= self.levels in ("auto", "binary") and weighs_the_top(self.statistic)
        return tags

    # -- probabilities ------------------------------------------------------------------------

    def _finish(self, data: RankingData) -> None:
        """Where `predict` cuts, and probabilities: by the scores of rows the members never saw."""
        super()._finish(data)
        if data.kind == "binary":
            line = logistic_curve(self.out_of_fold_scores_, data.y, data.sample_weight)
            self._odds_line = np.array(line)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the two labels, in the order of `classes_`; they rise with the score.

        The logistic curve that takes the out-of-fold scores of the training rows to their labels (Platt,
        1999), over all rows alike, whatever their query. `predict` does not cut at one half: it says yes of
        as many training rows as are positive. With grades or a response there are none.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        start, slope = self._odds_line
        upper = shares(start + slope * (self.decision_function(X) - self.intercept_))
        return np.column_stack((1.0 - upper, upper))

    # -- what counts --------------------------------------------------------------------------

    @property
    def member_coefficients_(self) -> dict[str, Floats]:
        """Weight of each feature, of the members whose scores are linear."""
        check_is_fitted(self)
        found = {name: coefficients_of(one, self.n_features_in_) for name, one in self.members_.items()}
        return {name: coef for name, coef in found.items() if coef is not None}

    @property
    def member_importances_(self) -> dict[str, Floats]:
        """Share of each feature in a member's scores, of the members that tell."""
        check_is_fitted(self)
        found = {name: importances_of(one, self._feature_spreads) for name, one in self.members_.items()}
        return {name: shares for name, shares in found.items() if shares is not None}

    @property
    def feature_importances_(self) -> Floats:
        """The mean of the members' importances, each counting as much as the member does in the blend.

        Members that tell none (`HistGradientBoostingClassifier`, say) are left out, however much they count;
        `sklearn.inspection.permutation_importance` measures, on labelled rows, what counts in the whole.
        """
        found = self.member_importances_
        if not found:
            raise AttributeError(f"no member has coefficients or importances; {MEASURED}.")
        sizes = [abs(self.weights_[name]) for name in found]
        if not any(sizes):
            sizes = [1.0] * len(found)
        return np.asarray(np.average(list(found.values()), axis=0, weights=sizes))

    # -- scoring ------------------------------------------------------------------------------

    def _scores(self, X: Matrix) -> Floats:
        shares = [
            weight * self._standard(name, logit_scores(self.members_[name], X))
            for name, weight in self.weights_.items()
        ]
        intercept, slope = self._line
        return np.asarray(intercept + slope * np.sum(shares, axis=0))
