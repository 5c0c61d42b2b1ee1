"""Slow and obvious pairwise losses and reference solutions; nothing here comes from the package."""

import numpy as np


def all_pairs(y, qid=None, weight=None, weighting="pairs"):
    """Every (upper, lower, weight) with a higher label in the same query, weights summing to one."""
    n = len(y)
    qid = np.zeros(n) if qid is None else np.asarray(qid)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    found = [
        (i, j, weight[i] * weight[j]) for i in range(n) for j in range(n) if y[i] > y[j] and qid[i] == qid[j]
    ]
    if isinstance(weighting, dict):
        # Kinds of pairs that are not mentioned are no pairs at all.
        found = [(i, j, w) for i, j, w in found if (y[i], y[j]) in weighting]
    if weighting != "pairs":
        per_query = {}
        for i, _, w in found:
            per_query[qid[i]] = per_query.get(qid[i], 0.0) + w
        found = [(i, j, w / per_query[qid[i]] if w else 0.0) for i, j, w in found]
    if isinstance(weighting, dict):
        found = [(i, j, w * weighting[y[i], y[j]]) for i, j, w in found]
    total = sum(w for _, _, w in found)
    return [(i, j, w / total) for i, j, w in found] if total > 0 else []


def hinge(scores, pairs, squared=False):
    """Weighted mean of max(0, 1 - s_i + s_j), or of its square."""
    return sum(w * max(0.0, 1.0 - scores[i] + scores[j]) ** (2 if squared else 1) for i, j, w in pairs)


def smoothed_hinge(scores, pairs, mu):
    """The hinge with the kink rounded off between -mu and mu."""
    total = 0.0
    for i, j, w in pairs:
        u = 1.0 - scores[i] + scores[j]
        total += w * (0.0 if u <= -mu else u if u >= mu else (u + mu) ** 2 / (4 * mu))
    return total


def push(scores, y, p, qid=None, weight=None):
    """Mean over queries of log (mean_j (mean_i exp(-(s_i - s_j)))^p)^(1/p)."""
    y, scores = np.asarray(y), np.asarray(scores, dtype=np.longdouble)
    qid = np.zeros(len(y)) if qid is None else np.asarray(qid)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    values = []
    for query in np.unique(qid):
        up = np.flatnonzero((qid == query) & (y == 1) & (weight > 0))
        down = np.flatnonzero((qid == query) & (y == 0) & (weight > 0))
        if len(up) and len(down):
            inner = np.exp(-(scores[up][:, None] - scores[down][None, :]))
            share = weight[up] @ inner / weight[up].sum()
            values.append(np.log((weight[down] @ share**p) / weight[down].sum()) / p)
    return float(np.mean(values))


def numerical_gradient(function, at, step=1e-6):
    """Central differences."""
    at = np.asarray(at, dtype=float)
    gradient = np.zeros_like(at)
    for k in range(len(at)):
        shift = np.zeros_like(at)
        shift[k] = step
        gradient[k] = (function(at + shift) - function(at - shift)) / (2 * step)
    return gradient


def rank_svm(X, y, C, *, squared=False, graded=False, penalty="l2", gram=None, **pair_options):
    """Optimal value and coefficients of RankSVM, by cvxpy and Clarabel; with `gram`, f = gram @ beta.

    `graded` multiplies a lead in score by the difference of the labels.
    """
    import cvxpy as cp

    pairs = all_pairs(y, **pair_options)
    design = np.asarray(X, dtype=float) if gram is None else gram
    rows = np.array([design[i] - design[j] for i, j, _ in pairs])
    weight = np.array([w for _, _, w in pairs])
    if graded:
        rows = rows * np.array([[y[i] - y[j]] for i, j, _ in pairs])
    coef = cp.Variable(design.shape[1])
    lost = cp.pos(1 - rows @ coef)
    loss = cp.sum(cp.multiply(weight, cp.square(lost) if squared else lost))
    if gram is not None:
        size = 0.5 * cp.quad_form(coef, cp.psd_wrap(gram))
    else:
        size = 0.5 * cp.sum_squares(coef) if penalty == "l2" else cp.norm1(coef)
    problem = cp.Problem(cp.Minimize(size + C * loss))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value, coef.value


def push_optimum(X, y, C, p):
    """Optimal value of 1/2 |w|^2 + C log R_p, as an exponential-cone problem."""
    import cvxpy as cp

    X, y = np.asarray(X, dtype=float), np.asarray(y)
    up, down = X[y == 1], X[y == 0]
    coef = cp.Variable(X.shape[1])
    low = cp.log_sum_exp(-(up @ coef)) - np.log(len(up))
    high = (cp.log_sum_exp(p * (down @ coef)) - np.log(len(down))) / p
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(coef) + C * (low + high)))
    problem.solve(solver="CLARABEL")
    return problem.value, coef.value


def rank_rls(X, y, C, qid=None):
    """RankRLS by listing all pairs and solving the normal equations."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    n = len(y)
    qid = np.zeros(n, dtype=int) if qid is None else np.unique(qid, return_inverse=True)[1]
    sizes = np.bincount(qid)
    pairs = [(i, j) for i in range(n) for j in range(i) if qid[i] == qid[j]]
    root = np.array([1.0 / np.sqrt(sizes[qid[i]]) for i, _ in pairs])
    rows = root[:, None] * np.array([X[i] - X[j] for i, j in pairs])
    target = root * np.array([y[i] - y[j] for i, j in pairs])
    return np.linalg.solve(np.eye(X.shape[1]) + C / n * rows.T @ rows, C / n * rows.T @ target)
