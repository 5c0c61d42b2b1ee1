import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank.rankers.plugin import PluginRanker


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
    with pytest.raises(
        ValueError, match="sample_weight: KNeighborsClassifier in PluginRanker takes no weights"
    ):
        PluginRanker(KNeighborsClassifier(1)).fit(X, y, sample_weight=[1, 2, 1] * 3)
