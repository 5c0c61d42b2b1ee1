"""Small ranking problems with everything that misleads floating point; imports nothing of the package.

Columns scaled by powers of two, one value replaced by a huge one, sentinels, large offsets, nearly and
exactly collinear columns, whole numbers with many ties, duplicates; over one list, queries or pairs, with
and without a price on coefficients. `best_value` is their true optimum, by rational enumeration, and
`attained` the value of coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import exact_oracles as oracles
import general_oracles as general
import oracles as definitions

KINDS = (
    "plain",
    "scaled columns",
    "outlier",
    "sentinel",
    "offset",
    "near-collinear",
    "whole numbers",
    "collinear",
    "duplicates",
    "decimals",
)


@dataclass(frozen=True)
class Hostile:
    """One problem: rows, labels or pairs, weights, price; `kind` says what is hostile about it.

    `statistic` is a name where the value is that statistic of the lists instead of a sum of weights.
    """

    kind: str
    X: np.ndarray
    y: np.ndarray | None
    qid: np.ndarray | None
    weights: np.ndarray | None
    pairs: np.ndarray | None
    pair_weight: np.ndarray | None
    penalty: float
    statistic: str | None = None


STATISTICS = {
    "average_precision": definitions.average_precision,
    "positives_at_top": definitions.positives_at_top,
    "reciprocal_rank": definitions.STATISTICS["reciprocal_rank"],
    "partial_auc_fpr(max_fpr=0.4)": definitions.STATISTICS["partial_auc_fpr(max_fpr=0.4)"],
    "p_norm_push_loss": lambda order: -definitions.STATISTICS["p_norm_push_loss"](order),
    "infinite_push_loss": lambda order: -definitions.STATISTICS["infinite_push_loss"](order),
    "local_auc@3": lambda order: general.local_auc(order, 3),
}
"""By name and by definition, losses with their sign changed."""


def counted_problem(seed: int) -> Hostile:
    """The same with a statistic in place of weights, where it has lists."""
    case = hostile_problem(seed)
    if case.pairs is not None:
        return case
    return replace(case, statistic=sorted(STATISTICS)[seed // len(KINDS) % len(STATISTICS)])


def value_of_lost(problem: Hostile, lost: list[int], rivals: int) -> float:
    """What a list is worth whose positives, sorted, lose so many pairs against so many rivals."""
    if problem.statistic is None:
        return sum(problem.weights[j + c] for j, c in enumerate(lost))
    order = [0] * (len(lost) + rivals)
    for j, c in enumerate(lost):
        order[j + c] = 1
    return STATISTICS[problem.statistic](order)


def hostile_problem(seed: int) -> Hostile:
    """Problem number `seed`; the kinds take turns."""
    rng = np.random.default_rng([20_18, seed])
    kind = KINDS[seed % len(KINDS)]
    d = int(rng.integers(1, 5))
    n = int(rng.integers(4, 11 if d < 3 else 9 if d == 3 else 8))
    X = _rows(kind, n, d, rng)
    penalty = float(rng.choice([0.0, 0.0, 0.0, 0.01, 0.3]))
    if rng.random() < 0.25:
        pairs = np.array([(i, k) for i in range(n) for k in range(n) if i != k])
        pairs = pairs[rng.permutation(len(pairs))[: int(rng.integers(1, 13))]]
        worth = rng.integers(1, 5, size=len(pairs)).astype(float)
        return Hostile(kind, X, None, None, None, pairs, worth, penalty)
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: int(rng.integers(1, n))]] = 1
    qid = None
    if n >= 6 and rng.random() < 0.25:
        qid = np.arange(n) % 2
        y[:4] = [0, 1, 1, 0]
    return Hostile(kind, X, y, qid, _weights(n, rng), None, None, penalty)


def _weights(n, rng):
    """DCG, AUC-like or random position weights, never increasing."""
    which = rng.integers(3)
    if which == 0:
        return 1.0 / np.log2(np.arange(n) + 2.0)
    if which == 1:
        return np.arange(n, 0, -1) / n
    return np.sort(rng.random(n))[::-1].copy()


def _rows(kind, n, d, rng):
    X = rng.normal(size=(n, d))
    if kind == "scaled columns":
        return X * 2.0 ** rng.integers(-40, 41, size=d)
    if kind == "outlier":
        X[rng.integers(n), rng.integers(d)] = rng.choice([-1, 1]) * 10.0 ** rng.uniform(3, 15)
        return X
    if kind == "sentinel":
        X = np.round(X * 3) if rng.random() < 0.5 else X
        X[rng.random((n, d)) < 0.25] = rng.choice([-999.0, 9999.0])
        return X
    if kind == "offset":
        X = np.round(X * 4) if rng.random() < 0.5 else X
        return X + rng.choice([0.0, 1e9, -1e9, 1e6], size=d)
    if kind == "near-collinear":
        base = rng.integers(-(10**6), 10**6, size=n)
        return np.column_stack([base + rng.integers(-2, 3, size=n) for _ in range(d)]).astype(float)
    if kind == "whole numbers":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    if kind == "collinear":
        X = np.round(X * 3)
        if d > 1:
            X[:, -1] = X[:, :-1] @ rng.integers(-2, 3, size=d - 1)
        return X
    if kind == "duplicates":
        X = np.round(X * 2, 1) if rng.random() < 0.5 else X
        return X[rng.integers(max(2, n // 2), size=n)]
    if kind == "decimals":
        return np.round(X, 1)
    return X


def attained(problem: Hostile, coef: Sequence[float]) -> float:
    """Value of coefficients, scores compared in whole numbers."""
    scores = _whole_scores(problem.X, coef)
    price = problem.penalty * sum(c != 0 for c in coef)
    if problem.pairs is not None:
        won = [scores[i] > scores[k] for i, k in problem.pairs.tolist()]
        return oracles.pair_value(won, problem.pair_weight) - price
    total = 0.0
    for upper, lower in _lists(problem):
        lost = sorted(sum(scores[k] >= scores[i] for k in lower) for i in upper)
        total += value_of_lost(problem, lost, len(lower))
    return total - price


def _whole_scores(X: np.ndarray, coef: Sequence[float]) -> list[int]:
    """All scores times one power of two: a float is a whole number over a power of two."""
    ratios = [c.as_integer_ratio() for c in coef]
    entries = [[v.as_integer_ratio() for v in row] for row in X.tolist()]
    unit = max((b * q for row in entries for (_, b), (_, q) in zip(row, ratios, strict=True)), default=1)
    return [
        sum(a * p * (unit // (b * q)) for (a, b), (p, q) in zip(row, ratios, strict=True)) for row in entries
    ]


def _lists(problem: Hostile) -> list[tuple[list[int], list[int]]]:
    """Rows of the positives and of the negatives of each list that has both."""
    groups = np.zeros(len(problem.X), dtype=int) if problem.qid is None else problem.qid
    both = [
        [np.flatnonzero((groups == q) & (problem.y == label)).tolist() for label in (1, 0)]
        for q in np.unique(groups)
    ]
    return [(upper, lower) for upper, lower in both if upper and lower]


def best_value(problem: Hostile) -> float:
    """The largest value of any real coefficients, pairs won by any difference at all."""
    pairs, value = _pairs_and_value(problem)
    return oracles.best_strict_value(oracles.whole_differences(problem.X, pairs), value, problem.penalty)


def best_with_margin(problem: Hostile, margin: float, scales: Sequence[float]) -> float:
    """A value that coefficients reach with a margin, columns divided by their scales; as a rule the largest.

    Vertices that floats do not find are not looked at.
    """
    pairs, value = _pairs_and_value(problem)
    rows = [
        [Fraction(v) / Fraction(s) for v, s in zip(row, scales, strict=True)] for row in problem.X.tolist()
    ]
    differences = [[a - b for a, b in zip(rows[i], rows[k], strict=True)] for i, k in pairs]
    return oracles.best_value(differences, margin, value, problem.penalty)


def _pairs_and_value(problem: Hostile):
    """Pairs of rows, upper and lower, and the value of winning some of them."""
    if problem.pairs is not None:
        worth = problem.pair_weight
        return [tuple(map(int, pair)) for pair in problem.pairs], lambda won: oracles.pair_value(won, worth)
    pairs, lists = [], []
    for upper, lower in _lists(problem):
        lists.append((len(pairs), len(upper), len(lower)))
        pairs += [(i, k) for i in upper for k in lower]
    known: dict[tuple, float] = {}  # many cells lose alike

    def value(won):
        total = 0.0
        for first, m, n in lists:
            lost = sorted(n - int(sum(won[first + i * n : first + (i + 1) * n])) for i in range(m))
            key = (first, *lost)
            if key not in known:
                known[key] = value_of_lost(problem, lost, n)
            total += known[key]
        return total

    return pairs, value
