"""Slow, obvious reference answers for exact search; imports nothing of the package.

Without a margin pair p is won at w when D_p . w > 0, and the best w lies in one of the open cells between
the pairs' hyperplanes: `cells` enumerates them in whole numbers. With a margin the rows are first divided by
their lengths, the smallest power of two above their largest entry. Then
the set of pairs won at w is {p : D_p . w >= margin}, a closed condition, and more won pairs are never worse.
So the best w can be moved to a vertex of {D_p . w >= margin for its won pairs, |w_j| <= 1}: a point where d
linearly independent equations among D_p . w = margin and w_j = +-1 hold. Trying all of them is exact.
Candidates are found in floats and settled in fractions wherever rounding could decide.
"""

from __future__ import annotations

import itertools
import math
import operator
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


def length(row):
    """The smallest power of two above the largest entry."""
    largest, power = max(map(abs, row)), Fraction(1)
    while power <= largest:
        power *= 2
    while power > 2 * largest > 0:
        power /= 2
    return power


def exact_won(differences, coef, margin):
    """Won pairs at `coef` (fractions), its largest entry brought to one as the claim says."""
    coef = [Fraction(c) for c in coef]
    needed = Fraction(margin) * max(abs(c) for c in coef)
    leads = [sum(a * b for a, b in zip(row, coef, strict=True)) for row in differences]
    return [lead > 0 and lead >= needed * length(row) for lead, row in zip(leads, differences, strict=True)]


# -- the optimum ----------------------------------------------------------------------------------


def best_value(differences, margin, value: Callable[[Won], float], penalty: float = 0.0) -> float:
    """The largest value of any w in the box, minus the penalty for each non-zero coefficient."""
    differences = [[Fraction(v) for v in row] for row in differences]
    if margin == 0:
        units = [math.lcm(*(v.denominator for v in column)) for column in zip(*differences, strict=True)]
        whole = [[int(v * unit) for v, unit in zip(row, units, strict=True)] for row in differences]
        return best_strict_value(whole, value, penalty)
    differences = [[v / length(row) for v in row] for row in differences]
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


# -- without a margin: all cells between the pairs' hyperplanes ------------------------------------


def lists_value(won, lists, weights):
    """Sum over lists (first pair, positives, negatives) of the position weights at the positives' places."""
    terms = []
    for first, m, n in lists:
        lost = sorted(n - sum(won[first + i * n : first + (i + 1) * n]) for i in range(m))
        terms += [weights[j + c] for j, c in enumerate(lost)]
    return math.fsum(terms)


def whole_differences(X, pairs):
    """Upper minus lower row of each pair, each column times a power of two that makes it whole."""
    columns = []
    for column in np.asarray(X, dtype=float).T.tolist():
        exact = [Fraction(v) for v in column]
        unit = math.lcm(*(v.denominator for v in exact))
        columns.append([int(v * unit) for v in exact])
    return [[column[i] - column[k] for column in columns] for i, k in pairs]


def best_strict_value(differences, value, penalty=0.0):
    """The largest value of any real w when pair p is won if D_p . w > 0, minus a price per coefficient.

    More won pairs are never worth less.
    """
    d = len(differences[0])
    best, most = value([False] * len(differences)), value([True] * len(differences))
    supports: Iterable[tuple[int, ...]] = [tuple(range(d))]
    if penalty:
        supports = (s for size in range(1, d + 1) for s in itertools.combinations(range(d), size))
    for support in supports:
        if most - penalty * len(support) <= best:
            break  # as many coefficients, or more, cannot pay
        rows = [[row[j] for j in support] for row in differences]
        found = max(map(value, cells(rows)))
        best = max(best, found - penalty * len(support))
    return best


def cells(rows):
    """Which rows have a positive product with w, for every open cell of w: a set of tuples of bools."""
    lines = sorted({_primitive(row) for row in rows if any(row)})
    number = {line: i for i, line in enumerate(lines)}
    # Of each row its line and whether it points the same way; a row of zeros is on no side.
    places = [
        (number[line := _primitive(row)], _along(row, line)) if any(row) else (len(lines), True)
        for row in rows
    ]
    found = _sides(_independent_columns(lines))
    return {tuple((*side, False)[i] == along for i, along in places) for side in found}


def _along(row, line):
    return next(a * b > 0 for a, b in zip(row, line, strict=True) if b)


