"""The small problems inside the rankers of the TopPush family, solved by an interior-point method.

A restricted problem has undecided positive rows i (hinge loss, cost c_i) and undecided negative rows j (share
in the threshold at most u_j); every decided row is folded into a few numbers. In the primal,

    min  1/2 w^T H w - ...  + sum_i c_i xi_i        xi_i   >= 1 + T - s_i,   xi_i  >= 0
         T = theta q + sum_j u_j eta_j - m.w        eta_j  >= s_j - q,       eta_j >= 0

with s = R w; without caps u the eta vanish and q is an upper bound on the s_j. With the squared hinge the
loss is c_i xi_i^2, so that a_i = 2 c_i xi_i has no upper end ("soft" rows, softness 1 / 2 c_i). The dual
variables are a_i in [0, c_i], b_j in [0, u_j A] and the total mass A, and with y = (a, -b) they determine w:

    w = w_0 + A H^-1 m + H^-1 R^T y,    A = mass + sum a + curvature T,    sum b = theta A.

`curvature` is not zero when smooth losses of decided positives enter by their quadratic model.
The iterates live in row space: only scores are needed, never w. Every iterate keeps these equations, so the
complementarity products sum to the duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from toprank.control import Run
from toprank.convex.algebra.interior_point import InteriorPoint, Step
from toprank.convex.algebra.row_systems import RowSystem

__all__ = ["Restricted", "RestrictedSolution", "solve_restricted"]

Floats = NDArray[np.float64]
MAX_STEPS = 100
SMALLEST_STEP = 1e-10


@dataclass(frozen=True)
class Restricted:
    """A restricted problem in row space: undecided positives first, then undecided negatives.

    Parameters
    ----------
    system : RowSystem
        K = R H^-1 R^T.
    base_scores : array of shape (P + N,)
        R w_0.
    costs : array of shape (P,)
        c of each undecided positive.
    soft : bool
        Whether the undecided positives have the squared hinge.
    caps : array of shape (N,) or None
        u, the largest share of each undecided negative.
    mass, curvature, start_mass : float
        The constant and the slope in A = mass + sum a + curvature T; a first guess of A where it has a slope.
    share : float
        theta, what the decided negatives leave of the threshold.
    tilt_scores, tilt_base, tilt_square : array and floats
        R H^-1 m, m.w_0 and m^T H^-1 m.
    """

    system: RowSystem
    base_scores: Floats
    costs: Floats
    caps: Floats | None
    mass: float
    share: float
    tilt_scores: Floats
    tilt_base: float
    tilt_square: float
    curvature: float = 0.0
    start_mass: float = 0.0
    soft: bool = False


@dataclass(frozen=True)
class RestrictedSolution:
    """Weights y = (a, -b) of the undecided rows, the mass A, the cut-off q, the level T, the gap left."""

    y: Floats
    mass: float
    cutoff: float
    level: float
    gap: float
    steps: int


def solve_restricted(problem: Restricted, *, tol: float, run: Run) -> RestrictedSolution:
    """Solve a restricted problem until its duality gap is at most `tol`, or as far as rounding lets it."""
    point = _Point(problem)
    steps = 0
    while steps < MAX_STEPS and not point.converged(tol) and not run.should_stop():
        try:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                length = point.advance()
        except LinAlgError:
            break
        steps += 1
        if not length >= SMALLEST_STEP:
            break
    return RestrictedSolution(point.y, point.mass, point.cutoff, point.level, point.products, steps)


class _Point(InteriorPoint):
    """An interior point; the level T, the cut-off q, the mass A and y move along.

    `dual` stacks (a, c - a, b, u A - b), `slack` their partners (zeta, xi, sigma, eta).
    """

    def __init__(self, problem: Restricted) -> None:
        self.problem = problem
        n_pos, n_rows = len(problem.costs), len(problem.base_scores)
        n_neg = n_rows - n_pos
        n_cap = 0 if problem.caps is None else n_neg
        ends = np.cumsum([0, n_pos, 0 if problem.soft else n_pos, n_neg, n_cap])
        self.a, self.f, self.b, self.e = (slice(i, j) for i, j in pairwise(ends))
        self.caps = np.zeros(0) if problem.caps is None else problem.caps
        self.softness = 0.5 / problem.costs if problem.soft else np.zeros(n_pos)
        self.n_pos, self.n_neg = n_pos, n_neg
        self.pos, self.neg = slice(0, n_pos), slice(n_pos, n_rows)
        self._start_dual(ends[-1])
        self._start_slack()

    # -- a first point that satisfies all equations ---------------------------------------------

    def _start_dual(self, size: int) -> None:
        """Half of each cost; shares in proportion to the caps."""
        problem = self.problem
        self.dual = np.empty(size)
        self.dual[self.a] = 0.5 * problem.costs
        if not problem.soft:
            self.dual[self.f] = 0.5 * problem.costs
        self.mass = problem.start_mass
        if problem.curvature == 0.0:
            self.mass = problem.mass + 0.5 * float(problem.costs.sum())
        if problem.caps is None:
            self.dual[self.b] = problem.share * self.mass / max(self.n_neg, 1)
        elif self.n_neg:
            self.dual[self.b] = problem.share * self.mass * self.caps / self.caps.sum()
            self.dual[self.e] = self.caps * self.mass - self.dual[self.b]
        self.y = np.concatenate([self.dual[self.a], -self.dual[self.b]])

    def _start_slack(self) -> None:
        """Slacks of the size of the scores, never below one."""
        problem = self.problem
        scores = problem.base_scores + problem.system.times(self.y) + problem.tilt_scores * self.mass
        tilt = problem.tilt_base + problem.tilt_scores @ self.y + problem.tilt_square * self.mass
        negative = scores[self.neg]
        room = max(1.0, 0.1 * float(np.ptp(negative))) if self.n_neg else 1.0
        excess = np.zeros(0)
        if problem.caps is None or not self.n_neg:
            self.cutoff = float(negative.max()) + room if self.n_neg else 0.0
            sigma = self.cutoff - negative
        else:
            part = min(1.0, problem.share / float(self.caps.sum()))
            self.cutoff = float(np.quantile(negative, 1.0 - part))
            excess = np.maximum(negative - self.cutoff, 0.0) + room
            sigma = excess + self.cutoff - negative
        self.level = problem.share * self.cutoff + float(self.caps @ excess) - float(tilt)
        lack = 1.0 + self.level - scores[self.pos]
        loss = np.maximum(lack, 0.0) + 1.0
        # xi of a soft row is tied to a_i, so its zeta starts with an error.
        self.error = self.softness * self.dual[self.a] - loss if problem.soft else np.zeros(self.n_pos)
        self.slack = np.concatenate([loss - lack, loss if not problem.soft else [], sigma, excess])

    # -- how far --------------------------------------------------------------------------------

    def _mass_error(self) -> float:
        problem = self.problem
        total = problem.mass + problem.curvature * self.level + self.dual[self.a].sum()
        return float(total - self.mass)

    def converged(self, tol: float) -> bool:
        mass_fits = abs(self._mass_error()) <= 1e-8 * abs(self.mass)
        return mass_fits and self.products + float(self.dual[self.a] @ np.abs(self.error)) <= tol

    # -- one step -------------------------------------------------------------------------------

    def _linearise(self, target: Floats) -> Step:
        self._known_error = self._mass_error()
        free = self._prepare(self._right(target))
        return self._bordered(target, free)

    def _direction(self, target: Floats) -> Step:
        return self._bordered(target, self.problem.system.solve(self._right(target)))

    def _right(self, target: Floats) -> Floats:
        """The right-hand side that dual * slack = current + target leaves in the rows."""
        ratio = target / self.dual
        right = np.concatenate([ratio[self.a] - self.error, -ratio[self.b]])
        if not self.problem.soft:
            right[self.pos] -= ratio[self.f]
        if len(self.caps):
            right[self.neg] += ratio[self.e]
        return right

    def _prepare(self, right: Floats) -> Floats:
        """Eliminate all slacks: row weights D, the border (ones, ones, k) and its 3 x 3 Schur complement.

        Returns the solution for a first right-hand side.
        """
        problem = self.problem
        stiffness = self.dual / self.slack
        weights = np.concatenate([stiffness[self.a], stiffness[self.b]])
        if problem.soft:
            weights[self.pos] /= 1.0 + weights[self.pos] * self.softness
        else:
            weights[self.pos] *= stiffness[self.f] / (stiffness[self.a] + stiffness[self.f])
        border = np.zeros((len(weights), 3))
        border[self.pos, 0] = 1.0
        border[self.neg, 1] = 1.0
        border[:, 2] = problem.tilt_scores
        tilt_square = problem.tilt_square
        if len(self.caps):
            weights[self.neg] *= stiffness[self.e] / (stiffness[self.b] + stiffness[self.e])
            border[self.neg, 2] += self.caps / stiffness[self.e]
            tilt_square += float(self.caps @ (self.caps / stiffness[self.e]))
        problem.system.factor(weights)
        solved = problem.system.solve(np.column_stack([border, right]))
        self.border, self.inverse_border = border, solved[:, :3]
        z = border.T @ self.inverse_border
        theta = problem.share
        self.schur = np.array(
            [
                [z[0, 0] + problem.curvature, z[0, 1], -(z[0, 2] + 1.0)],
                [z[1, 0], z[1, 1] if self.n_neg else 1.0, theta - z[1, 2]],
                [1.0 + z[2, 0], z[2, 1] - theta, tilt_square - z[2, 2]],
            ]
        )
        return np.asarray(solved[:, 3])

    def _bordered(self, target: Floats, free: Floats) -> Step:
        """Newton's direction for dual * slack = current + target; `free` solves its right-hand side."""
        problem, dual, slack = self.problem, self.dual, self.slack
        shift = float(self.caps @ (target[self.e] / dual[self.e])) if len(self.caps) else 0.0
        known = np.array([-self._known_error, 0.0, shift]) - self.border.T @ free
        level, cutoff, mass = np.linalg.solve(self.schur, known)
        y = free + self.inverse_border @ np.array([level, cutoff, -mass])
        scores = problem.system.times(y) + problem.tilt_scores * mass
        d_dual, d_slack = np.empty_like(dual), np.empty_like(slack)
        d_dual[self.a], d_dual[self.b] = y[self.pos], -y[self.neg]
        if not problem.soft:
            d_dual[self.f] = -y[self.pos]
        if len(self.caps):
            d_dual[self.e] = self.caps * mass + y[self.neg]
        # xi and eta follow from their own product (or from a), zeta and sigma from feasibility.
        for part in (self.f, self.e):
            d_slack[part] = (target[part] - slack[part] * d_dual[part]) / dual[part]
        loss = self.softness * y[self.pos] + self.error if problem.soft else d_slack[self.f]
        d_slack[self.a] = loss - level + scores[self.pos]
        d_slack[self.b] = cutoff - scores[self.neg]
        if len(self.caps):
            d_slack[self.b] += d_slack[self.e]
        return Step(d_dual, d_slack, (float(level), float(cutoff), float(mass), y))

    def _move(self, step: Step, length: float) -> None:
        super()._move(step, length)
        level, cutoff, mass, y = step.rest
        self.level += length * level
        self.cutoff += length * cutoff
        self.mass += length * mass
        self.y = self.y + length * y
        self.error = (1.0 - length) * self.error
