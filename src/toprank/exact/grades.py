"""Labels of more than two values: a statistic of them as lists of two classes, or as weighted pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.exact.objective import Query, name_of
from toprank.statistics import GradedForm, PairSum, RankStatistic, get

__all__ = ["Graded", "graded_forms"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
MOST_LISTS = 32
"""Grades of one query at most, where each is a list of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """What is maximised, summed over queries.

    Parameters
    ----------
    name : str
    lists : tuple of lists
        A row may be in several of them.
    pairs : array of shape (P, 2) or None
        Instead of lists.
    worth : array of shape (P,) or None
    offset : float
        The value with every pair lost.
    """

    name: str
    lists: tuple[Query, ...]
    pairs: Rows | None = None
    worth: Floats | None = None
    offset: float = 0.0


def graded_forms(statistic: Any, y: Floats, qid: Rows, queries: Literal["sum", "mean"]) -> Graded:
    """The statistic of these grades, the sum or the mean over queries whose labels are not all the same."""
    if queries not in ("sum", "mean"):
        raise ValueError(f'queries must be "sum" or "mean", got {queries!r}.')
    if not isinstance(statistic, str | RankStatistic):
        raise ValueError(
            "statistic: position weights are for two classes; of grades give a statistic's name."
        )
    found = get(statistic)
    own = [np.flatnonzero(qid == q) for q in range(int(qid.max()) + 1)]
    own = [rows for rows in own if y[rows].min() < y[rows].max()]
    parts = len(own) if queries == "mean" else 1
    forms = [(rows, _form(found, y[rows])) for rows in own]
    if isinstance(forms[0][1], PairSum):
        return _as_pairs(name_of(found), forms, y, parts)
    lists: list[Query] = []
    for rows, form in forms:
        assert not isinstance(form, PairSum)
        for grade, table in zip(form.grades, form.tables, strict=True):
            upper = y[rows] >= grade
            lists.append((rows[upper], rows[~upper], table.divided(parts)))
    return Graded(name_of(found), tuple(lists))


def _form(statistic: RankStatistic, y: Floats) -> GradedForm:
    form = statistic.graded_form(y)
    levels = np.unique(y).size
    if form is None:
        raise ValueError(
            f"statistic {str(statistic)!r} cannot be maximised directly on {levels} different labels: it is"
            " neither a sum over grades nor one over pairs;"
            ' "ndcg", "c_index", "kendall_tau" and "ordinal_auc" are.'
        )
    if not isinstance(form, PairSum) and len(form.tables) > MOST_LISTS:
        raise ValueError(
            f"statistic {str(statistic)!r} on {levels} different labels is a sum of {len(form.tables)} lists,"
            f" more than the {MOST_LISTS} that can be maximised together: round the labels to fewer grades,"
            ' or use "c_index" or "kendall_tau".'
        )
    return form


def _as_pairs(name: str, forms: list[tuple[Rows, GradedForm]], y: Floats, parts: int) -> Graded:
    pairs, worth, offsets = [], [], []
    for rows, form in forms:
        assert isinstance(form, PairSum)
        places, values = form.pairs(y[rows])
        pairs.append(rows[places])
        worth.append(values / parts)
        offsets.append(form.offset / parts)
    return Graded(name, (), np.concatenate(pairs), np.concatenate(worth), math.fsum(offsets))
