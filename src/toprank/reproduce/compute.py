"""Computing one cell: fit every point of the grid on the training part, measure both parts."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from toprank import statistics
from toprank.base import BaseRanker, ranking_scores
from toprank.control import Outcome, SearchStoppedWarning
from toprank.reproduce.cells import Cell
from toprank.reproduce.experiment import Arm, Measure
from toprank.reproduce.protocol import CrossValidation
from toprank.reproduce.rows import load_rows, split

__all__ = ["compute", "measured"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


@dataclass(frozen=True)
class _Halves:
    """Scaled features and labels of both parts."""

    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels


def compute(cell: Cell) -> dict[str, Any]:
    """The figures of a cell, ready for a JSON line; everything in them but `seconds` is the same each time.

    Unless a clock stopped a fit, that is: its certificate says so.
    """
    began = time.perf_counter()
    rows = load_rows(cell.experiment.source)
    train, test = split(cell.experiment.splits, rows, cell.split)
    halves = _scaled(cell.arm, rows.X[train], rows.y[train], rows.X[test], rows.y[test])
    points = [dict(zip(cell.arm.grid, values, strict=True)) for values in _products(cell.arm.grid)]
    folds: list[float] = []
    if isinstance(cell.arm.choose, CrossValidation) and len(points) > 1:
        folds = [_cross_validated(cell, halves, point, cell.arm.choose) for point in points]
        points = [points[int(np.argmax(folds))]]
    return {
        "points": [_point(cell, halves, point) for point in points],
        "folds": folds,
        "rows": [len(train), len(test)],
        "positives": [int(rows.y[train].sum()), int(rows.y[test].sum())],
        "time_limit": cell.time_limit,
        "seconds": time.perf_counter() - began,
    }


def _products(grid: Mapping[str, tuple[Any, ...]]) -> Any:
    return itertools.product(*grid.values())


def _scaled(arm: Arm, X: Floats, y: Labels, X_test: Floats, y_test: Labels) -> _Halves:
    if arm.scaling == "none":
        return _Halves(X, y, X_test, y_test)
    standard = arm.scaling == "standard"
    scaler = StandardScaler().fit(X) if standard else MinMaxScaler().fit(np.concatenate([X, X_test]))
    return _Halves(scaler.transform(X), y, scaler.transform(X_test), y_test)


def _point(cell: Cell, halves: _Halves, point: Mapping[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    ranker, notes = _fitted(cell, halves.X, halves.y, point)
    seconds = time.perf_counter() - began
    scores, scores_test = ranking_scores(ranker, halves.X), ranking_scores(ranker, halves.X_test)
    return {
        "parameters": dict(point),
        "train": {one.name: measured(one, halves.y, scores) for one in cell.experiment.measures},
        "test": {one.name: measured(one, halves.y_test, scores_test) for one in cell.experiment.measures},
        "seconds": seconds,
        "certificate": _certificate(ranker),
        "history": _history(ranker) if cell.arm.history else [],
        **({"roc": _corners(halves.y_test, scores_test)} if cell.arm.curve else {}),
        "notes": notes,
    }


def _cross_validated(cell: Cell, halves: _Halves, point: Mapping[str, Any], choice: CrossValidation) -> float:
    """Mean of the statistic over stratified folds of the training part, larger being better."""
    statistic = statistics.get(choice.statistic)
    folds = StratifiedKFold(choice.folds, shuffle=True, random_state=cell.split)
    values = []
    for inner, held_out in folds.split(halves.X, halves.y):
        ranker, _ = _fitted(cell, halves.X[inner], halves.y[inner], point)
        values.append(statistic(halves.y[held_out], ranking_scores(ranker, halves.X[held_out])))
    mean = float(np.mean(values))
    return mean if statistic.greater_is_better else -mean


# -- rankers -------------------------------------------------------------------------------------------


def _fitted(cell: Cell, X: Floats, y: Labels, point: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """A fitted ranker and what it warned about; that the clock cut it short its certificate says."""
    ranker = _make(cell, len(y), point)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.fit(X, y)
    said = [" ".join(str(one.message).split()) for one in caught if _worth_saying(one.category)]
    return ranker, list(dict.fromkeys(said))


def _worth_saying(category: type[Warning]) -> bool:
    return not issubclass(category, SearchStoppedWarning | FutureWarning | DeprecationWarning)


def _make(cell: Cell, rows: int, point: Mapping[str, Any]) -> Any:
    """An unfitted ranker of one point; a grid over "ranker" compares several kinds of them."""
    arm = cell.arm
    parameters = {**arm.parameters, **point}
    ranker = _estimator(str(parameters.pop("ranker", arm.ranker)), parameters, cell.time_limit, cell.split)
    if arm.top is None or arm.top == "all" or arm.top >= rows:
        return ranker
    from toprank import RankThenRerank

    base = _estimator(arm.base, arm.base_parameters, None, cell.split)
    # As published: the base's own list of the rows it learned from, and its features alone.
    as_published: dict[str, Any] = {"cv": None, "pass_score": False, "fewest_of_a_class": 0}
    return RankThenRerank(base, ranker, top=arm.top, random_state=cell.split, **as_published)


def _estimator(name: str, parameters: Mapping[str, Any], time_limit: float | None, seed: int) -> Any:
    kind = _kind(name)
    known = kind().get_params(deep=False) if name != "GivenCoefficients" else {}
    # One thread each: the cells themselves fill the cores.
    usual = {"time_limit": time_limit, "n_jobs": 1, "random_state": seed}
    fitting = {key: value for key, value in usual.items() if key in known}
    return kind(**{**fitting, **parameters})


def _kind(name: str) -> Any:
    import toprank

    if name in toprank.__all__:
        return getattr(toprank, name)
    if name == "GivenCoefficients":
        return GivenCoefficients
    from sklearn import linear_model, svm

    for module in (linear_model, svm):
        if hasattr(module, name):
            return getattr(module, name)
    raise ValueError(f"ranker {name!r} is neither public in toprank nor a linear model of scikit-learn.")


class GivenCoefficients:
    """A score that is given, not learned: the solutions a theorem compares."""

    def __init__(self, *, coef: list[float]) -> None:
        self.coef = coef

    def fit(self, X: Floats, y: Labels) -> GivenCoefficients:
        """Learn nothing."""
        return self

    def decision_function(self, X: Floats) -> Floats:
        """The given linear score."""
        return np.asarray(X @ np.asarray(self.coef, dtype=np.float64), dtype=np.float64)


# -- figures -------------------------------------------------------------------------------------------


def measured(measure: Measure, y: Labels, scores: Floats) -> Any:
    """A measure of a list, ties counted against us; a list of numbers for a measure per item.

    >>> measured(Measure("dcg", "DCG", "dcg", scale=1 / math.log(2)), np.array([1, 0]), np.array([2.0, 1.0]))
    1.4426950408889634
    """
    if measure.statistic == "subrank":
        return statistics.subrank(scores).tolist()
    if measure.statistic == "resolved_rank":
        return statistics.resolved_rank(y, scores).tolist()
    if measure.loss:
        return measure.scale * _pair_loss(measure.loss, y, scores)
    return measure.scale * float(statistics.get(measure.statistic)(y, scores))


def _pair_loss(loss: str, y: Labels, scores: Floats) -> float:
    """Mean over pairs of positive i and negative k of a loss of f(x_i) - f(x_k) (Rudin & Wang, Eq. 3, 4)."""
    positive, negative = scores[y == 1], scores[y == 0]
    if loss == "exponential":
        return float(np.exp(-positive).mean() * np.exp(negative).mean())
    total = sum(float(np.maximum(0.0, 1.0 - one + negative).sum()) for one in positive)
    return total / (len(positive) * len(negative))


def _corners(y: Labels, scores: Floats) -> list[list[float]]:
    """False and true positive rates of the ROC curve, without points amid a level or an upright piece.

    >>> _corners(np.array([1, 1, 0, 0, 1]), np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.6666666666666666, 0.6666666666666666, 1.0]]
    """
    curve = statistics.roc_curve(y, scores)
    still = np.column_stack([np.diff(curve.fpr) == 0, np.diff(curve.tpr) == 0])
    amid = (still[1:] & still[:-1]).any(axis=1)
    kept = np.concatenate([[True], ~amid, [True]])
    return [curve.fpr[kept].tolist(), curve.tpr[kept].tolist()]


def _certificate(ranker: Any) -> dict[str, Any] | None:
    """What an exact run proved, in numbers; None for a ranker that proves nothing."""
    certificate = getattr(ranker, "certificate_", None)
    outcome = certificate.outcome if certificate is not None else getattr(ranker, "outcome_", None)
    if not isinstance(ranker, BaseRanker) or not isinstance(outcome, Outcome):
        return None
    summary: dict[str, Any] = {
        **asdict(outcome),
        "status": str(outcome.status),
        "exact": certificate is not None,
    }
    summary["notes"] = list(outcome.notes)
    summary["nodes"] = None if certificate is None else certificate.nodes
    for key in ("value", "bound"):
        summary[key] = summary[key] if math.isfinite(summary[key]) else None
    return summary


def _history(ranker: Any) -> list[list[float | None]]:
    """Seconds, value and bound each time they were reported."""
    certificate = getattr(ranker, "certificate_", None)
    events = () if certificate is None else certificate.history
    return [[number if math.isfinite(number) else None for number in event] for event in events]
