"""`consensus`: one order of several rankings, the nearest to all of them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from toprank.control import check_time_limit
from toprank.rankers.parts.parameters import check_choice

__all__ = ["Consensus", "consensus"]

Floats = NDArray[np.float64]
Items = NDArray[np.intp]
EXACT_UP_TO = 25
"""Items that no majority tells apart, up to which the exact program is tried by default."""


@dataclass(frozen=True)
class Consensus:
    """One order of items that several rankings disagree on.

    Parameters
    ----------
    order : array of item numbers, best first
    cost : float
        The weighted sum of the distances to the rankings.
    bound : float
        No order has a smaller one.
    exact : bool
        Whether the order is proved best; else a local search found it.
    """

    order: Items
    cost: float
    bound: float
    exact: bool

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each item, 1 is best."""
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(1, len(self.order) + 1)
        return places


def consensus(
    rankings: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    distance: str = "kendall",
    method: str = "auto",
    time_limit: float | None = None,
) -> Consensus:
    """The order of items with the smallest weighted sum of distances to several rankings.

    Kemeny's rule (Kemeny 1959; Werner 2020, Section 3.3) with Kendall's distance: the pairs two rankings
    order differently. The program over pairs, one binary variable for each and no cycles, is solved by HiGHS
    after items have been told apart that a majority orders before all others (the extended Condorcet
    criterion); beyond `EXACT_UP_TO` items that are left together, moves of single items improve on the order
    of the mean places. With Spearman's distance, squared differences of places, the order of the mean places
    is the best.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items)
        The place of each item in each ranking, the lowest best; scores with a minus will do. Equal places are
        ties, on which a ranking has no say. NaN is an item a ranking does not know: for Spearman it may be
        anywhere, and the places of the others are those to be expected then.
    weights : array-like of shape (n_rankings,), optional
        How much each ranking counts; rankers of unequal quality, say.
    distance : {"kendall", "spearman"}
    method : {"auto", "exact", "heuristic"}
        For Kendall's distance; "exact" tries the program whatever its size.
    time_limit : float or None
        Seconds for the program; after that the local search answers.

    Returns
    -------
    Consensus

    Examples
    --------
    Two of three judges put item 2 before item 0, and item 1 is last with all.

    >>> found = consensus([[1, 3, 2], [2, 3, 1], [2, 3, 1]])
    >>> found.order.tolist(), found.cost, found.exact
    ([2, 0, 1], 1.0, True)
    """
    check_choice("distance", distance, ["kendall", "spearman"])
    check_choice("method", method, ["auto", "exact", "heuristic"])
    places, weight = _read(rankings, weights)
    if distance == "spearman":
        return _spearman(places, weight)
    before = _preferences(places, weight)
    deadline = time.perf_counter() + check_time_limit(time_limit)
    parts = [_order_part(before, part, method, deadline) for part in _told_apart(before)]
    order = np.concatenate([part.order for part in parts])
    # Between parts every pair follows the majority, as the bound has it anyway.
    bound = _pairwise_bound(before) + sum(
        part.bound - _pairwise_bound(_among(before, part.order)) for part in parts
    )
    return Consensus(order, _cost(before, order), float(bound), all(part.exact for part in parts))


