"""The labels of files that do not fit: one byte a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.roles import binary_labels, kind_of_labels, label_text
from toprank.datasets.thresholds import is_rule, labels_by_rule
from toprank.errors import InputError
from toprank.scale.files.parts import Part
from toprank.scale.in_passes.passes import Pass, Told, over_parts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StreamLabels", "read_labels"]

MOST_LABELS = 1000
"""Different labels of two classes: more are numbers, which a threshold makes two classes of."""


@dataclass(frozen=True)
class StreamLabels:
    """Labels of all rows.

    Parameters
    ----------
    y : array of int8
        1 where a row belongs at the top.
    positive : tuple of str
        The values that became 1.
    sizes : tuple of int
        Rows of each part.
    """

    y: NDArray[np.int8]
    positive: tuple[str, ...]
    sizes: tuple[int, ...]


def read_labels(
    parts: Sequence[Part],
    target: str,
    *,
    positive: Sequence[str] = (),
    n_jobs: int = -1,
    told: Told | None = None,
) -> StreamLabels:
    """The labels of all rows of some parts, two classes, as `toprank.datasets.binary_labels` reads them.

    Parameters
    ----------
    parts : sequence of Part
    target : str
    positive : sequence of str
        The labels that belong at the top, or a threshold.
    n_jobs, told
        As in `toprank.scale.in_passes.passes.over_parts`.
    """
    import pandas as pd
    import pyarrow as pa

    def look(one: Pass, part: Part, number: int) -> list[Any]:
        batches = one.batches(part, number, [target])
        return [_checked(batch.column(target), target, part, place.first) for batch, place in batches]

    read = over_parts(parts, look, n_jobs=n_jobs, told=told)
    sizes = tuple(sum(map(len, some)) for some in read)
    pieces = [one for some in read for one in some]
    if not pieces:
        raise InputError("There are no rows to learn from.")
    if len({one.type for one in pieces}) > 1:
        pieces = [one.cast(pa.string()) for one in pieces]
    column = pa.chunked_array(pieces)
    coded = column.dictionary_encode().combine_chunks()
    different = pd.Series(coded.dictionary.to_pandas(), name=target)
    if is_rule(positive, {label_text(cell) for cell in different.head(MOST_LABELS)}):
        y, chosen = labels_by_rule(pd.Series(column.to_pandas(), name=target), positive[0])
        return StreamLabels(y, chosen, sizes)
    _check_kind(different, positive, target)
    by_label, chosen = binary_labels(different, positive=positive)
    return StreamLabels(by_label[np.asarray(coded.indices)], chosen, sizes)


def _check_kind(different: pd.Series[Any], positive: Sequence[str], target: str) -> None:
    if len(different) > MOST_LABELS or kind_of_labels(different, positive) != "binary":
        raise InputError(
            f"target {target!r} holds {len(different)} different values; files that are read in passes are"
            " learned from as two classes: say which belong at the top with `positive`, such as '>=3'."
        )


def _checked(cells: Any, target: str, part: Part, first: int) -> Any:
    """Labels of a batch, none of them missing."""
    from pyarrow import compute

    empty = compute.is_null(cells, nan_is_null=True)
    if compute.any(empty).as_py():
        row = part.before + first + int(np.argmax(np.asarray(empty))) + 1
        raise InputError(
            f"{part.name}: row {row} has no label in {target!r}; put rows without one into files of their own"
            " and rank these with `new`, or with toprank score."
        )
    return cells
