import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
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


def test_expected_rank_regression_learns_the_order_within_queries():
    """Least squares on the ranks, by hand; what queries differ by does not matter."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 3)), np.arange(60) % 4
    y = X @ [1.0, -0.5, 0.0] + 0.1 * rng.normal(size=60)
    ranks = np.empty(60)
    for one in range(4):
        ranks[qid == one] = (np.argsort(np.argsort(y[qid == one])) + 1) / 16
    known = LinearRegression().fit(X, ranks)
    moved = np.exp(y) + 100.0 * qid
    ranker = PluginRanker(LinearRegression(), response="expected_rank").fit(X, moved, qid=qid)
    np.testing.assert_allclose(ranker.estimator_.coef_, known.coef_)
    assert ranker.ranker_tags.queries
    assert not PluginRanker(LinearRegression()).ranker_tags.queries


def test_expected_rank_regression_needs_a_regressor_or_says_so():
    X, y = np.random.default_rng(1).normal(size=(20, 2)), np.arange(20) % 2
    assert type(PluginRanker(response="expected_rank").fit(X, y).estimator_).__name__ == "Ridge"
    with pytest.raises(ValueError, match="response='ranks' is not one of"):
        PluginRanker(response="ranks").fit(X, y)


def test_kernel_logistic_regression_is_a_plug_in():
    """With every row a landmark, Nystroem's features are the kernel's own: the same f as in its space."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[y == 1] *= 2.0
    machine = make_pipeline(Nystroem("rbf", gamma=0.5, n_components=40), LogisticRegression(C=2.0, tol=1e-9))
    ranker = PluginRanker(machine).fit(X, y)
    gram = rbf_kernel(X, gamma=0.5)

    size, directions = np.linalg.eigh(gram)
    roots = directions * np.sqrt(np.maximum(size, 0.0))
    sign = 2.0 * y - 1.0

    def objective(parts):
        scores = roots @ parts[:-1] + parts[-1]
        pull = -sign * expit(-sign * scores)
        value = 0.5 * parts[:-1] @ parts[:-1] + 2.0 * np.logaddexp(0, -sign * scores).sum()
        return value, np.append(parts[:-1] + 2.0 * roots.T @ pull, 2.0 * pull.sum())

    found = minimize(objective, np.zeros(41), jac=True, method="BFGS", options={"gtol": 1e-9})
    scores = roots @ found.x[:-1] + found.x[-1]
    ahead = ranker.decision_function(X)
    np.testing.assert_allclose(ahead - ahead.mean(), scores - scores.mean(), atol=1e-3)
