"""What every ranker must keep beyond scikit-learn's own checks, as checks that raise AssertionError.

`check_ranker` runs them all; `ranker_checks` lists them, for ``pytest.mark.parametrize``. Together with
scikit-learn's ``check_estimator`` they are the contract of `toprank.base.BaseRanker`.
"""

from __future__ import annotations

import copy
import math
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from toprank.base import BaseRanker
from toprank.control import Outcome, Status, keep_best_on_interrupt
from toprank.testing.samples import raises, sample, seeded, stopping, takes_grades, takes_kernel
from toprank.testing.tags import tag_checks

__all__ = ["check_ranker", "ranker_checks"]


def ranker_checks() -> list[Callable[[BaseRanker], None]]:
    """Return the checks that `check_ranker` runs, each a function of one unfitted ranker.

    >>> from toprank import RankSVM
    >>> for check in ranker_checks()[:2]:
    ...     check(RankSVM())
    """
    return [
        check_outcome,
        check_parameters_unchanged,
        check_ranking,
        check_labels,
        check_same_seed,
        check_random_state,
        check_sparse_equals_dense,
        check_first,
        *tag_checks(),
        check_copies,
        check_composition,
        check_callback,
        check_time_limit,
        check_interrupt,
        check_bad_input,
    ]


def check_ranker(ranker: BaseRanker) -> None:
    """Run a ranker, your own or one of the library's, through every check.

    Parameters
    ----------
    ranker : BaseRanker
        Unfitted; it is cloned, never fitted itself.

    Raises
    ------
    AssertionError
        Naming what the ranker does not keep.

    Examples
    --------
    >>> from toprank import DirectRanker
    >>> check_ranker(DirectRanker(n_restarts=1))
    """
    for check in ranker_checks():
        check(ranker)


def check_outcome(ranker: BaseRanker) -> None:
    """A fit says how it went: an `Outcome` with a status, a time and no value beyond its bound."""
    X, y = sample(ranker)
    fitted = seeded(ranker).fit(X, y)
    outcome = fitted.outcome_
    assert isinstance(outcome, Outcome), "outcome_ is no Outcome"
    assert isinstance(outcome.status, Status), "outcome_.status is no Status"
    assert outcome.seconds >= 0, "outcome_.seconds is negative"
    assert not math.isnan(outcome.value), "outcome_.value is NaN"
    assert math.isfinite(fitted.score(X, y)), "score is not finite"


def check_parameters_unchanged(ranker: BaseRanker) -> None:
    """Fitting changes no parameter: those of a clone are the same before and after."""
    X, y = sample(ranker)
    candidate = seeded(ranker)
    before = {name: repr(value) for name, value in candidate.get_params().items()}
    candidate.fit(X, y)
    after = {name: repr(value) for name, value in candidate.get_params().items()}
    assert before == after, f"fit changed parameters: {before} became {after}"


def check_ranking(ranker: BaseRanker) -> None:
    """The order of `rank` is that of the decision function; `predict` cuts it at zero."""
    X, y = sample(ranker)
    fitted = seeded(ranker).fit(X, y)
    scores, ranked = fitted.decision_function(X), fitted.rank(X)
    assert sorted(ranked.tolist()) == list(range(len(X))), "rank is no permutation of the rows"
    assert (np.diff(scores[ranked]) <= 0).all(), "rank is not the order of decision_function"
    assert fitted.first(X, 3).tolist() == ranked[:3].tolist(), "first(X, 3) is not the head of rank(X)"
    raises(ValueError, fitted.first, X, len(X) + 1)
    if not takes_grades(ranker):
        positive = fitted.predict(X) == fitted.classes_[1]
        assert (positive == (scores > 0)).all(), "predict does not cut at zero"
    subset = np.array([5, 3, 8, 1])
    assert np.allclose(fitted.decision_function(X[subset]), scores[subset]), "scores depend on the company"


def check_first(ranker: BaseRanker) -> None:
    """`first(X, k)` is the same method on every ranker, and no parameter has its name."""
    assert type(ranker).first is BaseRanker.first, "first is not BaseRanker's"
    assert "first" not in ranker.get_params(deep=False), "a parameter is called first"