def _read(rankings: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    places = np.asarray(rankings, dtype=np.float64)
    if places.ndim != 2 or 0 in places.shape:
        raise ValueError(
            f"rankings has the shape {places.shape}; a row for each ranking, a column for each item."
        )
    if np.isinf(places).any():
        raise ValueError("rankings holds an infinite place; an item that is not ranked is NaN.")
    weight = np.ones(len(places)) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape != (len(places),):
        raise ValueError(f"weights has the shape {weight.shape}, but there are {len(places)} rankings.")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("weights must be finite numbers, none of them below 0.")
    return places, weight


# -- Spearman ---------------------------------------------------------------------------------------


def _spearman(places: Floats, weight: Floats) -> Consensus:
    """The order of the mean places: a sum of squares is smallest where places rise with the means."""
    expected = np.array([_expected_places(row) for row in places])
    order = np.argsort(weight @ expected, kind="stable")
    ours = np.empty(len(order))
    ours[order] = np.arange(1, len(order) + 1)
    cost = float(weight @ ((expected - ours) ** 2).sum(axis=1))
    return Consensus(order, cost, cost, True)


def _expected_places(row: Floats) -> Floats:
    """Places 1..n, ties sharing theirs; with items that may be anywhere, those to be expected."""
    known = ~np.isnan(row)
    n, m = len(row), int(known.sum())
    expected = np.full(n, 0.5 * (n + 1))
    expected[known] = rankdata(row[known]) * (n + 1) / (m + 1)
    return expected


# -- Kendall ----------------------------------------------------------------------------------------


def _preferences(places: Floats, weight: Floats) -> Floats:
    """before[a, b]: the weight of the rankings that put item a before item b."""
    before = np.zeros((places.shape[1],) * 2)
    for row, one in zip(places, weight, strict=True):
        before += one * (row[:, None] < row[None, :])  # never true of NaN
    return before


def _cost(before: Floats, order: Items) -> float:
    """The weight of all pairs ordered against a ranking."""
    return float(np.tril(before[np.ix_(order, order)], -1).sum())


def _pairwise_bound(before: Floats) -> float:
    """What the majority of each pair would cost, were there no cycles."""
    return float(np.minimum(before, before.T).sum() / 2)


def _among(before: Floats, items: Items) -> Floats:
    return before[np.ix_(items, items)]


def _told_apart(before: Floats) -> list[Items]:
    """Sets of items, best first, between which every pair has a majority for the earlier set."""
    not_worse = sp.csr_matrix((before >= before.T).astype(np.int8))
    _, part = connected_components(not_worse, directed=True, connection="strong")
    parts = [np.flatnonzero(part == number) for number in range(int(part.max()) + 1)]
    # Of two sets the one that beats the other beats more items.
    beaten = before > before.T
    wins = [int(beaten[one[0]].sum() - beaten[one[0], one].sum()) for one in parts]
    return [parts[k] for k in np.argsort(np.negative(wins), kind="stable")]


def _order_part(before: Floats, items: Items, method: str, deadline: float) -> Consensus:
    """The order of items that are left together: by the program or, beyond its size, by local search."""
    inside = _among(before, items)
    start = np.argsort(inside.sum(axis=0) - inside.sum(axis=1), kind="stable")
    order = _moved(inside, start)
    cost, bound = _cost(inside, order), _pairwise_bound(inside)
    if cost <= bound:
        return Consensus(items[order], cost, cost, True)
    if method == "exact" or (method == "auto" and len(items) <= EXACT_UP_TO):
        solved = _program(inside, deadline - time.perf_counter())
        if solved is not None:
            return Consensus(items[solved], _cost(inside, solved), _cost(inside, solved), True)
    return Consensus(items[order], cost, bound, False)


def _moved(before: Floats, order: Items) -> Items:
    """Move single items to their best places until none gains."""
    order, improved = order.copy(), True
    while improved:
        improved = False
        for item in range(len(order)):
            rest = order[order != item]
            # Passing an item costs the rankings that have this one before it, and saves the others.
            steps = np.concatenate(([0.0], np.cumsum(before[item, rest] - before[rest, item])))
            now = int(np.flatnonzero(order == item)[0])
            best = int(np.argmin(steps))
            if steps[best] < steps[now] - 1e-12 * max(1.0, abs(steps[now])):
                order, improved = np.insert(rest, best, item), True
    return order


def _program(before: Floats, seconds: float) -> Items | None:
    """Kemeny's order by HiGHS; None where it was not proved in time.

    A variable for each pair a < b, 1 where a comes first, and for each triple no cycle:
    0 <= x_ab + x_bc - x_ac <= 1.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    if seconds <= 0:
        return None
    n = len(before)
    a, b = np.triu_indices(n, 1)
    number = np.zeros((n, n), dtype=np.int64)
    number[a, b] = np.arange(len(a))
    triples = np.array([(i, j, k) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)])
    columns = [number[triples[:, p], triples[:, q]] for p, q in ((0, 1), (1, 2), (0, 2))]
    lines = np.arange(len(triples))
    cycles = sp.csr_matrix(
        (np.repeat([1.0, 1.0, -1.0], len(lines)), (np.tile(lines, 3), np.concatenate(columns))),
        shape=(len(lines), len(a)),
    )
    answer = milp(
        before[b, a] - before[a, b],
        integrality=np.ones(len(a), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(cycles, 0, 1),
        options={"mip_rel_gap": 0.0, **({"time_limit": seconds} if math.isfinite(seconds) else {})},
    )
    if not answer.success:
        return None
    wins = np.zeros(n)
    np.add.at(wins, a, np.round(answer.x))
    np.add.at(wins, b, 1 - np.round(answer.x))
    return np.argsort(-wins, kind="stable")
