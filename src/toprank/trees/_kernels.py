"""Compiled growth of ranking trees, and walks down them.

Symbols: a row has a code for each feature, ``codes[feature, row]``, which rises with its value; 0 stands for
a missing one. ``cuts[cut_start[feature] + c]`` lies between the values of code c and of code c + 1. Rows of a
node are ``rows[start:stop]``, `weight` and `label` go along in the same order. Weights of positives and
negatives are `up` and `down`; ``up_before`` and ``down_before`` those of the leaves left of a node, which
are ranked above it. A split sends codes up to c to the first child and the others to the second; the better
of the two is the left one.

Nodes wait in the order they were made, so that the same seed gives the same tree.
"""

import numpy as np

from toprank.compiled import njit

LEAST_GAIN = 1e-10
"""Below this share of all a split could gain there is nothing but rounding."""
SURELY = 1.0 + 1e-10
"""A split is better by more than rounding, so that the first of equally good ones is taken everywhere."""
INSERTION = 24
"""Fewer codes than this are sorted by insertion."""
ROWS_AT_ONCE = 2048


@njit(cache=True, nogil=True)
def mixed(number):
    """A 64-bit number that looks random, from another (splitmix64; Steele, Lea & Flood 2014)."""
    z = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def local_pairs(up, down, up_before, down_before, top, all_down):
    """Pairs whose positive is in a leaf and within the top, and is above the negative; ties count half."""
    mass = up + down
    inside = min(max(top - up_before - down_before, 0.0), mass)
    if inside <= 0.0 or up <= 0.0:
        return 0.0
    above = 0.0
    if mass > 1.0 and inside > 1.0:
        above = 0.5 * (inside - 1.0) * down / (mass - 1.0)
    return inside * up / mass * (all_down - down_before - above)


@njit(cache=True, nogil=True)
def split_gain(up, down, node_up, node_down, up_before, down_before, top, all_down):
    """Twice the pairs gained by ranking a part of a node above the rest; below zero, the other way round.

    The pairs are those of the AUC or, where `top` is not negative, of the local AUC at the top.
    """
    if top < 0.0:
        return node_down * up - node_up * down
    rest_up = node_up - up
    rest_down = node_down - down
    tied = local_pairs(node_up, node_down, up_before, down_before, top, all_down)
    first = local_pairs(up, down, up_before, down_before, top, all_down)
    first += local_pairs(rest_up, rest_down, up_before + up, down_before + down, top, all_down)
    second = local_pairs(rest_up, rest_down, up_before, down_before, top, all_down)
    second += local_pairs(up, down, up_before + rest_up, down_before + rest_down, top, all_down)
    if first >= second:
        return max(2.0 * (first - tied), 0.0)
    return min(2.0 * (tied - second), 0.0)


@njit(cache=True, nogil=True)
def sort_codes(keys, size):
    """Sort the first keys in place."""
    if size > INSERTION:
        keys[:size].sort()
        return
    for i in range(1, size):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@njit(cache=True, nogil=True)
def tally(column, n_codes, rows, weight, label, sums, keys, listed):
    """The weights of both classes and the rows of each code in a node; how many codes there are.

    `listed` gets the codes, rising; `sums` has a line for each of them. A node with few rows is sorted, one
    with many is counted.
    """
    size = len(rows)
    found = 0
    if size * 8 < n_codes:
        for i in range(size):
            keys[i] = (np.int64(column[rows[i]]) << 32) | i
        sort_codes(keys, size)
        last = -1
        for k in range(size):
            code = keys[k] >> 32
            i = keys[k] & 0xFFFFFFFF
            if code != last:
                last = code
                listed[found] = code
                sums[found, 0] = sums[found, 1] = sums[found, 2] = 0.0
                found += 1
            sums[found - 1, label[i]] += weight[i]
            sums[found - 1, 2] += 1.0
        return found
    sums[:n_codes] = 0.0
    for i in range(size):
        code = column[rows[i]]
        sums[code, label[i]] += weight[i]
        sums[code, 2] += 1.0
    for code in range(n_codes):
        if sums[code, 2] > 0.0:
            listed[found] = code
            if found < code:
                sums[found, 0] = sums[code, 0]
                sums[found, 1] = sums[code, 1]
                sums[found, 2] = sums[code, 2]
            found += 1
    return found


@njit(cache=True, nogil=True)
def best_cut(sums, listed, found, size, min_leaf, node, top, all_down, best):
    """The cut with the largest gain beyond `best`: gain, code below, code above, whether missing is below.

    A code below of -1 says that there is none.
    """
    node_up, node_down, up_before, down_before = node
    low = high = -1
    gain = best
    missing_low = True
    for way in range(2 if listed[0] == 0 else 1):
        up = 0.0
        down = 0.0
        count = 0.0
        for k in range(way, found - 1):
            down += sums[k, 0]
            up += sums[k, 1]
            count += sums[k, 2]
            if count < min_leaf:
                continue
            if size - count < min_leaf:
                break
            here = split_gain(up, down, node_up, node_down, up_before, down_before, top, all_down)
            if abs(here) > SURELY * abs(gain):
                gain = here
                low = listed[k]
                high = listed[k + 1]
                # Where none was missing, a missing value goes with the larger part.
                missing_low = way == 0 if listed[0] == 0 else 2.0 * count >= size
    return gain, low, high, missing_low