def check_labels(ranker: BaseRanker) -> None:
    """The larger label belongs at the top, whatever the two labels are, unless `pos_label` is the other."""
    X, y = sample(ranker)
    if takes_grades(ranker):
        return
    plain = seeded(ranker).fit(X, y).rank(X)
    if "pos_label" in ranker.get_params(deep=False):
        turned = seeded(ranker).set_params(pos_label="fraud").fit(X, np.array(["legit", "fraud"])[y])
        assert turned.rank(X).tolist() == plain.tolist(), "pos_label does not put its items on top"
        assert turned.classes_.tolist() == ["legit", "fraud"], "classes_[1] is not pos_label"
    for labels in (np.array(["no", "yes"])[y], np.where(y == 1, 7.0, -2.0), y.astype(bool)):
        fitted = seeded(ranker).fit(X, labels)
        assert fitted.rank(X).tolist() == plain.tolist(), f"labels {np.unique(labels)} change the order"
        assert set(fitted.predict(X)) <= set(fitted.classes_.tolist()), "predict invents labels"


def check_same_seed(ranker: BaseRanker) -> None:
    """The same seed gives the same scores, unless the clock stopped the fit."""
    X, y = sample(ranker)
    first, second = seeded(ranker).fit(X, y), seeded(ranker).fit(X, y)
    if first.outcome_.status.finished and second.outcome_.status.finished:
        same = np.array_equal(first.decision_function(X), second.decision_function(X))
        assert same, "the same random_state gave two different rankers"


def check_random_state(ranker: BaseRanker) -> None:
    """A numpy Generator or RandomState will do as a seed, and the same one gives the same scores."""
    if "random_state" not in ranker.get_params(deep=False):
        return
    X, y = sample(ranker)
    for kind in (np.random.default_rng, np.random.RandomState):
        first, second = (clone(ranker).set_params(random_state=kind(0)).fit(X, y) for _ in range(2))
        if first.outcome_.status.finished and second.outcome_.status.finished:
            same = np.array_equal(first.decision_function(X), second.decision_function(X))
            assert same, f"the same {kind.__name__}(0) gave two different rankers"


def check_sparse_equals_dense(ranker: BaseRanker) -> None:
    """Sparse rows are accepted, and a fitted ranker scores them like dense ones."""
    X, y = sample(ranker)
    if not get_tags(ranker).input_tags.sparse or takes_kernel(ranker):
        return
    X = np.where(np.abs(X) > 0.4, X, 0.0)
    fitted = seeded(ranker).fit(X, y)
    sparse: Any = sp.csr_matrix(X)
    scores = fitted.decision_function(sparse)
    assert np.allclose(scores, fitted.decision_function(X)), "sparse rows are scored differently"
    assert np.isfinite(seeded(ranker).fit(sparse, y).decision_function(X)).all()


def check_copies(ranker: BaseRanker) -> None:
    """A fitted ranker pickles and copies: it keeps no solver, thread or open file."""
    X, y = sample(ranker)
    fitted = seeded(ranker).fit(X, y)
    scores = fitted.decision_function(X)
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(twin.decision_function(X), scores), "a copy scores differently"
    assert not hasattr(clone(fitted), "outcome_"), "a clone is fitted"


def check_composition(ranker: BaseRanker) -> None:
    """It works in a pipeline, in cross validation and in a grid search."""
    X, y = sample(ranker)
    if takes_kernel(ranker):
        assert np.isfinite(cross_val_score(seeded(ranker), X, y, cv=2, error_score="raise")).all()
        return
    pipeline = make_pipeline(StandardScaler(), seeded(ranker))
    assert np.isfinite(cross_val_score(pipeline, X, y, cv=2, error_score="raise")).all()
    grid = {"standardscaler__with_mean": [True, False]}
    found = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert math.isfinite(found.best_score_)


