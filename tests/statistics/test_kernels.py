"""Kernels by themselves, on lists so short that every pair and every order of tied items can be looked at."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

from toprank.statistics import _kernels, _pair_kernels, _query_kernels

WORST, MEAN, BEST = 0, 1, 2
GROUPS = [
    [(1, 1)],
    [(2, 1), (1, 2)],
    [(0, 2), (2, 2), (1, 0)],
    [(3, 0), (1, 3), (0, 1), (2, 1)],
]
"""Tied positives and negatives, best first."""


def orders(groups):
    """Every list, as letters, that some order of tied items gives; each as likely as any other."""
    tied = [sorted({*permutations("p" * P + "n" * N)}) for P, N in groups]
    return [sum(parts, ()) for parts in product(*tied)]


def mean_over_orders(groups, value):
    return np.mean([value(one) for one in orders(groups)])


def arrays(groups):
    return np.array(groups, dtype=float).T.copy()


@pytest.mark.parametrize("groups", GROUPS)
def test_area_between(groups):
    """Positives above each negative passed; of a negative only a part may lie between the limits."""
    n_neg = sum(N for _, N in groups)

    def area(one, low, high):
        above = [one[:i].count("p") for i, letter in enumerate(one) if letter == "n"]
        return sum(max(0.0, min(high, k + 1) - max(low, k)) * above[k] for k in range(n_neg))

    for low, high in combinations(np.arange(0.0, n_neg + 0.1, 0.3), 2):
        found = _kernels.area_between(*arrays(groups), low, high)
        assert found == pytest.approx(mean_over_orders(groups, lambda one: area(one, low, high)))  # noqa: B023


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("p", [1.0, 3.0])
def test_push(groups, p):
    n_pos = sum(P for P, _ in groups)

    def value(one):
        below = [one[i:].count("p") for i, letter in enumerate(one) if letter == "n"]
        return sum((count / n_pos) ** p for count in below)

    assert _kernels.push(*arrays(groups), float(n_pos), p) == pytest.approx(mean_over_orders(groups, value))


@pytest.mark.parametrize("groups", GROUPS)
def test_local_pairs(groups):
    n_neg = sum(N for _, N in groups)
    size = sum(P + N for P, N in groups)
    for depth in range(size + 1):
        found = _pair_kernels.local_pairs(*arrays(groups), float(n_neg), float(depth))
        inside = mean_over_orders(
            groups,
            lambda one: sum(one[i + 1 :].count("n") for i in range(depth) if one[i] == "p"),  # noqa: B023
        )
        assert found == pytest.approx(inside)


def plain_groups(positive, scores, masses, policy):
    """Groups best first; in two where the policy says which class comes first; neighbours of a class join."""
    found = []
    for score in sorted({*scores}, reverse=True):
        tied = [i for i in range(len(scores)) if scores[i] == score]
        P = sum(masses[i] for i in tied if positive[i])
        N = sum(masses[i] for i in tied if not positive[i])
        parts = [(P, N)] if policy == MEAN or 0 in (P, N) else [(P, 0.0), (0.0, N)]
        for one in parts if policy == BEST else parts[::-1]:
            if found and any(one[c] == found[-1][c] == 0 for c in (0, 1)):
                one = (one[0] + found[-1][0], one[1] + found.pop()[1])
            found.append(one)
    return found


@pytest.mark.parametrize("policy", [WORST, MEAN, BEST])
def test_groups(policy):
    rng = np.random.default_rng(policy)
    for n in (2, 3, 5, 8, 8, 8, 12, 12):
        positive = np.concatenate(([True, False], rng.random(n - 2) < 0.5))
        scores = rng.integers(0, n // 2 + 1, n).astype(float)
        merged = _kernels.merge_groups(np.sort(scores[positive]), np.sort(scores[~positive]), policy)
        expected = plain_groups(positive, scores, np.ones(n), policy)
        np.testing.assert_array_equal(np.transpose(merged), expected)
        order = np.argsort(-scores, kind="stable")
        masses = rng.integers(1, 5, n) / 4.0
        weighed = _kernels.group_masses(positive[order], scores[order], masses[order], policy)
        np.testing.assert_allclose(np.transpose(weighed), plain_groups(positive, scores, masses, policy))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 17, 40])
def test_counts_of_pairs(n):
    """Wrong order, equal scores, equal labels, both equal: every pair looked at."""
    rng = np.random.default_rng(n)
    for _ in range(5):
        scores = np.sort(rng.integers(0, max(2, n // 3), n)).astype(float)
        labels = rng.integers(0, 4, n)
        pairs = list(combinations(range(n), 2))
        expected = (
            sum(scores[i] < scores[j] and labels[i] > labels[j] for i, j in pairs),
            sum(scores[i] == scores[j] for i, j in pairs),
            sum(labels[i] == labels[j] for i, j in pairs),
            sum(scores[i] == scores[j] and labels[i] == labels[j] for i, j in pairs),
        )
        assert _pair_kernels.count_pairs(labels.astype(float), scores) == expected
        assert _pair_kernels.count_level_pairs(labels, scores, 4) == expected


@pytest.mark.parametrize("n", [1, 2, 6, 15])
def test_sums_over_pairs(n):
    rng = np.random.default_rng(n)
    for levels_there in (2, 5):
        scores, levels = rng.integers(0, 4, n).astype(float), rng.integers(0, levels_there, n)
        order = np.lexsort((levels, scores))
        scores, levels = scores[order], levels[order]
        upper, lower = rng.integers(0, 4, (2, n)) / 2.0
        pairs = [(i, j) for i in range(n) for j in range(n) if levels[i] > levels[j]]
        found = _pair_kernels.pair_sums(levels, scores, upper, lower, levels_there)
        assert found == pytest.approx(
            (
                sum(upper[i] * lower[j] for i, j in pairs if scores[i] > scores[j]),
                sum(upper[i] * lower[j] for i, j in pairs if scores[i] == scores[j]),
            )
        )


def test_a_list_without_ties_is_placed_and_one_with_ties_is_not():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 9):
        scores, values = rng.permutation(n) / 4.0, rng.normal(size=n)
        to_scores, to_values = np.empty(n), np.empty(n)
        assert _query_kernels._place(scores, values, 0, n, to_scores, to_values)
        np.testing.assert_array_equal(to_scores, np.sort(scores)[::-1])
        np.testing.assert_array_equal(to_values, values[np.argsort(-scores)])
        if n > 1:
            scores[0] = scores[1]
            assert not _query_kernels._place(scores, values, 0, n, to_scores, to_values)
