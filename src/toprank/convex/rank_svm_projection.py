"""RankSVM by gradient projection in the dual, one variable a pair: the reference for the fast solver.

Agarwal (2011), Figure 3: alpha starts at a thousandth of its upper bound, takes steps of length ``step /
sqrt(t)`` down the dual objective Q (4.20) and is clipped to its box; the answer is the iterate with the
smallest Q. Time and memory grow with the number of pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from toprank.control import Outcome, Progress, Run, Status, relative_gap
from toprank.convex.rank_svm import PairLoss

__all__ = ["LARGEST", "gradient_projection"]

Floats = NDArray[np.float64]
LARGEST = 5_000_000
"""More pairs than this are refused."""


def gradient_projection(
    problem: PairLoss, run: Run, *, step: float, tol: float, max_iter: int
) -> tuple[Floats, Outcome]:
    """The hinge-loss RankSVM by Agarwal's algorithm.

    Parameters
    ----------
    problem : PairLoss
        With the plain hinge.
    run : Run
    step : float
        Agarwal's eta_0.
    tol : float
        Relative gap between value and bound to stop at.
    max_iter : int
        Agarwal's t_max.
    """
    design, pairs = problem.design, problem.pairs
    if pairs.count > LARGEST:
        raise ValueError(
            f"solver='gradient_projection' keeps a variable for each of {pairs.count} pairs;"
            " use solver='newton'."
        )
    upper, lower, weight = pairs.listed()
    costs = problem.C * weight
    alpha = costs / 1000.0
    best, value, bound = np.zeros(design.n_features), math.inf, -math.inf
    status, done = Status.ITERATION_LIMIT, 0
    for done in range(max_iter + 1):
        gained = np.bincount(upper, weights=alpha, minlength=pairs.n_items)
        spent = np.bincount(lower, weights=alpha, minlength=pairs.n_items)
        coef = design.combine(np.asarray(gained - spent, dtype=np.float64))
        scores = design.scores(coef)
        dual = float(alpha.sum() - 0.5 * coef @ coef)
        if dual > bound:
            bound, best = dual, coef
            value = 0.5 * float(coef @ coef) + problem.C * problem.at(scores).value
        if relative_gap(value, bound) <= tol:
            status = Status.OPTIMAL
            break
        if not run.report(Progress(value, bound, iterations=done)):
            status = run.stopped_by or status
            break
        if done < max_iter:
            alpha -= step / math.sqrt(done + 1.0) * (scores[upper] - scores[lower] - 1.0)
            np.clip(alpha, 0.0, costs, out=alpha)
    return best, Outcome(value, bound, status, run.seconds, done)
