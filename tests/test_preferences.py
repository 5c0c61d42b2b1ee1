"""Pairs of rows: reading them, ready-made sets, the share in order, folds."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.preferences import kendall_pairs, multipartite_pairs, pair_folds, share_in_order

pairs_of_rows = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=25,
)


@given(pairs_of_rows, st.lists(st.integers(-2, 2), min_size=7, max_size=7), st.data())
def test_the_share_in_order_counts_weights_and_no_ties(pairs, scores, data):
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(pairs), max_size=len(pairs)))
    won = sum(w for (i, k), w in zip(pairs, weights, strict=True) if scores[i] > scores[k])
    assert share_in_order(scores, pairs, weights) == pytest.approx(won / sum(weights))


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8).filter(lambda y: len(set(y)) > 1))
def test_ready_made_pairs_are_all_rows_with_different_labels(y):
    expected = {(i, k) for i, k in itertools.permutations(range(len(y)), 2) if y[i] > y[k]}
    assert {tuple(pair) for pair in kendall_pairs(y).tolist()} == expected
    pairs, weights = multipartite_pairs(y, by_difference=True)
    assert [y[i] - y[k] for i, k in pairs.tolist()] == weights.tolist()


@given(pairs_of_rows, st.integers(2, 4), st.integers(0, 5))
def test_folds_hold_every_pair_once_and_both_orders_together(pairs, n_splits, seed):
    if len({frozenset(pair) for pair in pairs}) < n_splits:
        with pytest.raises(ValueError, match="n_splits"):
            list(pair_folds(pairs, n_splits, random_state=seed))
        return
    held = []
    for learn, judge in pair_folds(pairs, n_splits, random_state=seed):
        assert not set(learn.tolist()) & set(judge.tolist())
        assert len(learn) + len(judge) == len(pairs)
        known = {frozenset(pairs[k]) for k in learn}
        assert not known & {frozenset(pairs[k]) for k in judge}
        held += judge.tolist()
    assert sorted(held) == list(range(len(pairs)))


@given(pairs_of_rows, st.integers(0, 5))
def test_folds_by_items_judge_by_items_never_seen(pairs, seed):
    for learn, judge in pair_folds(pairs, 2, by="items", random_state=seed):
        known = {item for k in learn for item in pairs[k]}
        assert not known & {item for k in judge for item in pairs[k]}
        assert len(learn) > 0
        assert len(judge) > 0


def test_a_wrong_kind_of_fold_is_named():
    with pytest.raises(ValueError, match="by='rows'"):
        list(pair_folds([(0, 1), (1, 2)], 2, by="rows"))
