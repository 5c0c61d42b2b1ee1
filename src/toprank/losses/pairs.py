"""Pairs of items that should be ordered, kept as blocks instead of one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Pairs", "SortedLists", "sorted_order"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_SAMPLED_BLOCKS = 64
"""With more blocks than this a sample of the items could leave too few of each."""
MAX_GRADED_LABELS = 1000
"""Half a million blocks, one for each two labels."""
ENOUGH = 200
"""A sample keeps this many items of a list where there are so many."""


@dataclass(frozen=True)
class Pairs:
    """All pairs of items that should be ordered, kept as blocks "every upper item above every lower item".

    Two labels and no queries make one block. With L labels the pairs are split by the highest bit in which
    their label numbers differ, so that log2(L) blocks per item hold every pair once. Pair weights sum to one.
    `block_margin` is by how much the pairs of a block are to be won; empty stands for one.

    Build it with `Pairs.from_labels` or `Pairs.from_pairs`.

    Examples
    --------
    >>> pairs = Pairs.from_labels([0, 2, 1, 0])
    >>> pairs.count
    5
    """

    n_items: int
    entry_start: Ints = field(repr=False)
    entry_list: NDArray[np.int32] = field(repr=False)
    list_start: Ints = field(repr=False)
    block_weight: Floats = field(repr=False)
    block_margin: Floats = field(repr=False)
    weight: Floats = field(repr=False)

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        weighting: str | Mapping[tuple[Any, Any], float] = "pairs",
        graded: bool = False,
    ) -> Pairs:
        """Pairs of items with different labels in the same query.

        Parameters
        ----------
        y : array-like of numbers; the higher, the nearer to the top
        qid : array-like, optional
            Query of each item, in any order.
        sample_weight : array-like, optional
            A pair weighs the product of its items' weights.
        weighting : "pairs", "queries" or mapping
            Whether every pair or every query counts the same; a mapping from (upper label, lower label) gives
            each kind of pair a weight of its own, with every query counting the same (Cao et al. 2006).
        graded : bool
            Whether a pair whose labels differ by D weighs D times as much and is won by 1 / D: what makes of
            a hinge loss ``max(0, 1 - D (s_i - s_j))``. There is a block for each two labels then, so
            that there may be 1,000 different ones at most.
        """
        labels, levels = np.unique(np.asarray(y), return_inverse=True)
        levels = levels.astype(np.int64)
        queries = np.zeros_like(levels) if qid is None else np.unique(np.asarray(qid), return_inverse=True)[1]
        weight = np.empty(0) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if graded:
            entries = _graded(levels, queries, labels, weighting)
        elif isinstance(weighting, Mapping):
            entries = _entries_by_labels(levels, queries, labels, weighting)
        else:
            entries = _entries_by_bits(levels, queries, len(labels))
        return _assemble(entries, len(levels), weight, by_query=weighting != "pairs")

    @classmethod
    def from_pairs(cls, n_items: int, pairs: Ints, weight: Floats) -> Pairs:
        """Given pairs (upper item, lower item), each with its weight.

        The lower items of one upper item that weigh the same make a block.

        >>> Pairs.from_pairs(3, np.array([(0, 1), (0, 2), (2, 0)]), np.array([1.0, 1.0, 2.0])).n_blocks
        2
        """
        weights, kind = np.unique(weight, return_inverse=True)
        blocks, block = np.unique(pairs[:, 0] * len(weights) + kind, return_inverse=True)
        upper = np.asarray(blocks // len(weights), dtype=np.int64)
        entries = _Entries(
            item=np.concatenate([upper, pairs[:, 1]]),
            side=np.repeat(np.array([1, 0]), [len(upper), len(pairs)]),
            query=np.zeros(len(upper) + len(pairs), dtype=np.int64),
            group=np.concatenate([np.arange(len(upper)), block]).astype(np.int64),
            group_weight=weights[blocks % len(weights)],
        )
        return _assemble(entries, n_items, np.empty(0), by_query=False)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.block_weight)

    @cached_property
    def widest_margin(self) -> float:
        """The largest difference in score by which a pair is to be won."""
        return float(self.block_margin.max(initial=0.0)) if len(self.block_margin) else 1.0

    @cached_property
    def mean_margin(self) -> float:
        """The weighted mean over the pairs of what they are to be won by."""
        return float(self.block_share() @ self.block_margin) if len(self.block_margin) else 1.0

    @cached_property
    def count(self) -> int:
        """Number of pairs."""
        sizes = np.diff(self.list_start)
        return int(np.dot(sizes[: self.n_blocks], sizes[self.n_blocks :]))

    def every(self, step: int) -> Ints | None:
        """One item in `step` of each list, and never fewer than some 200; None for many small lists."""
        if self.n_blocks > MAX_SAMPLED_BLOCKS:
            return None
        start = self.entry_start[:-1] if len(self.entry_start) else np.arange(self.n_items)
        listed = np.diff(self.entry_start) > 0 if len(self.entry_start) else np.ones(self.n_items, dtype=bool)
        items = np.flatnonzero(listed)
        stratum = self.entry_list[start[items]]
        by_stratum = items[np.argsort(stratum, kind="stable")]
        ends = np.cumsum(np.bincount(stratum, minlength=2 * self.n_blocks))
        parts = [part[:: _stride(len(part), step)] for part in np.split(by_stratum, ends[:-1])]
        return np.sort(np.concatenate(parts))

    def subset(self, items: Ints) -> Pairs:
        """The pairs among some items; every block keeps its share of the weight."""
        weight = self.weight[items] if len(self.weight) else self.weight
        single = len(self.entry_start) == 0
        sizes = np.ones(len(items), dtype=np.int64) if single else np.diff(self.entry_start)[items]
        starts = items if single else self.entry_start[items]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        lists = self.entry_list[np.repeat(starts, sizes) + within].astype(np.int64)
        entries = _Entries(
            item=np.repeat(np.arange(len(items)), sizes),
            side=lists // self.n_blocks,
            query=lists % self.n_blocks,
            group=lists % self.n_blocks,
            group_weight=self.block_share(),
            group_margin=self.block_margin,
        )
        return _assemble(entries, len(items), weight, by_query=True)

    def block_share(self) -> Floats:
        """The share of each block in the total weight of the pairs."""
        sizes = np.diff(self.list_start)
        sums = sizes.astype(np.float64)
        if len(self.weight):
            item = np.arange(self.n_items)
            if len(self.entry_start):
                item = np.repeat(item, np.diff(self.entry_start))
            sums = np.bincount(self.entry_list, weights=self.weight[item], minlength=len(sizes)).astype(float)
        return self.block_weight * sums[: self.n_blocks] * sums[self.n_blocks :]

    def listed(self) -> tuple[Ints, Ints, Floats]:
        """Upper item, lower item and weight of every pair: as long as there are pairs."""
        lists = self.sorted_lists(np.zeros(self.n_items))
        upper, lower, weight = [], [], []
        for block in range(self.n_blocks):
            up = lists.upper[lists.upper_start[block] : lists.upper_start[block + 1]].astype(np.int64)
            low = lists.lower[lists.lower_start[block] : lists.lower_start[block + 1]].astype(np.int64)
            upper.append(np.repeat(up, len(low)))
            lower.append(np.tile(low, len(up)))
            weight.append(np.full(len(up) * len(low), self.block_weight[block]))
        ups, lows, weights = np.concatenate(upper), np.concatenate(lower), np.concatenate(weight)
        if len(self.weight):
            weights = weights * self.weight[ups] * self.weight[lows]
        return ups, lows, weights

    def sorted_lists(self, scores: Floats) -> SortedLists:
        """The upper and lower items of every block by rising score."""
        from toprank.losses import _kernels

        order, ordered = sorted_order(scores)
        items = np.empty(len(self.entry_list), dtype=np.int32)
        item_scores = np.empty(len(items))
        _kernels.distribute(
            order, ordered, self.entry_start, self.entry_list, self.list_start, items, item_scores
        )
        n_lower = int(self.list_start[self.n_blocks])
        if len(self.block_margin):
            # Won by a margin m is won by one when the upper items' scores are 1 - m higher.
            sizes = np.diff(self.list_start[self.n_blocks :])
            item_scores[n_lower:] += np.repeat(1.0 - self.block_margin, sizes)
        return SortedLists(
            items[n_lower:], item_scores[n_lower:], self.list_start[self.n_blocks :] - n_lower,
            items[:n_lower], item_scores[:n_lower], self.list_start[: self.n_blocks + 1],
        )  # fmt: skip


@dataclass(frozen=True)
class SortedLists:
    """The upper and lower lists of all blocks, each sorted by rising score."""

    upper: NDArray[np.int32]
    upper_scores: Floats
    upper_start: Ints
    lower: NDArray[np.int32]
    lower_scores: Floats
    lower_start: Ints


def sorted_order(scores: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Item numbers by rising score, and the scores in that order."""
    from toprank.losses import _kernels

    order = np.empty(len(scores), dtype=np.int32)
    ordered = np.empty(len(scores))
    low = scores.min()
    # The largest key must stay below 2^33; widths that overflow are left to the comparison sort.
    with np.errstate(over="ignore"):
        width = scores.max() - low
        scale = (2.0**33 - 2.0) / width if width > 0 else 0.0
    if np.isfinite(width) and np.isfinite(scale) and _kernels.radix_order(scores, low, scale, order, ordered):
        return order, ordered
    order = np.argsort(scores).astype(np.int32)
    return order, scores[order]