def _sides(lines):
    """On which side of each line w can be, for every open cell of w: tuples of bools, each once.

    No two lines are parallel, and their columns are independent. As many lines as columns are independent,
    too: all combinations occur. Otherwise each cell is a pointed cone with an extreme ray, on which lines of
    rank one less vanish; near the ray the cell is one of the cells of those lines.
    """
    if not lines:
        return {()}
    r = len(lines[0])
    if len(lines) == r:
        return set(itertools.product((False, True), repeat=r))
    found, seen = set(), set()
    for chosen in itertools.combinations(lines, r - 1):
        ray = _orthogonal(chosen, r)
        if not any(ray) or (ray := _primitive(ray)) in seen:
            continue
        seen.add(ray)
        leads = [sum(map(operator.mul, line, ray)) for line in lines]
        tied = [p for p, lead in enumerate(leads) if lead == 0]
        nearby = _sides(_independent_columns([lines[p] for p in tied]))
        for side in ([lead > 0 for lead in leads], [lead < 0 for lead in leads]):
            for near in nearby:
                for p, won in zip(tied, near, strict=True):
                    side[p] = won
                found.add(tuple(side))
    return found


def _primitive(row):
    """A line's direction in lowest terms, the first entry that is not zero positive."""
    divisor = math.gcd(*row)
    first = next(v for v in row if v)
    return tuple(v // (divisor if first > 0 else -divisor) for v in row)


def _orthogonal(rows, r):
    """The vector of signed minors: orthogonal to r - 1 rows, zero when they are dependent."""
    return [
        (-1) ** j * _determinant([[row[k] for k in range(r) if k != j] for row in rows]) for j in range(r)
    ]


def _determinant(rows):
    if not rows:
        return 1
    return sum(
        (-1) ** j * a * _determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
        for j, a in enumerate(rows[0])
        if a
    )


def _independent_columns(rows):
    """Columns that are not combinations of those before them."""
    if not rows or (len(rows[0]) == 1 and any(row[0] for row in rows)):
        return rows
    kept, reduced = [], []
    for j, column in enumerate(zip(*rows, strict=True)):
        rest = list(column)
        for pivot, other in reduced:
            if rest[pivot]:
                mine, its = rest[pivot], other[pivot]
                rest = [its * a - mine * b for a, b in zip(rest, other, strict=True)]
                shared = math.gcd(*rest) or 1
                rest = [a // shared for a in rest]
        place = next((i for i, v in enumerate(rest) if v), None)
        if place is not None:
            kept.append(j)
            reduced.append((place, rest))
    return [[row[j] for j in kept] for row in rows]


# -- statistics of an order, as the definitions have it ---------------------------------------------


def order_of(won, m, n):
    """Labels in order, best first, when pair i * n + k of m positives and n negatives is won or lost."""
    lost = sorted(n - sum(won[i * n : (i + 1) * n]) for i in range(m))
    order = [0] * (m + n)
    for j, c in enumerate(lost):
        order[j + c] = 1
    return order


def best_of_orders(X, y, qid, value_of_order, penalty=0.0):
    """The largest mean over lists with both classes of the value of the order, over all real coefficients."""
    pairs, lists = [], []
    for q in sorted(set(qid)):
        upper = [i for i, label in enumerate(y) if label == 1 and qid[i] == q]
        lower = [i for i, label in enumerate(y) if label != 1 and qid[i] == q]
        if upper and lower:
            lists.append((len(pairs), len(upper), len(lower)))
            pairs += [(i, k) for i in upper for k in lower]

    def value(won):
        orders = [order_of(won[first : first + m * n], m, n) for first, m, n in lists]
        return math.fsum(map(value_of_order, orders)) / len(lists)

    return best_strict_value(whole_differences(X, pairs), value, penalty)


def labels_and_lists(queries, n):
    """Of each row 1 if it is a positive of its list, and which list that is (-1: none); no row in two."""
    labels, lists = np.zeros(n, dtype=int), np.full(n, -1)
    for q, (upper, lower, _) in enumerate(queries):
        labels[upper] = 1
        lists[upper] = lists[lower] = q
    return labels, lists


def best_of_graded_orders(X, y, qid, value_of_order):
    """The largest mean over lists of the value of the labels in order, best first; equal rows worst first."""
    lists = [[i for i in range(len(y)) if qid[i] == q] for q in sorted(set(qid))]
    lists = [rows for rows in lists if len({y[i] for i in rows}) > 1]
    pairs = [(i, k) for rows in lists for a, i in enumerate(rows) for k in rows[a + 1 :]]
    differences = whole_differences(X, pairs)

    def value(pattern):
        wins = [0] * len(y)
        for (i, k), difference, won in zip(pairs, differences, pattern, strict=True):
            if any(difference):
                wins[i if won else k] += 1
        orders = [[y[i] for i in sorted(rows, key=lambda i: (-wins[i], y[i]))] for rows in lists]
        return math.fsum(map(value_of_order, orders)) / len(lists)

    nothing = math.fsum(value_of_order(sorted(y[i] for i in rows)) for rows in lists) / len(lists)
    return max([nothing, *map(value, cells(differences))])
