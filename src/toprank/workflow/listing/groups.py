"""Who gets the places within the budget, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.roles import label_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupShare", "Groups", "group_shares"]

MOST_GROUPS = 30
"""More are put together: nobody compares hundreds of groups by eye."""


@dataclass(frozen=True, slots=True)
class GroupShare:
    """One group in the list and within the budget.

    Parameters
    ----------
    name : str
    items, within : int
        In the whole list, and in the first places of it.
    share, share_within : float
        The same as shares of all items, and of all items within the budget.
    positives, hits : int or None
        Positives in the list and within the budget, where the items have labels.
    """

    name: str
    items: int
    within: int
    share: float
    share_within: float
    positives: int | None
    hits: int | None


@dataclass(frozen=True)
class Groups:
    """The groups of a column, those with most items within the budget first."""

    column: str
    rows: list[GroupShare]
    others: int
    """How many groups are left out of the rows."""


def group_shares(
    listing: pd.DataFrame,
    column: str,
    places: NDArray[np.intp],
    budget: int,
    y: NDArray[np.int8] | None,
) -> Groups:
    """The share of each group in a list and within the budget.

    Parameters
    ----------
    listing : pandas.DataFrame
        The ranked list.
    column : str
        Whose equal values are a group.
    places : array
        Place of each row of the list, from 1.
    budget : int
    y : array or None
        Labels of the rows of the list.
    """
    cells = listing[column].map(_name).to_numpy(dtype=object)
    names, codes = np.unique(cells.astype(str), return_inverse=True)
    inside = places <= budget
    count = _counter(codes, len(names))
    items, within = count(np.ones(len(codes))), count(inside)
    positives, hits = (None, None) if y is None else (count(y), count(y * inside))
    order = np.lexsort((-items, -within))
    rows = [
        GroupShare(
            str(names[k]),
            int(items[k]),
            int(within[k]),
            float(items[k] / len(codes)),
            float(within[k] / max(1, inside.sum())),
            None if positives is None else int(positives[k]),
            None if hits is None else int(hits[k]),
        )
        for k in order[:MOST_GROUPS].tolist()
    ]
    return Groups(column, rows, len(names) - len(rows))


def _counter(codes: NDArray[np.intp], n: int) -> Any:
    return lambda weights: np.bincount(codes, weights, minlength=n)


def _name(cell: Any) -> str:
    return "missing" if cell is None or cell != cell else label_text(cell)
