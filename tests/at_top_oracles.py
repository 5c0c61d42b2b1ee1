"""Accuracy at the Top by the letter of the paper: cvxpy with Clarabel and sorting; nothing of ours."""

import cvxpy as cp
import numpy as np


def solve_precisely(problem):
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)


def pinned_primal(points, up, down, k):
    """Problem (2): coefficients and value."""
    w = cp.Variable(points.shape[1])
    lead = (points - points[k]) @ w
    losses = up @ cp.pos(1 - lead) + down @ cp.pos(1 + lead)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + losses))
    solve_precisely(problem)
    return w.value, problem.value


def pinned_dual(gram, up, down, k):
    """Problem (4): the value, and the weight of each item in w = sum of weights phi(z_i)."""
    centred = gram - gram[:, [k]] - gram[[k], :] + gram[k, k]
    size, directions = np.linalg.eigh(centred)
    root = directions * np.sqrt(np.maximum(size, 0.0))
    a, b = cp.Variable(len(up)), cp.Variable(len(up))
    objective = cp.sum(a) + cp.sum(b) - 0.5 * cp.sum_squares(root.T @ (a - b))
    problem = cp.Problem(cp.Maximize(objective), [a >= 0, b >= 0, a <= up, b <= down])
    solve_precisely(problem)
    weights = a.value - b.value
    weights[k] -= weights.sum()
    return problem.value, weights


def top_quantile(scores, tau, mass=None):
    """The largest minimiser of the pinball loss, looked for among the scores."""
    mass = np.ones(len(scores)) if mass is None else mass
    losses = []
    for u in scores:
        above, below = np.maximum(scores - u, 0), np.minimum(scores - u, 0)
        losses.append(mass @ (-tau * below + (1 - tau) * above))
    losses = np.array(losses)
    return scores[losses <= losses.min() + 1e-9 * max(1.0, np.abs(losses).max())].max()


def rule(points, up, down, tau):
    """The whole algorithm: distance and objective of every pin, and the coefficients of the chosen one."""
    distance, value, coefs = [], [], []
    for k in range(len(points)):
        w, objective = pinned_primal(points, up, down, k)
        distance.append(abs(points[k] @ w - top_quantile(points @ w, tau)))
        value.append(objective)
        coefs.append(w)
    distance, value = np.array(distance), np.array(value)
    near = np.flatnonzero(distance <= distance.min() + 1e-5)
    chosen = near[np.argmax(value[near] <= value[near].min() * (1 + 1e-6))]
    return chosen, distance, value, coefs[chosen]
