"""Figures at every cut-off and the mean ROC curve, worked out by hand and by counting."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from toprank.statistics import get
from toprank.workflow.judging.cut_offs import cut_offs, figures_by_cut_off, mean_roc
from toprank.workflow.judging.held_out import HeldOut, Judged

Y = np.array([1, 0, 1, 0], dtype=np.int8)


def _held_out(*scores, qid=None, y=Y):
    splits = [
        Judged(np.arange(len(y)), y, qid, {"logistic": np.asarray(one, float)}, {"logistic": 1.0})
        for one in scores
    ]
    return HeldOut(tuple(splits), 0.5, 2, get("dcg"))


def test_two_tiny_lists_on_paper():
    held_out = _held_out([4, 3, 2, 1], [4, 1, 3, 2])
    found = figures_by_cut_off(held_out)
    assert found["k"] == [1, 2, 3, 4]
    assert found["chance"] == [0.5, 1.0, 1.5, 2.0]
    ours = found["rankers"]["logistic"]
    assert ours["mean"] == [1.0, 1.5, 2.0, 2.0]
    assert ours["low"] == [None] * 4  # two splits are too few for an interval
    assert ours["precision"] == [1.0, 0.75, pytest.approx(2 / 3), 0.5]
    assert ours["share_found"] == [0.5, 0.75, 1.0, 1.0]
    assert ours["lift"] == [2.0, 1.5, pytest.approx(4 / 3), 1.0]
    roc = mean_roc(held_out)
    # Before the first negative the one list has found half of the positives, the other all of them.
    assert roc["tpr"]["logistic"][0] == 0.75
    assert roc["tpr"]["logistic"][-1] == 1.0


def test_the_curve_is_that_of_the_list():
    """With one split, the rates at the grid are those counted threshold by threshold."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80).astype(np.int8)
    scores = np.round(rng.normal(size=80), 1)  # ties: the curve runs straight through them
    roc = mean_roc(_held_out(scores, y=y))
    points = [(0.0, 0.0)]
    for threshold in sorted(set(scores), reverse=True):
        above = scores >= threshold
        points.append((above[y == 0].mean(), above[y == 1].mean()))
    for rate, height in zip(roc["fpr"], roc["tpr"]["logistic"], strict=True):
        left = max((point for point in points if point[0] <= rate), key=lambda point: point)
        right = min((point for point in points if point[0] > rate), default=left)
        share = 0.0 if right == left else (rate - left[0]) / (right[0] - left[0])
        assert height == pytest.approx(left[1] + share * (right[1] - left[1]))


def test_queries_are_averaged_and_those_of_one_class_left_out_of_the_curve():
    y = np.array([1, 0, 0, 1, 1, 1, 0, 0], dtype=np.int8)
    qid = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    scores = [3, 2, 1, 2, 1, 1, 2, 3]
    held_out = _held_out(scores, qid=qid, y=y)
    found = figures_by_cut_off(held_out)
    assert found["k"] == [1, 2, 3]
    assert found["rankers"]["logistic"]["mean"] == pytest.approx([2 / 3, 3 / 3, 4 / 3])
    # A perfect query and an upside-down one; the query without a negative says nothing.
    assert mean_roc(held_out)["tpr"]["logistic"][0] == 0.5
    one_class = dataclasses.replace(held_out.splits[0], y=np.ones(8, dtype=np.int8))
    assert mean_roc(dataclasses.replace(held_out, splits=(one_class,))) == {}


def test_cut_offs_hold_the_budget_and_the_usual_sizes():
    sizes = cut_offs(100_000, 777)
    assert {10, 20, 50, 100, 777, 100_000} <= set(sizes)
    assert sizes == sorted(set(sizes))
    assert len(sizes) < 500
    assert max(later / sooner for sooner, later in pairwise(sizes[99:])) < 1.03
    assert cut_offs(5, 50) == [1, 2, 3, 4, 5]
