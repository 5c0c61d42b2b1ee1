"""Random half splits: learn on one half, judge on the other, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Seed, generator
from toprank.errors import InputError

__all__ = ["Split", "half_splits", "split_rows"]


class Split(NamedTuple):
    """Row numbers of the two parts, each in rising order.

    Examples
    --------
    >>> Split(np.array([0, 2]), np.array([1, 3])).test
    array([1, 3])
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def split_rows(
    y: ArrayLike,
    *,
    test_fraction: float = 0.5,
    groups: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    random_state: Seed = None,
) -> Split:
    """One random split that keeps the share of positives the same in both parts.

    Each class is cut by itself, so that rare positives land in both parts. With `groups` whole groups are
    drawn instead (rows of one group never sit in both parts), and the classes fall as they may.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, any values.
    test_fraction : float
        Share of each class (or of the groups) that goes to the test part; at least one item of
        each class goes to each part.
    groups : array-like of shape (n,), optional
        Rows with the same value stay together: queries, subjects, households.
    qid : array-like of shape (n,), optional
        With `groups`: each part gets a query with two different labels, so that it can be ranked.
    random_state : int, numpy Generator or None

    Examples
    --------
    >>> train, test = split_rows([0, 0, 0, 0, 1, 1], random_state=0)
    >>> len(train), len(test)
    (3, 3)
    """
    if not 0 < test_fraction < 1:
        raise InputError(f"test_fraction={test_fraction} is not between 0 and 1.")
    rng = generator(random_state)
    labels = np.asarray(y)
    if groups is not None:
        lists = np.zeros(len(labels)) if qid is None else np.asarray(qid)
        return _split_groups(labels, np.asarray(groups), lists, test_fraction, rng)
    held_out = np.zeros(len(labels), dtype=bool)
    for value in np.unique(labels):
        rows = np.flatnonzero(labels == value)
        if len(rows) < 2:
            raise InputError(f"Only one row has the label {value}: it cannot be in both parts of a split.")
        held_out[rng.permutation(rows)[: _test_size(len(rows), test_fraction, rng)]] = True
    return Split(np.flatnonzero(~held_out), np.flatnonzero(held_out))


def half_splits(
    y: ArrayLike,
    *,
    repeats: int = 10,
    test_fraction: float = 0.5,
    groups: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    random_state: Seed = 0,
) -> Iterator[Split]:
    """Repeated random splits: the protocol behind the tables of Rudin & Wang (2018), section 5.

    The k-th split depends on the seed and on k alone: asking for more repeats leaves the first ones as
    they were, and every ranker sees the same splits, as a matched-pairs test needs.

    >>> y = [0] * 30 + [1] * 10
    >>> [int(sum(y[i] for i in test)) for train, test in half_splits(y, repeats=3)]
    [5, 5, 5]
    """
    if repeats < 1:
        raise InputError(f"repeats={repeats} is not at least 1.")
    for rng in generator(random_state).spawn(repeats):
        yield split_rows(y, test_fraction=test_fraction, groups=groups, qid=qid, random_state=rng)


def _test_size(n: int, fraction: float, rng: np.random.Generator) -> int:
    """How many of `n` go to the test part; a half item is tossed for, both parts get at least one."""
    wanted = n * fraction
    size = int(np.floor(wanted)) + int(rng.random() < wanted - np.floor(wanted))
    return min(max(size, 1), n - 1)


def _split_groups(
    labels: NDArray[np.generic],
    groups: NDArray[np.generic],
    lists: NDArray[np.generic],
    fraction: float,
    rng: np.random.Generator,
) -> Split:
    if len(groups) != len(labels):
        raise InputError(f"groups has {len(groups)} entries for {len(labels)} rows.")
    names, codes = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise InputError("All rows belong to one group: a split by groups needs at least two.")
    # A draw can leave a part with one class only when positives sit in few groups; draw again then.
    for _ in range(100):
        chosen = rng.permutation(len(names))[: _test_size(len(names), fraction, rng)]
        held_out = np.isin(codes, chosen)
        split = Split(np.flatnonzero(~held_out), np.flatnonzero(held_out))
        if all(_can_be_ranked(labels[part], lists[part]) for part in split):
            return split
    raise InputError(
        "No split by groups was found that leaves both classes (in one query, where there are queries) in"
        " both parts."
    )


def _can_be_ranked(labels: NDArray[np.generic], lists: NDArray[np.generic]) -> bool:
    """Whether one of the lists holds two different labels."""
    numbers, codes = (np.unique(column, return_inverse=True)[1] for column in (lists, labels))
    return len(np.unique(np.stack((numbers, codes)), axis=1).T) > int(numbers.max()) + 1
