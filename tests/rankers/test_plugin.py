import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank.rankers.plugin import PluginRanker
from toprank.testing import ranker_checks

VARIANTS = [PluginRanker()]
MORE_VARIANTS = [PluginRanker(LogisticRegression(C=10)), PluginRanker(Ridge())]


@parametrize_with_checks(VARIANTS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE_VARIANTS)
def test_scikit_learn_checks_of_more_variants(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", ranker_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("ranker", [*VARIANTS, *MORE_VARIANTS], ids=str)
def test_ranker_checks(ranker, check):
    check(ranker)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(random_state=0),
        KNeighborsClassifier(),
        Ridge(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=str,
)
def test_any_estimator_ranks(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    ranker = PluginRanker(estimator).fit(X, y)
    order = ranker.rank(X)
    own = estimator.fit(X, y)
    scores = (
        own.decision_function(X)
        if hasattr(own, "decision_function")
        else own.predict_proba(X)[:, 1]
        if hasattr(own, "predict_proba")
        else own.predict(X)
    )
    np.testing.assert_array_equal(order, np.argsort(-scores, kind="stable"))


def test_weights_need_an_estimator_that_takes_them():
    X, y = [[0.0], [1.0], [2.0]] * 3, [0, 1, 1] * 3
    PluginRanker(LogisticRegression()).fit(X, y, sample_weight=[1, 2, 1] * 3)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        PluginRanker(KNeighborsClassifier(1)).fit(X, y, sample_weight=[1, 2, 1] * 3)
