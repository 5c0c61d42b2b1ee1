"""Compiled counting of pairs and chains in the right order.

Legend: items come sorted by (score, level), both ascending; `levels` are the numbers 0..d-1 of the distinct
labels; a group is a run of equal scores, a block a run of equal levels inside a group; tree is a Fenwick
tree over the levels that holds the mass of all items scored below the current group.
"""

import numpy as np

from toprank.compiled import njit

_WORST, _MEAN, _BEST = 0, 1, 2
# 1 / 171! is zero in double precision: longer runs of tied levels add nothing.
_LONGEST_RUN = 171
# Runs that are sorted by insertion before merging.
_RUN = 16


@njit(cache=True, nogil=True)
def _mass_below(tree, level):
    """Mass of the items in the tree whose level is smaller than `level`."""
    total = 0.0
    while level > 0:
        total += tree[level]
        level -= level & -level
    return total


@njit(cache=True, nogil=True)
def _add(tree, level, mass):
    level += 1
    while level < tree.size:
        tree[level] += mass
        level += level & -level


@njit(cache=True, nogil=True)
def pair_sums(levels, scores, upper, lower, n_levels):
    """Sum of upper[i] * lower[j] over pairs with level i above level j: right order, and tied scores."""
    n = scores.size
    tree = np.zeros(n_levels + 1)
    ordered = 0.0
    tied = 0.0
    start = 0
    while start < n:
        stop = start
        passed = 0.0  # lower mass of the earlier blocks of this group
        while stop < n and scores[stop] == scores[start]:
            level = levels[stop]
            block_upper = 0.0
            block_lower = 0.0
            while stop < n and scores[stop] == scores[start] and levels[stop] == level:
                block_upper += upper[stop]
                block_lower += lower[stop]
                stop += 1
            if block_upper != 0.0:
                ordered += block_upper * _mass_below(tree, level)
            tied += block_upper * passed
            passed += block_lower
        for i in range(start, stop):
            if lower[i] != 0.0:
                _add(tree, levels[i], lower[i])
        start = stop
    return ordered, tied


@njit(cache=True, nogil=True)
def _sort_run(labels, begin, end):
    """Sort a short run ascending; return how many pairs of it were in descending order."""
    swaps = 0
    for i in range(begin + 1, end):
        label = labels[i]
        j = i
        while j > begin and labels[j - 1] > label:
            labels[j] = labels[j - 1]
            j -= 1
        labels[j] = label
        swaps += i - j
    return swaps


@njit(cache=True, nogil=True)
def _merge_runs(labels, begin, middle, end, merged):
    """Merge two sorted runs into another array; return how many pairs across them were descending."""
    if labels[middle - 1] <= labels[middle]:
        merged[begin:end] = labels[begin:end]
        return 0
    i = begin
    k = middle
    swaps = 0
    j = begin
    while i < middle and k < end:
        left, right = labels[i], labels[k]
        # Written without a branch: which run comes first is a coin toss, and guessing wrong costs more.
        second = right < left
        merged[j] = right if second else left
        swaps += (middle - i) * second
        k += second
        i += 1 - second
        j += 1
    while i < middle:
        merged[j] = labels[i]
        i += 1
        j += 1
    while k < end:
        merged[j] = labels[k]
        k += 1
        j += 1
    return swaps


@njit(cache=True, nogil=True)
def _descending_pairs(labels):
    """Sort the labels ascending, here or in the array returned, and count the pairs that were descending."""
    n = labels.size
    swaps = 0
    for begin in range(0, n, _RUN):
        swaps += _sort_run(labels, begin, min(begin + _RUN, n))
    merged = np.empty_like(labels)
    run = _RUN
    while run < n:
        for begin in range(0, n, 2 * run):
            middle = min(begin + run, n)
            end = min(begin + 2 * run, n)
            if middle < end:
                swaps += _merge_runs(labels, begin, middle, end, merged)
            else:
                merged[begin:end] = labels[begin:end]
        labels, merged = merged, labels
        run *= 2
    return labels, swaps


@njit(cache=True, nogil=True)
def _equal_pairs(values):
    """Pairs of equal values in a sorted array."""
    total = 0
    run = 0
    for i in range(1, values.size):
        run = run + 1 if values[i] == values[i - 1] else 0
        total += run
    return total


