"""Projected gradients in the dual of a ranking problem, with Agarwal's steps or with steps of a safe length.

The dual objective is Q(alpha) = 1/2 |w|^2 - target . alpha, with w linear in alpha. Agarwal (2011) takes
steps of length ``step / sqrt(t)``. Without a `step` the length is the inverse of the largest curvature of Q,
and the gradient is taken ahead of the last iterate (Nesterov 1983), afresh whenever that leads up (O'Donoghue
and Candes 2015).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toprank.control import Status

__all__ = ["DualPoint", "projected_gradient"]

Floats = NDArray[np.float64]
POWER_STEPS = 50
SAFETY = 1.1
"""Power iteration ends a little below the largest curvature."""


@dataclass(frozen=True)
class DualPoint:
    """Dual variables, their coefficients and the scores of all rows."""

    alpha: Floats
    coef: Floats
    scores: Floats


def projected_gradient(
    start: Floats,
    *,
    look: Callable[[Floats], DualPoint],
    margins: Callable[[Floats], Floats],
    target: Floats | float,
    project: Callable[[Floats], Floats],
    record: Callable[[DualPoint, int], Status | None],
    step: float | None,
    max_iter: int,
    rng: np.random.Generator,
) -> tuple[Status, int]:
    """Descend until `record` gives a status; which, and after how many steps.

    Parameters
    ----------
    start : array
        Feasible dual variables.
    look : callable
        The point of dual variables; linear.
    margins : callable
        Scores to what the gradient of Q is, but for `target`; linear.
    target : array or float
    project : callable
        The nearest feasible dual variables.
    record : callable
        Told each point and its number; returns a status to stop with.
    step : float or None
        Agarwal's eta_0; None for accelerated steps.
    max_iter : int
    rng : Generator
        For the power iteration that finds the largest curvature.
    """
    length = 0.0 if step is not None else 1.0 / _largest_curvature(start.shape, look, margins, rng)
    before = now = look(start)
    momentum = 1.0
    for done in range(max_iter + 1):
        status = record(now, done)
        if status is not None:
            return status, done
        if step is not None:
            moved = now.alpha - step / math.sqrt(done + 1.0) * (margins(now.scores) - target)
            now = look(project(moved))
            continue
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        pull = (momentum - 1.0) / following
        ahead = now.alpha + pull * (now.alpha - before.alpha)
        scores = now.scores + pull * (now.scores - before.scores)
        moved = project(ahead - length * (margins(scores) - target))
        uphill = float(((ahead - moved) * (moved - now.alpha)).sum()) > 0.0
        momentum = 1.0 if uphill else following
        before, now = now, look(moved)
    return Status.ITERATION_LIMIT, max_iter


def _largest_curvature(
    shape: tuple[int, ...],
    look: Callable[[Floats], DualPoint],
    margins: Callable[[Floats], Floats],
    rng: np.random.Generator,
) -> float:
    """An upper estimate of the largest eigenvalue of Q's Hessian, by power iteration."""
    direction, size = rng.standard_normal(shape), 0.0
    for _ in range(POWER_STEPS):
        norm = float(np.linalg.norm(direction))
        if norm == 0.0:
            break
        direction = margins(look(direction / norm).scores)
        size = float(np.linalg.norm(direction))
    return max(SAFETY * size, 1e-300)
