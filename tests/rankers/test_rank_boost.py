"""RankBoost on grades and on a response: the pairs it makes are the pairs it could be given."""

import numpy as np
import pytest

from toprank import RankBoost, TreeRank
from toprank.preferences import kendall_pairs, multipartite_pairs
from toprank.statistics import get

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
RESPONSE = X[:, 0] - 0.5 * X[:, 1] + 0.5 * RNG.normal(size=60)
GRADE = np.digitize(RESPONSE, [-0.7, 0.0, 0.7])


@pytest.mark.parametrize("y", [RESPONSE, GRADE])
@pytest.mark.parametrize("weak", ["features", "stumps"])
def test_labels_are_boosted_as_the_pairs_they_make(y, weak):
    ranker = RankBoost(weak_rankers=weak, n_estimators=15)
    ours = ranker.fit(X, y)
    scores, losses = ours.decision_function(X) - ours.intercept_, ours.losses_
    listed = RankBoost(weak_rankers=weak, n_estimators=15).fit_pairs(X, multipartite_pairs(y)[0])
    np.testing.assert_allclose(losses, listed.losses_, rtol=1e-9)
    np.testing.assert_allclose(scores, listed.decision_function(X) - listed.intercept_, atol=1e-6)


def test_a_weight_is_a_number_of_copies():
    weight = np.arange(60) % 3
    ours = RankBoost(n_estimators=15).fit(X, RESPONSE, weight)
    rows = np.repeat(np.arange(60), weight)
    copies = RankBoost(n_estimators=15).fit(X[rows], RESPONSE[rows])
    np.testing.assert_allclose(ours.coef_, copies.coef_, rtol=1e-6)


def test_rows_are_compared_within_their_query():
    qid = np.arange(60) % 3
    shifted = RESPONSE + 100.0 * qid
    ours = RankBoost(n_estimators=15).fit(X, shifted, qid=qid)
    plain = RankBoost(n_estimators=15).fit(X, RESPONSE, qid=qid)
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"validation_statistic": "c_index"}])
def test_early_stopping_by_held_out_pairs(options):
    ranker = RankBoost(weak_rankers="stumps", validation_fraction=0.3, random_state=0, **options)
    assert ranker.fit(X, RESPONSE).score(X, RESPONSE) > 0.75
    assert len(ranker.losses_) < 100


def test_an_estimator_as_weak_ranker_learns_the_signs_of_the_potential():
    ranker = RankBoost(weak_rankers=TreeRank(max_depth=2, min_samples_leaf=1), n_estimators=10).fit(
        X, RESPONSE
    )
    assert get("c_index")(RESPONSE, ranker.decision_function(X)) > 0.85
    with pytest.raises(ValueError, match="TreeRank does not learn from continuous labels"):
        TreeRank().fit(X, RESPONSE)


def test_many_rows_take_no_pairs():
    """Half a million rows would make 10^11 pairs."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500_000, 2))
    y = rows[:, 0] + rng.normal(size=len(rows))
    ranker = RankBoost(n_estimators=2).fit(rows, y)
    assert abs(ranker.coef_[1]) < 0.05 * abs(ranker.coef_[0])
    assert len(kendall_pairs(y[:4])) == 6
