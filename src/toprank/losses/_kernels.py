"""Compiled sums over pairs of scores; every function costs one pass over sorted scores.

Symbols: a block holds `upper` items that should be above its `lower` items; both lists are sorted by rising
score, `upper_scores` and `lower_scores` go with them. ``u = 1 - s_i + s_j`` is how far the pair (upper i,
lower j) is from winning by one. Its weight is ``block_weight * weight_i * weight_j``; an empty `weight`
stands for ones. The derivative of the loss with respect to u is

    0 for u <= low_margin,  slope * (u - low_margin) up to high_margin,  1 above it,

so (-mu, mu, 1 / 2 mu) is the hinge smoothed over a zone of width 2 mu and (0, inf, 2) the squared hinge.
The lower items in the zone of upper i are ``first[i] <= j < last[i]`` (counted within the block): the
windows.
"""

import numpy as np

from toprank.compiled import njit

DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS


@njit(cache=True, nogil=True)
def radix_order(scores, low, scale, order, ordered_scores):
    """Sort by 33-bit keys in three passes, then put equal keys right; False when that would take too long.

    A key is ``(score - low) * scale``; scores crowded far below the largest one share keys, and then a
    comparison sort is the better choice.
    """
    n = len(scores)
    keys = np.empty(n, dtype=np.uint64)
    counts = np.zeros((3, DIGITS), dtype=np.int64)
    mask = np.uint64(DIGITS - 1)
    shift1 = np.uint64(DIGIT_BITS)
    shift2 = np.uint64(2 * DIGIT_BITS)
    for i in range(n):
        key = np.uint64((scores[i] - low) * scale)
        keys[i] = key
        counts[0, key & mask] += 1
        counts[1, (key >> shift1) & mask] += 1
        counts[2, (key >> shift2) & mask] += 1
    for digit in range(3):
        running = 0
        for value in range(DIGITS):
            here = counts[digit, value]
            counts[digit, value] = running
            running += here
    other = np.empty(n, dtype=np.int32)
    keys_other = np.empty(n, dtype=np.uint64)
    for i in range(n):
        key = keys[i]
        place = counts[0, key & mask]
        counts[0, key & mask] = place + 1
        order[place] = i
        keys_other[place] = key
    for i in range(n):
        key = keys_other[i]
        place = counts[1, (key >> shift1) & mask]
        counts[1, (key >> shift1) & mask] = place + 1
        other[place] = order[i]
        keys[place] = key
    for i in range(n):
        key = keys[i]
        place = counts[2, (key >> shift2) & mask]
        counts[2, (key >> shift2) & mask] = place + 1
        order[place] = other[i]
    moves = 0
    for i in range(n):
        item = order[i]
        score = scores[item]
        j = i
        while j > 0 and ordered_scores[j - 1] > score:
            ordered_scores[j] = ordered_scores[j - 1]
            order[j] = order[j - 1]
            j -= 1
        ordered_scores[j] = score
        order[j] = item
        moves += i - j
        if moves > 4 * n + 1000:
            return False
    return True


@njit(cache=True, nogil=True)
def distribute(order, ordered_scores, entry_start, entry_list, list_start, items, item_scores):
    """Hand items, walked in sorted order, to the lists they belong to; each list comes out sorted.

    Entries of item i are entry_start[i]..entry_start[i + 1]; entry e goes to list entry_list[e]. An empty
    `entry_start` says that every item has exactly one entry.
    """
    cursor = list_start[:-1].copy()
    if len(entry_start) == 0:
        for position in range(len(order)):
            item = order[position]
            which = entry_list[item]
            place = cursor[which]
            items[place] = item
            item_scores[place] = ordered_scores[position]
            cursor[which] = place + 1
        return
    for position in range(len(order)):
        item = order[position]
        for entry in range(entry_start[item], entry_start[item + 1]):
            which = entry_list[entry]
            items[cursor[which]] = item
            item_scores[cursor[which]] = ordered_scores[position]
            cursor[which] += 1


