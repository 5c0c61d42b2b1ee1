"""A quick estimate of linear scores, with a bound on its error: most rows of a stream need no more.

The score of a row is a sum over columns. Its encoding and its coefficient fold into one factor for a column
of numbers and one value for each word of a column of text, so that a batch is scored without being encoded.
The estimate differs from the model's own score by rounding only; `Estimate.error` is larger than that, so
that a row whose estimate is lower than the last of the best by more than both errors cannot be among them.
The rows that are left are scored by the model itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.datasets import Encoder
from toprank.datasets.columns import Column, NumberColumn
from toprank.datasets.encode import ColumnEncoder
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.errors import InputError
from toprank.scale.files._screen_kernels import add_scaled

__all__ = ["Estimate", "LinearScreen", "linear_screen"]

Floats = NDArray[np.float64]
_UNIT = float(np.finfo(np.float64).eps)
_BITS: dict[Any, tuple[Any, Any]] = {
    np.dtype(np.float32): (np.int32, np.int32(0x7FFFFFFF)),
    np.dtype(np.float64): (np.int64, np.int64(0x7FFFFFFFFFFFFFFF)),
}
"""Whole numbers of the same size, and which of their bits are not the sign."""


@dataclass(frozen=True)
class Estimate:
    """Scores of a batch, and how far each may be from the model's own.

    Parameters
    ----------
    scores : array
    error : float
    noted : set of (column, action)
        What had to be done to cells of which column, as the notes of its encoding call it.
    """

    scores: Floats
    error: float
    noted: set[tuple[str, str]]


@dataclass(frozen=True)
class LinearScreen:
    """Estimates of a score that is linear in encoded columns.

    Parameters
    ----------
    columns : sequence of Column
    coefficients : list of arrays
        Of the features that each column makes.
    intercept : float
    ceiling : float
        From this estimate on, the score is another one: a reranker's.
    """

    columns: Sequence[Column]
    coefficients: Sequence[Floats]
    intercept: float
    ceiling: float = math.inf

    def estimate(self, batch: Any) -> Estimate | None:
        """Estimates for a record batch; None where a cell is not what it should be, for the model to say."""
        running = _Running(np.full(len(batch), self.intercept), abs(self.intercept))
        for column, coefficients in zip(self.columns, self.coefficients, strict=True):
            cells = batch.column(column.name)
            if isinstance(column, NumberColumn) and _is_number(cells) and not column.reading.missing:
                running.add_numbers(column, float(coefficients[0]), cells)
            else:
                running.add_words(column, coefficients, cells)
            if not math.isfinite(running.size):
                return None
        running.total -= running.shift
        # Each of the few operations a column goes through, here and in the model, errs by half a unit.
        steps = len(self.columns) + sum(map(len, self.coefficients))
        return Estimate(running.total, 16.0 * steps * _UNIT * running.size, running.noted)


def linear_screen(ranker: Any, encoder: Encoder) -> LinearScreen | None:
    """How to estimate a ranker's scores of encoded columns; None where they are not linear."""
    if not isinstance(encoder, ColumnEncoder):
        return None
    ceiling, inner = math.inf, ranker
    if isinstance(ranker, RankThenRerank):
        # Rows below the threshold keep the order of the base, below all others.
        inner = ranker.base_
        ceiling = ranker.threshold_ if ranker.reranked_ else math.inf
    form = _linear_form(inner, len(encoder.feature_names))
    if form is None:
        return None
    coefficients, intercept = form
    ends = np.cumsum([len(column.feature_names) for column in encoder.columns])[:-1]
    return LinearScreen(encoder.columns, np.split(coefficients, ends), intercept, ceiling)


def _linear_form(ranker: Any, width: int) -> tuple[Floats, float] | None:
    """Coefficients and intercept of a score, checked by scoring; None where it is not linear."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(16, width)) * 4.0 ** rng.integers(-2, 3, size=(16, 1))
    try:
        coefficients, intercept = _coefficients(ranker, width)
        wanted = ranking_scores(ranker, rows)
    except (TypeError, ValueError):
        return None
    found = rows @ coefficients + intercept
    size = np.abs(rows) @ np.abs(coefficients) + abs(intercept)
    return (coefficients, intercept) if np.all(np.abs(found - wanted) <= 1e-13 * width * size) else None


def _coefficients(ranker: Any, width: int) -> tuple[Floats, float]:
    """As the ranker states them, or, of pipelines with scalers, as a step along each feature shows them."""
    intercept = float(ranking_scores(ranker, np.zeros((1, width)))[0])
    stated = getattr(ranker, "coef_", None)
    if stated is not None and np.size(stated) == width:
        return np.asarray(stated, dtype=np.float64).ravel(), intercept
    about = np.abs(ranking_scores(ranker, np.eye(width)) - intercept)
    # Steps so long that the intercept, and the rounding it brings, are nothing beside what they add.
    ratio = np.divide(abs(intercept), about, out=np.ones(width), where=about > 0)
    steps = np.exp2(20.0 + np.ceil(np.log2(np.maximum(ratio, 1.0))))
    there, back = (ranking_scores(ranker, sign * np.diag(steps)) for sign in (1.0, -1.0))
    return (there - back) / (2.0 * steps), intercept


def _is_number(cells: Any) -> bool:
    import pyarrow.types as types

    kind = cells.type
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


@dataclass
class _Running:
    """The estimates of a batch while its columns are added one by one.

    `size` bounds the sum of the absolute values of what was added to any row; infinite where a cell is. What
    centring takes off all rows alike is kept in `shift` and taken off at the end.
    """

    total: Floats
    size: float
    shift: float = 0.0
    noted: set[tuple[str, str]] = field(default_factory=set)

    def add_numbers(self, column: NumberColumn, coefficient: float, cells: Any) -> None:
        """A column of numbers, as it is."""
        values = cells.to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "iuf":
            values = np.array(cells.to_pandas(), dtype=np.float64)
        if values.dtype not in _BITS:
            values = values.astype(np.float64)
        factor = coefficient / column.scale
        shift = column.mean * factor
        bits, no_sign = _BITS[values.dtype]
        found = add_scaled(values, values.view(bits), no_sign, column.fill, factor, self.total)
        largest = float(np.array(found, dtype=bits).view(values.dtype))
        if math.isnan(largest):
            self.noted.add((column.name, "imputed"))
            largest = float(np.abs(np.where(np.isnan(values), column.fill, values)).max())
        self.shift += shift
        self.size += abs(factor) * largest + abs(shift)

    def add_words(self, column: Column, coefficients: Floats, cells: Any) -> None:
        """Any other column: each different cell once, encoded as the model does it."""
        import pyarrow as pa

        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        different, missing = coded.dictionary, coded.null_count > 0
        if missing:
            different = pa.concat_arrays([different, pa.nulls(1, different.type)])
        codes = np.asarray(coded.indices.fill_null(len(different) - 1))
        words = different.to_pandas()
        words.name = column.name
        try:
            block, notes = column.encode(words)
        except InputError:
            self.size = math.inf
            return
        parts = block @ coefficients
        self.total += parts[codes]
        self.noted |= {(column.name, note.action) for note in notes}
        shift = abs(column.mean / column.scale * coefficients[0]) if isinstance(column, NumberColumn) else 0.0
        self.size += float(np.abs(parts).max(initial=0.0)) + 2.0 * shift