@dataclass(frozen=True)
class _Entries:
    """Items on the upper (side 1) or lower (side 0) list of the block of a query and a group of labels."""

    item: Ints
    side: Ints
    query: Ints
    group: Ints
    group_weight: Floats
    group_margin: Floats = field(default_factory=lambda: np.empty(0))


def _entries_by_bits(levels: Ints, queries: Ints, n_levels: int) -> _Entries:
    """The pairs, split by the highest bit in which their levels differ and the bits above it."""
    bits = range(max(1, (n_levels - 1).bit_length()))
    n_groups = [(max(n_levels - 1, 0) >> (bit + 1)) + 1 for bit in bits]
    offsets = np.concatenate([[0], np.cumsum(n_groups)])
    return _Entries(
        item=np.tile(np.arange(len(levels)), len(bits)),
        side=np.concatenate([(levels >> bit) & 1 for bit in bits]),
        query=np.tile(queries, len(bits)),
        group=np.concatenate([(levels >> (bit + 1)) + offsets[bit] for bit in bits]),
        group_weight=np.ones(offsets[-1]),
    )


def _entries_by_labels(
    levels: Ints, queries: Ints, labels: NDArray[Any], weights: Mapping[tuple[Any, Any], float]
) -> _Entries:
    """The pairs, split by their two labels; kinds of pairs without a weight are left out."""
    number = {label: level for level, label in enumerate(labels.tolist())}
    kinds = [(number[a], number[b], w) for (a, b), w in weights.items() if a in number and b in number]
    for a, b, w in kinds:
        if a <= b or not w >= 0:
            raise ValueError(
                f"weighting has {{({labels[a]}, {labels[b]}): {w}}}; each key is (upper label, lower label),"
                " the upper one larger, and each weight a number that is not negative."
            )
    members = [np.flatnonzero((levels == a) | (levels == b)) for a, b, _ in kinds]
    item = np.concatenate([np.empty(0, dtype=np.int64), *members])
    group = np.repeat(np.arange(len(kinds)), [len(rows) for rows in members])
    upper = np.array([a for a, _, _ in kinds], dtype=np.int64)
    return _Entries(
        item=item,
        side=(levels[item] == upper[group]).astype(np.int64),
        query=queries[item],
        group=group,
        group_weight=np.array([w for _, _, w in kinds], dtype=np.float64),
    )


