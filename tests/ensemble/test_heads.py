"""Heads of lists: which rows they hold, and that their positions are worth what the whole list says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from toprank import statistics
from toprank.ensemble.heads import heads_of, linear_statistic
from toprank.exact.objective import PositionWeights, position_weights
from toprank.statistics import LinearRankStatistic
from toprank.statistics.base import registered

LINEAR = sorted(
    {
        spec
        for name, kind in registered().items()
        if issubclass(kind, LinearRankStatistic)
        for spec in (kind.examples or (kind.name,))
    }
)


def test_every_linear_statistic_has_an_oracle():
    assert set(LINEAR) <= set(oracles.STATISTICS)


@st.composite
def scored_lists(draw):
    """Rows of up to three lists: list, label, first score, second score, with many ties."""
    row = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 4), st.integers(0, 3))
    rows = np.array(draw(st.lists(row, min_size=2, max_size=14)))
    names = np.unique(rows[:, 0], return_inverse=True)[1].astype(np.int64)
    return names, rows[:, 1].astype(np.int8), rows[:, 2].astype(float), rows[:, 3].astype(float)


def mean_worst(spec, lists, y, scores):
    """The statistic of each list with both classes, ties the worst way, and their mean."""
    values = []
    for number in set(lists.tolist()):
        rows = lists == number
        if len(set(y[rows])) == 2:
            ranked = sorted(zip(-scores[rows], y[rows], strict=True))
            values.append(oracles.longer_order(spec, [int(label) for _, label in ranked]))
    return sum(values) / len(values) if values else None


@pytest.mark.parametrize("spec", LINEAR)
@settings(max_examples=60, deadline=None)
@given(rows=scored_lists(), top=st.sampled_from([1, 2, 3, 20, 0.3]))
def test_the_head_and_the_rest_make_the_statistic_of_the_whole_list(spec, rows, top):
    lists, y, first, second = rows
    heads = heads_of(first, lists, top=top)
    in_order, again = (
        mean_worst(spec, lists, y, first),
        mean_worst(spec, lists, y, np.where(heads.inside, 100 + second, first)),
    )
    if in_order is None:
        return
    weights = heads.weights(statistics.get(spec), y)
    # What lies below the head is the same for every order of the head.
    gained = heads.value(weights, y, second) - heads.value(weights, y, first)
    scale = max(1.0, abs(in_order), abs(again))
    assert gained == pytest.approx(again - in_order, abs=1e-11 * scale)
    if top == 20:
        assert heads.value(weights, y, second) == pytest.approx(again, abs=1e-11 * scale)


@settings(max_examples=100, deadline=None)
@given(scored_lists(), st.one_of(st.integers(1, 6), st.sampled_from([0.1, 0.5, 0.99])))
def test_heads_are_the_first_rows_and_ties_with_the_last(rows, top):
    lists, _, scores, _ = rows
    inside = heads_of(scores, lists, top=top).inside
    for number in set(lists.tolist()):
        own = sorted(scores[lists == number].tolist(), reverse=True)
        count = top if top >= 1 else -(-top * len(own) // 1)
        last = own[int(min(count, len(own))) - 1]
        assert inside[lists == number].tolist() == (scores[lists == number] >= last).tolist()


@settings(max_examples=100, deadline=None)
@given(scored_lists(), st.integers(1, 6))
def test_mixed_heads_hold_both_classes(rows, top):
    lists, y, scores, _ = rows
    heads = heads_of(scores, lists, top=top)
    expected = [
        bool(inside) and len({int(label) for label in y[heads.inside & (lists == own)]}) == 2
        for inside, own in zip(heads.inside, lists, strict=True)
    ]
    assert heads.mixed(y).tolist() == expected


def test_the_objective_keeps_its_name_where_it_means_the_same():
    y = np.tile(np.array([1, 0, 0, 1, 0], dtype=np.int8), 4)
    scores = -np.arange(20.0)
    heads = heads_of(scores, None, top=8)
    for spec in ("dcg", "dcg@3", "precision@5", "reciprocal_rank_sum", "winner_takes_all"):
        assert heads.objective(statistics.get(spec), y) == statistics.get(spec)
    for spec in ("precision@20%", "auc", "p_norm", "partial_auc@3", "lift@2", "ndcg", "recall@2"):
        aim = heads.objective(statistics.get(spec), y)
        assert str(aim) == f"{spec} (part of the first 8 of 20 rows)"
        np.testing.assert_array_equal(aim.lists[0], statistics.get(spec).weights(20, 8)[:8])
        weights, _, name = position_weights(aim, y[:8], np.zeros(8, dtype=np.int64), "mean")
        assert name == str(aim)
        np.testing.assert_array_equal(weights, aim.lists[0])
    assert heads_of(scores, None, top=20).objective(statistics.get("auc"), y) == statistics.get("auc")


def test_weights_for_other_queries_are_refused():
    given = PositionWeights((np.ones(3),), "ones")
    with pytest.raises(ValueError, match="weights for 2 queries"):
        position_weights(given, np.array([0, 1, 0, 1], dtype=np.int8), np.array([0, 0, 1, 1]), "mean")


def test_statistics_that_are_no_sums_of_weights():
    assert linear_statistic("average_precision") is None
    assert linear_statistic(np.array([1.0, 0.5])) is None
    assert str(linear_statistic(statistics.get("dcg@7"))) == "dcg@7"
