"""What a list finds at every cut-off, not only within the budget; and the ROC curve with its left corner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.statistics.curves import roc_curve
from toprank.workflow.judging.held_out import HeldOut
from toprank.workflow.judging.hits import (
    USUAL_SIZES,
    SplitScores,
    hits_lines,
    hits_up_to,
    means_lines,
    shortest_list,
)

__all__ = ["LEFT_CORNER", "cut_offs", "figures_by_cut_off", "mean_roc"]

Floats = NDArray[np.float64]
EVERY_ONE = 100
"""Up to here every number of items is a cut-off; further down each is 2 % more than the one before."""
GROWTH = 1.02
LEFT_CORNER = 0.1
"""False positive rate up to which the ROC curve is shown enlarged."""


def cut_offs(longest: int, budget: int) -> list[int]:
    """Numbers of items at which the figures are told: all small ones, then ever larger steps.

    >>> cut_offs(3, 2), len(cut_offs(100_000, 50))
    ([1, 2, 3], 449)
    """
    sizes = {*range(1, min(longest, EVERY_ONE) + 1), *USUAL_SIZES, budget, longest}
    size = float(EVERY_ONE)
    while size < longest:
        sizes.add(round(size))
        size *= GROWTH
    return sorted(one for one in sizes if 1 <= one <= longest)


def figures_by_cut_off(held_out: HeldOut) -> dict[str, Any]:
    """Hits, precision, share of the positives found and lift at each cut-off, means over the splits.

    The hits and their interval are those of `toprank.workflow.judging.hits.Hits`. With queries everything is
    of the list of one query, on average.
    """
    judged = held_out.judged
    if held_out.numbers:
        return _means_by_cut_off(held_out)
    lines = hits_lines(cut_offs(shortest_list(judged), held_out.budget), judged, held_out.fraction)
    sizes = np.array([line.k for line in lines])
    chance = np.array([line.chance for line in lines])
    rankers: dict[str, Any] = {}
    for name in held_out.rankers:
        mean = np.array([line.mean(name) for line in lines])
        intervals = [line.interval(name) for line in lines]
        rankers[name] = {
            "mean": mean.tolist(),
            "low": [None if one is None else one[0] for one in intervals],
            "high": [None if one is None else one[1] for one in intervals],
            "precision": (mean / sizes).tolist(),
            "share_found": _share_found(name, judged, sizes).tolist(),
            "lift": (mean / chance).tolist(),
        }
    return {"k": sizes.tolist(), "chance": chance.tolist(), "rankers": rankers}


def _means_by_cut_off(held_out: HeldOut) -> dict[str, Any]:
    """The mean label at each cut-off, where labels are numbers; there are no hits to find a share of."""
    judged = held_out.judged
    lines = means_lines(cut_offs(shortest_list(judged), held_out.budget), judged, held_out.fraction)
    rankers = {}
    for name in held_out.rankers:
        intervals = [line.interval(name) for line in lines]
        rankers[name] = {
            "mean": [line.mean(name) for line in lines],
            "low": [None if one is None else one[0] for one in intervals],
            "high": [None if one is None else one[1] for one in intervals],
        }
    return {
        "k": [line.k for line in lines],
        "chance": [line.chance for line in lines],
        "best": [line.best for line in lines],
        "rankers": rankers,
    }


def mean_roc(held_out: HeldOut) -> dict[str, Any]:
    """The ROC curve of each ranker, true positive rates averaged over splits (and queries) at the same rates.

    The rates are close together in the left corner, where the top of the list is.
    """
    if held_out.numbers:
        return {}
    rates = np.concatenate([np.linspace(0.0, LEFT_CORNER, 51), np.linspace(LEFT_CORNER, 1.0, 46)[1:]])
    curves = {name: _mean_curve(name, held_out.judged, rates) for name in held_out.rankers}
    if any(found is None for found in curves.values()):
        return {}
    return {
        "left_corner": LEFT_CORNER,
        "fpr": rates.tolist(),
        "tpr": {name: found.tolist() for name, found in curves.items() if found is not None},
    }


def _share_found(name: str, judged: list[SplitScores], sizes: NDArray[np.intp]) -> Floats:
    """Share of all positives that are among the first so many, on average over the splits."""
    shares = []
    for y, qid, scores in judged:
        found = hits_up_to(y, scores[name], qid)
        shares.append(found[np.minimum(sizes, len(found) - 1)] / found[-1])
    return np.asarray(np.mean(shares, axis=0))


def _mean_curve(name: str, judged: list[SplitScores], rates: Floats) -> Floats | None:
    """Mean true positive rate over all lists that hold both classes; None where there is none."""
    total, count = np.zeros_like(rates), 0
    for y, qid, scores in judged:
        for rows in _lists(qid, len(y)):
            positives = int(y[rows].sum())
            if 0 < positives < len(rows):
                curve = roc_curve(y[rows], scores[name][rows])
                total += _at(rates, curve.fpr, curve.tpr)
                count += 1
    return total / count if count else None


def _lists(qid: NDArray[np.int64] | None, n: int) -> list[NDArray[np.intp]]:
    """The rows of each list."""
    if qid is None:
        return [np.arange(n)]
    order = np.argsort(qid, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(qid[order])) + 1)


def _at(rates: Floats, fpr: Floats, tpr: Floats) -> Floats:
    """Height of a curve at some rates; where it rises straight up, the upper end."""
    last = np.searchsorted(fpr, rates, side="right") - 1
    following = np.minimum(last + 1, len(fpr) - 1)
    run = fpr[following] - fpr[last]
    share = np.divide(rates - fpr[last], run, out=np.zeros_like(rates), where=run > 0)
    return np.asarray(tpr[last] + share * (tpr[following] - tpr[last]))
