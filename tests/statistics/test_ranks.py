"""Rank definitions: the example of Rudin & Wang (2018), and their rules on random lists."""

import numpy as np
import pytest
from hypothesis import given

import strategies
from toprank.statistics import clemencon_vayatis_rank, clrs, get, resolved_rank, subrank

# Rudin & Wang (2018), Fig. 2.
LABELS = [1, 1, 0, 0, 0, 1, 1, 0, 1]
SCORES = [6.2, 6.2, 5.8, 4.6, 3.1, 3.1, 2.3, 1.7, 1.7]


def test_figure_2():
    assert subrank(SCORES).tolist() == [7, 7, 6, 5, 3, 3, 2, 0, 0]
    assert resolved_rank(LABELS, SCORES).tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]


@given(case=strategies.tied_lists(max_size=12))
def test_definitions_by_counting(case):
    _, scores = case
    assert subrank(scores).tolist() == [sum(t < s for t in scores) for s in scores]
    assert clemencon_vayatis_rank(scores).tolist() == [sum(t <= s for t in scores) for s in scores]


@given(case=strategies.tied_lists(max_size=12))
def test_resolved_ranks_keep_the_three_rules(case):
    y, scores = case
    ranks = resolved_rank(y, scores)
    assert (ranks >= subrank(scores)).all()
    assert sorted(ranks.tolist()) == list(range(len(y)))
    for i in range(len(y)):
        for k in range(len(y)):
            if scores[i] == scores[k] and y[i] > y[k]:
                assert ranks[i] < ranks[k]


@given(case=strategies.tied_lists(max_size=12))
def test_worst_ties_are_resolved_ranks(case):
    """Eq. (8): the statistic under ties="worst" is the sum of a_(rank + 1) over the positives."""
    y, scores = case
    ranks = resolved_rank(y, scores)[np.array(y) == 1]
    for spec in ("wilcoxon_rank_sum", "dcg", "reciprocal_rank_sum", "p_norm(p=3)"):
        contributions = get(spec).weights(len(y), sum(y))[::-1]
        assert get(spec)(y, scores) == pytest.approx(contributions[ranks].sum(), rel=1e-12)


def test_ranks_that_count_ties_as_correct_reward_a_constant_scorer():
    """Why Eq. (6) is not optimised: under that rank no scorer beats a constant one."""
    constant = clemencon_vayatis_rank(np.zeros(9))
    assert (constant == 9).all()
    assert (resolved_rank(LABELS, np.zeros(9))[np.array(LABELS) == 1] < 5).all()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="scores contains NaN"):
        subrank([1.0, np.nan])
    with pytest.raises(ValueError, match="scores has 2 values but y has 3"):
        resolved_rank([0, 1, 1], [1.0, 2.0])


@pytest.mark.parametrize("name", ["dcg", "auc", "precision@3", "p_norm"])
def test_the_statistic_by_each_definition_of_rank(name):
    """Eq. (6) and (7) by the letter: the sum over positives and over ranks of indicator times weight."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, scores = rng.permutation([1, 1, 1, 0, 0, 0, 0]), rng.integers(0, 4, 7).astype(float)
        rising = get(name).weights(7, 3)[::-1]
        by_hand = {"subrank": 0.0, "clemencon_vayatis": 0.0}
        for i in np.flatnonzero(y):
            below, at_or_below = np.sum(scores < scores[i]), np.sum(scores <= scores[i])
            for level in range(1, 8):
                by_hand["subrank"] += (below == level - 1) * rising[level - 1]
                by_hand["clemencon_vayatis"] += (at_or_below == level) * rising[level - 1]
        for rank, value in by_hand.items():
            assert clrs(y, scores, name, rank=rank) == pytest.approx(value)
        resolved = clrs(y, scores, name)
        assert resolved == pytest.approx(get(name)(y, scores))
        assert by_hand["subrank"] <= resolved + 1e-12 <= by_hand["clemencon_vayatis"] + 2e-12


def test_other_ranks_and_statistics_without_weights_are_refused():
    with pytest.raises(ValueError, match="rank='middle' must be one of resolved"):
        clrs([0, 1], [1.0, 2.0], rank="middle")
    with pytest.raises(ValueError, match="no weights of positions"):
        clrs([0, 1], [1.0, 2.0], "average_precision")
