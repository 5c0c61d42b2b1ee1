"""Compiled loops over many short lists at once; the rows of query q are starts[q] to starts[q + 1].

Legend as in `_kernels`; groups of query q are starts[q] to starts[q + 1] of the arrays `positives` and
`negatives`, best first.
"""

import numpy as np

from toprank.compiled import njit
from toprank.statistics import _kernels, _pair_kernels

_WORST, _MEAN = 0, 1
# Insertion is faster than sorting while the part kept is short.
_INSERT_UP_TO = 64
_RUN = 32
# And counting the better ones, branch-free, while the whole list is.
_COUNT_UP_TO = 96


@njit(cache=True, nogil=True)
def _sign(policy):
    """Factor on the value by which tied items are sorted: least first, in any order, largest first."""
    return 1.0 - policy


@njit(cache=True, nogil=True)
def _insert(scores, values, begin, end, size, sign, top_scores, top_values):
    """Put the best `size` items of a list, best first, into the buffers; return how many there are."""
    count = 0
    for i in range(begin, end):
        score = scores[i]
        value = sign * values[i]
        if count == size:
            last = top_scores[size - 1]
            if score < last or (score == last and value >= sign * top_values[size - 1]):
                continue
            j = size - 1
        else:
            j = count
            count += 1
        while j > 0 and (
            top_scores[j - 1] < score or (top_scores[j - 1] == score and sign * top_values[j - 1] > value)
        ):
            top_scores[j] = top_scores[j - 1]
            top_values[j] = top_values[j - 1]
            j -= 1
        top_scores[j] = score
        top_values[j] = values[i]
    return count


@njit(cache=True, nogil=True)
def _merge(scores, values, begin, middle, end, sign, to_scores, to_values):
    """Merge two sorted parts of a list into another one."""
    i = begin
    k = middle
    for j in range(begin, end):
        second = k < end and (
            i == middle
            or scores[k] > scores[i]
            or (scores[k] == scores[i] and sign * values[k] < sign * values[i])
        )
        if second:
            to_scores[j] = scores[k]
            to_values[j] = values[k]
            k += 1
        else:
            to_scores[j] = scores[i]
            to_values[j] = values[i]
            i += 1


@njit(cache=True, nogil=True)
def _sort(scores, values, begin, end, sign, top_scores, top_values):
    """As `_insert` for a whole list: short runs by insertion, merged two by two."""
    n = end - begin
    for start in range(0, n, _RUN):
        stop = min(start + _RUN, n)
        _insert(
            scores, values, begin + start, begin + stop, _RUN, sign, top_scores[start:], top_values[start:]
        )
    from_scores, from_values = top_scores, top_values
    to_scores, to_values = np.empty(n), np.empty(n)
    run = _RUN
    while run < n:
        for start in range(0, n, 2 * run):
            middle = min(start + run, n)
            _merge(
                from_scores, from_values, start, middle, min(start + 2 * run, n), sign, to_scores, to_values
            )
        from_scores, to_scores = to_scores, from_scores
        from_values, to_values = to_values, from_values
        run *= 2
    for i in range(n):
        top_scores[i] = from_scores[i]
        top_values[i] = from_values[i]
    return n


@njit(cache=True, nogil=True)
def _place(scores, values, begin, end, top_scores, top_values):
    """Put a list without ties, best first, into the buffers; False, the buffers spoilt, if it has some.

    An item's position is the number of higher scores: n² comparisons, but without a branch and many at once.
    """
    own = scores[begin:end]
    n = end - begin
    total = 0
    for i in range(n):
        score = own[i]
        position = 0
        for j in range(n):
            position += own[j] > score
        top_scores[position] = score
        top_values[position] = values[begin + i]
        total += position
    # Positions 0, 1, ..., n - 1 have the largest sum there is; with ties some occur twice, and lower.
    return 2 * total == n * (n - 1)


@njit(cache=True, nogil=True)
def _best_first(scores, values, begin, end, depth, sign, top_scores, top_values):
    """Put the items above the depth, best first, into the buffers; maybe more; return how many."""
    n = end - begin
    size = min(n, int(np.ceil(depth)))
    if n <= _COUNT_UP_TO and _place(scores, values, begin, end, top_scores, top_values):
        return n
    if size <= _INSERT_UP_TO:
        return _insert(scores, values, begin, end, size, sign, top_scores, top_values)
    return _sort(scores, values, begin, end, sign, top_scores, top_values)


@njit(cache=True, nogil=True)
def _tied_at_edge(scores, values, begin, end, edge):
    """How many items of a list have a score, and the sum of their values."""
    size = 0
    total = 0.0
    for i in range(begin, end):
        if scores[i] == edge:
            size += 1
            total += values[i]
    return size, total


