"""The at-the-top problems written down for an independent solver; nothing of the library is used."""

import warnings
from contextlib import suppress

import cvxpy as cp
import numpy as np


class NoReference(Exception):
    """Clarabel came to no end with enough digits."""


def solve(P, N, *, C, loss="hinge", k=1, weight=None, gram=None):
    """Minimise 1/2 |w|^2 + C mean loss(mean of the k highest w.n - w.p); with `gram` in a kernel's space.

    P and N are rows of features, or with `gram` (K = L L^T) row numbers. Returns the value and w.
    """
    if gram is not None:
        values, vectors = np.linalg.eigh(gram)
        features = vectors * np.sqrt(np.maximum(values, 0.0))
        P, N = features[P], features[N]
    # Only differences of rows count, and w lies in their span: written so, Clarabel keeps its digits.
    rows = np.vstack([P, N])
    rows = rows - rows.mean(axis=0)
    left, sizes, span = np.linalg.svd(rows, full_matrices=False)
    kept = sizes > 1e-12 * max(sizes.max(), 1e-300)
    rows, n_pos = left[:, kept] * sizes[kept], len(P)
    P, N = rows[:n_pos], rows[n_pos:]
    weight = np.ones(len(P)) if weight is None else np.asarray(weight, dtype=float)
    if not kept.any():  # all rows are equal
        return C * {"hinge": 1.0, "squared_hinge": 1.0, "logistic": np.log(2.0)}[loss], np.zeros(
            span.shape[1]
        )
    w = cp.Variable(P.shape[1])
    z = cp.sum_largest(N @ w, k) / k - P @ w
    losses = {
        "hinge": lambda: cp.pos(1 + z),
        "squared_hinge": lambda: cp.square(cp.pos(1 + z)),
        "logistic": lambda: cp.logistic(z),
    }[loss]()
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * (weight / weight.sum()) @ losses))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy warns of what is looked at next
        for digits in (11, 10, 9, 8):  # as many as Clarabel can give
            tolerance = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 10.0 ** (-digits))
            with suppress(cp.SolverError):  # it broke down: fewer digits may do
                problem.solve(solver=cp.CLARABEL, **tolerance)
            if problem.status == cp.OPTIMAL:
                break
    if problem.status != cp.OPTIMAL:
        raise NoReference(problem.status)
    return float(problem.value), span[kept].T @ np.asarray(w.value)


def objective(w, P, N, *, C, loss="hinge", k=1):
    """The objective by the book."""
    top = np.sort(N @ w)[::-1][:k].mean()
    z = top - P @ w
    losses = {
        "hinge": np.maximum(1 + z, 0),
        "squared_hinge": np.maximum(1 + z, 0) ** 2,
        "logistic": np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0),
    }[loss]
    return 0.5 * w @ w + C * losses.mean()
