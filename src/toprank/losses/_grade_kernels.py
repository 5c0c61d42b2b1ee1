"""Compiled sums of exponentials over all pairs of different grades: one pass up the grades, one down.

Items come sorted by list and rising grade. Sums are kept as ``exp(largest) * total``, so that they neither
overflow nor vanish.
"""

import math

import numpy as np

from toprank.compiled import njit


@njit(cache=True, nogil=True)
def _add(state, log, along):
    """Add exp(log) to a sum (largest exponent, total, total times `along`)."""
    if log > state[0]:
        shrink = math.exp(state[0] - log)
        state[0], state[1], state[2] = log, state[1] * shrink + 1.0, state[2] * shrink + along
    else:
        share = math.exp(log - state[0])
        state[1] += share
        state[2] += share * along


@njit(cache=True, nogil=True)
def one_way(values, log_weight, grade, along, step, first, stop, logs, means):
    """For every item, the log of the sum of weight times exp(value) over the items of grades passed before.

    Parameters
    ----------
    values, log_weight, along : arrays of float64
    grade : array
    step, first, stop : int
        The direction, and where to begin and to end.
    logs, means : arrays of float64
        Filled with those logarithms, minus infinity where there is nothing before, and with the means of
        `along` under those sums.
    """
    state = np.array([-np.inf, 0.0, 0.0])
    at = first
    while at != stop:
        end = at
        while end != stop and grade[end] == grade[at]:
            logs[end] = state[0] + math.log(state[1]) if state[1] > 0.0 else -np.inf
            means[end] = state[2] / state[1] if state[1] > 0.0 else 0.0
            end += step
        while at != end:
            _add(state, log_weight[at] + values[at], along[at])
            at += step


@njit(cache=True, nogil=True)
def pair_sums(scores, log_weight, grade, start, along):
    """Sums over the pairs (upper i, lower k) of each list, by item.

    Returns
    -------
    totals : array
        Of each list, the log of the sum over pairs of weight_i weight_k exp(-(s_i - s_k)).
    upper, lower : arrays
        Each item's share of its list's sum, by the pairs in which it is the upper or the lower one.
    below, above : arrays
        The mean of `along` over the partners in these pairs, weighted by their shares.
    """
    n, lists = len(scores), len(start) - 1
    totals = np.empty(lists)
    upper, lower, below, above = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    negative = -scores
    for q in range(lists):
        first, stop = start[q], start[q + 1]
        one_way(scores, log_weight, grade, along, 1, first, stop, upper, below)
        one_way(negative, log_weight, grade, along, -1, stop - 1, first - 1, lower, above)
        largest = -np.inf
        for i in range(first, stop):
            upper[i] += log_weight[i] - scores[i]
            lower[i] += log_weight[i] + scores[i]
            largest = max(largest, upper[i])
        total = 0.0
        for i in range(first, stop):
            total += math.exp(upper[i] - largest)
        totals[q] = largest + math.log(total)
        for i in range(first, stop):
            upper[i] = math.exp(upper[i] - totals[q])
            lower[i] = math.exp(lower[i] - totals[q])
    return totals, upper, lower, below, above
