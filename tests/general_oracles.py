"""Slow, obvious definitions for ordinal and real labels; imports nothing of the package.

Every function named after a statistic takes the labels in order, best first, and loops over pairs, chains or
thresholds as the formula says. `over_tie_orders` lists the value under every order of the tied items.
"""

import itertools
import math
from fractions import Fraction


def over_tie_orders(value_of_order, y, scores):
    """Values of all orders that the scores allow, each order of the items once."""
    levels = sorted(set(scores), reverse=True)
    groups = [[label for label, score in zip(y, scores, strict=True) if score == level] for level in levels]
    return [
        value_of_order([label for group in arranged for label in group])
        for arranged in itertools.product(*(itertools.permutations(group) for group in groups))
    ]


def wrong_pairs(ranked):
    return sum(a < b for a, b in itertools.combinations(ranked, 2))


def right_pairs(ranked):
    return sum(a > b for a, b in itertools.combinations(ranked, 2))


def hard_loss(ranked):
    return wrong_pairs(ranked) / math.comb(len(ranked), 2)


def hard_loss_standardized(ranked):
    return wrong_pairs(ranked) / (wrong_pairs(ranked) + right_pairs(ranked))


def tau_a(ranked):
    return (right_pairs(ranked) - wrong_pairs(ranked)) / math.comb(len(ranked), 2)


def tau_b(ranked):
    different = right_pairs(ranked) + wrong_pairs(ranked)
    return (right_pairs(ranked) - wrong_pairs(ranked)) / math.sqrt(math.comb(len(ranked), 2) * different)


def spearman(ranked):
    """Pearson's correlation, in fractions but for the root, of places from the bottom and mid-ranks."""
    n = len(ranked)
    places = [Fraction(n - position) for position in range(n)]
    ranks = [Fraction(sum(x < y for x in ranked)) + Fraction(ranked.count(y) + 1, 2) for y in ranked]
    middle = Fraction(n + 1, 2)
    together = sum((p - middle) * (r - middle) for p, r in zip(places, ranks, strict=True))
    spread = sum((p - middle) ** 2 for p in places) * sum((r - middle) ** 2 for r in ranks)
    return float(together) / math.sqrt(spread)


def c_index(ranked):
    return right_pairs(ranked) / (right_pairs(ranked) + wrong_pairs(ranked))


def ordinal_auc(ranked):
    levels = sorted(set(ranked))
    areas = [c_index([x for x in ranked if x in pair]) for pair in itertools.combinations(levels, 2)]
    return sum(areas) / len(areas)


def waegeman_w(ranked):
    levels = sorted(set(ranked), reverse=True)
    places = [[i for i, label in enumerate(ranked) if label == level] for level in levels]
    chains = list(itertools.product(*places))
    return sum(list(chain) == sorted(chain) for chain in chains) / len(chains)


def integrated_auc(ranked):
    if len(set(ranked)) == 2:
        return c_index(ranked)
    areas = []
    for threshold in ranked:
        sides = [label > threshold for label in ranked if label != threshold]
        if any(sides) and not all(sides):
            areas.append(c_index(sides))
    return sum(areas) / len(areas)


def missed(ranked, k):
    """Fewest of the best k missing from the first k, over all ways to settle ties among the best k labels."""
    n = len(ranked)
    k = min(k, n)
    best_total = sum(sorted(ranked, reverse=True)[:k])
    choices = [c for c in itertools.combinations(range(n), k) if sum(ranked[i] for i in c) == best_total]
    return min(sum(i >= k for i in choice) for choice in choices)


def weak_loss(ranked, k):
    return 2 * missed(ranked, k) / len(ranked)


def weak_loss_standardized(ranked, k):
    return missed(ranked, k) / min(k, len(ranked))


def top_gain(ranked, k):
    k, mean = min(k, len(ranked)), sum(ranked) / len(ranked)
    best = sum(sorted(ranked)[::-1][:k]) / k
    return 1.0 if k == len(ranked) else (sum(ranked[:k]) / k - mean) / (best - mean)


def localized_loss(ranked, k):
    n = len(ranked)
    k = min(k, n)
    return (n - k) / n * weak_loss(ranked, k) + 2 / (n * (n - 1)) * wrong_pairs(ranked[:k])


def localized_loss_as_printed(ranked, k):
    """With n- the number of items of the lower class."""
    n = len(ranked)
    k = min(k, n)
    n_neg = ranked.count(min(ranked))
    return n_neg / n * weak_loss(ranked, k) + 2 / (n * (n - 1)) * wrong_pairs(ranked[:k])


def localized_loss_standardized(ranked, k):
    n = len(ranked)
    k = min(k, n)
    return localized_loss(ranked, k) / ((n - k) / n * 2 * k / n + k * (k - 1) / (n * (n - 1)))


def local_auc(ranked, k):
    """Share of positive-negative pairs whose positive is among the first k and before the negative."""
    positive = [label == max(ranked) for label in ranked]
    pairs = [
        (i, j) for i in range(len(ranked)) for j in range(len(ranked)) if positive[i] and not positive[j]
    ]
    return sum(i < j and i < k for i, j in pairs) / len(pairs)


def harrell(times, scores, event, tie):
    """Concordance of comparable pairs: the shorter time was seen; at equal times a censored one is longer."""
    comparable = right = 0.0
    for i, j in itertools.permutations(range(len(times)), 2):
        if event[i] and (times[i] < times[j] or (times[i] == times[j] and not event[j])):
            comparable += 1
            right += 1 if scores[i] < scores[j] else tie if scores[i] == scores[j] else 0
    return right / comparable if comparable else None
