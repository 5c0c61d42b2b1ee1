"""Compiled loops over groups of tied items.

Legend: P, N mass of the positives and negatives in a group; t mass ranked above the group; r positives
among it; policy 0 worst, 1 mean, 2 best (the order of `groups.TIES`). Groups come best first.
"""

from math import log1p

import numpy as np

from toprank.compiled import njit

_WORST, _MEAN = 0, 1


@njit(cache=True, nogil=True)
def _append(positives, negatives, count, P, N):
    """Append one group, or merge it into the last one when both hold the same single class."""
    if count > 0:
        last = count - 1
        if (P == 0.0 and positives[last] == 0.0) or (N == 0.0 and negatives[last] == 0.0):
            positives[last] += P
            negatives[last] += N
            return count
    positives[count] = P
    negatives[count] = N
    return count + 1


@njit(cache=True, nogil=True)
def _push(positives, negatives, count, P, N, policy):
    """Append one group, split into its classes where the policy says which comes first."""
    if policy == _MEAN or P == 0.0 or N == 0.0:
        return _append(positives, negatives, count, P, N)
    if policy == _WORST:
        count = _append(positives, negatives, count, 0.0, N)
        return _append(positives, negatives, count, P, 0.0)
    count = _append(positives, negatives, count, P, 0.0)
    return _append(positives, negatives, count, 0.0, N)


@njit(cache=True, nogil=True)
def merge_groups(positive_scores, negative_scores, policy):
    """Groups from the two classes' scores, each sorted ascending."""
    i, k = positive_scores.size - 1, negative_scores.size - 1
    positives = np.empty(i + k + 2)
    negatives = np.empty(i + k + 2)
    count = 0
    while i >= 0 or k >= 0:
        if k < 0 or (i >= 0 and positive_scores[i] > negative_scores[k]):
            score = positive_scores[i]
        else:
            score = negative_scores[k]
        P = 0.0
        while i >= 0 and positive_scores[i] == score:
            P += 1.0
            i -= 1
        N = 0.0
        while k >= 0 and negative_scores[k] == score:
            N += 1.0
            k -= 1
        count = _push(positives, negatives, count, P, N, policy)
    return positives[:count].copy(), negatives[:count].copy()


@njit(cache=True, nogil=True)
def group_masses(positive, scores, masses, policy):
    """Groups from labels, scores and masses sorted by descending score."""
    n = scores.size
    positives = np.empty(n + 1)
    negatives = np.empty(n + 1)
    count = 0
    start = 0
    while start < n:
        P = 0.0
        N = 0.0
        stop = start
        while stop < n and scores[stop] == scores[start]:
            if positive[stop]:
                P += masses[stop]
            else:
                N += masses[stop]
            stop += 1
        count = _push(positives, negatives, count, P, N, policy)
        start = stop
    return positives[:count].copy(), negatives[:count].copy()


@njit(cache=True, nogil=True)
def ordered_pairs(positives, negatives, n_neg):
    """Mass of positive-negative pairs in the right order, half for a tie."""
    total = 0.0
    below = n_neg
    for g in range(positives.size):
        below -= negatives[g]
        total += positives[g] * (below + 0.5 * negatives[g])
    return total


@njit(cache=True, nogil=True)
def linear_sum(positives, negatives, weights):
    """Sum of the weights at the positives' positions; whole-number masses.

    A positive in a mixed group is equally likely at each of the group's positions. Positions beyond the
    end of `weights` weigh nothing.
    """
    total = 0.0
    t = 0
    for g in range(positives.size):
        P = positives[g]
        size = int(P + negatives[g])
        if P > 0.0:
            inside = 0.0
            for j in range(t, min(t + size, weights.size)):
                inside += weights[j]
            total += inside * (P / size)
        t += size
        if t >= weights.size:
            break
    return total


@njit(cache=True, nogil=True)
def _interpolate(cumulative, t, depth):
    """Piecewise linear cumulative weight at mass t; flat below the depth."""
    t = min(t, depth)
    cell = int(t)
    if cell >= cumulative.size - 1:
        return cumulative[-1]
    return cumulative[cell] + (t - cell) * (cumulative[cell + 1] - cumulative[cell])


@njit(cache=True, nogil=True)
def linear_sum_masses(positives, negatives, cumulative, depth):
    """As `linear_sum` for fractional masses; `cumulative` has one entry more than there are weights."""
    total = 0.0
    t = 0.0
    for g in range(positives.size):
        P = positives[g]
        size = P + negatives[g]
        if P > 0.0:
            gained = _interpolate(cumulative, t + size, depth) - _interpolate(cumulative, t, depth)
            total += gained * (P / size)
        t += size
    return total


