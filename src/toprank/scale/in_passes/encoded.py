"""Rows of files as features: encoded anew in every pass, so that no more than some batches are in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from toprank.datasets.encode import ColumnEncoder
from toprank.scale.files.batches import Place, encoded, read_batch
from toprank.scale.files.parts import Part
from toprank.scale.in_passes.numbers import chosen_rows
from toprank.scale.in_passes.passes import Pass, Told, over_parts
from toprank.scale.newton import LossSums, Newton

__all__ = ["EncodedRows", "logistic_models"]

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]
Result = TypeVar("Result")


class EncodedRows:
    """The rows of some parts as a matrix of features that is never there as a whole.

    Parameters
    ----------
    parts : sequence of Part
    encoder : ColumnEncoder
    sizes : sequence of int
        Rows of each part.
    n_jobs : int
        Threads; -1: one for each processor.
    told : callable, optional
        Called with the number of rows of every batch that was read.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        encoder: ColumnEncoder,
        sizes: Sequence[int],
        *,
        n_jobs: int = -1,
        told: Told | None = None,
    ) -> None:
        self._parts, self._encoder = parts, encoder
        self._sizes, self._starts = sizes, np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self._how: Any = {"n_jobs": n_jobs, "told": told}
        self._columns = [column.name for column in encoder.columns]
        self.shape = int(self._starts[-1]), len(encoder.feature_names)

    def mapped(
        self, each: Callable[[Floats, slice], Result], join: Callable[[Result, Result], Result]
    ) -> Result:
        """A function of every batch, its features and its place among all; the values joined in order."""

        def work(one: Pass, part: Part, number: int) -> Result | None:
            so_far: Result | None = None
            for batch, place in one.batches(part, number, self._columns):
                begin = int(self._starts[number]) + place.first
                value = each(self._encoded(batch, place), slice(begin, begin + len(batch)))
                so_far = value if so_far is None else join(so_far, value)
            return so_far

        found = [one for one in over_parts(self._parts, work, **self._how) if one is not None]
        total = found[0]
        for one in found[1:]:
            total = join(total, one)
        return total

    def scores(self, of: Callable[[Floats], Floats]) -> Floats:
        """A score of each row, 8 bytes each."""
        found = np.empty(self.shape[0])

        def each(X: Floats, where: slice) -> int:
            found[where] = of(X)
            return 0

        self.mapped(each, lambda one, other: one)
        return found

    def fetch(self, wanted: NDArray[np.intp]) -> Floats:
        """The features of some rows, in the order asked for."""
        found = np.empty((len(wanted), self.shape[1]))
        order = np.argsort(wanted, kind="stable")
        rising = wanted[order]

        def work(one: Pass, part: Part, number: int) -> None:
            begin, end = np.searchsorted(rising, self._starts[number : number + 2])
            if begin == end:
                return
            for batch, place in one.batches(part, number, self._columns):
                first = int(self._starts[number]) + place.first
                low, high = np.searchsorted(rising, (first, first + len(batch)))
                if low < high:
                    some = batch.take(rising[low:high] - first)
                    found[order[low:high]] = self._encoded(some, place)

        over_parts(self._parts, work, **self._how)
        return found

    def chosen(self, share: float, salt: int) -> Rows:
        """A random share of the rows, the same for the same salt."""
        pieces = [chosen_rows(number, 0, size, share, salt) for number, size in enumerate(self._sizes)]
        return np.concatenate(pieces)

    def _encoded(self, batch: Any, place: Place) -> Floats:
        return encoded(self._encoder, read_batch(self._encoder, batch), place)[0]


def logistic_models(
    rows: EncodedRows, positive: Rows, learned_from: Sequence[Rows | None], *, C: float = 1.0
) -> list[LogisticRegression]:
    """Logistic regressions of several choices of the rows, from the same passes over the files.

    Parameters
    ----------
    rows : EncodedRows
    positive : array of bool
        Which rows belong at the top.
    learned_from : sequence of arrays of bool, or None for all rows
    C : float
        Inverse of the strength of regularisation.
    """
    searches = [Newton(rows.shape[1], C=C) for _ in learned_from]
    while any(not search.done for search in searches):
        open_ = [k for k, search in enumerate(searches) if not search.done]
        asked = [searches[k].asked for k in open_]
        chosen = [learned_from[k] for k in open_]

        def each(X: Floats, where: slice, asked: Any = asked, chosen: Any = chosen) -> list[LossSums]:
            return [
                LossSums.of(X, positive[where], None if mine is None else mine[where], weights)
                for weights, mine in zip(asked, chosen, strict=True)
            ]

        sums = rows.mapped(each, lambda one, other: [a + b for a, b in zip(one, other, strict=True)])
        for k, found in zip(open_, sums, strict=True):
            searches[k].told(found)
    return [search.model(np.array([0, 1])) for search in searches]
