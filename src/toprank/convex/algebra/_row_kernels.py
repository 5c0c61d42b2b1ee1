"""Compiled sums of rows of X: weighted Gram matrices and sums of rows over sliding windows of pairs.

Symbols: `walk` items each have a window ``first <= k < last`` of positions in the `other` list of their
block; both ends only move forward along a block. An empty `weight` stands for ones.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.compiled import njit


class Walk(NamedTuple):
    """Items that each have a window of positions in the other list of their block."""

    weight: NDArray[np.float64]
    items: NDArray[np.int32]
    start: NDArray[np.int64]
    """Where the walkers of each block begin."""
    other: NDArray[np.int32]
    other_start: NDArray[np.int64]
    block_weight: NDArray[np.float64]
    first: NDArray[np.int32]
    last: NDArray[np.int32]


@njit(cache=True, nogil=True)
def inverse_windows(first, last, walk_start, other_start, other_first, other_last):
    """Windows of the other side: the walkers, counted within the block, whose window holds an item."""
    for block in range(len(walk_start) - 1):
        begin = walk_start[block]
        n_walk = walk_start[block + 1] - begin
        n_other = other_start[block + 1] - other_start[block]
        start = 0
        stop = 0
        for k in range(n_other):
            while start < n_walk and last[begin + start] <= k:
                start += 1
            while stop < n_walk and first[begin + stop] <= k:
                stop += 1
            other_first[other_start[block] + k] = start
            other_last[other_start[block] + k] = max(start, stop)


@njit(cache=True, nogil=True)
def _next_walker(state, running, walk_start, first, last):
    """Move `state` (block, walker, start, stop) on to the next walker with a window; -1 when there is none.

    `running` is the sum over start..stop of the block; it begins anew where that and the window do not meet.
    """
    block, walker = state[0], state[1]
    while block < len(walk_start) - 1:
        if walker == walk_start[block + 1]:
            block += 1
            state[2] = state[3] = 0
            running[:] = 0.0
            continue
        here = walker
        walker += 1
        if first[here] == last[here]:
            continue
        if first[here] >= state[3]:
            running[:] = 0.0
            state[2] = state[3] = first[here]
        state[0], state[1] = block, walker
        return here
    state[0], state[1] = block, walker
    return -1


@njit(cache=True, nogil=True)
def window_sums(X, walk, state, running, rows, sums):
    """Fill `sums` with the weighted sums of rows over the next walkers' windows; returns how many.

    `state` and `running` carry the walk from one call to the next; walkers with an empty window are left
    out. `rows` gets the walkers' item numbers.
    """
    weight, other, first, last = walk.weight, walk.other, walk.first, walk.last
    unit = len(weight) == 0
    n_features = X.shape[1]
    filled = 0
    while filled < len(sums):
        walker = _next_walker(state, running, walk.start, first, last)
        if walker < 0:
            break
        begin, item = walk.other_start[state[0]], walk.items[walker]
        for k in range(state[2], first[walker]):
            row = other[begin + k]
            b = 1.0 if unit else weight[row]
            for feature in range(n_features):
                running[feature] -= b * X[row, feature]
        for k in range(state[3], last[walker]):
            row = other[begin + k]
            b = 1.0 if unit else weight[row]
            for feature in range(n_features):
                running[feature] += b * X[row, feature]
        state[2], state[3] = first[walker], last[walker]
        scale = walk.block_weight[state[0]] * (1.0 if unit else weight[item])
        rows[filled] = item
        for feature in range(n_features):
            sums[filled, feature] = scale * running[feature]
        filled += 1
    return filled


@njit(cache=True, nogil=True)
def sparse_window_cross(data, indices, indptr, walk, state, running, budget, cross):
    """Add to `cross` the products x_walker (sum over its window)^T of sparse rows; False if more are left."""
    weight, other, first, last = walk.weight, walk.other, walk.first, walk.last
    unit = len(weight) == 0
    n_features = len(running)
    work = 0
    while work < budget:
        walker = _next_walker(state, running, walk.start, first, last)
        if walker < 0:
            return True
        begin, item = walk.other_start[state[0]], walk.items[walker]
        for k in range(state[2], first[walker]):
            row = other[begin + k]
            work += _add_sparse_row(data, indices, indptr, row, -1.0 if unit else -weight[row], running)
        for k in range(state[3], last[walker]):
            row = other[begin + k]
            work += _add_sparse_row(data, indices, indptr, row, 1.0 if unit else weight[row], running)
        state[2], state[3] = first[walker], last[walker]
        scale = walk.block_weight[state[0]] * (1.0 if unit else weight[item])
        for p in range(indptr[item], indptr[item + 1]):
            value = scale * data[p]
            target = cross[indices[p]]
            for feature in range(n_features):
                target[feature] += value * running[feature]
        work += (indptr[item + 1] - indptr[item]) * n_features
    return False


@njit(cache=True, nogil=True)
def _add_sparse_row(data, indices, indptr, row, factor, total):
    """Add a multiple of a sparse row to `total`; returns how many entries it has."""
    for p in range(indptr[row], indptr[row + 1]):
        total[indices[p]] += factor * data[p]
    return indptr[row + 1] - indptr[row]


@njit(cache=True, nogil=True)
def sparse_gram(data, indices, indptr, row_weight, begin, end, gram):
    """Add to `gram` one triangle's worth of sum_i weight_i x_i x_i^T, for rows begin..end."""
    for row in range(begin, end):
        d = row_weight[row]
        if d == 0.0:
            continue
        for p in range(indptr[row], indptr[row + 1]):
            value = d * data[p]
            target = gram[indices[p]]
            for q in range(p, indptr[row + 1]):
                target[indices[q]] += value * data[q]