@njit(cache=True, nogil=True)
def count_pairs(labels, scores):
    """Pairs by kind, after Knight (1966): items come sorted by score; the labels are overwritten.

    Returns the pairs with different labels in the wrong order, those with equal scores, with equal labels,
    and with both equal.
    """
    n = scores.size
    equal_scores = 0
    equal_both = 0
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and scores[stop] == scores[start]:
            stop += 1
        if stop > start + 1:
            equal_scores += (stop - start) * (stop - start - 1) // 2
            # Ascending inside a tie: none of its pairs is counted as descending below.
            inside, _ = _descending_pairs(labels[start:stop].copy())
            labels[start:stop] = inside
            equal_both += _equal_pairs(inside)
        start = stop
    ordered, wrong = _descending_pairs(labels)
    return wrong, equal_scores, _equal_pairs(ordered), equal_both


@njit(cache=True, nogil=True)
def count_level_pairs(levels, scores, n_levels):
    """As `count_pairs` for few levels 0, 1, ...; a Fenwick tree of them stays in the fastest memory."""
    n = scores.size
    tree = np.zeros(n_levels + 1, dtype=np.int64)
    inside = np.zeros(n_levels, dtype=np.int64)
    totals = np.zeros(n_levels, dtype=np.int64)
    wrong = 0
    equal_scores = 0
    equal_both = 0
    start = 0
    while start < n:
        stop = start
        while stop < n and scores[stop] == scores[start]:
            level = np.int64(levels[stop])
            not_above = 0
            node = level + 1
            while node > 0:
                not_above += tree[node]
                node -= node & -node
            wrong += start - not_above
            equal_scores += stop - start
            equal_both += inside[level]
            inside[level] += 1
            stop += 1
        for i in range(start, stop):
            level = np.int64(levels[i])
            inside[level] = 0
            totals[level] += 1
            node = level + 1
            while node <= n_levels:
                tree[node] += 1
                node += node & -node
        start = stop
    return wrong, equal_scores, np.sum(totals * (totals - 1) // 2), equal_both


@njit(cache=True, nogil=True)
def _close_group(reached, codes, masses, count, policy):
    """Let every chain of levels 0..k-1 go on with the level-k items of one group; blocks 0..count-1."""
    if policy == _BEST:  # lower levels first: a chain may use several blocks of the group
        for b in range(count):
            k = codes[b]
            reached[k + 1] += masses[b] * reached[k]
        return
    for b in range(count - 1, -1, -1):  # higher levels first, so that the lower ones still hold old values
        gain = masses[b] * reached[codes[b]]
        if policy == _MEAN:
            product = masses[b]
            length = 1.0
            c = b
            while c > 0 and codes[c - 1] == codes[c] - 1 and length < _LONGEST_RUN:
                c -= 1
                length += 1.0
                product *= masses[c] / length
                gain += product * reached[codes[c]]
        reached[codes[b] + 1] += gain


@njit(cache=True, nogil=True)
def ordered_chains(levels, scores, shares, n_levels, policy):
    """Sum over chains, one item of each level, of the product of shares where scores rise with the level.

    reached[k + 1] is that sum for the levels 0..k among the items passed. A run of L tied items is in the
    right order in one of L! cases.
    """
    n = scores.size
    reached = np.zeros(n_levels + 1)
    reached[0] = 1.0
    codes = np.empty(n_levels, dtype=np.int64)
    masses = np.empty(n_levels)
    start = 0
    while start < n:
        stop = start
        count = 0
        while stop < n and scores[stop] == scores[start]:
            codes[count] = levels[stop]
            masses[count] = 0.0
            while stop < n and scores[stop] == scores[start] and levels[stop] == codes[count]:
                masses[count] += shares[stop]
                stop += 1
            count += 1
        _close_group(reached, codes, masses, count, policy)
        start = stop
    return reached[n_levels]


@njit(cache=True, nogil=True)
def local_pairs(positives, negatives, n_neg, depth):
    """Pairs in the right order whose positive is among the first `depth` items, expected over tie orders.

    In a group of P + N = B items of which r are inside, a positive is inside with probability r / B, and
    inside and above a given negative of the group with probability r (2 B - r - 1) / (2 B (B - 1)).
    """
    total = 0.0
    position = 0.0
    below = n_neg
    for g in range(positives.size):
        P, N = positives[g], negatives[g]
        B = P + N
        r = min(B, depth - position)
        if r <= 0.0:
            break
        below -= N
        total += P * r / B * below
        if P > 0.0 and N > 0.0:
            total += P * N * r * (2.0 * B - r - 1.0) / (2.0 * B * (B - 1.0))
        position += B
    return total
