"""Compiled growth of trees for more than two labels: tournaments of adjacent levels, and medians.

Symbols as in `_kernels`. ``levels[row]`` is the number of a row's level (or the rank of its response),
counted from the lowest, ``unit[level]`` one over the weight of all rows of a level, ``held[node, level]`` the
share of a level that a node holds. ``reached[k]`` is the sum over chains of the levels below k, one row of
each, of the product of their shares where they are in the right order, among the leaves passed from the worst
on; the last one is the VUS. Passing a leaf is linear in it, so what the better leaves make of it is a vector
to multiply with: `suffix`.
"""

import numpy as np

from toprank.compiled import njit
from toprank.trees._kernels import best_split, mixed, part_rows, sort_codes

ROUNDING = 1e-12
"""Gains below this are none."""


@njit(cache=True, nogil=True)
def times(a, b):
    """The sum of the products."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def pass_leaf(reached, held):
    """Let all chains go on with the rows of a leaf; L tied rows are in the right order in one of L! cases."""
    for k in range(len(held) - 1, -1, -1):
        # From the highest level down, so that lower ones still have their old values.
        product = 1.0
        total = 0.0
        for c in range(k, -1, -1):
            if held[c] <= 0.0:
                break
            product *= held[c] / (k - c + 1.0)
            total += product * reached[c]
        reached[k + 1] += total


@njit(cache=True, nogil=True)
def pull_leaf(after, held):
    """The same the other way round: what all better leaves make of chains before they pass this one."""
    for c in range(len(held)):
        product = 1.0
        for k in range(c, len(held)):
            if held[k] <= 0.0:
                break
            product *= held[k] / (k - c + 1.0)
            after[c] += product * after[k + 1]


@njit(cache=True, nogil=True)
def pull_line(line, held, suffix):
    """What the leaves better than each one make of chains, the leaves from best to worst."""
    suffix[0] = 0.0
    suffix[0, -1] = 1.0
    for place in range(len(line)):
        suffix[place + 1] = suffix[place]
        pull_leaf(suffix[place + 1], held[line[place]])


@njit(cache=True, nogil=True)
def pairs_gained(left, right):
    """Sum over pairs of levels of twice the AUC that ranking one part above the other gains."""
    total = 0.0
    below_left = 0.0
    below_right = 0.0
    for k in range(len(left)):
        total += left[k] * below_right - right[k] * below_left
        below_left += left[k]
        below_right += right[k]
    return total


@njit(cache=True, nogil=True)
def ask_pair(rows, weight, levels, lower, upper, pair_rows, pair_weight, pair_label):
    """The rows of two levels, 1 for the upper; how many, and the weights of the upper and of the lower."""
    size = 0
    up = 0.0
    down = 0.0
    for i in range(len(rows)):
        level = levels[rows[i]]
        if level == lower or level == upper:  # noqa: SIM109 - no tuple in a loop over rows
            pair_rows[size] = rows[i]
            pair_weight[size] = weight[i]
            pair_label[size] = level == upper
            if level == upper:
                up += weight[i]
            else:
                down += weight[i]
            size += 1
    return size, up, down


@njit(cache=True, nogil=True)
def hold_parts(column, cut, left_first, missing_first, rows, weight, levels, unit, left, right):
    """The shares that go left and right; how many rows go to the first child."""
    left[:] = 0.0
    right[:] = 0.0
    n_first = 0
    for i in range(len(rows)):
        code = column[rows[i]]
        first = code <= cut if code > 0 else missing_first
        n_first += first
        # Summed one by one: what is left of a difference would make a level that nobody is of.
        part = left if first == left_first else right
        part[levels[rows[i]]] += weight[i] * unit[levels[rows[i]]]
    return n_first


@njit(cache=True, nogil=True)
def compete(
    codes, n_codes, rows, weight, levels, unit, held, suffix, reached, min_leaf, max_features, number,
    work, pair_rows, pair_weight, pair_label, left, right, found,
):  # fmt: skip
    """The splits that adjacent levels of a node propose, into `found`; how many there are.

    A line of `found`: gain in VUS, in pairs, feature, cut, whether the first child is the left one, whether
    missing values go there. Where rows of other levels lie between the two, both ends of the gap compete.
    """
    n_levels = len(held)
    base = reached.copy()
    pass_leaf(base, held)
    before = times(suffix, base)
    count = 0
    lower = -1
    for upper in range(n_levels):
        if held[upper] <= 0.0:
            continue
        if lower >= 0:
            size, up, down = ask_pair(rows, weight, levels, lower, upper, pair_rows, pair_weight, pair_label)
            number = mixed(number)
            gain, feature, low, high, missing_first = best_split(
                codes, n_codes, pair_rows[:size], pair_weight[:size], pair_label[:size],
                (up, down, 0.0, 0.0), -1.0, down, min_leaf if size == len(rows) else 1, max_features,
                number, work,
            )  # fmt: skip
            if feature >= 0:
                left_first = gain > 0.0
                for end in range(2 if high - 1 > low else 1):
                    cut = low if end == 0 else high - 1
                    n_first = hold_parts(
                        codes[feature], cut, left_first, missing_first, rows, weight, levels, unit, left,
                        right,
                    )  # fmt: skip
                    if min(n_first, len(rows) - n_first) < min_leaf:
                        continue
                    after = reached.copy()
                    pass_leaf(after, right)
                    pass_leaf(after, left)
                    found[count, 0] = times(suffix, after) - before
                    found[count, 1] = pairs_gained(left, right)
                    found[count, 2] = feature
                    found[count, 3] = cut
                    found[count, 4] = left_first
                    found[count, 5] = missing_first
                    count += 1
        lower = upper
    return count


@njit(cache=True, nogil=True)
def winner(found, count):
    """The best of the splits: the largest VUS, of those alike the most pairs; -1 where none gains."""
    best = -np.inf
    for k in range(count):
        best = max(best, found[k, 0])
    chosen = -1
    for k in range(count):
        if found[k, 0] >= best - ROUNDING and (chosen < 0 or found[k, 1] > found[chosen, 1] + ROUNDING):
            chosen = k
    # No chain may reach a node whose levels others hold in the wrong order: pairs tell all the same.
    if chosen >= 0 and (best > ROUNDING or (best > -ROUNDING and found[chosen, 1] > ROUNDING)):
        return chosen
    return -1


@njit(cache=True, nogil=True)
def hang(bounds, links, node, child, middle, feature, left_first, missing_first):
    """Two children below a node, the rows up to the middle in the first."""
    depth = bounds[node, 2] + 1
    bounds[child, 0], bounds[child, 1], bounds[child, 2] = bounds[node, 0], middle, depth
    bounds[child + 1, 0], bounds[child + 1, 1], bounds[child + 1, 2] = middle, bounds[node, 1], depth
    links[node, 0], links[node, 1] = feature, child
    links[node, 2], links[node, 3] = missing_first, left_first


@njit(cache=True, nogil=True)
def class_masses(weight, label):
    """The weight of the rows labelled 1, and of the others."""
    up = 0.0
    down = 0.0
    for i in range(len(weight)):
        if label[i] == 1:
            up += weight[i]
        else:
            down += weight[i]
    return up, down


@njit(cache=True, nogil=True)
def part_node(
    codes, cuts, cut_start, rows, weight, levels, unit, bounds, held, links, thresholds,
    node, child, split, dummy, spare_rows, spare_weight, spare_label, left, right,
):  # fmt: skip
    """Split a node as a line of `found` says."""
    start, stop = bounds[node, 0], bounds[node, 1]
    feature, cut = np.int64(split[2]), np.int64(split[3])
    left_first, missing_first = split[4] > 0.0, split[5] > 0.0
    hold_parts(
        codes[feature], cut, left_first, missing_first, rows[start:stop], weight[start:stop], levels,
        unit, left, right,
    )  # fmt: skip
    n_first = part_rows(
        codes[feature], cut, missing_first, rows[start:stop], weight[start:stop], dummy[start:stop],
        spare_rows, spare_weight, spare_label,
    )[0]  # fmt: skip
    hang(bounds, links, node, child, start + n_first, feature, left_first, missing_first)
    held[child if left_first else child + 1] = left
    held[child + 1 if left_first else child] = right
    thresholds[node] = cuts[cut_start[feature] + cut]


@njit(cache=True, nogil=True)
def tournament_round(
    codes, n_codes, cuts, cut_start, rows, weight, levels, unit,
    bounds, held, links, thresholds, gains, line, next_line, suffix, reached, state,
    min_leaf, max_features, seed, budget, work,
    pair_rows, pair_weight, pair_label, dummy, spare_rows, spare_weight, spare_label, left, right, found,
):  # fmt: skip
    """Split the leaves of one depth from the worst to the best until so many codes were looked at.

    line : all leaves, best first; next_line : those of the next depth, worst first
    state : leaves of the line still to look at, length of the next line, number of nodes, depth
    Returns True when the line is done.
    """
    used = 0
    while state[0] > 0:
        if used > budget:
            return False
        state[0] -= 1
        place = state[0]
        node = line[place]
        start, stop, depth = bounds[node, 0], bounds[node, 1], bounds[node, 2]
        chosen = -1
        if depth == state[3] and stop - start >= 2 * min_leaf:
            used += (stop - start) * max_features
            count = compete(
                codes, n_codes, rows[start:stop], weight[start:stop], levels, unit, held[node],
                suffix[place], reached, min_leaf, max_features, np.uint64(seed) ^ mixed(np.uint64(node)),
                work, pair_rows, pair_weight, pair_label, left, right, found,
            )  # fmt: skip
            chosen = winner(found, count)
        if chosen < 0:
            pass_leaf(reached, held[node])
            next_line[state[1]] = node
            state[1] += 1
            continue
        child = state[2]
        state[2] += 2
        part_node(
            codes, cuts, cut_start, rows, weight, levels, unit, bounds, held, links, thresholds,
            node, child, found[chosen], dummy, spare_rows, spare_weight, spare_label, left, right,
        )  # fmt: skip
        gains[node] = max(found[chosen, 0], 0.0)
        better, worse = (child, child + 1) if links[node, 3] else (child + 1, child)
        pass_leaf(reached, held[worse])
        pass_leaf(reached, held[better])
        next_line[state[1]], next_line[state[1] + 1] = worse, better
        state[1] += 2
    return True


@njit(cache=True, nogil=True)
def sort_rows(rows, levels, keys):
    """Places of the rows by rising level, as keys: the level, then the place in the lower half."""
    for i in range(len(rows)):
        keys[i] = (levels[rows[i]] << 32) | i
    sort_codes(keys, len(rows))


@njit(cache=True, nogil=True)
def above_median(rows, weight, levels, label, keys):
    """Label the rows above the median of their levels 1, the others 0, by weight; False where all are alike.

    Where the median is the highest level, that one is above.
    """
    size = len(rows)
    sort_rows(rows, levels, keys)
    highest = keys[size - 1] >> 32
    if keys[0] >> 32 == highest:
        return False
    half = 0.0
    for i in range(size):
        half += 0.5 * weight[i]
    mass = 0.0
    median = highest
    for k in range(size):
        mass += weight[keys[k] & 0xFFFFFFFF]
        if mass >= half:
            median = keys[k] >> 32
            break
    least = median if median == highest else median + 1
    for i in range(size):
        label[i] = levels[rows[i]] >= least
    return True


@njit(cache=True, nogil=True)
def pairs_in_order(rows, weight, n_first, levels, keys):
    """Weight of the pairs that ranking the first rows above the others puts in order, less the rest's."""
    size = len(rows)
    sort_rows(rows, levels, keys)
    first_below = 0.0
    other_below = 0.0
    total = 0.0
    begin = 0
    while begin < size:
        level = keys[begin] >> 32
        first = 0.0
        other = 0.0
        while begin < size and keys[begin] >> 32 == level:
            i = keys[begin] & 0xFFFFFFFF
            if i < n_first:
                first += weight[i]
            else:
                other += weight[i]
            begin += 1
        total += first * other_below - other * first_below
        first_below += first
        other_below += other
    return total


