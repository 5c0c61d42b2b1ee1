"""Rankers made of rankers, on grades and on a response."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import toprank
from toprank.base import RankingData, strata
from toprank.ensemble.bagging import bootstrap
from toprank.ensemble.heads import heads_of, wide_enough
from toprank.ensemble.members import default_members
from toprank.ensemble.top_ensemble import MemberLeftOutWarning
from toprank.statistics import get

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3))
RESPONSE = X[:, 0] + 0.5 * np.maximum(X[:, 1], 0) ** 2 + 0.3 * RNG.normal(size=160)
GRADE = np.digitize(RESPONSE, [-0.5, 0.5, 1.5])
FEW = [("ridge", Ridge()), ("forest", RandomForestRegressor(20, random_state=0))]


@pytest.mark.parametrize("y, kind", [(RESPONSE, "continuous"), (GRADE, "ordinal")])
def test_the_ensemble_blends_regressors_and_is_judged_by_concordance(y, kind):
    ranker = toprank.TopEnsemble(FEW, cv=3, random_state=0).fit(X, y)
    assert ranker.kind_ == kind
    # Weights of least squares, none below zero: nothing that is searched for and proved.
    assert (ranker.trust_, ranker.certificate_) == (1.0, None)
    assert min(ranker.weights_.values()) >= 0
    assert sum(value**2 for value in ranker.weights_.values()) == pytest.approx(1.0)
    named = "c_index" if kind == "continuous" else "dcg"
    assert ranker.outcome_.value == get(named)(y, ranker.out_of_fold_scores_)
    # Members that never saw a row: an honest figure, and a good one.
    assert get("c_index")(y, ranker.out_of_fold_scores_) > 0.8
    assert np.corrcoef(ranker.predict(X), y)[0, 1] > 0.85


def test_the_members_by_default_suit_the_kind():
    names = [name for name, _ in default_members("c_index", "continuous")]
    assert names[:4] == ["ridge", "boosting", "forest", "pairs"]
    for _, member in default_members("c_index", "ordinal"):
        assert "ordinal" in toprank.base.abilities(member).labels
    assert toprank.TopEnsemble().ranker_tags.labels == {"binary", "ordinal", "continuous"}


def test_a_member_that_needs_classes_is_left_out_of_a_response():
    members = [*FEW, ("logistic", LogisticRegression())]
    with pytest.warns(MemberLeftOutWarning, match="'logistic'.*LogisticRegression does not learn from cont"):
        ranker = toprank.TopEnsemble(members, cv=2, random_state=0).fit(X, RESPONSE)
    assert list(ranker.members_) == ["ridge", "forest"]
    with pytest.raises(ValueError, match="LogisticRegression in TopEnsemble does not learn from continuous"):
        toprank.TopEnsemble(members[2:]).fit(X, RESPONSE)


def test_trust_lies_between_equal_weights_and_those_of_least_squares():
    equal, half, full = (
        np.array(list(toprank.TopEnsemble(FEW, trust=trust, cv=2).fit(X, RESPONSE).weights_.values()))
        for trust in (0.0, 0.5, 1.0)
    )
    assert equal == pytest.approx([np.sqrt(0.5)] * 2)
    assert abs(full - equal).max() > 0.01
    between = (half - equal) / (full - equal)
    assert (between > 0.2).all()
    assert (between < 0.8).all()


@pytest.mark.parametrize("y, kind", [(RESPONSE, "continuous"), (GRADE, "ordinal")])
@pytest.mark.parametrize("base", [None, RandomForestRegressor(20, random_state=0)])
def test_the_top_of_a_regressors_list_is_reranked_by_its_numbers(y, kind, base):
    ranker = toprank.RankThenRerank(base, toprank.RankRLS(10.0), top=40, cv=3, random_state=0).fit(X, y)
    assert ranker.kind_ == kind
    assert ranker.n_top_ - 40 in (0, 1), "a forest may tie the last of the top with another row"
    best = np.sort(ranker.base_scores_)[::-1][39]
    assert ranker.top_rows_.tolist() == np.flatnonzero(ranker.base_scores_ >= best).tolist()
    # The reranker has learned the labels of these rows as they are.
    rows = ranker._passage.rows(X[ranker.top_rows_], ranker.base_scores_[ranker.top_rows_])
    alone = toprank.RankRLS(10.0, levels=kind).fit(rows, y[ranker.top_rows_])
    np.testing.assert_allclose(ranker.reranker_.coef_, alone.coef_)
    inside = ranker.decision_function(X) >= ranker.threshold_ + ranker.intercept_
    order = ranker.rank(X)
    assert inside[order][: inside.sum()].all(), "those reranked stand above all others"
    assert ranker.score(X, y) == get("c_index" if kind == "continuous" else "dcg")(
        y, ranker.decision_function(X)
    )
    assert not hasattr(ranker, "predict_proba")


def test_lists_of_queries_too():
    qid = np.arange(160) % 8
    ranker = toprank.RankThenRerank(None, toprank.RankRLS(), top=6, cv=2, random_state=0)
    ranker.fit(X, RESPONSE, qid=qid)
    assert np.bincount(qid[ranker.top_rows_]).tolist() == [6] * 8
    assert get("c_index")(RESPONSE, ranker.decision_function(X, qid=qid), qid=qid) > 0.7


def test_a_reranker_for_two_labels_refuses_a_response_by_name():
    with pytest.raises(ValueError, match="TopPush in RankThenRerank does not learn from continuous labels"):
        toprank.RankThenRerank(None, toprank.TopPush()).fit(X, RESPONSE)
    with pytest.raises(
        ValueError, match=r"LogisticRegression in PluginRanker does not .* a regressor will do"
    ):
        toprank.PluginRanker(LogisticRegression()).fit(X, RESPONSE)


@pytest.mark.parametrize("y", [RESPONSE, GRADE])
def test_a_plug_in_sorts_by_the_expected_label(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = toprank.PluginRanker(LinearRegression()).fit(X, y)
    expected = LinearRegression().fit(X, y).predict(X)
    assert ranker.rank(X).tolist() == np.argsort(-expected, kind="stable").tolist()
    assert ranker.outcome_.value == get("c_index")(y, expected)
    assert isinstance(toprank.PluginRanker().fit(X, y).estimator_, Ridge)


def test_bags_take_rows_from_every_part_of_a_response():
    data = RankingData(X, RESPONSE, kind="continuous")
    alike = strata(data)
    assert np.bincount(alike).tolist() == [16] * 10
    assert all(RESPONSE[alike == k].max() <= RESPONSE[alike == k + 1].min() for k in range(9))
    drawn = bootstrap(data, np.random.default_rng(0))
    edges = [RESPONSE[alike == k].min() for k in range(1, 10)]
    assert np.bincount(np.digitize(drawn.y, edges)).tolist() == [16] * 10
    assert (
        toprank.BaggedRanker(toprank.RankRLS(), n_bags=2, random_state=0).fit(X, RESPONSE).score(X, RESPONSE)
        > 0.8
    )


def test_tops_of_many_labels():
    scores, y = np.arange(8.0)[::-1], np.array([2.0, 2.0, 2.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    assert heads_of(scores, None, top=4).mixed(y).sum() == 4
    assert not heads_of(scores, None, top=3).mixed(y).any()
    assert wide_enough(scores, y, None, 2, fewest=2) == 8, "a row beside the commonest label, then four"
    assert wide_enough(scores, y, None, 2, fewest=1) == 4
