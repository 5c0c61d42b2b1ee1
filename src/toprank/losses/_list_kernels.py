"""Compiled sums over lists in the order of their scores: pairs of NDCG, and the best of all interleavings."""

import numpy as np

from toprank.compiled import njit


@njit(cache=True, nogil=True)
def ndcg_pairs(scores, gain, start, top, gradient, curvature):
    """Mean over lists of the logistic loss of pairs, each weighing what NDCG@top loses by its swap.

    Items are list after list, each by falling score. Only pairs with an item among the first `top` weigh
    anything, so that a list of n items costs n times `top`. Adds to gradient and curvature by item.
    """
    value = 0.0
    n_lists = len(start) - 1
    discount = 1.0 / np.log2(2.0 + np.arange(top))
    for one in range(n_lists):
        first, last = start[one], start[one + 1]
        perfect = -np.sort(-gain[first:last])[:top]
        ideal = 0.0
        for place in range(len(perfect)):
            ideal += perfect[place] * discount[place]
        scale = 1.0 / (ideal * n_lists)
        for a in range(first, min(last, first + top)):
            for b in range(a + 1, last):
                if gain[a] == gain[b]:
                    continue
                lower = discount[b - first] if b - first < top else 0.0
                weight = abs(gain[a] - gain[b]) * (discount[a - first] - lower) * scale
                up, down = (a, b) if gain[a] > gain[b] else (b, a)
                apart = scores[up] - scores[down]
                share = np.exp(-abs(apart))
                value += weight * (np.log1p(share) + max(0.0, -apart))
                wrong = share / (1.0 + share) if apart > 0 else 1.0 / (1.0 + share)
                gradient[up] -= weight * wrong
                gradient[down] += weight * wrong
                curvature[up] += weight * wrong * (1.0 - wrong)
                curvature[down] += weight * wrong * (1.0 - wrong)
    return value


@njit(cache=True, nogil=True)
def best_interleaving(positive, negative, pull):
    """How many negatives are above each positive in the interleaving with the largest F + pull (1 - AP).

    F is the mean over pairs of s_i - s_j where the positive i is above the negative j, of s_j - s_i where it
    is below. Both arrays fall. The i-th positive adds g(i, j) with j negatives placed before it, and j never
    falls from one positive to the next: a table over (positives placed, negatives placed).
    """
    n_pos, n_neg = len(positive), len(negative)
    sums = np.zeros(n_neg + 1)
    for j in range(n_neg):
        sums[j + 1] = sums[j] + negative[j]
    pairs = 1.0 / (n_pos * n_neg)
    best = np.zeros(n_neg + 1)
    placed = np.zeros((n_pos, n_neg + 1), dtype=np.uint8)
    for i in range(n_pos):
        so_far = -np.inf
        for j in range(n_neg + 1):
            worth = (positive[i] * (n_neg - 2.0 * j) - (sums[n_neg] - 2.0 * sums[j])) * pairs
            here = best[j] + worth - pull * (i + 1.0) / ((i + 1.0 + j) * n_pos)
            if here > so_far:
                so_far = here
                placed[i, j] = 1
            best[j] = so_far
    above = np.empty(n_pos, dtype=np.int64)
    j = n_neg
    for i in range(n_pos - 1, -1, -1):
        while placed[i, j] == 0:
            j -= 1
        above[i] = j
    return above