@njit(cache=True, nogil=True)
def best_split(
    codes, n_codes, rows, weight, label, node, top, all_down, min_leaf, max_features, number, work
):
    """The best cut over as many features as are looked at: gain, feature, codes around it, missing below.

    A feature that is constant in the node does not count as looked at. `features`, the second of the arrays
    to work in, is any order of all features; drawing some only stirs it further.
    """
    (sums, features, keys, listed) = work
    n_features = len(codes)
    gain = LEAST_GAIN * node[0] * node[1]
    feature = low = high = -1
    missing_low = True
    looked = 0
    for k in range(n_features):
        if looked >= max_features:
            break
        if max_features < n_features:
            number = mixed(number)
            other = k + np.int64(number % np.uint64(n_features - k))
            features[k], features[other] = features[other], features[k]
        f = features[k]
        found = tally(codes[f], n_codes[f], rows, weight, label, sums, keys, listed)
        if found < 2:
            continue
        looked += 1
        here, below, above, with_missing = best_cut(
            sums, listed, found, len(rows), min_leaf, node, top, all_down, gain
        )
        if below >= 0:
            gain, feature, low, high, missing_low = here, f, below, above, with_missing
    return gain, feature, low, high, missing_low


@njit(cache=True, nogil=True)
def part_rows(column, low, missing_low, rows, weight, label, spare_rows, spare_weight, spare_label):
    """Rows up to a code before the others, else in the order they had.

    Returns how many those are, and the weights of the positives and negatives before and after.
    """
    n_low = n_high = 0
    low_up = low_down = high_up = high_down = 0.0
    for i in range(len(rows)):
        code = column[rows[i]]
        if code <= low if code > 0 else missing_low:
            if label[i] == 1:
                low_up += weight[i]
            else:
                low_down += weight[i]
            rows[n_low] = rows[i]
            weight[n_low] = weight[i]
            label[n_low] = label[i]
            n_low += 1
        else:
            if label[i] == 1:
                high_up += weight[i]
            else:
                high_down += weight[i]
            spare_rows[n_high] = rows[i]
            spare_weight[n_high] = weight[i]
            spare_label[n_high] = label[i]
            n_high += 1
    for i in range(n_high):
        rows[n_low + i] = spare_rows[i]
        weight[n_low + i] = spare_weight[i]
        label[n_low + i] = spare_label[i]
    return n_low, low_up, low_down, high_up, high_down


@njit(cache=True, nogil=True)
def grow(
    codes, n_codes, cuts, cut_start, rows, weight, label,
    bounds, masses, links, thresholds, gains, state,
    max_depth, min_leaf, max_features, seed, top, all_down, budget,
    sums, features, keys, listed, spare_rows, spare_weight, spare_label,
):  # fmt: skip
    """Split waiting nodes until none is left or so many codes were looked at; True when none is left.

    bounds : start, stop and depth of each node
    masses : up, down, up before, down before
    links : feature (-1 in a leaf), first child, whether missing values go to it, whether it is the left one
    state : the next node to look at, and how many nodes there are
    """
    used = 0
    while state[0] < state[1]:
        if used > budget:
            return False
        node = state[0]
        state[0] += 1
        start, stop, depth = bounds[node, 0], bounds[node, 1], bounds[node, 2]
        size = stop - start
        up, down, up_before, down_before = masses[node, 0], masses[node, 1], masses[node, 2], masses[node, 3]
        links[node, 0] = links[node, 1] = links[node, 2] = links[node, 3] = -1
        if depth >= max_depth or size < 2 * min_leaf or up <= 0.0 or down <= 0.0:
            continue
        if top >= 0.0 and up_before + down_before >= top:
            continue
        used += size * max_features
        gain, feature, low, high, missing_low = best_split(
            codes, n_codes, rows[start:stop], weight[start:stop], label[start:stop],
            (up, down, up_before, down_before), top, all_down, min_leaf, max_features,
            np.uint64(seed) ^ mixed(np.uint64(node)), (sums, features, keys, listed),
        )  # fmt: skip
        if feature < 0:
            continue
        n_low, low_up, low_down, high_up, high_down = part_rows(
            codes[feature], low, missing_low, rows[start:stop], weight[start:stop], label[start:stop],
            spare_rows, spare_weight, spare_label,
        )  # fmt: skip
        child = state[1]
        state[1] += 2
        left_first = gain > 0.0
        thresholds[node] = -np.inf
        if low > 0:
            below, above = cuts[cut_start[feature] + low], cuts[cut_start[feature] + high - 1]
            thresholds[node] = below + 0.5 * (above - below)
        gains[node] = abs(gain)
        links[node, 0] = feature
        links[node, 1] = child
        links[node, 2] = missing_low
        links[node, 3] = left_first
        middle = start + n_low
        bounds[child, 0], bounds[child, 1], bounds[child, 2] = start, middle, depth + 1
        bounds[child + 1, 0], bounds[child + 1, 1], bounds[child + 1, 2] = middle, stop, depth + 1
        masses[child, 0], masses[child, 1] = low_up, low_down
        masses[child + 1, 0], masses[child + 1, 1] = high_up, high_down
        left, right = (child, child + 1) if left_first else (child + 1, child)
        masses[left, 2], masses[left, 3] = up_before, down_before
        masses[right, 2], masses[right, 3] = up_before + masses[left, 0], down_before + masses[left, 1]
    return True