@njit(cache=True, nogil=True)
def pair_sums(
    upper,
    upper_scores,
    upper_start,
    lower,
    lower_scores,
    lower_start,
    weight,
    block_weight,
    block_margin,
    low_margin,
    high_margin,
    slope,
    squared,
    gradient,
    first,
    last,
):
    """Loss, sum of derivatives (each times its block's margin) and sum of their squares over all pairs.

    `upper_scores` are shifted so that every pair is to be won by one; `block_margin` says by how much it was
    before, empty stands for ones. Fills `gradient` (by item) and the windows. The loss is the plain hinge sum
    of max(0, u), or the sum of max(0, u)^2 when `squared`.
    """
    loss = derivative_sum = derivative_squares = 0.0
    unit = len(weight) == 0
    longest = 0
    for block in range(len(block_weight)):
        longest = max(longest, lower_start[block + 1] - lower_start[block])
    count = np.empty(longest + 1)
    total = np.empty(longest + 1)
    square = np.empty(longest + 1)
    full = np.empty(longest + 1)
    inside = np.empty(longest + 1)
    inside_t = np.empty(longest + 1)
    for block in range(len(block_weight)):
        begin = lower_start[block]
        n_low = lower_start[block + 1] - begin
        scale = block_weight[block]
        margin = 1.0 if len(block_margin) == 0 else block_margin[block]
        # Scores enter by differences only; a reference near them keeps the prefix sums exact.
        reference = lower_scores[begin + n_low // 2]
        count[0] = total[0] = square[0] = 0.0
        full[0] = inside[0] = inside_t[0] = 0.0
        for j in range(n_low):
            b = 1.0 if unit else weight[lower[begin + j]]
            s = lower_scores[begin + j] - reference
            count[j + 1] = count[j] + b
            total[j + 1] = total[j] + b * s
            square[j + 1] = square[j] + b * s * s
            full[j + 1] = inside[j + 1] = inside_t[j + 1] = 0.0
        start = 0
        stop = 0
        zero = 0
        for i in range(upper_start[block], upper_start[block + 1]):
            item = upper[i]
            a = 1.0 if unit else weight[item]
            t = upper_scores[i] - reference - 1.0
            while start < n_low and lower_scores[begin + start] - reference <= t + low_margin:
                start += 1
            while stop < n_low and lower_scores[begin + stop] - reference <= t + high_margin:
                stop += 1
            while zero < n_low and lower_scores[begin + zero] - reference <= t:
                zero += 1
            first[i] = start
            last[i] = stop
            zone = count[stop] - count[start]
            alpha = (count[n_low] - count[stop]) + slope * (
                (total[stop] - total[start]) - zone * (t + low_margin)
            )
            lost = count[n_low] - count[zero]
            lost_sum = total[n_low] - total[zero]
            if squared:
                loss += scale * a * (square[n_low] - square[zero] - 2 * t * lost_sum + t * t * lost)
            else:
                loss += scale * a * (lost_sum - t * lost)
            derivative_sum += scale * a * alpha * margin
            shift = t + low_margin
            zone_squares = (
                square[stop] - square[start] - 2 * shift * (total[stop] - total[start]) + shift * shift * zone
            )
            derivative_squares += scale * a * (count[n_low] - count[stop] + slope * slope * zone_squares)
            gradient[item] -= scale * a * alpha
            full[stop] += a
            inside[start] += a
            inside[stop] -= a
            inside_t[start] += a * t
            inside_t[stop] -= a * t
        running_full = 0.0
        running = 0.0
        running_t = 0.0
        for j in range(n_low):
            running_full += full[j]
            running += inside[j]
            running_t += inside_t[j]
            item = lower[begin + j]
            b = 1.0 if unit else weight[item]
            s = lower_scores[begin + j] - reference
            alpha = running_full + slope * (running * (s - low_margin) - running_t)
            gradient[item] += scale * b * alpha
    return loss, derivative_sum, derivative_squares


@njit(cache=True, nogil=True)
def zone_weights(upper, upper_start, lower, lower_start, weight, block_weight, first, last, curvature):
    """Adds to `curvature` the weight of each item's pairs inside the zone."""
    unit = len(weight) == 0
    for block in range(len(block_weight)):
        begin = lower_start[block]
        n_low = lower_start[block + 1] - begin
        scale = block_weight[block]
        count = np.zeros(n_low + 1)
        inside = np.zeros(n_low + 1)
        for j in range(n_low):
            count[j + 1] = count[j] + (1.0 if unit else weight[lower[begin + j]])
        for i in range(upper_start[block], upper_start[block + 1]):
            item = upper[i]
            a = 1.0 if unit else weight[item]
            curvature[item] += scale * a * (count[last[i]] - count[first[i]])
            inside[first[i]] += a
            inside[last[i]] -= a
        running = 0.0
        for j in range(n_low):
            running += inside[j]
            item = lower[begin + j]
            curvature[item] += scale * (1.0 if unit else weight[item]) * running


@njit(cache=True, nogil=True)
def zone_product(
    direction, upper, upper_start, lower, lower_start, weight, block_weight, first, last, product
):
    """Adds to `product` the sum over zone pairs of weight * (direction_i - direction_j) (e_i - e_j)."""
    unit = len(weight) == 0
    for block in range(len(block_weight)):
        begin = lower_start[block]
        n_low = lower_start[block + 1] - begin
        scale = block_weight[block]
        count = np.zeros(n_low + 1)
        moved = np.zeros(n_low + 1)
        inside = np.zeros(n_low + 1)
        inside_moved = np.zeros(n_low + 1)
        for j in range(n_low):
            item = lower[begin + j]
            b = 1.0 if unit else weight[item]
            count[j + 1] = count[j] + b
            moved[j + 1] = moved[j] + b * direction[item]
        for i in range(upper_start[block], upper_start[block + 1]):
            start = first[i]
            stop = last[i]
            if start == stop:
                continue
            item = upper[i]
            a = 1.0 if unit else weight[item]
            v = direction[item]
            zone = count[stop] - count[start]
            product[item] += scale * a * (zone * v - (moved[stop] - moved[start]))
            inside[start] += a
            inside[stop] -= a
            inside_moved[start] += a * v
            inside_moved[stop] -= a * v
        running = 0.0
        running_moved = 0.0
        for j in range(n_low):
            running += inside[j]
            running_moved += inside_moved[j]
            item = lower[begin + j]
            b = 1.0 if unit else weight[item]
            product[item] += scale * b * (running * direction[item] - running_moved)


@njit(cache=True, nogil=True)
def zone_pairs(upper, upper_start, lower, lower_start, first, last, upper_items, lower_items, blocks):
    """Writes out every pair inside the zone."""
    k = 0
    for block in range(len(upper_start) - 1):
        begin = lower_start[block]
        for i in range(upper_start[block], upper_start[block + 1]):
            for j in range(first[i], last[i]):
                upper_items[k] = upper[i]
                lower_items[k] = lower[begin + j]
                blocks[k] = block
                k += 1


@njit(cache=True, nogil=True)
def share_cut(scores, caps, width, low, cut, high):
    """The q at which the sum of cap_j clip((s_j - q) / width + 1/2, 0, 1) is one.

    The sum falls with q, in pieces: Newton's method inside a bracket that halves when it would be left.
    """
    for _ in range(200):
        total = 0.0
        inside = 0.0
        for j in range(len(scores)):
            part = (scores[j] - cut) / width + 0.5
            if part >= 1.0:
                total += caps[j]
            elif part > 0.0:
                total += caps[j] * part
                inside += caps[j]
        if total > 1.0:
            low = cut
        else:
            high = cut
        if abs(total - 1.0) <= 1e-14:
            break
        following = cut + (total - 1.0) * width / inside if inside > 0.0 else low
        if not low < following < high:
            following = 0.5 * (low + high)
        if not low < following < high:
            break
        cut = following
    return cut
