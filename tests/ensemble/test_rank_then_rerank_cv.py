"""The size of the top, the price of a feature and the margin, chosen as doing it by hand chooses them."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from toprank import DirectRanker, ExactRanker, RankRLS, RankThenRerank, RankThenRerankCV, statistics

QUICK = DirectRanker("dcg@10", n_restarts=1, random_state=0)


def data(n=160):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = (X @ [1.0, -1.0, 0.0] + rng.normal(size=n) > 1.2).astype(int)
    return X, y


@pytest.mark.parametrize("statistic", [None, "auc"])
def test_the_choice_is_that_of_trying_every_combination(statistic):
    X, y = data()
    folds = list(StratifiedKFold(3).split(X, y))
    tops, penalties = (20, 60), (0.0, 0.8)
    search = RankThenRerankCV(
        reranker=QUICK,
        tops=tops,
        penalties=penalties,
        base_cv=None,
        statistic=statistic,
        cv=StratifiedKFold(3),
        random_state=0,
    ).fit(X, y)
    judge = statistics.get(statistic or "dcg@10")
    means = {}
    for top, penalty in itertools.product(tops, penalties):
        values = []
        for train, test in folds:
            reranker = clone(QUICK).set_params(penalty=penalty)
            one = RankThenRerank(reranker=reranker, top=top, cv=None, random_state=0).fit(X[train], y[train])
            values.append(judge(y[test], one.decision_function(X[test])))
        means[top, penalty] = np.mean(values)
    np.testing.assert_allclose(search.scores_.mean(axis=0), list(means.values()))
    best = max(means, key=means.get)
    assert search.best_params_ == {"top": best[0], "reranker__penalty": best[1]}
    assert (search.top_, search.ranker_.top) == (best[0], best[0])


def test_margins_are_tried_of_the_exact_ranker_that_comes_with_it():
    X, y = data(60)
    search = RankThenRerankCV(
        tops=[0.3], margins=[0.0, 0.01], base_cv=None, cv=2, time_limit=10, random_state=0
    )
    search.fit(X, y)
    assert search.params_ == [{"top": 0.3, "reranker__margin": margin} for margin in (0.0, 0.01)]
    assert isinstance(search.ranker_.reranker_, ExactRanker)
    assert search.ranker_.reranker_.margin == search.best_params_["reranker__margin"]


def test_what_cannot_be_tried_is_said():
    X, y = data(60)
    with pytest.raises(ValueError, match="penalties: RankRLS has no parameter 'penalty'"):
        RankThenRerankCV(reranker=RankRLS(), penalties=[0.1]).fit(X, y)
    with pytest.raises(ValueError, match="tops is empty"):
        RankThenRerankCV(reranker=QUICK, tops=[]).fit(X, y)
