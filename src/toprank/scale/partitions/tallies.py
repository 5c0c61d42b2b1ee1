"""How many positives and negatives share each score: all that a statistic of two classes can depend on.

A tally of a part of the rows is short where scores repeat or only the top matters, and tallies of parts add
up: what a statistic needs of rows that do not fit is made part by part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from toprank.statistics.groups import TieGroups, Ties
from toprank.statistics.nonlinear import ordered_pairs

__all__ = ["BucketSums", "Tally", "merged", "pairs_in_order", "splitters"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tally:
    """Mass of either class at each different score, highest score first.

    Parameters
    ----------
    scores, positives, negatives : arrays of float64

    Examples
    --------
    >>> tally = Tally.of(np.array([True, False, True]), np.array([1.0, 3.0, 3.0]))
    >>> tally.scores, tally.positives, tally.negatives
    (array([3., 1.]), array([1., 1.]), array([1., 0.]))
    """

    scores: Floats
    positives: Floats
    negatives: Floats

    @classmethod
    def of(cls, positive: NDArray[np.bool_], scores: Floats, weight: Floats | None = None) -> Tally:
        """The tally of some rows; each counts as much as its weight."""
        different, place = np.unique(-scores, return_inverse=True)
        mass = np.ones(len(scores)) if weight is None else weight
        sums = [
            np.bincount(place, weights=np.where(mine, mass, 0.0), minlength=len(different)).astype(np.float64)
            for mine in (positive, ~positive)
        ]
        return cls(-different, *sums)

    def top(self, depth: float) -> Tally:
        """Without the scores that begin below a depth: less than `depth` is above each that is left."""
        above = np.cumsum(self.positives + self.negatives)
        return self._head(1 + int(np.searchsorted(above, depth, side="left")))

    def until_negative(self) -> Tally:
        """Without the scores below the highest one that a negative has."""
        negative = self.negatives > 0
        return self._head(1 + int(np.argmax(negative)) if negative.any() else len(self.scores))

    def between(self, edges: Floats) -> list[Tally]:
        """Parts of it, cut below each of the edges, which fall: equal scores stay together."""
        cuts = np.searchsorted(-self.scores, -edges, side="right")
        bounds = [0, *cuts.tolist(), len(self.scores)]
        return [self._piece(begin, end) for begin, end in pairwise(bounds)]

    def groups(self, ties: Ties, n_pos: float, n_neg: float, *, whole: bool) -> TieGroups:
        """As the statistics read it; under "worst" and "best" every tie is two groups."""
        positives, negatives = self.positives, self.negatives
        if ties != "mean":
            nothing = np.zeros_like(positives)
            first, second = ((nothing, positives), (negatives, nothing))
            if ties == "best":
                first, second = ((positives, nothing), (nothing, negatives))
            positives, negatives = (np.column_stack(pair).ravel() for pair in (first, second))
            there = positives + negatives > 0
            positives, negatives = positives[there], negatives[there]
        return TieGroups(positives, negatives, n_pos, n_neg, whole)

    def _head(self, size: int) -> Tally:
        return self._piece(0, size)

    def _piece(self, begin: int, end: int) -> Tally:
        return Tally(self.scores[begin:end], self.positives[begin:end], self.negatives[begin:end])


def merged(tallies: Sequence[Tally]) -> Tally:
    """The tally of several parts together."""
    if len(tallies) == 1:
        return tallies[0]
    every, positives, negatives = (
        np.concatenate([getattr(one, name) for one in tallies])
        for name in ("scores", "positives", "negatives")
    )
    different, place = np.unique(-every, return_inverse=True)
    sums = [
        np.bincount(place, weights=mass, minlength=len(different)).astype(np.float64)
        for mass in (positives, negatives)
    ]
    return Tally(-different, *sums)


def splitters(samples: Iterable[tuple[Floats, int]], buckets: int) -> Floats:
    """Falling scores that part all rows into about equal buckets.

    Parameters
    ----------
    samples : iterable of (scores, rows)
        Of each part some order statistics, evenly spaced, and how many rows they stand for.
    buckets : int
    """
    some = [(scores, rows) for scores, rows in samples if len(scores)]
    scores = np.concatenate([scores for scores, _ in some])
    rows = np.concatenate([np.full(len(scores), count / len(scores)) for scores, count in some])
    falling = np.argsort(-scores, kind="stable")
    share = np.cumsum(rows[falling]) / rows.sum()
    wanted = np.arange(1, buckets) / buckets
    return -np.unique(-scores[falling][np.minimum(np.searchsorted(share, wanted), len(scores) - 1)])


@dataclass(frozen=True)
class BucketSums:
    """What one bucket adds to the pairs in order: those within it, and its mass of either class."""

    pairs: float
    positives: float
    negatives: float

    @classmethod
    def of(cls, tallies: Sequence[Tally], ties: Ties) -> BucketSums:
        """Of the parts that fell into the bucket."""
        tally = merged(tallies)
        positives, negatives = float(tally.positives.sum()), float(tally.negatives.sum())
        groups = tally.groups(ties, positives, negatives, whole=True)
        pairs = ordered_pairs(groups) if len(tally.scores) else 0.0
        return cls(pairs, positives, negatives)


def pairs_in_order(buckets: Sequence[BucketSums]) -> float:
    """Mass of the pairs of a positive above a negative, over buckets of falling scores."""
    below = sum(one.negatives for one in buckets)
    total = 0.0
    for one in buckets:
        below -= one.negatives
        total += one.pairs + one.positives * below
    return total
