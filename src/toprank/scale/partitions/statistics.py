"""Statistics of labels and scores that do not fit into memory: exact, by selection and counting.

Both are Dask arrays. A statistic of the top of the list needs the top only: each partition hands on the
scores that reach into it, as counts of positives and negatives at each score, and these add up. The AUC needs
all rows, but no order of them all: scores are dealt into buckets that fit, pairs are counted inside each and
between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.errors import InputError
from toprank.scale.partitions.blocks import aligned_blocks, computed, delayed, reduced
from toprank.scale.partitions.tallies import BucketSums, Tally, merged, pairs_in_order, splitters
from toprank.statistics import RankStatistic, get
from toprank.statistics.base import BipartiteStatistic
from toprank.statistics.catalog import AUC, PositivesAtTop
from toprank.statistics.groups import Ties, check_ties
from toprank.statistics.inputs import read_classes, read_sample_weight, read_scores

__all__ = ["statistic_of", "value_in_blocks"]

Floats = NDArray[np.float64]
BUCKET_ROWS = 4_000_000
"""Rows that are counted at once for the AUC: 100 MB."""
BLOCK_ROWS = 1 << 20
"""Rows that are tallied at once where all are in memory."""
_LONG = 1e15
"""Items of a list so long that every cut-off is within it."""
SAMPLED = 1024
"""Scores of a partition that tell where buckets should begin."""


def statistic_of(
    statistic: str | RankStatistic,
    y: Any,
    scores: Any,
    *,
    ties: Ties = "worst",
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Value of a statistic on Dask arrays, the same as in memory.

    Parameters
    ----------
    statistic : str or RankStatistic
        One of two classes that looks at the top of the list (``dcg@100``, ``precision@1%``, ``recall@k``,
        ``winner_takes_all``, ...), ``positives_at_top`` or ``auc``.
    y, scores, sample_weight : dask.array.Array, dask Series, or anything array-like
        Labels of two values, scores, and how much each row counts.
    ties : {"worst", "mean", "best"}
        As in memory; ties of fractional weight that memory cannot average over are refused where the top has
        them, and not looked for below it.
    pos_label : label, optional
        The label of the positives; needed where the two values are not 0 or -1, and 1.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> scores = da.from_array(np.array([0.9, 0.8, 0.7, 0.1]), chunks=2)
    >>> statistic_of("auc", np.array([1, 0, 1, 0]), scores)
    0.75
    """
    check_ties(ties)
    found: Any = get(statistic) if isinstance(statistic, str) else statistic
    blocks = aligned_blocks(y, scores, sample_weight)
    facts = _Facts.joined(computed([delayed(_facts)(*block, pos_label) for block in blocks]))
    positive = facts.positive_label(str(found), pos_label)
    totals = computed([delayed(_totals)(*block, positive) for block in blocks])
    n_pos, n_neg = (math.fsum(one[k] for one in totals) for k in (0, 1))
    if not n_pos or not n_neg:
        raise ValueError(f"y has one class only; {found} needs both (at least two different labels)")
    if isinstance(found, AUC):
        return _pairs(blocks, positive, ties, facts.rows) / (n_pos * n_neg)
    shorten = _shortened(found, n_pos + n_neg, facts.whole)
    tallies = [delayed(_short_tally)(*block, positive, shorten) for block in blocks]
    tally = reduced(tallies, lambda some: shorten(merged(some)))
    return float(found._expected(tally.groups(ties, n_pos, n_neg, whole=facts.whole)))


def value_in_blocks(statistic: RankStatistic, y: NDArray[np.int8], scores: Floats) -> float:
    """A statistic of 0 and 1 and scores that are in memory, without the sorted copies that all rows need.

    Parameters
    ----------
    statistic : RankStatistic
        One that looks at the whole list is computed as always.
    y, scores : arrays

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0], dtype=np.int8)
    >>> value_in_blocks(get("precision@2"), y, np.array([0.9, 0.8, 0.7, 0.1]))
    0.5
    """
    n_pos = int(y.sum())
    try:
        shorten = _shortened(statistic, float(len(y)), True)
    except InputError:
        return float(statistic(y, scores))
    tally: Tally | None = None
    for begin in range(0, len(y), BLOCK_ROWS):
        part = slice(begin, begin + BLOCK_ROWS)
        one = shorten(Tally.of(y[part] == 1, scores[part]))
        tally = one if tally is None else shorten(merged([tally, one]))
    assert tally is not None
    found: Any = statistic
    return float(found._expected(tally.groups("worst", n_pos, len(y) - n_pos, whole=True)))