@njit(cache=True, nogil=True)
def leaf_places(links, places):
    """Number the leaves from left to right: `places` of a leaf, and of a node that of its first leaf.

    Children come after their parents. Returns how many leaves there are.
    """
    n_nodes = len(links)
    leaves = np.ones(n_nodes, dtype=np.int64)
    for node in range(n_nodes - 1, -1, -1):
        if links[node, 0] >= 0:
            leaves[node] = leaves[links[node, 1]] + leaves[links[node, 1] + 1]
    places[0] = 0
    for node in range(n_nodes):
        if links[node, 0] >= 0:
            child = links[node, 1]
            left, right = (child, child + 1) if links[node, 3] else (child + 1, child)
            places[left] = places[node]
            places[right] = places[node] + leaves[left]
    return leaves[0]


@njit(cache=True, nogil=True)
def leaf_of(X, roots, links, thresholds, leaves):
    """The leaf of every row in every tree, as a node number; node numbers of a tree begin at its root."""
    for tree in range(len(roots)):
        for row in range(len(X)):
            leaves[row, tree] = descend(X, row, roots[tree], links, thresholds)


@njit(cache=True, nogil=True)
def add_values(X, roots, links, numbers, total):
    """Add to the total of every row the values of its leaves; `numbers` has thresholds and values."""
    # A few rows at a time stay in the cache while all trees look at them.
    for begin in range(0, len(X), ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, len(X))
        for tree in range(len(roots)):
            for row in range(begin, end):
                total[row] += numbers[descend(X, row, roots[tree], links, numbers)]


@njit(cache=True, nogil=True)
def shrunk_rates(links, masses, shrinkage, rates):
    """Each node's share of positives, drawn to that of its parent by so many rows."""
    rates[0] = masses[0, 0] / (masses[0, 0] + masses[0, 1])
    for node in range(len(links)):
        if links[node, 0] < 0:
            continue
        mass = masses[node, 0] + masses[node, 1]
        own = masses[node, 0] / mass
        for child in range(links[node, 1], links[node, 1] + 2):
            share = masses[child, 0] / (masses[child, 0] + masses[child, 1])
            rates[child] = rates[node] + (share - own) / (1.0 + shrinkage / mass)


@njit(cache=True, nogil=True)
def insert_rows(values, reference, places):
    """Where each row belongs among the reference rows, best first: the place that trees contradict least.

    values : a value of each row in each tree
    reference : those of the reference rows
    places : how many reference rows are above the row; the middle of the best places where there are several
    """
    n_trees = values.shape[1]
    n_reference = len(reference)
    for row in range(len(values)):
        # Cost of every place, less that of the first: passing a reference row costs the trees that put the
        # row above it and saves those that put it below.
        cost = least = 0
        first = last = 0
        for k in range(n_reference):
            for tree in range(n_trees):
                if values[row, tree] > reference[k, tree]:
                    cost += 1
                elif values[row, tree] < reference[k, tree]:
                    cost -= 1
            if cost < least:
                least = cost
                first = last = k + 1
            elif cost == least:
                last = k + 1
        places[row] = 0.5 * (first + last)


@njit(cache=True, nogil=True, inline="always")
def descend(X, row, node, links, thresholds):
    """From a node of packed trees to the leaf of a row."""
    code = links[node, 0]
    while code >= 0:
        value = X[row, code >> 1]
        if value <= thresholds[node] or (value != value and code & 1):
            node = links[node, 1]
        else:
            node = links[node, 1] + 1
        code = links[node, 0]
    return node


@njit(cache=True, nogil=True)
def subtree_sums(links, gains, total, inner):
    """For every node the gains of the splits at and below it, and how many these are."""
    for node in range(len(links) - 1, -1, -1):
        total[node] = 0.0
        inner[node] = 0
        if links[node, 0] >= 0:
            child = links[node, 1]
            total[node] = gains[node] + total[child] + total[child + 1]
            inner[node] = 1 + inner[child] + inner[child + 1]


@njit(cache=True, nogil=True)
def not_worth_it(links, gains, price, cut):
    """Mark the splits that are not in the subtree with the largest sum of gains less a price for each."""
    worth = np.zeros(len(links))
    for node in range(len(links) - 1, -1, -1):
        cut[node] = False
        if links[node, 0] >= 0:
            child = links[node, 1]
            worth[node] = gains[node] - price + worth[child] + worth[child + 1]
            if worth[node] <= 0.0:
                worth[node] = 0.0
                cut[node] = True
