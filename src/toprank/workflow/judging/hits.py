"""How many of the first k items are hits: on held-out rows, by chance, and in the next list like them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Hits",
    "SplitScores",
    "chance_of",
    "chances_of",
    "hits_at",
    "hits_lines",
    "hits_table",
    "hits_up_to",
    "means_lines",
    "means_up_to",
    "shortest_list",
    "sizes_for",
]

USUAL_SIZES = (10, 20, 50, 100)
COVERED = 0.8
"""Share of lists like the held-out ones whose hits an interval is made to hold."""
FEWEST_FOR_AN_INTERVAL = 3

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
SplitScores = tuple[NDArray[Any], Codes | None, Mapping[str, Floats]]


@dataclass(frozen=True, slots=True)
class Hits:
    """Hits among the first `k` of held-out lists, of each ranker and split.

    Parameters
    ----------
    k : int
    chance : float
        What a random order finds on average.
    found : mapping of ranker to tuple of float
        A number for each split; with queries the mean over them.
    overlap : float
        Share of the held-out rows that two splits have in common.
    least : mapping of ranker to float, or None
        Where labels are numbers and their mean is what was found: the variance of that mean of a single list,
        at least. None where hits are counted.
    best : float
        What the best order would find, where labels are numbers.
    """

    k: int
    chance: float
    found: Mapping[str, tuple[float, ...]]
    overlap: float
    least: Mapping[str, float] | None = None
    best: float = math.nan

    def mean(self, ranker: str) -> float:
        """Mean over the splits."""
        return float(np.mean(self.found[ranker]))

    def interval(self, ranker: str) -> tuple[float, float] | None:
        """Where the hits, or mean label, of the next such list lie in four of five cases, if splits tell.

        The hits of two splits that share a part r of their rows are correlated, by about r (Nadeau & Bengio
        2003); so the spread between splits is 1 - r of the variance v of a single list, and a new list
        differs from the mean of J splits with variance ``v (1 + r + (1 - r) / J)``. v is taken to be no
        smaller than that of k independent draws: a few splits may agree by luck.
        """
        from scipy.special import stdtrit

        values = np.asarray(self.found[ranker])
        count = len(values)
        if count < FEWEST_FOR_AN_INTERVAL:
            return None
        share = (values.sum() + 0.5) / (self.k * count + 1.0)
        least = self.k * share * (1.0 - share) if self.least is None else self.least[ranker]
        variance = max(values.var(ddof=1) / (1.0 - self.overlap), least)
        spread = math.sqrt(variance * (1.0 + self.overlap + (1.0 - self.overlap) / count))
        reach = float(stdtrit(count - 1, 0.5 + COVERED / 2)) * spread
        middle = float(values.mean())
        if self.least is not None:
            return middle - reach, middle + reach
        return max(0, round(middle - reach)), min(self.k, round(middle + reach))


def hits_at(k: int, y: NDArray[np.int8], scores: Floats, qid: Codes | None = None) -> float:
    """Positives among the first k, equal scores counted against us; with queries the mean over them.

    >>> hits_at(2, np.array([1, 0, 1], dtype=np.int8), np.array([3.0, 2.0, 1.0]))
    1.0
    """
    return float(hits_up_to(y, scores, qid)[: k + 1][-1])


def hits_up_to(y: NDArray[np.int8], scores: Floats, qid: Codes | None = None) -> Floats:
    """Hits among the first 0, 1, 2, ... items of the longest list: `hits_at` for every k at once.

    >>> hits_up_to(np.array([1, 0, 1], dtype=np.int8), np.array([3.0, 2.0, 1.0]))
    array([0., 1., 1., 2.])
    """
    lists = np.zeros(len(y), dtype=np.int64) if qid is None else qid
    order = np.lexsort((y, -scores, lists))
    starts = np.flatnonzero(np.diff(lists[order], prepend=lists[order[0]] - 1))
    sizes = np.diff(np.append(starts, len(lists)))
    places = np.arange(len(lists)) - np.repeat(starts, sizes)
    found = np.bincount(places, y[order], minlength=int(sizes.max()))
    return np.concatenate(([0.0], np.cumsum(found) / len(starts)))


def means_up_to(y: NDArray[Any], scores: Floats, qid: Codes | None = None) -> Floats:
    """Mean label of the first 1, 2, ... items, equal scores counted against us; averaged over queries.

    A query that is shorter counts with all its items.

    >>> means_up_to(np.array([4.0, 2.0, 0.0]), np.array([3.0, 1.0, 2.0]))
    array([4., 2., 2.])
    """
    lists = np.zeros(len(y), dtype=np.int64) if qid is None else qid
    order = np.lexsort((y, -scores, lists))
    parts = np.split(y[order], np.flatnonzero(np.diff(lists[order])) + 1)
    longest = max(map(len, parts))
    means = [np.cumsum(part) / np.arange(1, len(part) + 1) for part in parts]
    return np.mean([np.pad(one, (0, longest - len(one)), mode="edge") for one in means], axis=0)


def means_lines(sizes: Sequence[int], judged: Sequence[SplitScores], overlap: float) -> list[Hits]:
    """The mean label of the first so many, for each of the sizes; see `hits_table`."""
    found = {name: [means_up_to(y, scores[name], qid) for y, qid, scores in judged] for name in judged[0][2]}
    best = [means_up_to(y, np.asarray(y, dtype=np.float64), qid) for y, qid, _ in judged]
    chance = float(np.mean([_mean_of_lists(y, qid) for y, qid, _ in judged]))
    return [
        Hits(
            k,
            chance,
            {name: tuple(float(one[:k][-1]) for one in splits) for name, splits in found.items()},
            overlap,
            {name: _variance_of_mean(k, name, judged) for name in found},
            float(np.mean([one[:k][-1] for one in best])),
        )
        for k in sizes
    ]


def _mean_of_lists(y: NDArray[Any], qid: Codes | None) -> float:
    if qid is None:
        return float(y.mean())
    sizes = np.bincount(qid)
    return float((np.bincount(qid, y)[sizes > 0] / sizes[sizes > 0]).mean())


def _variance_of_mean(k: int, name: str, judged: Sequence[SplitScores]) -> float:
    """Of the mean label of the first k of one list, if they were drawn; of many queries the splits tell."""
    if judged[0][1] is not None or k < 2:
        return 0.0
    first = [y[np.lexsort((y, -scores[name]))[:k]] for y, _, scores in judged]
    return float(np.mean([one.var(ddof=1) for one in first]) / k)


def chance_of(k: int, y: NDArray[np.int8], qid: Codes | None = None) -> float:
    """Positives among the first k of a random order, on average; with queries the mean over them.

    >>> chance_of(2, np.array([1, 0, 1, 0], dtype=np.int8))
    1.0
    """
    return chances_of([k], y, qid)[0]


def chances_of(ks: Sequence[int], y: NDArray[np.int8], qid: Codes | None = None) -> list[float]:
    """`chance_of` for several k at once: rows are counted once."""
    lists = np.zeros(len(y), dtype=np.int64) if qid is None else qid
    sizes = np.bincount(lists)
    positives = np.bincount(lists, y)[sizes > 0]
    sizes = sizes[sizes > 0]
    return [float(np.mean(np.minimum(k, sizes) * positives / sizes)) for k in ks]


def sizes_for(budget: int, shortest: int) -> list[int]:
    """The usual sizes and the budget, as far as the held-out lists go.

    >>> sizes_for(30, 60)
    [10, 20, 30, 50]
    """
    return sorted({size for size in (*USUAL_SIZES, budget) if size < shortest} or {min(budget, shortest)})


def hits_table(
    budget: int, judged: Sequence[SplitScores], overlap: float, *, means: bool = False
) -> list[Hits]:
    """One line for each size of the head of the list.

    Parameters
    ----------
    budget : int
    judged : sequence of (labels, queries, scores by ranker)
        The held-out rows of each split.
    overlap : float
        Share of the held-out rows that two splits have in common.
    means : bool
        Whether labels are numbers, whose mean is what counts.
    """
    if not judged:
        return []
    return (means_lines if means else hits_lines)(sizes_for(budget, shortest_list(judged)), judged, overlap)


def shortest_list(judged: Sequence[SplitScores]) -> int:
    """How many items the held-out lists of every split have; with queries, the longest of each split."""
    return min(len(y) if qid is None else int(np.bincount(qid).max()) for y, qid, _ in judged)


def hits_lines(sizes: Sequence[int], judged: Sequence[SplitScores], overlap: float) -> list[Hits]:
    """Hits among the first so many, for each of the sizes; see `hits_table`."""
    chance = np.mean([chances_of(sizes, y, qid) for y, qid, _ in judged], axis=0)
    found = {name: [hits_up_to(y, scores[name], qid) for y, qid, scores in judged] for name in judged[0][2]}
    return [
        Hits(
            k,
            float(chance[place]),
            {name: tuple(float(one[: k + 1][-1]) for one in splits) for name, splits in found.items()},
            overlap,
        )
        for place, k in enumerate(sizes)
    ]
