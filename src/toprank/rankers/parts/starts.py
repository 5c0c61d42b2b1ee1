"""Where a direct search begins: logistic regression, the difference of the means, or what the user brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from toprank.base import PairData, RankingData, fit_copy, ranking_scores
from toprank.control import Run
from toprank.control.threads import threads_for
from toprank.exact.arithmetic.rational import is_sparse
from toprank.exact.problem import RankingProblem

__all__ = ["Start", "linear_direction", "logistic_direction", "mean_difference", "start_directions"]

Floats = NDArray[np.float64]
Start = str | ArrayLike | Any | None

_RIDGE = 1e-4


def start_directions(start: Start, data: RankingData, problem: RankingProblem, run: Run) -> list[Floats]:
    """Coefficients of the original features to begin from, best guess first.

    Parameters
    ----------
    start : None, "logistic", "mean", array of shape (n_features,), or an estimator with `coef_`
        None means where the data say to begin, else logistic regression. An unfitted estimator is cloned and
        fitted.
    data : RankingData
    problem : RankingProblem
        For its scales.
    run : Run
        Fitting the logistic regression stops when it says so.
    """
    if start is None:
        start = data.start
    if start is None or (isinstance(start, str) and start == "logistic"):
        return [logistic_direction(data, problem, run), mean_difference(data, problem)]
    if isinstance(start, str):
        if start == "mean":
            return [mean_difference(data, problem)]
        raise ValueError(f'start must be "logistic", "mean", an array or an estimator, got {start!r}.')
    return [_given(_coefficients(start, data, run) if hasattr(start, "fit") else start, problem)]


def pair_start_directions(start: Start, data: PairData, problem: RankingProblem, run: Run) -> list[Floats]:
    """The same for pairs: the mean difference of their rows, and logistic regression on the differences."""
    rows: Any = problem.scaled
    apart = rows[data.pairs[:, 0]] - rows[data.pairs[:, 1]]
    if start is None or (isinstance(start, str) and start in ("logistic", "mean")):
        mean = problem.unscale(np.asarray(data.weight @ apart).ravel() / data.weight.sum())
        if start == "mean":
            return [mean]
        spread = np.sqrt(np.asarray(data.weight @ _squares(apart)).ravel() / data.weight.sum())
        shrink = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        return [problem.unscale(_logistic(apart, shrink, data.weight, run) * shrink), mean]
    if isinstance(start, str) or (hasattr(start, "fit") and not hasattr(start, "coef_")):
        raise ValueError(f'start must be "logistic", "mean", an array or a fitted estimator, got {start!r}.')
    return [_given(getattr(start, "coef_", start), problem)]


def _given(start: Any, problem: RankingProblem) -> Floats:
    """Coefficients from the user, checked."""
    coef = np.asarray(start, dtype=np.float64).ravel()
    if coef.shape != (problem.n_features,) or not np.isfinite(coef).all():
        raise ValueError(f"start must give {problem.n_features} finite coefficients, got shape {coef.shape}.")
    return coef


def _squares(rows: Any) -> Any:
    return rows.multiply(rows) if is_sparse(rows) else rows**2


def _coefficients(estimator: Any, data: RankingData, run: Run) -> Any:
    """Coefficients of an estimator, fitted first when it is not."""
    if not hasattr(estimator, "coef_"):
        estimator = fit_copy(estimator, replace(data, qid=None, start=None), run)
    if not hasattr(estimator, "coef_"):
        raise ValueError(f"start: {type(estimator).__name__} has no coef_ to start from.")
    return estimator.coef_


def mean_difference(data: RankingData, problem: RankingProblem) -> Floats:
    """Mean of the positives minus mean of the negatives, each scaled feature divided by its spread.

    Of grades and numbers, the mean of the rows, each times how far its label is from the mean label.
    """
    rows: Any = problem.scaled
    if data.kind != "binary":
        apart = data.grade - data.grade.mean()
        return problem.unscale(np.asarray(rows.T @ apart).ravel() / np.abs(apart).sum())
    upper = np.asarray(rows[data.y == 1].mean(axis=0)).ravel()
    lower = np.asarray(rows[data.y == 0].mean(axis=0)).ravel()
    return problem.unscale(upper - lower)


def logistic_direction(data: RankingData, problem: RankingProblem, run: Run) -> Floats:
    """Coefficients of a lightly regularised logistic regression, as far as time allows.

    Of grades and numbers, of least squares on their ranks.
    """
    rows, shrink = _standardised(problem.scaled)
    if data.kind != "binary":
        return problem.unscale(_least_squares(rows, data.grade, run) * shrink)
    signs = np.where(data.y == 1, 1.0, -1.0)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        scores = rows @ parameters[:-1] + parameters[-1]
        value = np.logaddexp(0.0, -signs * scores).mean() + _RIDGE / 2 * parameters[:-1] @ parameters[:-1]
        slope = -signs * _logistic_slope(signs * scores) / len(signs)
        return float(value), np.append(rows.T @ slope + _RIDGE * parameters[:-1], slope.sum())

    found = _minimum(loss, problem.n_features + 1, run)
    return problem.unscale(found[:-1] * shrink)


def _least_squares(rows: Any, y: Floats, run: Run) -> Floats:
    """Coefficients of least squares on the ranks of the labels, which lie between -1 and 1."""
    levels, place = np.unique(y, return_inverse=True)
    goal = 2.0 * place / (len(levels) - 1) - 1.0

    def loss(parameters: Floats) -> tuple[float, Floats]:
        rest = rows @ parameters[:-1] + parameters[-1] - goal
        value = rest @ rest / len(goal) / 2 + _RIDGE / 2 * parameters[:-1] @ parameters[:-1]
        slope = rest / len(goal)
        return float(value), np.append(rows.T @ slope + _RIDGE * parameters[:-1], slope.sum())

    return _minimum(loss, rows.shape[1] + 1, run)[:-1]


def _logistic(apart: Any, shrink: Floats, weight: Floats, run: Run) -> Floats:
    """The same for differences of rows, all of which should score above zero."""
    share = weight / weight.sum()

    def loss(coef: Floats) -> tuple[float, Floats]:
        scores = apart @ (shrink * coef)
        value = share @ np.logaddexp(0.0, -scores) + _RIDGE / 2 * coef @ coef
        return float(value), _RIDGE * coef - shrink * (apart.T @ (share * _logistic_slope(scores)))

    return _minimum(loss, len(shrink), run)


def _logistic_slope(scores: Floats) -> Floats:
    """1 / (1 + exp(z)), minus the derivative of log(1 + exp(-z)), written so that exp cannot overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, scores)))


