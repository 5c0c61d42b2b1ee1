import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from toprank import ExactRanker, RankThenRerank
from toprank.base import ranking_scores
from toprank.datasets import Table, learn_encoder
from toprank.workflow.judging.importance import features_of, importance_at, linear_coefficients
from toprank.workflow.listing.contributions import contributions, usual_features, words_for


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "price": [f"${value:,}" for value in rng.integers(1000, 90_000, n)],
            "site": rng.choice(["north", "south", "south", "west"], n),
            "noise": rng.normal(size=n),
        }
    )
    dear = frame["price"].str[1:].str.replace(",", "").astype(float).to_numpy()
    y = (dear / 30_000 + (frame["site"] == "west") + rng.normal(size=n) > 2.2).astype(np.int8)
    table = Table(frame)
    encoder, _ = learn_encoder(table)
    return table, encoder, encoder.encode(table)[0], y


def _usual_table(table, name):
    """The table with one column at its usual value, cell by cell."""
    frame = table.frame.copy()
    if name == "site":
        frame[name] = "south"
    elif name == "price":
        numbers = frame[name].str[1:].str.replace(",", "").astype(float)
        frame[name] = f"${numbers.median():,.1f}"
    else:
        frame[name] = frame[name].median()
    return Table(frame)


@pytest.mark.parametrize("ranker", [LogisticRegression(), RandomForestClassifier(20, random_state=0)])
def test_a_contribution_is_what_the_score_loses_at_the_usual_value(made, ranker):
    table, encoder, X, y = made
    ranker.fit(X, y)
    found = contributions(ranker, X, encoder)
    for k, feature in enumerate(features_of(encoder)):
        without, _ = encoder.encode(_usual_table(table, feature.name))
        expected = ranking_scores(ranker, X) - ranking_scores(ranker, without)
        np.testing.assert_allclose(found[:, k], expected, atol=1e-9)


def test_contributions_of_a_linear_score_add_up(made):
    _, encoder, X, y = made
    ranker = LogisticRegression().fit(X, y)
    usual = ranking_scores(ranker, usual_features(encoder)[None, :])
    np.testing.assert_allclose(
        contributions(ranker, X, encoder).sum(axis=1), ranking_scores(ranker, X) - usual
    )


def test_a_reranked_item_goes_by_the_reranker(made):
    _, encoder, X, y = made
    ranker = RankThenRerank(LogisticRegression(), ExactRanker("dcg@10", time_limit=2), top=30).fit(X, y)
    if linear_coefficients(ranker.reranker_, X.shape[1]) is None:
        pytest.skip("the reranker has features of its own")
    found, usual = contributions(ranker, X, encoder), usual_features(encoder)
    inside = ranking_scores(ranker.base_, X) >= ranker.threshold_
    assert 0 < inside.sum() < len(X)
    for rows, one in ((inside, ranker.reranker_), (~inside, ranker.base_)):
        expected = ranking_scores(one, X[rows]) - ranking_scores(one, usual[None, :])
        np.testing.assert_allclose(found[rows].sum(axis=1), expected, atol=1e-9)


def test_words(made):
    table, encoder, _, _ = made
    parts = np.zeros((len(table), 3))
    parts[0] = [1.23, -0.6, 0.01]
    said = words_for(table, encoder, parts)
    assert said[0] == f"price {table.frame['price'][0]}: +1.2, site {table.frame['site'][0]}: -0.6"
    assert said[1] == ""


def test_shuffling_a_column_nobody_uses_loses_nothing(made):
    _, encoder, X, y = made
    ranker = LogisticRegression().fit(X, y)
    ranker.coef_[0, -1] = 0.0
    lost = importance_at(15, ranker, X, y, None, encoder, np.random.default_rng(0))
    assert lost[2] == 0.0
    assert lost[0] > 1.0


def test_of_a_long_list_some_rows_are_shuffled_and_the_hits_scaled_up(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = (X[:, 0] > 1.0).astype(np.int8)
    encoder, _ = learn_encoder(Table(pd.DataFrame(X, columns=["known", "noise"])))
    ranker = LogisticRegression().fit(X, y)
    every = importance_at(400, ranker, X, y, None, encoder, rng)
    scored = []
    monkeypatch.setattr("toprank.workflow.judging.importance.MOST_CELLS", 2000)
    monkeypatch.setattr(
        "toprank.workflow.judging.importance.ranking_scores",
        lambda ranker, X, qid: scored.append(len(X)) or ranker.decision_function(X),
    )
    some = importance_at(400, ranker, X, y, None, encoder, rng)
    assert set(scored) == {1000}
    np.testing.assert_allclose(some, every, atol=60)
    assert every[0] > 300