def _shortened(statistic: Any, n: float, whole: bool) -> Callable[[Tally], Tally]:
    """How much of a tally the statistic needs."""
    if isinstance(statistic, PositivesAtTop):
        return Tally.until_negative
    cut_off = isinstance(statistic, BipartiteStatistic) and statistic._depth(_LONG, True) < _LONG
    if not cut_off:
        raise InputError(
            f"{statistic} looks at the whole list: of rows that do not fit only auc does so; take one with a"
            " cut-off, such as dcg@100 or precision@1%."
        )
    depth = statistic._depth(n, whole)
    return lambda tally: tally.top(depth)


# -- on each partition -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Facts:
    """What has to be known of all rows before anything is counted."""

    labels: list[Any]
    rows: int
    whole: bool

    @classmethod
    def joined(cls, some: Sequence[_Facts]) -> _Facts:
        labels = sorted({label for one in some for label in one.labels})
        return cls(labels, sum(one.rows for one in some), all(one.whole for one in some))

    def positive_label(self, name: str, pos_label: Any) -> Any:
        if not self.rows:
            raise ValueError("y is empty; at least two items are needed to rank anything")
        if pos_label is not None:
            return pos_label
        if not self.labels:
            raise ValueError("sample_weight must not be negative, and not zero everywhere")
        if set(self.labels) <= {-1, 0, 1} and len(self.labels) <= 2:
            read_classes(np.array(self.labels))
            return max(self.labels)
        shown = ", ".join(map(str, self.labels[:3]))
        raise ValueError(f"y must be 0 or -1, and 1, got {shown}; name the label of the positives: pos_label")


def _facts(y: Any, scores: Any, weight: Any, pos_label: Any) -> _Facts:
    labels, _, weight = _read(y, scores, weight)
    counted = labels if weight is None else labels[weight > 0]
    different = [] if pos_label is not None else np.unique(counted)[:3].tolist()
    whole = weight is None or bool((weight == np.floor(weight)).all())
    return _Facts(different, len(labels), whole)


def _read(y: Any, scores: Any, weight: Any) -> tuple[Any, Floats, Floats | None]:
    """A block as arrays, with the checks that a statistic makes in memory."""
    labels = np.asarray(y)
    if len(labels) != len(scores) or (weight is not None and len(weight) != len(labels)):
        raise ValueError("y, scores and sample_weight must be partitioned alike, row by row")
    if not len(labels):
        return labels, np.zeros(0), None
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("y contains NaN; every item needs a label")
    values = read_scores(np.asarray(scores), len(labels))
    if weight is not None and not np.any(weight):
        return labels, values, np.zeros(len(labels))
    return labels, values, read_sample_weight(weight, len(labels))


def _rows(y: Any, scores: Any, weight: Any, positive: Any) -> tuple[NDArray[np.bool_], Floats, Floats | None]:
    labels, values, weight = _read(y, scores, weight)
    mine = np.asarray(labels == positive, dtype=np.bool_)
    if weight is None:
        return mine, values, None
    counted = weight > 0
    return mine[counted], values[counted], weight[counted]


def _totals(y: Any, scores: Any, weight: Any, positive: Any) -> tuple[float, float]:
    mine, _, weight = _rows(y, scores, weight, positive)
    if weight is None:
        return float(mine.sum()), float(len(mine) - mine.sum())
    return math.fsum(weight[mine]), math.fsum(weight[~mine])


def _short_tally(y: Any, scores: Any, weight: Any, positive: Any, shorten: Callable[[Tally], Tally]) -> Tally:
    return shorten(Tally.of(*_rows(y, scores, weight, positive)))


# -- pairs -----------------------------------------------------------------------------------------


def _pairs(blocks: Sequence[Any], positive: Any, ties: Ties, rows: int) -> float:
    """Mass of the pairs in order, counted in buckets."""
    buckets = max(1, math.ceil(rows / BUCKET_ROWS))
    edges = np.zeros(0)
    if buckets > 1:
        edges = splitters(computed([delayed(_sample)(*block, positive) for block in blocks]), buckets)
    pieces = [delayed(_dealt, nout=len(edges) + 1)(*block, positive, edges) for block in blocks]
    sums = [delayed(BucketSums.of)([one[k] for one in pieces], ties) for k in range(len(edges) + 1)]
    return pairs_in_order(computed(sums))


def _sample(y: Any, scores: Any, weight: Any, positive: Any) -> tuple[Floats, int]:
    values = np.sort(_rows(y, scores, weight, positive)[1])
    places = np.unique(np.linspace(0, len(values) - 1, min(SAMPLED, len(values))).astype(np.intp))
    return values[places], len(values)


def _dealt(y: Any, scores: Any, weight: Any, positive: Any, edges: Floats) -> list[Tally]:
    return Tally.of(*_rows(y, scores, weight, positive)).between(edges)