def _minimum(loss: Callable[[Floats], tuple[float, Floats]], size: int, run: Run) -> Floats:
    from scipy.optimize import minimize

    def stop_when_told(intermediate_result: Any) -> None:
        if run.should_stop():
            raise StopIteration

    options: Any = {"maxiter": 200}
    begin = np.zeros(size)
    with threads_for(size):
        found = minimize(loss, begin, jac=True, method="L-BFGS-B", callback=stop_when_told, options=options)
    return np.asarray(found.x)


def _standardised(rows: Any) -> tuple[Any, Floats]:
    """Rows with columns of unit spread, and the factor applied to each; sparse rows stay sparse."""
    if is_sparse(rows):
        return rows, np.ones(rows.shape[1])
    spread = rows.std(axis=0)
    shrink = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    return (rows - rows.mean(axis=0)) * shrink, shrink


def linear_direction(base: Any, d: int) -> NDArray[np.float64] | None:
    """Coefficients of a base that scores linearly (a pipeline of scaler and linear model, say), else None."""
    probes = np.random.default_rng(0).normal(size=(3, d))
    try:
        origin, *units = _score_rows(base, np.vstack((np.zeros((1, d)), np.eye(d))))
        direction = np.asarray(units) - origin
        seen = np.asarray(_score_rows(base, probes))
    except Exception:  # a base that cannot score such rows is not linear in them
        return None
    expected = origin + probes @ direction
    linear = np.allclose(seen, expected, rtol=1e-6, atol=1e-6 * float(np.abs(seen).max(initial=0.0)))
    return direction if linear and np.isfinite(direction).all() and direction.any() else None


def _score_rows(base: Any, rows: NDArray[np.float64]) -> list[float]:
    return ranking_scores(base, sp.csr_matrix(rows) if rows.shape[1] > 1000 else rows).tolist()
