"""Slow, obvious answers to compare with. Imports nothing of toprank, so it can share no mistake with it.

Three parts: every order that ties allow; the statistics of one order, written position by position or pair by
pair; and statistics under a tie policy, by trying all orders.
"""

import itertools
import math
from fractions import Fraction

# --- every order that ties allow -------------------------------------------------------------------


def tie_orders(y, scores):
    """All lists of labels, best first, that the scores allow; equally likely ones appear equally often.

    Inside a group of equal scores the distinct arrangements of the labels are equally likely, so they are
    listed once each.
    """
    groups = []
    for score in sorted(set(scores), reverse=True):
        group = [label for label, value in zip(y, scores, strict=True) if value == score]
        groups.append(sorted(set(itertools.permutations(group))))
    for parts in itertools.product(*groups):
        yield [label for part in parts for label in part]


def over_tie_orders(of_order, y, scores):
    """Lowest, mean and highest value over all orders that the scores allow."""
    values = [of_order(order) for order in tie_orders(y, scores)]
    return min(values), math.fsum(values) / len(values), max(values)


def repeat_rows(weights, *columns):
    """Each row repeated as many times as its weight says."""
    return tuple([v for v, w in zip(column, weights, strict=True) for _ in range(w)] for column in columns)


# --- statistics of one order of labels (1 positive, 0 negative), best first ------------------------


def positions(order):
    """Positions of the positives, counted from 1 at the top."""
    return [place for place, label in enumerate(order, start=1) if label == 1]


def pairs(order):
    """Positions (positive, negative) of every pair."""
    negatives = [place for place, label in enumerate(order, start=1) if label == 0]
    return list(itertools.product(positions(order), negatives))


def auc(order):
    every = pairs(order)
    return sum(i < k for i, k in every) / len(every)


def rank_statistic(contribution):
    """Sum over the positives of a_l, l the rank counted from 1 at the bottom; `contribution(l, n)` is a_l."""
    return lambda order: math.fsum(contribution(len(order) - i + 1, len(order)) for i in positions(order))


def share_of_list(percent, n):
    """Whole positions in the top `percent` of n, rounded up; exact."""
    return math.ceil(Fraction(percent) * n / 100)


def precision(depth):
    return lambda order: sum(order[: depth(len(order))]) / min(depth(len(order)), len(order))


def recall(depth):
    return lambda order: sum(order[: depth(len(order))]) / sum(order)


def lift(depth):
    return lambda order: precision(depth)(order) * len(order) / sum(order)


def dcg(depth=lambda n: n, base=2.0, gain=lambda y: y):
    def of_order(order):
        kept = order[: depth(len(order))]
        return math.fsum(gain(y) / math.log(1 + i, base) for i, y in enumerate(kept, start=1))

    return of_order


def ndcg(depth=lambda n: n, gain=lambda y: y):
    plain = dcg(depth, gain=gain)
    return lambda order: plain(order) / max(plain(list(p)) for p in set(itertools.permutations(order)))


def average_precision(order):
    return math.fsum(sum(order[:i]) / i for i in positions(order)) / sum(order)


def positives_at_top(order):
    return sum(all(k > i for j, k in pairs(order) if j == i) for i in positions(order))


def share_below(order):
    """For each negative, top first, the exact share of the positives ranked below it."""
    negatives = [place for place, label in enumerate(order, start=1) if label == 0]
    return [Fraction(sum(i > k for i in positions(order)), sum(order)) for k in negatives]


def push_loss(p):
    return lambda order: math.fsum(share**p for share in share_below(order)) / len(share_below(order))


def partial_area(low, high):
    """Integral of the staircase ROC curve from low to high, in exact arithmetic."""

    def of_order(order):
        shares = share_below(order)
        area = Fraction(0)
        for step, share in enumerate(shares):
            left = max(Fraction(step, len(shares)), Fraction(str(low)))
            right = min(Fraction(step + 1, len(shares)), Fraction(str(high)))
            area += (1 - share) * max(right - left, Fraction(0))
        return float(area)

    return of_order


def standardized(area, low, high):
    """McClish: random lists 1/2, perfect ones 1."""
    random_area, perfect_area = (high**2 - low**2) / 2, high - low
    return lambda order: (1 + (area(order) - random_area) / (perfect_area - random_area)) / 2


def normalized(of_order):
    """Divide by the highest value over all orders of the same labels."""
    return lambda order: of_order(order) / max(of_order(list(p)) for p in set(itertools.permutations(order)))


def _top(k):
    return lambda n: min(k, n)


def _top_percent(percent):
    return lambda n: share_of_list(percent, n)


def _exponential(y):
    return 2**y - 1


def _partial_rank_sum(depth):
    return rank_statistic(lambda rank, n: rank if rank > n - depth(n) else 0)