def _graded(
    levels: Ints,
    queries: Ints,
    labels: NDArray[Any],
    weighting: str | Mapping[tuple[Any, Any], float],
) -> _Entries:
    """The pairs, split by their two labels; a difference of D weighs D times and is won by 1 / D."""
    values = labels.tolist()
    if len(values) > MAX_GRADED_LABELS:
        raise ValueError(
            f"loss='graded_hinge' looks at each two labels, but y has {len(values)} different ones;"
            f" round them to {MAX_GRADED_LABELS} or fewer, or use loss='hinge'."
        )
    if not isinstance(weighting, Mapping):
        weighting = {(a, b): 1.0 for place, a in enumerate(values) for b in values[:place]}
    known = set(values)
    kinds = {pair: w for pair, w in weighting.items() if pair[0] in known and pair[1] in known}
    entries = _entries_by_labels(levels, queries, labels, kinds)
    differences = np.array([float(a) - float(b) for a, b in kinds])
    return replace(entries, group_weight=entries.group_weight * differences, group_margin=1.0 / differences)


def _assemble(entries: _Entries, n_items: int, weight: Floats, by_query: bool) -> Pairs:
    """Number the blocks, drop those with an empty side, weigh them and sort the entries by item."""
    n_groups = max(len(entries.group_weight), 1)
    key, block = _numbered(entries.query * n_groups + entries.group)
    sizes = np.bincount(2 * block + entries.side, minlength=2 * len(key)).reshape(-1, 2)
    kept = np.asarray((sizes > 0).all(axis=1))
    item, side = entries.item, entries.side
    if not kept.all():
        rows = kept[block]
        item, side, block = item[rows], side[rows], (np.cumsum(kept) - 1)[block[rows]]
        key, sizes = key[kept], sizes[kept]
    entry_list = (side * len(key) + block).astype(np.int32)
    entry_start = np.empty(0, dtype=np.int64)
    if len(item) != n_items or not np.array_equal(item, np.arange(n_items)):
        entry_list = entry_list[np.argsort(item, kind="stable")]
        entry_start = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=n_items))])
    return Pairs(
        n_items=n_items,
        entry_start=entry_start,
        entry_list=entry_list,
        list_start=np.concatenate([[0], np.cumsum(sizes.T.ravel())]),
        block_weight=_block_weights(entries, key, sizes, item, 2 * block + side, weight, by_query),
        block_margin=entries.group_margin[key % n_groups] if len(entries.group_margin) else np.empty(0),
        weight=weight,
    )


