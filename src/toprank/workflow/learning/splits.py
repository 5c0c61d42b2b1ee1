"""Which rows are held out: at random, whole groups, or the latest ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from toprank.control import generator
from toprank.datasets import InputError, half_splits
from toprank.datasets.split import Split
from toprank.rankers.tuning.folds import ranking_folds
from toprank.workflow.learning.fitting import Items

__all__ = ["held_out_by", "held_out_splits", "out_of_fold_splits"]

Rows = NDArray[np.intp]
EARLIER_SHARE = 2 / 3
"""Of the earlier rows, how many each split by time learns from: enough to learn, few enough to vary."""


def held_out_splits(items: Items, *, repeats: int, held_out: float, seed: int) -> Iterator[Split]:
    """Random parts of the rows, of each class its share; whole groups where there are any; or by time.

    Splits by time learn from earlier rows and are judged on later ones only. So that the figures of several
    can be compared, each takes some of the earlier rows and half of the later ones at random.
    """
    if items.times is None:
        yield from half_splits(
            items.strata if items.groups is None else items.y,
            repeats=repeats,
            test_fraction=held_out,
            groups=items.groups,
            qid=items.qid,
            random_state=seed,
        )
        return
    late = latest(items.times, held_out)
    for part in (late, ~late):
        if len(np.unique(items.strata[part])) < 2:
            which = "latest" if part is late else "earlier"
            raise InputError(
                f"the {which} items hold one class only; change --held-out or leave --split-by out"
            )
    for rng in generator(seed).spawn(repeats):
        y = items.strata
        yield Split(_some(y, ~late, EARLIER_SHARE, rng), _some(y, late, 0.5, rng))


def latest(times: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """The rows of the latest so many, those of one moment together."""
    return np.asarray(times > np.quantile(times, 1.0 - share))


def _some(y: NDArray[np.int8], part: NDArray[np.bool_], share: float, rng: np.random.Generator) -> Rows:
    """A random share of each class of a part, at least one row."""
    chosen = []
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(part & (y == label)))
        chosen.append(rows[: max(1, round(share * len(rows)))])
    return np.sort(np.concatenate(chosen))


def held_out_by(items: Items) -> str:
    """Which rows are held out together: "random" ones, a "group" or "query", or the latest in "time"."""
    if items.times is not None:
        return "time"
    if items.groups is None:
        return "random"
    return "query" if items.qid is not None and np.array_equal(items.qid, items.groups) else "group"


def out_of_fold_splits(items: Items, n_folds: int, seed: int) -> list[Split]:
    """Folds that hold every row out once; rows of one group, or of one query, in the same fold.

    Raises ValueError where so few rows can be ranked that there are no two folds.
    """
    rng = np.random.default_rng(seed)
    groups = items.groups
    by_query = items.qid is not None and groups is not None and np.array_equal(items.qid, groups)
    if groups is None or by_query:
        return [Split(*fold) for fold in ranking_folds(items.y.astype(np.float64), items.qid, n_folds, rng)]
    names, codes = np.unique(groups, return_inverse=True)
    dealt = _deal_groups(items.strata, codes, min(n_folds, len(names)), rng)
    splits = [Split(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in np.unique(dealt)]
    if len(splits) < 2 or any(len(np.unique(items.strata[split.train])) < 2 for split in splits):
        raise ValueError("the items of one class sit in too few groups to be held out by turns")
    return splits


def _deal_groups(
    y: NDArray[np.int8], codes: NDArray[np.intp], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """The fold of each row: groups with most positives first, each to the fold that has fewest."""
    positives, sizes = np.bincount(codes, y), np.bincount(codes)
    order = rng.permutation(len(sizes))
    order = order[np.lexsort((-sizes[order], -positives[order]))]
    load, of_group = np.zeros((folds, 2)), np.zeros(len(sizes), dtype=np.intp)
    for group in order:
        fold = int(np.lexsort((load[:, 1], load[:, 0]))[0])
        of_group[group] = fold
        load[fold] += positives[group], sizes[group]
    return of_group[codes]