@njit(cache=True, nogil=True)
def query_groups(positive, scores, starts, depths, policy):
    """Groups of every query, ties resolved by the policy; those that begin below the depth may be missing."""
    longest = np.max(np.diff(starts))
    top_scores = np.empty(longest)
    top_values = np.empty(longest)
    positives = np.empty(scores.size)
    negatives = np.empty(scores.size)
    group_starts = np.zeros(starts.size, dtype=np.int64)
    total = 0
    for q in range(starts.size - 1):
        begin, end = starts[q], starts[q + 1]
        n = _best_first(scores, positive, begin, end, depths[q], _sign(policy), top_scores, top_values)
        start = 0
        while start < min(n, depths[q]):
            stop = start
            P = 0.0
            if policy == _MEAN:
                while stop < n and top_scores[stop] == top_scores[start]:
                    P += top_values[stop]
                    stop += 1
                size = stop - start
                if stop == n and n < end - begin:
                    size, P = _tied_at_edge(scores, positive, begin, end, top_scores[start])
            else:
                while stop < n and top_values[stop] == top_values[start]:
                    stop += 1
                size = stop - start
                P = size * top_values[start]
            positives[total] = P
            negatives[total] = size - P
            total += 1
            start = stop
        group_starts[q + 1] = total
    return positives[:total], negatives[:total], group_starts


@njit(cache=True, nogil=True)
def linear_sums(positives, negatives, starts, weights, first, depths):
    """`linear_sum` of each query; its weights begin at first[q], and depths[q] of them are its own."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = weights[first[q] : first[q] + int(depths[q])]
        result[q] = _kernels.linear_sum(
            positives[starts[q] : starts[q + 1]], negatives[starts[q] : starts[q + 1]], own
        )
    return result


@njit(cache=True, nogil=True)
def ordered_pairs(positives, negatives, starts, n_neg):
    """`_kernels.ordered_pairs` of each query."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = slice(starts[q], starts[q + 1])
        result[q] = _kernels.ordered_pairs(positives[own], negatives[own], n_neg[q])
    return result


@njit(cache=True, nogil=True)
def average_precision(positives, negatives, starts):
    """`_kernels.average_precision` of each query."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = slice(starts[q], starts[q + 1])
        result[q] = _kernels.average_precision(positives[own], negatives[own])
    return result


@njit(cache=True, nogil=True)
def first_positive(positives, negatives, starts):
    """`_kernels.first_positive` of each query."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = slice(starts[q], starts[q + 1])
        result[q] = _kernels.first_positive(positives[own], negatives[own])
    return result


@njit(cache=True, nogil=True)
def push(positives, negatives, starts, n_pos, p):
    """`_kernels.push` of each query."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = slice(starts[q], starts[q + 1])
        result[q] = _kernels.push(positives[own], negatives[own], n_pos[q], p)
    return result


@njit(cache=True, nogil=True)
def area_between(positives, negatives, starts, low, high):
    """`_kernels.area_between` of each query."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = slice(starts[q], starts[q + 1])
        result[q] = _kernels.area_between(positives[own], negatives[own], low[q], high[q])
    return result


@njit(cache=True, nogil=True)
def local_pairs(positives, negatives, starts, n_neg, depths):
    """`_pair_kernels.local_pairs` of each query."""
    result = np.empty(starts.size - 1)
    for q in range(result.size):
        own = slice(starts[q], starts[q + 1])
        result[q] = _pair_kernels.local_pairs(positives[own], negatives[own], n_neg[q], depths[q])
    return result


@njit(cache=True, nogil=True)
def positives_at_top(positives, negatives, starts):
    """Positives above the first negative of each query; one tied with N of them is once in N + 1 orders."""
    result = np.zeros(starts.size - 1)
    for q in range(result.size):
        for g in range(starts[q], starts[q + 1]):
            result[q] += positives[g] / (negatives[g] + 1.0)
            if negatives[g] > 0.0:
                break
    return result


@njit(cache=True, nogil=True)
def graded_sums(gains, scores, starts, discounts, depths, policy):
    """Sum of gain times discount over each query's items above its depth, ties resolved by the policy."""
    longest = np.max(np.diff(starts))
    top_scores = np.empty(longest)
    top_gains = np.empty(longest)
    result = np.zeros(starts.size - 1)
    for q in range(result.size):
        begin, end = starts[q], starts[q + 1]
        depth = int(depths[q])
        n = _best_first(scores, gains, begin, end, depth, _sign(policy), top_scores, top_gains)
        if policy != _MEAN:
            for i in range(depth):
                result[q] += top_gains[i] * discounts[i]
            continue
        start = 0
        while start < depth:
            stop = start
            gain = 0.0
            while stop < n and top_scores[stop] == top_scores[start]:
                gain += top_gains[stop]
                stop += 1
            size = stop - start
            if stop == n and n < end - begin:
                size, gain = _tied_at_edge(scores, gains, begin, end, top_scores[start])
            weight = 0.0
            for i in range(start, min(stop, depth)):
                weight += discounts[i]
            result[q] += gain / size * weight
            start = stop
    return result


@njit(cache=True, nogil=True)
def ideal_sums(grades, gains, starts, discounts, depths):
    """Sum of gain times discount over each query's items, best grades first; grade g is worth gains[g]."""
    counts = np.empty(gains.size, dtype=np.int64)
    result = np.zeros(starts.size - 1)
    for q in range(result.size):
        counts[:] = 0
        for i in range(starts[q], starts[q + 1]):
            counts[grades[i]] += 1
        depth = int(depths[q])
        position = 0
        for grade in range(gains.size - 1, 0, -1):
            stop = min(position + counts[grade], depth)
            for i in range(position, stop):
                result[q] += gains[grade] * discounts[i]
            position = stop
    return result