def _block_weights(
    entries: _Entries, key: Ints, sizes: Ints, item: Ints, place: Ints, weight: Floats, by_query: bool
) -> Floats:
    """The weight of each block, such that all pair weights sum to one."""
    sums = sizes.astype(np.float64)
    if len(weight):
        totals = np.bincount(place, weights=weight[item], minlength=sizes.size)
        sums = totals.astype(np.float64).reshape(-1, 2)
    pair_weight = sums[:, 0] * sums[:, 1]
    n_groups = max(len(entries.group_weight), 1)
    block_weight = entries.group_weight[key % n_groups] if len(key) else np.empty(0)
    if by_query:
        _, query = np.unique(key // n_groups, return_inverse=True)
        per_query = np.bincount(query, weights=pair_weight)[query]
        block_weight = np.divide(block_weight, per_query, out=np.zeros(len(key)), where=per_query > 0)
    total = float(np.dot(block_weight, pair_weight))
    if not total > 0:
        raise ValueError(
            "There is no pair to order: no query holds items of two classes with positive weight."
        )
    return block_weight / total


def _stride(size: int, step: int) -> int:
    """Distance between the sampled items of a list."""
    return max(1, min(step, size // ENOUGH))


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys and each entry's place among them, without a sort when there is one key."""
    if len(keys) and (keys == keys[0]).all():
        return keys[:1], np.zeros(len(keys), dtype=np.int64)
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, place.astype(np.int64)