# Text form of each statistic of two classes, and its value on one order.
STATISTICS = {
    "auc": auc,
    "wilcoxon_rank_sum": rank_statistic(lambda rank, n: rank),
    "pairwise_misranking_error": lambda order: 1 - auc(order),
    "partial_auc@3": _partial_rank_sum(_top(3)),
    "partial_auc@40%": _partial_rank_sum(_top_percent(40)),
    "partial_auc@3(normalize=true)": normalized(_partial_rank_sum(_top(3))),
    "partial_auc_fpr(max_fpr=0.4)": partial_area(0, 0.4),
    "partial_auc_fpr(max_fpr=0.7,min_fpr=0.2)": partial_area(0.2, 0.7),
    "partial_auc_fpr(max_fpr=0.5,standardize=true)": standardized(partial_area(0, 0.5), 0, 0.5),
    "dcg": dcg(),
    "dcg@3": dcg(_top(3)),
    "dcg@30%": dcg(_top_percent(30)),
    "dcg(base=e)": dcg(base=math.e),
    "dcg(gain=exponential)": dcg(gain=_exponential),
    "ndcg": ndcg(),
    "ndcg@3": ndcg(_top(3)),
    "ndcg@30%": ndcg(_top_percent(30)),
    "ndcg(gain=exponential)": ndcg(gain=_exponential),
    "reciprocal_rank_sum": rank_statistic(lambda rank, n: 1 / (n - rank + 1)),
    "reciprocal_rank": lambda order: 1 / min(positions(order)),
    "winner_takes_all": rank_statistic(lambda rank, n: rank == n),
    "p_norm": rank_statistic(lambda rank, n: rank**2),
    "p_norm(p=0.5)": rank_statistic(lambda rank, n: math.sqrt(rank)),
    "p_norm(p=64,scaled=true)": rank_statistic(lambda rank, n: (rank / n) ** 64),
    "precision@1": precision(_top(1)),
    "precision@3": precision(_top(3)),
    "precision@50%": precision(_top_percent(50)),
    "recall@2": recall(_top(2)),
    "recall@30%": recall(_top_percent(30)),
    "lift@2": lift(_top(2)),
    "lift@30%": lift(_top_percent(30)),
    "average_precision": average_precision,
    "positives_at_top": positives_at_top,
    "positives_at_top(fraction=true)": lambda order: positives_at_top(order) / sum(order),
    "infinite_push_loss": lambda order: float(max(share_below(order))),
    "p_norm_push_loss": push_loss(4),
    "p_norm_push_loss(p=1)": push_loss(1),
}

LOSSES = {"pairwise_misranking_error", "infinite_push_loss", "p_norm_push_loss", "p_norm_push_loss(p=1)"}

# Text form of each statistic that also takes graded relevance.
GRADED_STATISTICS = {
    "dcg": dcg(),
    "dcg@3": dcg(_top(3)),
    "dcg@30%(gain=linear)": dcg(_top_percent(30)),
    "dcg(gain=exponential)": dcg(gain=_exponential),
    "ndcg": ndcg(),
    "ndcg@3": ndcg(_top(3)),
    "ndcg@2(gain=exponential)": ndcg(_top(2), gain=_exponential),
}


def under_ties(name, y, scores, statistics=STATISTICS):
    """Value under ties="worst", "mean" and "best", by trying every order that the scores allow."""
    lowest, mean, highest = over_tie_orders(statistics[name], y, scores)
    if name in LOSSES:
        lowest, highest = highest, lowest
    return {"worst": lowest, "mean": mean, "best": highest}


NORMALIZED = {
    "ndcg": "dcg",
    "ndcg@3": "dcg@3",
    "ndcg@30%": "dcg@30%",
    "ndcg(gain=exponential)": "dcg(gain=exponential)",
    "partial_auc@3(normalize=true)": "partial_auc@3",
}


def longer_order(name, order):
    """A statistic of one order of two classes, where all orders are too many to look for the best among."""
    if name not in NORMALIZED:
        return STATISTICS[name](order)
    plain = STATISTICS[NORMALIZED[name]]
    return plain(order) / plain(sorted(order, reverse=True))


# --- statistics by all pairs, sample weights and all -----------------------------------------------


def weighted_auc(y, scores, weights, tie_credit):
    """Weighted share of the positive-negative pairs in the right order, ties worth `tie_credit`."""
    won = total = 0.0
    for (yi, si, wi), (yk, sk, wk) in itertools.permutations(zip(y, scores, weights, strict=True), 2):
        if yi == 1 and yk == 0:
            total += wi * wk
            won += wi * wk * (1.0 if si > sk else tie_credit if si == sk else 0.0)
    return won / total


def mass_sum(y, weights, depth, density):
    """Integral of label times density up to the depth, items of the given weights laid end to end.

    Items are in order, best first; the density is constant on each cell [j, j + 1).
    """
    total = start = 0.0
    for label, weight in zip(y, weights, strict=True):
        stop = start + weight
        for cell in range(int(start), math.ceil(stop)):
            overlap = min(stop, cell + 1, depth) - max(start, cell)
            total += label * max(overlap, 0.0) * density(cell)
        start = stop
    return total