@njit(cache=True, nogil=True)
def middle_cut(cuts, low, high):
    """Half-way between two cuts; minus infinity, which only missing values are below, stays."""
    return cuts[low] + 0.5 * (cuts[high] - cuts[low]) if cuts[low] > -np.inf else cuts[low]


@njit(cache=True, nogil=True)
def grow_medians(
    codes, n_codes, cuts, cut_start, rows, weight, levels, label,
    bounds, links, thresholds, gains, state,
    max_depth, min_leaf, max_features, seed, comparable, budget, work,
    spare_rows, spare_weight, spare_label,
):  # fmt: skip
    """Split waiting nodes at their medians until none is left or so many codes were looked at.

    Arguments as of `_kernels.grow`; gains are shares of all pairs with different labels.
    """
    used = 0
    while state[0] < state[1]:
        if used > budget:
            return False
        node = state[0]
        state[0] += 1
        start, stop, depth = bounds[node, 0], bounds[node, 1], bounds[node, 2]
        size = stop - start
        links[node, 0] = links[node, 1] = links[node, 2] = links[node, 3] = -1
        if depth >= max_depth or size < 2 * min_leaf:
            continue
        if not above_median(rows[start:stop], weight[start:stop], levels, label[start:stop], work[2]):
            continue
        used += size * max_features
        up, down = class_masses(weight[start:stop], label[start:stop])
        gain, feature, low, high, missing_first = best_split(
            codes, n_codes, rows[start:stop], weight[start:stop], label[start:stop],
            (up, down, 0.0, 0.0), -1.0, down, min_leaf, max_features,
            np.uint64(seed) ^ mixed(np.uint64(node)), work,
        )  # fmt: skip
        if feature < 0:
            continue
        n_first = part_rows(
            codes[feature], low, missing_first, rows[start:stop], weight[start:stop], label[start:stop],
            spare_rows, spare_weight, spare_label,
        )[0]  # fmt: skip
        middle = start + n_first
        left_first = gain > 0.0
        ordered = pairs_in_order(rows[start:stop], weight[start:stop], n_first, levels, work[2])
        ordered = (ordered if left_first else -ordered) / comparable
        if ordered <= ROUNDING:
            continue
        child = state[1]
        state[1] += 2
        hang(bounds, links, node, child, middle, feature, left_first, missing_first)
        thresholds[node] = middle_cut(cuts, cut_start[feature] + low, cut_start[feature] + high - 1)
        gains[node] = ordered
    return True
