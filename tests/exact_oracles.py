"""Slow, obvious reference answers for exact search; imports nothing of the package.

The set of pairs won at w is {p : D_p . w >= margin}, a closed condition, and more won pairs are never worse.
So the best w can be moved to a vertex of {D_p . w >= margin for its won pairs, |w_j| <= 1}: a point where d
linearly independent equations among D_p . w = margin and w_j = +-1 hold. Trying all of them is exact.
Candidates are found in floats and settled in fractions wherever rounding could decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

Won = np.ndarray


# -- values of a set of won pairs, written from the definitions ---------------------------------


def order_value(won, positive, negative, weights):
    """Sum of the position weights at the positives' places when the lost pairs stand the wrong way."""
    m, n = int(max(positive)) + 1, int(max(negative)) + 1
    lost = np.zeros(m, dtype=int)
    for p, is_won in enumerate(won):
        if not is_won:
            lost[positive[p]] += 1
    assert len(won) == m * n
    return math.fsum(weights[j + c] for j, c in enumerate(sorted(lost.tolist())))


def pair_value(won, pair_weight):
    """Sum of the weights of the won pairs."""
    return math.fsum(w for w, is_won in zip(pair_weight, won, strict=True) if is_won)


def class_pairs(X, y):
    """Differences, positive number and negative number of every positive-negative pair, as fractions."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    upper = [i for i, label in enumerate(y) if label == 1]
    lower = [i for i, label in enumerate(y) if label != 1]
    differences, positive, negative = [], [], []
    for a, i in enumerate(upper):
        for b, k in enumerate(lower):
            differences.append([u - v for u, v in zip(rows[i], rows[k], strict=True)])
            positive.append(a)
            negative.append(b)
    return differences, positive, negative


def exact_won(differences, coef, margin):
    """Won pairs at `coef` (fractions), its largest entry brought to one as the claim says."""
    coef = [Fraction(c) for c in coef]
    needed = Fraction(margin) * max(abs(c) for c in coef)
    if not any(coef):
        return [False] * len(differences)
    return [sum(a * b for a, b in zip(row, coef, strict=True)) >= needed for row in differences]


# -- the optimum ----------------------------------------------------------------------------------


def best_value(differences, margin, value: Callable[[Won], float], penalty: float = 0.0) -> float:
    """The largest value of any w in the box, minus the penalty for each non-zero coefficient."""
    differences = [[Fraction(v) for v in row] for row in differences]
    d = len(differences[0])
    best = value(np.zeros(len(differences), dtype=bool))
    supports: Iterable[tuple[int, ...]] = [tuple(range(d))]
    if penalty:
        supports = (s for size in range(1, d + 1) for s in itertools.combinations(range(d), size))
    for support in supports:
        reduced = [[row[j] for j in support] for row in differences]
        found = _best_in_box(reduced, Fraction(margin), value)
        best = max(best, found - penalty * len(support))
    return best


def _best_in_box(differences, margin, value):
    """Largest value over all vertices of the arrangement in the box."""
    d = len(differences[0])
    planes = {(*row, margin) for row in map(tuple, differences) if any(row)}
    for j in range(d):
        unit = tuple(Fraction(int(i == j)) for i in range(d))
        planes |= {(*unit, Fraction(1)), (*unit, Fraction(-1))}
    planes = sorted(planes)
    table = np.array([[float(v) for v in plane] for plane in planes])
    D = np.array([[float(v) for v in row] for row in differences])
    points, subsets = _vertices(table, d)
    inside = np.abs(points).max(axis=1) <= 1 + 1e-9
    points, subsets = points[inside], subsets[inside]
    lead = points @ D.T - float(margin)
    tolerance = 1e-9 * (1 + np.abs(points) @ np.abs(D).T)
    patterns: dict[bytes, tuple[float, list[int]]] = {}
    optimistic = lead > -tolerance
    for v in range(len(points)):
        key = optimistic[v].tobytes()
        if key not in patterns:
            patterns[key] = (value(optimistic[v]), [])
        patterns[key][1].append(v)
    best = -math.inf
    for bound, members in sorted(patterns.values(), key=lambda item: -item[0]):
        if bound <= best:
            break
        for v in members:
            point = _solve([planes[i] for i in subsets[v]])
            if point is None or max(map(abs, point)) > 1:
                continue
            won = [sum(a * b for a, b in zip(row, point, strict=True)) >= margin for row in differences]
            best = max(best, value(np.array(won)))
            if best >= bound:
                break
    return best


def _vertices(table, d):
    """Float solutions of every choice of d planes with a determinant that is not zero."""
    subsets = np.array(list(itertools.combinations(range(len(table)), d)))
    found_points, found_subsets = [], []
    for chunk in np.array_split(subsets, max(1, len(subsets) // 20000)):
        A, b = table[chunk][:, :, :d], table[chunk][:, :, d]
        size = np.prod(np.linalg.norm(A, axis=2), axis=1)
        regular = np.abs(np.linalg.det(A)) > 1e-12 * size
        found_points.append(np.linalg.solve(A[regular], b[regular][:, :, None])[:, :, 0])
        found_subsets.append(chunk[regular])
    return np.concatenate(found_points), np.concatenate(found_subsets)


def _solve(planes):
    """The exact common point of d planes (rows of d coefficients and a right-hand side), or None."""
    rows = [list(plane) for plane in planes]
    d = len(rows)
    for j in range(d):
        pivot = next((i for i in range(j, d) if rows[i][j] != 0), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(d):
            if i != j and rows[i][j] != 0:
                factor = rows[i][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [row[d] for row in rows]
