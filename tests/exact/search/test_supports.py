"""Supports: every set of columns is looked at once, best first, and nothing above the bounds is left out."""

import itertools

import numpy as np
import pytest

from toprank.exact.search.supports import Support, SupportTree


def test_every_set_of_columns_is_below_exactly_one_waiting_support():
    """Whatever is searched in whatever order, waiting supports and searched sets partition all sets."""
    rng = np.random.default_rng(10)
    d = 5
    tree = SupportTree(d, 0.1, 10.0)
    everything = {frozenset(s) for k in range(1, d + 1) for s in itertools.combinations(range(d), k)}
    searched = []
    for _ in range(12):
        support = tree.waiting.pop(int(rng.integers(len(tree.waiting))))
        tree.branch(support, 5.0)
        searched.append(frozenset(support.columns.tolist()))
        below = []
        for waiting in tree.waiting:
            columns = waiting.columns.tolist()
            must, may = columns[: waiting.kept], columns[waiting.kept :]
            for k in range(len(may) + 1):
                below += [
                    frozenset([*must, *extra]) for extra in itertools.combinations(may, k) if must or extra
                ]
        assert sorted(map(sorted, [*searched, *below])) == sorted(map(sorted, everything))


def test_without_a_price_the_whole_set_is_the_only_one():
    tree = SupportTree(4, 0.0, 7.0)
    support = tree.pop()
    assert support.columns.tolist() == [0, 1, 2, 3]
    assert support.price(0.0) == 0.0
    tree.branch(support, 6.5)
    assert tree.waiting == []
    assert tree.settled == 6.5
    assert tree.bound == -np.inf


@pytest.mark.parametrize("seed", range(10))
def test_bounds_hold_for_every_set_below(seed):
    """With any statistic that grows with the set, no set is worth more than what waits above it says."""
    rng = np.random.default_rng(seed)
    d, penalty = 4, 0.3
    sets = [frozenset(s) for k in range(1, d + 1) for s in itertools.combinations(range(d), k)]
    own = {chosen: rng.random() for chosen in sets}
    reach = {chosen: max(own[part] for part in sets if part <= chosen) for chosen in sets}
    worth = {chosen: reach[chosen] - penalty * len(chosen) for chosen in sets}
    tree = SupportTree(d, penalty, 1.0)
    while tree.waiting:
        assert max(tree.settled, tree.bound) >= max(worth.values()) - 1e-12
        support = tree.pop()
        assert all(support.bound >= other.bound for other in tree.waiting)
        tree.branch(support, reach[frozenset(support.columns.tolist())])
    assert tree.settled == pytest.approx(max(worth.values()))


def test_what_cannot_reach_the_target_is_dropped_and_the_rest_kept():
    tree = SupportTree(2, 0.5, bound=3.0)
    tree.branch(tree.pop(), statistic=2.5)
    tree.drop(2.0)
    assert len(tree.waiting) == 2
    tree.drop(2.1)
    assert tree.waiting == []


def test_a_tree_comes_back_from_plain_text_with_the_one_being_searched_last():
    tree = SupportTree(3, 0.1, bound=5.0)
    tree.branch(tree.pop(), statistic=4.0)
    current = tree.pop()
    again = SupportTree(3, 0.1, bound=9.0)
    again.restore(tree.to_plain(current))
    assert again.settled == tree.settled
    assert [(s.columns.tolist(), s.kept, s.bound) for s in again.waiting] == [
        (s.columns.tolist(), s.kept, s.bound) for s in [*tree.waiting, current]
    ]
    assert Support(np.array([0, 1]), 2, 1.0).price(0.25) == 0.5
