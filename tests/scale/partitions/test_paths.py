"""Every path over Dask arrays on a cluster of two processes: what one process gives."""

import os
import signal

import numpy as np
import pytest
from sklearn.datasets import make_classification

from toprank import AccuracyAtTop, InfinitePush, PNormPush, RankSVM, RankThenRerank, TopPush
from toprank.statistics import get

dask = pytest.importorskip("dask", reason="dask is not installed")

import dask.array as da  # noqa: E402

from toprank.scale import (  # noqa: E402
    fit_partitioned,
    learn_partitioned,
    logistic_regression,
    statistic_of,
)

MINUTES = [
    RankSVM(C=10.0, loss="squared_hinge", tol=1e-12),
    PNormPush(C=10.0, tol=1e-12),
    InfinitePush(C=10.0, tol=1e-9),
    AccuracyAtTop(0.2, C=0.01, solver="local", n_restarts=0, random_state=0),
]
"""Hundreds of small passes each; `test_convex` has them all in one process."""
RANKERS = [TopPush(C=10.0, tol=1e-10), *(pytest.param(one, marks=pytest.mark.slow) for one in MINUTES)]


def rows():
    X, y = make_classification(
        n_samples=150, n_features=4, n_redundant=0, weights=[0.7], class_sep=1.5, random_state=3
    )
    return X, y, da.from_array(X, chunks=(60, 4))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_convex_rankers_on_two_processes(cluster, ranker):
    X, y, parts = rows()
    ours, theirs = fit_partitioned(ranker, parts, y), ranker.fit(X, y)
    assert ours.outcome_.value == pytest.approx(theirs.outcome_.value, rel=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4 * np.abs(theirs.coef_).max())


def test_the_other_paths_on_two_processes(cluster):
    X, y, parts = rows()
    ours = logistic_regression(parts, y)
    with dask.config.set(scheduler=dask.get):  # by its name, Dask may warn of an open client
        alone = logistic_regression(parts, y)
    np.testing.assert_allclose(ours.coef_, alone.coef_, rtol=1e-12)
    reranked = learn_partitioned(RankThenRerank(reranker=RankSVM(), top=80), parts, y)
    again = RankThenRerank(ours, RankSVM(), top=80, cv="prefit").fit(X, y)
    np.testing.assert_allclose(reranked.decision_function(X), again.decision_function(X), atol=1e-8)
    scores = parts[:, 0]
    for name in ("auc", "dcg@20", "positives_at_top"):
        assert statistic_of(name, y, scores) == pytest.approx(get(name)(y, X[:, 0]), rel=1e-12)


def deadly(parts, calls, fatal):
    """The same rows; whoever makes the block that is asked for as the `fatal`-th is killed while at it."""

    def block(values):
        with calls.open("ab") as stream:
            stream.write(b".")
        if calls.stat().st_size == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return values

    return parts.map_blocks(block, dtype=float, meta=np.empty((0, 0)))


PATHS = {
    "logistic regression": (lambda X, y: logistic_regression(X, y).coef_, 8),
    "reranking": (
        lambda X, y: learn_partitioned(RankThenRerank(reranker=RankSVM(), top=80), X, y).coef_,
        11,
    ),
    "auc": (lambda X, y: statistic_of("auc", y, X[:, 0]), 2),
    "dcg": (lambda X, y: statistic_of("dcg@20", y, X[:, 0]), 2),
    "convex": (lambda X, y: fit_partitioned(TopPush(C=10.0, tol=1e-8), X, y).coef_, 8),
}
"""What a path gives, and the block in the middle of whose making a worker dies."""


SLOW = {"reranking", "convex"}


@pytest.mark.parametrize(
    "path", [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in PATHS]
)
def test_a_worker_killed_in_the_middle_changes_nothing(cluster, tmp_path, path):
    _, y, parts = rows()
    found_by, fatal = PATHS[path]
    with dask.config.set(scheduler=dask.get):
        alone = found_by(parts, y)
    calls = tmp_path / "calls"
    found = found_by(deadly(parts, calls, fatal), y)
    assert calls.stat().st_size > fatal, "nobody was killed"
    np.testing.assert_allclose(found, alone, rtol=1e-9, atol=1e-12)
