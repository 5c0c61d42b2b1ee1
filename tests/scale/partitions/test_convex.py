import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from toprank import AccuracyAtTop, InfinitePush, PNormPush, RankSVM, TauFPL, TopPush

dask = pytest.importorskip("dask", reason="dask is not installed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from toprank.scale import fit_partitioned  # noqa: E402
from toprank.scale.partitions.design import PartitionedDesign, PartitionedRows  # noqa: E402

RANKERS = {
    "hinge": RankSVM(C=10.0, tol=1e-8),
    "squared": RankSVM(C=10.0, loss="squared_hinge", tol=1e-12),
    "p-norm": PNormPush(p=4, C=10.0, tol=1e-12),
    "top": TopPush(C=10.0, tol=1e-10),
    "share": TauFPL(0.2, C=10.0, tol=1e-10),
    "infinite": InfinitePush(C=10.0, tol=1e-9),
    "at top": AccuracyAtTop(0.2, C=0.01, solver="local", n_restarts=0, random_state=0),
}


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler=dask.get):  # by its name, Dask may warn of an open client
        yield


def rows(n=240):
    X, y = make_classification(
        n_samples=n,
        n_features=5,
        n_informative=4,
        n_redundant=0,
        weights=[0.7],
        class_sep=1.5,
        random_state=3,
    )
    return X + 100.0, y, np.random.default_rng(0).integers(1, 4, n).astype(float)


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_partitions_give_what_memory_gives(name, weighted):
    X, y, weight = rows()
    ranker = RANKERS[name]
    mass = weight if weighted else None
    ours = fit_partitioned(ranker, da.from_array(X, chunks=(70, 3)), y, mass)
    theirs = ranker.fit(X, y, sample_weight=mass)
    assert ours.outcome_.value == pytest.approx(theirs.outcome_.value, rel=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-3 * np.ptp(X @ theirs.coef_)
    )
    assert ours.outcome_.status == theirs.outcome_.status


def test_a_partitioned_design_has_the_products_of_one_in_memory():
    import scipy.sparse as sp

    from toprank.convex.algebra.design import Design

    X, _, weight = rows(50)
    ours, theirs = PartitionedDesign(da.from_array(X, chunks=(13, 5))), Design(X)
    some, numbers = np.array([40, 3, 3, 17]), sp.csr_array(np.vstack([weight, 1.0 - weight]))
    coef = np.arange(5.0)
    for mine, his in (
        (ours.scores(coef), theirs.scores(coef)),
        (ours.combine(weight), theirs.combine(weight)),
        (ours.gram(weight), theirs.gram(weight)),
        (ours.column_squares(weight), theirs.column_squares(weight)),
        (ours.take(some).X, theirs.take(some).X),
        (numbers @ ours.X, numbers @ theirs.X),
        (ours.X.T @ ours.X, theirs.X.T @ theirs.X),
        (ours.X[np.zeros(0, dtype=int)], theirs.X[:0]),
    ):
        np.testing.assert_allclose(mine, his, rtol=1e-11, atol=1e-9)


def test_rows_far_from_zero_keep_their_digits():
    X = np.array([[1e15], [1e15 + 2.0], [1e15 + 4.0]])
    found = PartitionedRows(da.from_array(X, chunks=(2, 1)))
    assert (found @ np.ones(1)).tolist() == [-2.0, 0.0, 2.0]


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (RankSVM(norm="l1"), "norm='l2'"),
        (TopPush(kernel="rbf"), "kernel=None"),
        (AccuracyAtTop(0.1), "partitioned rows are for solver='local'"),
        (PNormPush(solver="boosting"), "partitioned rows are for solver='newton'"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused(ranker, message):
    X, y, _ = rows(30)
    with pytest.raises(ValueError, match=message):
        fit_partitioned(ranker, da.from_array(X, chunks=(10, 5)), y)


def test_others_and_empty_weights_are_refused():
    from toprank import ExactRanker

    X, y, weight = rows(30)
    parts = da.from_array(X, chunks=(10, 5))
    with pytest.raises(ValueError, match="ExactRanker does not learn from partitioned rows"):
        fit_partitioned(ExactRanker(), parts, y)
    weight[4] = 0.0
    with pytest.raises(ValueError, match="sample_weight must be above zero"):
        fit_partitioned(TopPush(), parts, y, weight)
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="missing or infinite in column 1"):
        fit_partitioned(TopPush(), da.from_array(X, chunks=(10, 5)), y)


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize("ranker", [TopPush(C=10.0), RankSVM(loss="squared_hinge"), PNormPush()])
def test_fit_takes_partitions_as_they_are(ranker, frame, monkeypatch):
    X, y, _ = rows()
    parts = da.from_array(X, chunks=(80, -1))
    monkeypatch.setattr(da.Array, "__array__", lambda *_, **__: pytest.fail("all rows came into memory"))
    given = dd.from_dask_array(parts) if frame else parts
    fitted = clone(ranker).fit(given, y)
    assert isinstance(fitted, type(ranker))
    np.testing.assert_array_equal(fitted.coef_, fit_partitioned(ranker, given, y).coef_)
    assert fitted.decision_function(X).shape == (len(X),)
    with pytest.raises(ValueError, match="rows in partitions are one list"):
        clone(ranker).fit(given, y, qid=np.zeros(len(y)))
