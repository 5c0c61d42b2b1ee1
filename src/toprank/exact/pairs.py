"""A ranking problem as plain arrays over its pairs: the hand-over to the compiled methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from toprank.exact.objective import Objective, Query
from toprank.exact.rounding import ROWS_AT_A_TIME, surely_won, winnable

__all__ = ["PairArrays", "class_arrays", "lengths", "preference_arrays"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairArrays:
    """A ranking problem as plain arrays over its pairs: what the compiled methods read.

    Pair p is won at `w` when ``differences[p] @ w > 0``. With a margin it must be at least
    ``margin * max |w_j|``, and `w` is taken from the box ``|w_j| <= 1``.

    Parameters
    ----------
    differences : (P, d) array
        Row of the upper item minus row of the lower one, scaled features, divided by a power of two so that
        the largest entry is between 1/2 and 1; each entry is within one unit of rounding (relative 2**-53)
        of the exact one. All zero for equal rows.
    rows : (n, d) array
        The scaled features themselves: differences of these in exact arithmetic decide.
    upper, lower : (P,) arrays of int32
        Row of `rows` of each pair's upper and lower item.
    positive, negative : (P,) arrays of int32
        Numbers of the two items among the positives and among the negatives of all queries; for
        preferences the number of the pair itself, and the row of its lower item.
    objective : Objective
        What lost pairs cost.
    margin : float
        Smallest score difference that wins a pair, relative to the pair's own length; zero: any.

    Examples
    --------
    >>> from toprank.exact import RankingProblem
    >>> arrays = RankingProblem.from_labels([[0.0], [1.0], [3.0]], [0, 1, 0], "auc").arrays()
    >>> arrays.differences.ravel().tolist()
    [0.5, -0.5]
    """

    differences: Floats
    rows: Floats
    upper: NDArray[np.int32]
    lower: NDArray[np.int32]
    positive: NDArray[np.int32]
    negative: NDArray[np.int32]
    objective: Objective
    margin: float

    @property
    def positive_query(self) -> NDArray[np.int32]:
        """Query of each positive; empty for preferences."""
        return self.objective.positive_query

    @property
    def negative_query(self) -> NDArray[np.int32]:
        """Query of each negative; empty for preferences."""
        return self.objective.negative_query

    # -- what pairs are worth -----------------------------------------------------------------

    def lost(self, won: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Of each positive, or each preference, how many of its pairs are not among those won."""
        return np.bincount(self.positive[~won], minlength=self.objective.n_items)

    def sure_value(self, coef: Floats) -> Fraction:
        """A value these coefficients have at least: pairs whose rounding is in doubt count as lost."""
        return self.objective.exact_value(self.lost(surely_won(self.differences, coef, self.margin)))

    def attainable_value(self) -> float:
        """Value when every pair is won that can be won by itself; no answer is better."""
        return self.objective.value(self.lost(self.winnable()))

    def winnable(self) -> NDArray[np.bool_]:
        """Which pairs can be won at all."""
        return winnable(self.differences, self.margin)


def preference_arrays(
    rows: Floats, pairs: NDArray[np.int64], objective: Objective, margin: float
) -> PairArrays:
    """Arrays of a weighted set of pairs."""
    upper, lower = pairs.T
    return PairArrays(
        _normalised(_differences(rows, upper, lower)),
        rows,
        upper.astype(np.int32),
        lower.astype(np.int32),
        np.arange(len(pairs), dtype=np.int32),
        lower.astype(np.int32),
        objective,
        margin,
    )


def class_arrays(rows: Floats, queries: Sequence[Query], objective: Objective, margin: float) -> PairArrays:
    """Arrays of all positive-negative pairs of the lists.

    Positives and negatives are numbered list after list; a row may be in several.
    """
    counted = [(upper, lower) for upper, lower, _ in queries]
    up, low = (np.cumsum([0, *map(len, side)]) for side in zip(*counted, strict=True))
    return PairArrays(
        _normalised(_class_differences(rows, counted)),
        rows,
        np.concatenate([np.repeat(upper, len(lower)) for upper, lower in counted]).astype(np.int32),
        np.concatenate([np.tile(lower, len(upper)) for upper, lower in counted]).astype(np.int32),
        np.concatenate(
            [
                np.repeat(np.arange(a, b), len(lower))
                for (_, lower), a, b in zip(counted, up[:-1], up[1:], strict=True)
            ]
        ).astype(np.int32),
        np.concatenate(
            [
                np.tile(np.arange(a, b), len(upper))
                for (upper, _), a, b in zip(counted, low[:-1], low[1:], strict=True)
            ]
        ).astype(np.int32),
        objective,
        margin,
    )


def _class_differences(
    rows: Floats, counted: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> Floats:
    """Each positive's row minus that of each negative of its query, written in place: these are large."""
    d = rows.shape[1]
    differences = np.empty((sum(len(upper) * len(lower) for upper, lower in counted), d))
    begin = 0
    for upper, lower in counted:
        end = begin + len(upper) * len(lower)
        block = differences[begin:end].reshape(len(upper), len(lower), d)
        np.subtract(rows[upper][:, None, :], rows[lower][None, :, :], out=block)
        begin = end
    return differences


def _differences(rows: Floats, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> Floats:
    """Upper minus lower row of each pair, without a third array of that size."""
    differences = rows[upper]
    differences -= rows[lower]
    return np.ascontiguousarray(differences)


def lengths(differences: Floats) -> NDArray[np.int64]:
    """Of each row, the exponent of the smallest power of two above its largest entry; 0 for zeros.

    >>> lengths(np.array([[3.0, -5.0], [0.25, 0.0], [0.0, 0.0]]))
    array([ 3, -1,  0])
    """
    return np.frexp(np.abs(differences).max(axis=1, initial=0.0))[1].astype(np.int64)


def _normalised(differences: Floats) -> Floats:
    """Rows divided, in place, by the powers of two that are their lengths."""
    for begin in range(0, len(differences), ROWS_AT_A_TIME):
        part = differences[begin : begin + ROWS_AT_A_TIME]
        np.ldexp(part, -lengths(part)[:, None], out=part)
    return differences