def check_callback(ranker: BaseRanker) -> None:
    """The callback hears of progress and can stop the fit; the best so far is kept, with a warning."""
    if "callback" not in ranker.get_params(deep=False):
        return
    X, y = sample(ranker)
    heard: list[Any] = []

    def stop(progress: Any) -> bool:
        heard.append(progress)
        return False

    fitted = seeded(ranker).set_params(callback=stop)
    with stopping():
        fitted.fit(X, y)
    assert np.isfinite(fitted.decision_function(X)).all()
    if heard:
        assert len(heard) <= 2, "the fit went on after the callback said stop"
        assert math.isfinite(heard[0].seconds), "progress without a time"
        ended = fitted.outcome_.status
        assert ended is Status.STOPPED or ended.finished, f"stopped by the callback, status {ended}"


def check_time_limit(ranker: BaseRanker) -> None:
    """A time limit is kept within a second (on data of this size), and something usable comes back."""
    if "time_limit" not in ranker.get_params(deep=False):
        return
    for wrong in (-1, 0, math.nan, "1"):
        raises(ValueError, seeded(ranker).set_params(time_limit=wrong).fit, *sample(ranker))
    X, y = sample(ranker, n=400, d=8)
    with stopping():
        seeded(ranker).fit(*sample(ranker, n=40, d=8))  # compiled by now: the limit is about the fit
    limited = seeded(ranker).set_params(time_limit=0.3)
    begin = time.perf_counter()
    with stopping():
        limited.fit(X, y)
    assert time.perf_counter() - begin < 2.0, "a time limit of 0.3 s was not kept"
    assert np.isfinite(limited.decision_function(X)).all()


def check_interrupt(ranker: BaseRanker) -> None:
    """Ctrl-C stores the best so far and goes on to the caller, who can ask for it to stay with the fit."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if "callback" not in ranker.get_params(deep=False) or not in_main_thread:
        return
    before = signal.getsignal(signal.SIGINT)
    for keep in (False, True):
        fitted, pressed, raised = _interrupted(ranker, keep=keep)
        assert signal.getsignal(signal.SIGINT) is before, "the Ctrl-C handler was not put back"
        if pressed and not keep:
            assert raised, "Ctrl-C was lost: the loop around the fit would go on"
        assert not (raised and keep), "Ctrl-C came through although keep_best_on_interrupt was asked for"
        assert _scores_rows(fitted), "interrupted by Ctrl-C, and no answer was stored"
        if pressed:
            ended = fitted.outcome_.status
            assert ended is Status.INTERRUPTED or ended.finished, f"interrupted, but the status is {ended}"


def _scores_rows(fitted: BaseRanker) -> bool:
    try:
        return bool(np.isfinite(fitted.decision_function(sample(fitted)[0])).all())
    except Exception:  # whatever an estimator raises that was left half fitted
        return False


def _interrupted(ranker: BaseRanker, *, keep: bool) -> tuple[BaseRanker, bool, bool]:
    """The ranker, whether Ctrl-C was pressed at its first report, and whether KeyboardInterrupt came."""
    heard: list[Any] = []

    def press(progress: Any) -> None:
        heard.append(progress)
        if len(heard) == 1:
            signal.raise_signal(signal.SIGINT)

    fitted = seeded(ranker).set_params(callback=press)
    try:
        with stopping(), keep_best_on_interrupt() if keep else nullcontext():
            fitted.fit(*sample(ranker))
    except KeyboardInterrupt:
        return fitted, bool(heard), True
    return fitted, bool(heard), False


def check_bad_input(ranker: BaseRanker) -> None:
    """One class, NaN, no rows and three words are ValueErrors, and three numbers where labels are two."""
    X, y = sample(ranker)
    broken = X.copy()
    broken[0, 0] = np.nan
    three = np.arange(len(y)) % 3
    bad = [(X, np.ones_like(y)), (X[:0], y[:0]), (X, np.array(["a", "b", "c"])[three])]
    if "ordinal" not in ranker.ranker_tags.labels:
        bad.append((X, three))
    if not get_tags(ranker).input_tags.allow_nan:
        bad.append((broken, y))
    for rows, labels in bad:
        raises(ValueError, seeded(ranker).fit, rows, labels)
    raises(Exception, seeded(ranker).decision_function, X)
