"""`consensus`: against all orders, partial and weighted rankings, and what is called exact."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toprank
from toprank import consensus


def kendall_cost(order, rankings, weights):
    """Pairs of the order that a ranking has the other way round, one by one."""
    cost = 0.0
    for ranking, weight in zip(rankings, weights, strict=True):
        for a, b in itertools.combinations(order, 2):
            cost += weight * (ranking[b] < ranking[a])
    return cost


PLACE = st.one_of(st.integers(1, 4).map(float), st.just(float("nan")))


@st.composite
def opinions(draw):
    n_items = draw(st.integers(1, 6))
    rankings = draw(st.lists(st.lists(PLACE, min_size=n_items, max_size=n_items), min_size=1, max_size=5))
    weights = draw(st.lists(st.integers(0, 3), min_size=len(rankings), max_size=len(rankings)))
    return rankings, weights


@given(opinions())
def test_kemeny_is_the_best_of_all_orders(case):
    rankings, weights = case
    found = consensus(rankings, weights)
    items = range(len(rankings[0]))
    best = min(kendall_cost(order, rankings, weights) for order in itertools.permutations(items))
    assert sorted(found.order) == list(items)
    assert found.exact
    assert found.cost == pytest.approx(best)
    assert found.cost == pytest.approx(kendall_cost(found.order, rankings, weights))
    assert found.bound == pytest.approx(best)


@pytest.mark.parametrize("seed", range(6))
def test_seven_items_and_no_agreement(seed):
    rng = np.random.default_rng(seed)
    rankings = np.array([rng.permutation(7) for _ in range(5)])
    weights = rng.uniform(0.5, 2, 5)
    best = min(kendall_cost(order, rankings, weights) for order in itertools.permutations(range(7)))
    for method in ("auto", "exact"):
        found = consensus(rankings, weights, method=method)
        assert found.exact
        assert found.cost == pytest.approx(best)
    rough = consensus(rankings, weights, method="heuristic")
    assert rough.bound - 1e-9 <= best <= rough.cost + 1e-9
    assert rough.cost == pytest.approx(kendall_cost(rough.order, rankings, weights))


def test_a_cycle_by_hand():
    """Condorcet's paradox: 0 before 1, 1 before 2, 2 before 0, by 2 of 3 each; one of these must go."""
    found = consensus([[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    assert found.cost == 4.0  # two pairs cost one each, the third two
    assert found.exact
    # Twice the first judge: his order.
    assert consensus([[1, 2, 3], [3, 1, 2], [2, 3, 1]], [2, 1, 1]).order.tolist() == [0, 1, 2]


def test_a_majority_tells_many_items_apart_without_a_program():
    truth = np.random.default_rng(0).permutation(300)
    rankings = np.array([truth, truth, truth[::-1]])
    found = consensus(rankings)
    assert found.exact
    np.testing.assert_array_equal(found.order, np.argsort(truth))
    np.testing.assert_array_equal(found.places, truth + 1)


def test_large_lists_without_agreement_are_called_heuristic():
    rng = np.random.default_rng(0)
    found = consensus([rng.permutation(60) for _ in range(4)])
    assert not found.exact
    assert found.bound < found.cost
    # No move of a single item, nor a swap, improves on it.
    rankings = [np.argsort(rng.permutation(8)) for _ in range(5)]
    rough = consensus(rankings, method="heuristic")
    for item in range(8):
        rest = [one for one in rough.order if one != item]
        for place in range(8):
            moved = [*rest[:place], item, *rest[place:]]
            assert rough.cost <= kendall_cost(moved, rankings, np.ones(5)) + 1e-9


def test_out_of_time_the_local_search_answers():
    rng = np.random.default_rng(1)
    found = consensus([rng.permutation(20) for _ in range(4)], time_limit=1e-9)
    assert not found.exact
    assert sorted(found.order) == list(range(20))


@given(opinions())
def test_spearman_is_the_best_of_all_orders(case):
    """The expected squared difference, over all ways to fill in what a ranking does not know."""
    rankings, weights = case
    n = len(rankings[0])
    if n > 4:
        rankings, n = [row[:4] for row in rankings], 4
    ways = [list(completions(row)) for row in rankings]

    def cost(order):
        ours = np.empty(n)
        ours[list(order)] = np.arange(1, n + 1)
        # The spread of the completions is the same for every order: expected places make the difference.
        means = [np.mean(one, axis=0) for one in ways]
        return sum(w * ((mean - ours) ** 2).sum() for w, mean in zip(weights, means, strict=True))

    found = consensus(rankings, weights, distance="spearman")
    assert found.exact
    assert found.cost == pytest.approx(min(cost(order) for order in itertools.permutations(range(n))))


def completions(row):
    """Places of all items, for every order that keeps the known ones in theirs; ties as their mean."""
    n = len(row)
    known = [k for k in range(n) if not np.isnan(row[k])]
    for order in itertools.permutations(range(n)):
        if all(row[a] <= row[b] for a, b in itertools.combinations([k for k in order if k in known], 2)):
            places = np.empty(n)
            places[list(order)] = np.arange(1, n + 1)
            yield places


def test_unequal_rankers_and_partial_rankings():
    nan = np.nan
    # The first judge knows all but item 3, the second only that 3 is before 0.
    found = consensus([[1, 2, 3, nan], [2, nan, nan, 1]])
    assert found.order.tolist().index(3) < found.order.tolist().index(0)
    assert found.cost == 0.0
    opposed = [[1, 2], [2, 1]]
    assert consensus(opposed, [1, 3]).order.tolist() == [1, 0]
    assert consensus(opposed, [1, 3], distance="spearman").order.tolist() == [1, 0]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (([1, 2, 3],), "rankings has the shape"),
        (([[1, np.inf]],), "infinite place"),
        (([[1, 2]], [1, 1]), "weights has the shape"),
        (([[1, 2]], [-1]), "none of them below 0"),
    ],
)
def test_wrong_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        consensus(*arguments)
    with pytest.raises(ValueError, match="distance='cosine' is not one of"):
        consensus([[1, 2]], distance="cosine")


def test_it_is_public():
    assert toprank.consensus is consensus