@njit(cache=True, nogil=True)
def sparse_column_squares(data, indices, indptr, row_weight, squares):
    """Add to `squares` the diagonal of sum_i weight_i x_i x_i^T."""
    for row in range(len(indptr) - 1):
        for p in range(indptr[row], indptr[row + 1]):
            squares[indices[p]] += row_weight[row] * data[p] * data[p]


def empty_state():
    """Start of a walk for `window_sums` and `sparse_window_cross`."""
    return np.zeros(4, dtype=np.int64)


@njit(cache=True, nogil=True)
def _mix(state, word):
    """One round of a 64-bit multiplicative hash."""
    state ^= word
    state *= np.uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> np.uint64(29))


@njit(cache=True, nogil=True)
def hash_dense_rows(words, hashes):
    """A hash of each row of 64-bit words, started from what `hashes` holds."""
    for row in range(words.shape[0]):
        state = hashes[row]
        for k in range(words.shape[1]):
            state = _mix(state, words[row, k])
        hashes[row] = state


@njit(cache=True, nogil=True)
def hash_sparse_rows(words, indices, indptr, hashes):
    """A hash of each sparse row, started from what `hashes` holds."""
    for row in range(len(indptr) - 1):
        state = hashes[row]
        for k in range(indptr[row], indptr[row + 1]):
            state = _mix(_mix(state, np.uint64(indices[k])), words[k])
        hashes[row] = state


@njit(cache=True, nogil=True)
def dense_rows_equal(X, representative):
    """Whether every row equals its representative."""
    for row in range(X.shape[0]):
        other = representative[row]
        if other != row:
            for k in range(X.shape[1]):
                if X[row, k] != X[other, k]:
                    return False
    return True


@njit(cache=True, nogil=True)
def sparse_rows_equal(data, indices, indptr, representative):
    """Whether every sparse row equals its representative."""
    for row in range(len(indptr) - 1):
        other = representative[row]
        if other != row:
            size = indptr[row + 1] - indptr[row]
            if size != indptr[other + 1] - indptr[other]:
                return False
            for k in range(size):
                if indices[indptr[row] + k] != indices[indptr[other] + k]:
                    return False
                if data[indptr[row] + k] != data[indptr[other] + k]:
                    return False
    return True


@njit(cache=True, nogil=True)
def dense_bin_sums(code, gradient, sums):
    """Sum of the gradient over each bin (column of `sums`) of each feature (column of `code`)."""
    for feature in range(code.shape[1]):
        target = sums[feature]
        for row in range(code.shape[0]):
            target[code[row, feature]] += gradient[row]


@njit(cache=True, nogil=True)
def sparse_bin_sums(code, indices, indptr, zero_code, gradient, sums):
    """The same for stored entries by column; what is not stored falls into the bin of zero."""
    total = gradient.sum()
    for feature in range(len(indptr) - 1):
        target = sums[feature]
        stored = 0.0
        for k in range(indptr[feature], indptr[feature + 1]):
            target[code[k]] += gradient[indices[k]]
            stored += gradient[indices[k]]
        target[zero_code[feature]] += total - stored


@njit(cache=True, nogil=True)
def descend_coordinates(H, gradient, coef, penalty, step, image, sweeps, tolerance):
    """Minimise gradient.step + 1/2 step^T H step + sum penalty |coef + step| one coordinate at a time.

    `image` is H step. Returns the largest change of a coordinate in the last sweep, in units of its
    curvature.
    """
    worst = 0.0
    for _ in range(sweeps):
        worst = 0.0
        for k in range(len(step)):
            curve = H[k, k]
            if curve <= 0.0:
                continue
            here = coef[k] + step[k]
            slope = gradient[k] + image[k]
            target = here - slope / curve
            shrink = penalty[k] / curve
            if target > shrink:
                target -= shrink
            elif target < -shrink:
                target += shrink
            else:
                target = 0.0
            change = target - here
            if change != 0.0:
                step[k] += change
                for j in range(len(step)):
                    image[j] += change * H[k, j]
                worst = max(worst, abs(change) * curve)
        if worst <= tolerance:
            break
    return worst