@njit(cache=True, nogil=True)
def graded_sum(gains, scores, masses, cumulative, depth, policy):
    """Sum of gain times weight over items sorted by descending score, ties resolved by the policy."""
    n = scores.size
    total = 0.0
    t = 0.0
    start = 0
    while start < n and t < depth:
        stop = start + 1
        while stop < n and scores[stop] == scores[start]:
            stop += 1
        if stop == start + 1 or policy == _MEAN:
            size = 0.0
            gain = 0.0
            for i in range(start, stop):
                size += masses[i]
                gain += gains[i] * masses[i]
            weight = _interpolate(cumulative, t + size, depth) - _interpolate(cumulative, t, depth)
            total += gain / size * weight
            t += size
        else:
            order = np.argsort(gains[start:stop])
            for step in range(stop - start):
                i = start + (order[step] if policy == _WORST else order[stop - start - 1 - step])
                weight = _interpolate(cumulative, t + masses[i], depth) - _interpolate(cumulative, t, depth)
                total += gains[i] * weight
                t += masses[i]
        start = stop
    return total


@njit(cache=True, nogil=True)
def harmonic_difference(t, m):
    """H(t + m) - H(t) for real t, m >= 0, where H(n) = 1 + 1/2 + ... + 1/n, without cancellation.

    H(x) = digamma(x + 1) + constant: step up to arguments of 16 or more by the recurrence, then use the
    asymptotic series, every term written as a difference.
    """
    if m == 0.0:
        return 0.0
    total = 0.0
    a = t + 1.0
    while a < 16.0:
        total += m / (a * (a + m))
        a += 1.0
    b = a + m
    u = 1.0 / (a * a)
    v = 1.0 / (b * b)
    total += log1p(m / a) + m / (2.0 * a * b) + (u - v) / 12.0
    total -= (u * u - v * v) / 120.0
    total += (u * u * u - v * v * v) / 252.0
    total -= (u**4 - v**4) / 240.0
    total += (u**5 - v**5) / 132.0
    return total


@njit(cache=True, nogil=True)
def average_precision(positives, negatives):
    """Sum over the positives of the precision at their positions, expected over orders; whole masses.

    At position t + i of a group the item is a positive with probability P / B, B = P + N; then
    (i - 1)(P - 1)/(B - 1) of the i - 1 items before it in the group are expected to be positives too.
    """
    total = 0.0
    t = 0.0
    r = 0.0
    for g in range(positives.size):
        P = positives[g]
        B = P + negatives[g]
        if P > 0.0:
            step = (P - 1.0) / (B - 1.0) if B > 1.0 else 0.0
            inside = 0.0
            for i in range(int(B)):
                inside += (r + 1.0 + i * step) / (t + i + 1.0)
            total += inside * (P / B)
        t += B
        r += P
    return total


@njit(cache=True, nogil=True)
def average_precision_masses(positives, negatives):
    """As `average_precision` for fractional masses; no group holds both classes.

    The sum over i = 1 .. P of (r + i)/(t + i) is P - (t - r)(H(t + P) - H(t)), which real P fit too.
    """
    total = 0.0
    t = 0.0
    r = 0.0
    for g in range(positives.size):
        P = positives[g]
        if P > 0.0:
            total += P - (t - r) * harmonic_difference(t, P)
        t += P + negatives[g]
        r += P
    return total


@njit(cache=True, nogil=True)
def first_positive(positives, negatives):
    """Expected reciprocal of the first positive's position.

    In the first group with a positive, the number X of negatives before it is negative hypergeometric:
    P(X = 0) = P / B and P(X = x + 1) = P(X = x) (N - x)/(B - x - 1).
    """
    t = 0.0
    for g in range(positives.size):
        P, N = positives[g], negatives[g]
        if P > 0.0:
            probability = P / (P + N)
            total = 0.0
            for x in range(int(N) + 1):
                total += probability / (t + x + 1.0)
                probability *= (N - x) / max(P + N - x - 1.0, 1.0)
            return total
        t += N
    return 0.0


@njit(cache=True, nogil=True)
def push(positives, negatives, n_pos, p):
    """Sum over the negatives of (share of the positives below)^p, expected over orders inside groups.

    Among P tied positives a negative is equally likely to have 0, 1, ..., P of them below it.
    """
    total = 0.0
    below = n_pos
    for g in range(positives.size):
        P, N = positives[g], negatives[g]
        below -= P
        if N > 0.0:
            inside = 0.0
            for i in range(int(P) + 1):
                inside += (max(below + i, 0.0) / n_pos) ** p
            total += N * inside / (int(P) + 1.0)
    return total


@njit(cache=True, nogil=True)
def _area(r, P, N, s):
    """Positives above each of the first s negatives of a group, summed; k-th negative: r + P k/(N + 1)."""
    if P == 0.0:
        return r * s
    k = np.floor(s)
    full = r * k + P * k * (k + 1.0) / (2.0 * (N + 1.0))
    return full + (s - k) * (r + P * (k + 1.0) / (N + 1.0))


@njit(cache=True, nogil=True)
def area_between(positives, negatives, low, high):
    """Area under the count ROC curve while the mass of negatives passed is between low and high."""
    total = 0.0
    r = 0.0
    passed = 0.0
    for g in range(positives.size):
        P, N = positives[g], negatives[g]
        if N > 0.0:
            start = min(max(low - passed, 0.0), N)
            stop = min(max(high - passed, 0.0), N)
            if stop > start:
                total += _area(r, P, N, stop) - _area(r, P, N, start)
        passed += N
        r += P
        if passed >= high:
            break
    return total
