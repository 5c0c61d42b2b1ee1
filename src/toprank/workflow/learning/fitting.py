"""One fit on one table, and the figures that say how good it is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from toprank.base import BaseRanker
from toprank.control import STILL_COMPILING, Outcome, SearchStoppedWarning, Status
from toprank.datasets import InputError, Labelled, Table
from toprank.ensemble import heads
from toprank.exact.certificate import AMONG, PROVED
from toprank.labels import LabelKind
from toprank.statistics import RankStatistic

__all__ = [
    "Items",
    "fit_quietly",
    "left_out",
    "outcome_sentence",
    "value_of",
    "warm_up",
    "wide_enough",
    "without_order",
]

_CANNOT = " cannot be fitted to these items: "
FEWEST_OF_A_CLASS = 5
"""With fewer of one class in the top, there is next to nothing to learn an order from."""


@dataclass(frozen=True)
class Items:
    """Features, labels and queries of some rows; which of them are held out together, or when they were.

    Labels are 0 and 1, or numbers, the larger the nearer to the top: `kind` says which.
    """

    features: Table
    y: NDArray[Any]
    qid: NDArray[np.int64] | None
    groups: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None
    kind: LabelKind = "binary"

    @property
    def strata(self) -> NDArray[np.int8]:
        """Two classes of rows that every part gets its share of: the labels, or those above the median."""
        return self.y if self.kind == "binary" else (self.y > _middle(self.y)).astype(np.int8)

    @classmethod
    def of(cls, labelled: Labelled, times: NDArray[np.float64] | None = None) -> Items:
        """All rows of a labelled table; queries are held out whole where no groups are given."""
        groups = labelled.qid if labelled.groups is None else labelled.groups
        held = groups if times is None else None
        return cls(labelled.features, labelled.y, labelled.qid, held, times, labelled.kind)

    def take(self, rows: NDArray[np.intp]) -> Items:
        """Some of the rows, for fitting or judging."""
        qid, groups = (None if codes is None else codes[rows] for codes in (self.qid, self.groups))
        times = None if self.times is None else self.times[rows]
        return Items(self.features.take(rows), self.y[rows], qid, groups, times, self.kind)


def _middle(y: NDArray[Any]) -> float:
    """A value that parts the labels: the median, or where half of them are the largest, what is below it."""
    median = float(np.median(y))
    return median if median < y.max() else float(y[y < y.max()].max(initial=y.min()))


def value_of(
    statistic: RankStatistic, y: NDArray[Any], scores: NDArray[np.float64], qid: NDArray[np.int64] | None
) -> float:
    """The statistic with ties counted as mistakes, averaged over queries where there are any."""
    try:
        return float(statistic(y, scores, qid=qid))
    except ValueError as error:
        raise InputError(f"--statistic '{statistic}': {error}.") from None


def left_out(name: str, error: ValueError) -> str:
    """What to say of a ranker that refused these items.

    >>> left_out("RankSVM", ValueError("RankSVM cannot be fitted to these items: no pairs"))
    'RankSVM was left out: no pairs'
    """
    said = " ".join(str(error).split())
    return f"{name} was left out: {said.partition(_CANNOT)[2] or said}"


def fit_quietly(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    qid: NDArray[np.int64] | None,
    *,
    leave_out: tuple[type[Warning], ...] = (),
) -> tuple[Any, list[str]]:
    """Fit, and hand back what it warned about as plain sentences, each once.

    That a search was cut short is left out, and what else the caller says otherwise: the outcome says it.
    """
    takes = isinstance(estimator, BaseRanker) or has_fit_parameter(estimator, "qid")
    options = {"qid": qid} if qid is not None and takes else {}
    if options and isinstance(estimator, BaseRanker) and not estimator.ranker_tags.queries:
        raise InputError(
            f"{type(estimator).__name__}{_CANNOT}it learns from one list; leave --qid out or choose another."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, y, **options)
        except ValueError as error:
            # Whatever an estimator has against these items, a user wants one line about it.
            name = type(estimator).__name__
            raise InputError(f"{name}{_CANNOT}{error}") from None
    said: tuple[type[Warning], ...] = (SearchStoppedWarning, *leave_out)
    kept = [warning for warning in caught if not issubclass(warning.category, said)]
    return estimator, list(dict.fromkeys(_first_sentence(warning) for warning in kept))


def warm_up(estimator: Any, X: Any, qid: NDArray[np.int64] | None) -> None:
    """Have the kernels of an estimator compiled, or read from the cache, before any clock starts.

    Fits it on a few rows of the real table with made-up labels, since features of the same kind need the same
    kernels, or on a toy table of the same kind. Milliseconds when the kernels are there already.

    Parameters
    ----------
    estimator : estimator
    X : array, sparse matrix or None
        Features of the real table, where they are known already.
    qid : array or None
    """
    rows: Any = X
    if X is None or hasattr(X, "tocsr"):
        toy = np.random.default_rng(0).normal(size=(24, 3))
        rows = toy if X is None else type(X)(toy)
    # A dozen columns call the same kernels as thousands do, sooner.
    rows = rows[:12, :12]
    y = np.arange(rows.shape[0], dtype=np.int8) % 3 // 2
    groups = None if qid is None else np.arange(rows.shape[0]) // 6
    fit_quietly(estimator, rows, y, groups)


def without_order(ranker: Any, scores: NDArray[np.float64]) -> bool:
    """Whether the clock ended a fit before it had any order: all scores are the same."""
    outcome = getattr(ranker, "outcome_", None)
    stopped = isinstance(outcome, Outcome) and outcome.status is Status.TIME_LIMIT
    return stopped and bool((scores == scores[0]).all())


def wide_enough(scores: NDArray[np.float64], items: Items, top: int) -> int:
    """The given top, doubled until it holds some items of either class that can be compared."""
    return int(heads.wide_enough(scores, items.y, items.qid, top, FEWEST_OF_A_CLASS))


def outcome_sentence(outcome: Outcome) -> str:
    """How sure the answer is and why the search ended, in words.

    >>> outcome_sentence(Outcome(9.0, 10.0, Status.TIME_LIMIT, 30.0))
    'at most 10.0 % below the best possible; stopped by the clock after 30 s, so another run may differ'
    """
    if outcome.status is Status.OPTIMAL:
        among = [note for note in outcome.notes if note.startswith(AMONG)]
        return f"proved optimal {among[0]}" if among else PROVED
    ends = {
        Status.FINISHED: "the search ran to its end",
        Status.ITERATION_LIMIT: "the search used all its iterations",
        Status.TIME_LIMIT: f"stopped by the clock after {outcome.seconds:.0f} s, so another run may differ",
        Status.INTERRUPTED: "interrupted: the best answer so far was kept",
        Status.STOPPED: "stopped: the best answer so far was kept",
        Status.LOST: "the cluster was lost: the best answer so far was kept",
    }
    parts = [_distance(outcome), ends[outcome.status], *(n for n in outcome.notes if n == STILL_COMPILING)]
    return "; ".join(part for part in parts if part)


def _distance(outcome: Outcome) -> str:
    if not np.isfinite(outcome.bound):
        return ""
    percent = 100 * outcome.gap
    return (
        f"at most {percent:.1f} % below the best possible"
        if percent >= 0.1
        else (f"at most {percent:.1g} % below the best possible")
    )


def _first_sentence(warning: warnings.WarningMessage) -> str:
    text = str(warning.message).strip().splitlines()[0]
    return " ".join(text.split())
