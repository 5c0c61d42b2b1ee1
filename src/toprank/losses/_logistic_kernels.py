"""Compiled sums of log(1 + exp(-(s_i - s_j))) over all pairs of two lists, without looking at each pair.

Short lists are summed pair by pair. For long ones the scores of a list are laid on a grid, each spread over
the four nearest nodes as cubic interpolation has it; sums are taken between nodes and interpolated back. The
error is that of interpolating a smooth function with steps of a sixteenth: below 1e-6 of the sum. Nodes more
than `REACH` apart are beyond what a double can tell from one and zero: prefix sums serve there.
"""

import numpy as np

from toprank.compiled import njit

STEP = 1.0 / 16.0
REACH = 40.0
MOST_NODES = 1 << 16
DIRECT = 48
"""A list shorter than this is compared with the other pair by pair."""


@njit(cache=True, nogil=True)
def logistic_sums(
    upper, upper_scores, upper_start, lower, lower_scores, lower_start,
    weight, block_weight, gradient, curvature,
):  # fmt: skip
    """The loss over all pairs; adds to `gradient` and `curvature`, the diagonal of the Hessian, by item."""
    loss = 0.0
    for block in range(len(block_weight)):
        a, b = upper_start[block], upper_start[block + 1]
        c, d = lower_start[block], lower_start[block + 1]
        if a == b or c == d:
            continue
        if min(b - a, d - c) <= DIRECT:
            loss += direct_block(
                upper[a:b], upper_scores[a:b], lower[c:d], lower_scores[c:d],
                weight, block_weight[block], gradient, curvature,
            )  # fmt: skip
        else:
            loss += grid_block(
                upper[a:b], upper_scores[a:b], lower[c:d], lower_scores[c:d],
                weight, block_weight[block], gradient, curvature,
            )  # fmt: skip
    return loss


@njit(cache=True, nogil=True)
def direct_block(upper, upper_scores, lower, lower_scores, weight, scale, gradient, curvature):
    """One block, pair by pair."""
    unit = len(weight) == 0
    loss = 0.0
    for i in range(len(upper)):
        a = scale if unit else scale * weight[upper[i]]
        for j in range(len(lower)):
            w = a if unit else a * weight[lower[j]]
            t = lower_scores[j] - upper_scores[i]
            small = np.exp(-abs(t))
            loss += w * (max(t, 0.0) + np.log1p(small))
            slope = (1.0 if t > 0.0 else small) / (1.0 + small)
            bend = small / ((1.0 + small) * (1.0 + small))
            gradient[upper[i]] -= w * slope
            gradient[lower[j]] += w * slope
            curvature[upper[i]] += w * bend
            curvature[lower[j]] += w * bend
    return loss


@njit(cache=True, nogil=True)
def cubic(u):
    """The weights of four neighbouring nodes at a share u of the way from the second to the third."""
    v = 1.0 - u
    return (
        -u * v * (1.0 + v) / 6.0,
        0.5 * v * (1.0 + u) * (1.0 + v),
        0.5 * u * (1.0 + u) * (1.0 + v),
        -u * v * (1.0 + u) / 6.0,
    )


@njit(cache=True, nogil=True)
def on_grid(items, scores, weight, low, step, mass):
    """Lay the weights of a list on the grid; the second node is at `low`."""
    unit = len(weight) == 0
    for k in range(len(items)):
        place = (scores[k] - low) / step
        node = int(place)
        w = 1.0 if unit else weight[items[k]]
        p, q, r, s = cubic(place - node)
        mass[node] += w * p
        mass[node + 1] += w * q
        mass[node + 2] += w * r
        mass[node + 3] += w * s


@njit(cache=True, nogil=True)
def between_nodes(mass, step, sign, values, slopes, bends):
    """For every node m the sums over nodes k of mass times the loss at t = sign (k - m) step, and so on."""
    n = len(mass)
    reach = int(REACH / step) + 1
    table = np.empty((reach + 1, 3))
    for k in range(reach + 1):
        small = np.exp(-k * step)
        table[k, 0] = np.log1p(small)
        table[k, 1] = 1.0 / (1.0 + small)
        table[k, 2] = small / ((1.0 + small) * (1.0 + small))
    count = np.zeros(n + 1)
    moment = np.zeros(n + 1)
    for k in range(n):
        count[k + 1] = count[k] + mass[k]
        moment[k + 1] = moment[k] + mass[k] * k * step
    for m in range(n):
        value = slope = bend = 0.0
        first = max(0, m - reach)
        last = min(n, m + reach + 1)
        for k in range(first, last):
            away = k - m if k >= m else m - k
            rising = (k > m) == (sign > 0) or k == m
            value += mass[k] * (table[away, 0] + (away * step if rising else 0.0))
            slope += mass[k] * (table[away, 1] if rising else 1.0 - table[away, 1])
            bend += mass[k] * table[away, 2]
        if sign > 0:
            far, far_moment = count[n] - count[last], moment[n] - moment[last]
            value += far_moment - far * m * step
        else:
            far, far_moment = count[first], moment[first]
            value += far * m * step - far_moment
        values[m] = value
        slopes[m] = slope + far
        bends[m] = bend


@njit(cache=True, nogil=True)
def grid_block(upper, upper_scores, lower, lower_scores, weight, scale, gradient, curvature):
    """One block, by a grid."""
    unit = len(weight) == 0
    low = min(upper_scores[0], lower_scores[0])
    high = max(upper_scores[-1], lower_scores[-1])
    step = max(STEP, (high - low) / MOST_NODES)
    n = int((high - low) / step) + 5
    loss = 0.0
    for side in range(2):
        mass = np.zeros(n)
        values = np.empty(n)
        slopes = np.empty(n)
        bends = np.empty(n)
        if side == 0:
            on_grid(lower, lower_scores, weight, low, step, mass)
            items, scores, direction = upper, upper_scores, -1.0
        else:
            on_grid(upper, upper_scores, weight, low, step, mass)
            items, scores, direction = lower, lower_scores, 1.0
        # t = lower - upper: nodes of the lower list are ahead of an upper item, and the other way round.
        between_nodes(mass, step, -direction, values, slopes, bends)
        for k in range(len(items)):
            place = (scores[k] - low) / step
            node = int(place)
            weights = cubic(place - node)
            w = scale if unit else scale * weight[items[k]]
            for m in range(4):
                gradient[items[k]] += direction * w * weights[m] * slopes[node + m]
                curvature[items[k]] += w * weights[m] * bends[node + m]
                if side == 0:
                    loss += w * weights[m] * values[node + m]
    return loss
