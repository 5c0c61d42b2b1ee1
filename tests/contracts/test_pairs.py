"""Every ranker that learns from pairs of rows, in every configuration."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from ranker_variants import VARIANTS
from toprank.base import PairRanker
from toprank.control import SearchStoppedWarning
from toprank.preferences import kendall_pairs, share_in_order

QUICK = {name: one for name, one in VARIANTS.items() if not one.slow}
FROM_PAIRS = {name: one for name, one in QUICK.items() if one.make().ranker_tags.pairs}
pytestmark = [
    pytest.mark.filterwarnings("ignore::toprank.control.SearchStoppedWarning"),
    pytest.mark.filterwarnings("ignore::toprank.rankers.parts.top_push.ZeroOptimumWarning"),
]


def rows(n=24, seed=0):
    """Two columns whose sum is the order wanted."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, X.sum(axis=1)


def seen_by(ranker, X):
    return X @ X.T if getattr(ranker, "kernel", None) == "precomputed" else X


def some_pairs(order, count=80, seed=1):
    pairs = kendall_pairs(order)
    return pairs[np.random.default_rng(seed).choice(len(pairs), count, replace=False)]


def test_there_are_rankers_of_every_kind():
    assert {"ExactRanker", "DirectRanker", "RankSVM", "RankBoost", "AccuracyAtTop"} <= set(FROM_PAIRS)


@pytest.mark.parametrize("name", [name for name in QUICK if name not in FROM_PAIRS])
def test_who_cannot_says_so_in_the_tags(name):
    ranker = QUICK[name].make()
    if isinstance(ranker, PairRanker):
        X, order = rows()
        with pytest.raises(ValueError, match=r"weighting|validation_fraction|weak_rankers|graded_hinge"):
            ranker.fit_pairs(seen_by(ranker, X), some_pairs(order))
    else:
        assert not hasattr(ranker, "fit_pairs")


@pytest.mark.parametrize("name", FROM_PAIRS)
def test_pairs_that_agree_are_put_in_order(name):
    ranker, (X, order) = FROM_PAIRS[name].make(), rows()
    pairs = some_pairs(order)
    if "C" in ranker.get_params():
        ranker.set_params(C=100.0)  # with little weight on the pairs, no coefficient is worth its price
    fitted = ranker.fit_pairs(seen_by(ranker, X), pairs)
    assert fitted is ranker
    # A push to the top, or a kernel stand-in of few features, need not order all of them.
    assert ranker.score_pairs(seen_by(ranker, X), pairs) > 0.8
    scores = ranker.decision_function(seen_by(ranker, X))
    assert ranker.score_pairs(seen_by(ranker, X), pairs) == share_in_order(scores, pairs)
    assert set(ranker.predict(seen_by(ranker, X))) <= {0, 1}
    assert np.array_equal(pickle.loads(pickle.dumps(ranker)).decision_function(seen_by(ranker, X)), scores)


@pytest.mark.parametrize("name", FROM_PAIRS)
def test_a_weight_of_two_is_the_pair_twice_and_the_order_of_pairs_is_nothing(name):
    ranker, (X, order) = FROM_PAIRS[name].make(), rows()
    pairs = np.concatenate([some_pairs(order, 30), some_pairs(-order, 10)])
    weight = np.ones(len(pairs))
    weight[::3] = 2.0
    repeated = np.concatenate([pairs, pairs[::3]])[::-1]
    values = []
    for some, worth in ((pairs, weight), (repeated, None)):
        one = clone(ranker)
        if "random_state" in one.get_params():
            one.set_params(random_state=0)
        one.fit_pairs(seen_by(ranker, X), some, worth)
        values.append(one.outcome_.value)
    assert values[0] == pytest.approx(values[1], rel=2 * getattr(ranker, "tol", 0.0) + 1e-6)


BAD = {
    "shape": ([(0, 1, 2)], None, r"pairs must have shape"),
    "empty": (np.empty((0, 2), dtype=int), None, "at least one pair"),
    "fractions": ([(0.5, 1.0)], None, "whole row numbers"),
    "unknown row": ([(0, 99)], None, "row numbers from 0 to 23"),
    "itself": ([(3, 3)], None, "above itself"),
    "weight": ([(0, 1)], [-1.0], "sample_weight of pairs must be positive"),
    "weights": ([(0, 1)], [1.0, 1.0], "sample_weight must hold one number for each of the 1 pairs"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("name", ["ExactRanker", "DirectRanker", "RankSVM", "RankBoost", "AccuracyAtTop"])
def test_bad_pairs_are_named(name, what):
    pairs, weight, message = BAD[what]
    X, order = rows()
    ranker = FROM_PAIRS[name].make()
    with pytest.raises(ValueError, match=message):
        ranker.fit_pairs(X, pairs, weight)
    ranker.fit_pairs(X, some_pairs(order))
    with pytest.raises(ValueError, match=message):
        ranker.score_pairs(X, pairs, weight)


@pytest.mark.wall_clock
@pytest.mark.filterwarnings("error::toprank.control.SearchStoppedWarning")
def test_a_time_limit_holds_for_pairs_too():
    X = np.random.default_rng(0).normal(size=(150, 8))
    pairs = some_pairs(np.random.default_rng(1).normal(size=150), 2000)
    ranker = FROM_PAIRS["ExactRanker"].make().set_params(time_limit=0.3)
    with pytest.warns(SearchStoppedWarning):
        ranker.fit_pairs(X, pairs)
    assert ranker.certificate_.value <= ranker.certificate_.bound
