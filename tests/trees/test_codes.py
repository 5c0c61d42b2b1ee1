"""Codes of features: ranges, missing values, and a clock that is looked at between columns."""

import numpy as np
import pytest

from toprank import GradientBoostingRanker, RankingForest, TreeRank
from toprank.control import SearchStoppedWarning, Status
from toprank.trees import codes as module
from toprank.trees.codes import encode


class Countdown:
    """A run that says stop after so many looks."""

    def __init__(self, looks):
        self.looks = looks

    def should_stop(self):
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize("looks", [0, 2, 5, 9])
def test_columns_that_were_not_reached_are_constant(looks):
    X = np.random.default_rng(0).normal(size=(30, 5))
    whole, cut = encode(X, 10), encode(X, 10, Countdown(looks))
    reached = min(looks, 5)
    np.testing.assert_array_equal(cut.codes[:reached], whole.codes[:reached])
    assert (cut.codes[reached:] == 1).all()
    assert cut.n_codes.tolist() == [*whole.n_codes[:reached], *[2] * (5 - reached)]
    assert len(cut.cuts) == (cut.n_codes - 1).sum()


@pytest.mark.parametrize(
    "ranker", [RankingForest(3), TreeRank(), GradientBoostingRanker(engine="sklearn")], ids=repr
)
def test_preparing_features_is_on_the_clock(ranker, monkeypatch):
    """Time is up while the third column is looked at: no other one is, and the fit ends with an answer."""
    X = np.random.default_rng(0).normal(size=(60, 8))
    y = (X[:, 0] > 0).astype(int)
    ranker.fit(X, y)  # compiled by now
    looked, edges, clock = [], module._edges, [0.0]

    def slow(values, max_bins):
        looked.append(len(looked))
        clock[0] += 10.0
        return edges(values, max_bins)

    monkeypatch.setattr(module, "_edges", slow)
    monkeypatch.setattr("toprank.control.run.time.perf_counter", lambda: clock[0])
    with pytest.warns(SearchStoppedWarning):
        ranker.set_params(time_limit=25).fit(X, y)
    assert len(looked) == 3
    assert ranker.outcome_.status is Status.TIME_LIMIT
    assert np.isfinite(ranker.decision_function(X)).all()
