"""A grid over `statistic` compares what cannot be compared, and says so."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import DirectRanker, RankSVM, RankThenRerank, statistics
from toprank.base.searched import IncomparableScoresWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
y = (X[:, 0] + RNG.normal(size=60) > 0.3).astype(int)
QUICK = DirectRanker(n_restarts=1, random_state=0)


def heard(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [one for one in found if issubclass(one.category, IncomparableScoresWarning)]


def test_a_search_over_the_statistic_warns_at_the_line_of_the_user():
    found = heard(lambda: GridSearchCV(QUICK, {"statistic": ["auc", "dcg"]}, cv=2).fit(X, y))
    assert found
    assert found[0].filename == __file__
    assert "toprank.statistics.scorer" in str(found[0].message)


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_a_reranker_in_a_pipeline_is_no_way_around_it(search):
    inside = RankThenRerank(reranker=QUICK, top=30, random_state=0)
    grid = {"rankthenrerank__reranker__statistic": ["dcg", "auc"]}
    options = {"n_iter": 2, "random_state": 0} if search is RandomizedSearchCV else {}
    assert heard(lambda: search(make_pipeline(StandardScaler(), inside), grid, cv=2, **options).fit(X, y))


def test_other_searches_and_one_measure_for_all_are_silent():
    assert not heard(lambda: GridSearchCV(RankSVM(), {"C": [0.1, 1.0]}, cv=2).fit(X, y))
    assert not heard(lambda: cross_val_score(QUICK, X, y, cv=2))
    scoring = statistics.scorer("precision@5")
    assert not heard(
        lambda: GridSearchCV(QUICK, {"statistic": ["auc", "dcg"]}, scoring=scoring, cv=2).fit(X, y)
    )
