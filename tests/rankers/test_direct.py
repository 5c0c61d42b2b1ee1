"""DirectRanker: better than logistic regression where it counts, from any start, at any list length."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from toprank import DirectRanker, statistics
from toprank.base import RankingData
from toprank.control import Run, SearchStoppedWarning, Status
from toprank.exact import RankingProblem
from toprank.rankers.parts.starts import logistic_direction
from turns import first_in_every_run


@contextlib.contextmanager
def quiet():
    """Reaching max_iter is meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        yield


def noisy(n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + 5
    hidden = X @ (rng.normal(size=d) / X.std(axis=0)) + rng.normal(size=n) * 2
    return X, (hidden > np.quantile(hidden, 0.7)).astype(int)


@pytest.mark.parametrize(
    "statistic",
    first_in_every_run(
        ["dcg", "auc", "precision@20", "ndcg@10", "reciprocal_rank_sum", "partial_auc@30", "p_norm(p=2)"], 3
    ),
)
def test_beats_its_start_in_the_statistic_it_maximises(statistic):
    X, y = noisy()
    logistic = LogisticRegression(C=1e4, max_iter=5000).fit(StandardScaler().fit_transform(X), y)
    before = statistics.get(statistic)(y, logistic.decision_function(StandardScaler().fit_transform(X)))
    ranker = DirectRanker(statistic, random_state=0).fit(X, y)
    assert ranker.outcome_.value >= before
    assert ranker.score(X, y) >= ranker.outcome_.value - 1e-12
    assert ranker.outcome_.value <= ranker.outcome_.bound


@pytest.mark.parametrize("name, top", [("travelmode", 50), ("pima", 50), ("abalone19", 250)])
def test_beats_logistic_regression_on_the_top_of_real_lists(name, top):
    folder = os.environ.get("TOPRANK_DATA")
    if not folder:
        pytest.skip("TOPRANK_DATA is not set: no data sets here")
    table = pd.read_csv(pathlib.Path(folder) / f"{name}.csv")
    X, y = StandardScaler().fit_transform(table.drop(columns="y")), table["y"].to_numpy()
    half = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
    logistic = LogisticRegression(max_iter=5000).fit(X[half], y[half])
    best = half[np.argsort(-logistic.decision_function(X[half]), kind="stable")[:top]]
    before = statistics.get("dcg")(y[best], logistic.decision_function(X[best]))
    ranker = DirectRanker("dcg", start=logistic, random_state=0).fit(X[best], y[best])
    assert ranker.score(X[best], y[best]) > before + 0.01


def test_starts_of_every_kind():
    X, y = noisy()
    ridge = Ridge().fit(X, y)
    for start in (None, "logistic", "mean", ridge, Ridge(), ridge.coef_, ridge.coef_.tolist()):
        ranker = DirectRanker(start=start, max_iter=100, n_restarts=0, random_state=0)
        value = statistics.get("dcg")(y, X @ ridge.coef_)
        with quiet():
            ranker.fit(X, y)
        if start is ridge:
            assert ranker.outcome_.value >= value - 1e-9


@pytest.mark.parametrize(
    "start, message",
    [
        ("best", "start must be"),
        (np.ones(3), "5 finite coefficients"),
        (np.full(5, np.nan), "5 finite coefficients"),
        (DecisionTreeClassifier(), "has no coef_"),
    ],
)
def test_bad_starts_are_named(start, message):
    with pytest.raises(ValueError, match=message):
        DirectRanker(start=start).fit(*noisy())


def test_a_statistic_that_is_no_sum_over_positives_is_refused():
    with pytest.raises(ValueError, match="cannot be maximised directly"):
        DirectRanker("vus").fit(*noisy())


def test_units_of_the_features_do_not_matter():
    X, y = noisy()
    units = 2.0 ** np.array([10, -20, 3, 0, 40])
    first = DirectRanker(random_state=0).fit(X, y)
    second = DirectRanker(random_state=0).fit(X * units, y)
    assert np.allclose(first.coef_, second.coef_ * units, rtol=1e-6)
    assert second.outcome_.value == pytest.approx(first.outcome_.value, rel=1e-9)


def test_queries_are_ranked_within_themselves():
    """A feature that tells only queries apart must not help, one that ranks within them must."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(10), 8)
    within = rng.normal(size=80)
    y = np.zeros(80, dtype=int)
    for q in range(10):
        rows = np.flatnonzero(qid == q)
        y[rows[np.argsort(-within[rows])[: 1 + q % 3]]] = 1
    X = np.column_stack([within + 100.0 * qid, qid.astype(float)])
    ranker = DirectRanker("ndcg@5", random_state=0).fit(X, y, qid=qid)
    assert ranker.outcome_.value == pytest.approx(1.0)
    assert ranker.score(X, y, qid=qid) == pytest.approx(1.0)


def test_the_perfect_order_is_called_optimal():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 2.0], [2.0, 4.0]])
    outcome = DirectRanker("dcg", random_state=0).fit(X, [0, 0, 1, 1]).outcome_
    assert outcome.status is Status.OPTIMAL
    assert outcome.gap == 0


def test_identical_rows_still_give_a_ranker():
    ranker = DirectRanker(random_state=0).fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert np.ptp(ranker.decision_function(np.ones((3, 2)))) == 0


@pytest.mark.slow
def test_long_sparse_and_wide_lists():
    """Too many pairs to cross them all, too many columns to whiten, mostly zeros: better than the start."""
    rng = np.random.default_rng(0)
    X = sp.random(3000, 500, density=0.02, random_state=0, format="csr")
    y = (X @ rng.normal(size=500) + 0.3 * rng.normal(size=3000) > 0.9).astype(int)
    start = rng.normal(size=500)
    ranker = DirectRanker("ndcg@50", start=start, random_state=0, max_iter=60)
    with quiet():
        ranker.fit(X, y)
    assert ranker.score(X, y) > statistics.get("ndcg@50")(y, X @ start) + 0.02


def test_logistic_start_is_logistic_regression():
    X, y = noisy()
    problem = RankingProblem.from_labels(X, y, "auc")
    with Run() as run:
        found = logistic_direction(RankingData(X, y.astype(np.int8)), problem, run)
    scaled = StandardScaler().fit(X)
    exact = LogisticRegression(C=1e4 / len(y), max_iter=10_000, tol=1e-9).fit(scaled.transform(X), y)
    expected = exact.coef_[0] / scaled.scale_
    assert np.allclose(found / np.linalg.norm(found), expected / np.linalg.norm(expected), atol=1e-3)


CODE = """
import numpy as np
from toprank import DirectRanker
X = np.random.default_rng(0).normal(size=(80, 4)); y = (X.sum(axis=1) + np.sin(9 * X[:, 0]) > 1).astype(int)
print(DirectRanker(random_state=3).fit(X, y).coef_.tolist())
"""


@pytest.mark.slow
def test_same_seed_same_answer_in_another_process():
    there = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, text=True).stdout
    with contextlib.redirect_stdout(io.StringIO()) as here:
        exec(CODE, {})
    assert there == here.getvalue() != ""
