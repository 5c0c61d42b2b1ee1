import importlib.util

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

if importlib.util.find_spec("dask") is None:
    pytest.skip("dask is not installed", allow_module_level=True)

import dask
import dask.array as da

from toprank.scale.partitions.logistic import NotConvergedWarning, logistic_regression


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler=dask.get):  # by its name, Dask may warn of an open client
        yield


def rows(n=900, width=6, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)) * np.geomspace(scale, 1 / scale, width) + rng.normal(size=width)
    z = (X / np.geomspace(scale, 1 / scale, width)) @ rng.normal(size=width)
    return X, (z + rng.logistic(size=n) > np.quantile(z, 0.7)).astype(int), rng.uniform(0.0, 2.0, n)


@pytest.mark.parametrize(("C", "scale"), [(1.0, 1.0), (0.01, 1.0), (100.0, 30.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_partitions_give_the_coefficients_of_scikit_learn(C, scale, weighted):
    X, y, weight = rows(scale=scale)
    mass = weight if weighted else None
    wanted = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(X, y, mass)
    chunks = (100, 350, 450)
    found = logistic_regression(
        da.from_array(X, chunks=(chunks, (2, 4))),
        da.from_array(y, chunks=300),
        None if mass is None else da.from_array(mass, chunks=(chunks,)),
        C=C,
    )
    size = np.abs(wanted.coef_).max()
    np.testing.assert_allclose(found.coef_, wanted.coef_, rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(found.intercept_, wanted.intercept_, rtol=1e-7)
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), atol=1e-7)
    assert found.predict(X).tolist() == wanted.predict(X).tolist()


def test_batches_that_are_made_anew_in_each_pass():
    X, y, weight = rows()
    labels = np.where(y == 1, "yes", "no")
    calls = []

    def batches():
        calls.append(0)
        for begin in range(0, len(X), 128):
            part = slice(begin, begin + 128)
            calls[-1] += 1
            yield X[part], labels[part], weight[part]

    found = logistic_regression(batches)
    wanted = logistic_regression(da.from_array(X, chunks=200), labels, weight)
    np.testing.assert_allclose(found.coef_, wanted.coef_, rtol=1e-9)
    assert found.classes_.tolist() == ["no", "yes"]
    assert calls == [8] * (1 + found.n_iter_[0])
    assert found.n_iter_[0] < 15


def test_separable_rows_stay_finite():
    X = np.repeat(np.array([[-1.0], [1.0]]), 50, axis=0)
    y = np.repeat([0, 1], 50)
    wanted = LogisticRegression(C=1e6, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    found = logistic_regression(da.from_array(X, chunks=30), y, C=1e6)
    np.testing.assert_allclose(found.coef_, wanted.coef_, rtol=1e-6)


def test_passes_that_do_not_suffice_are_said():
    X, y, _ = rows()
    with pytest.warns(NotConvergedWarning, match="in 2 passes"):
        logistic_regression(da.from_array(X, chunks=200), y, max_passes=2)


def test_what_is_wrong_is_named():
    X, y, weight = rows(60)
    parts = da.from_array(X, chunks=20)
    bad = X.copy()
    bad[33, 2] = np.nan
    for arguments, words in (
        ((da.from_array(bad, chunks=20), y), "missing or infinite in column 2"),
        ((parts, np.zeros(60)), "two classes, got 1"),
        ((parts, np.arange(60) % 3), "two classes, got 3"),
        ((parts, y[:50]), "arrays of 60 and of 50 rows"),
        ((parts, y, -weight), "sample_weight must be"),
        ((lambda: iter(()),), "no batches"),
    ):
        with pytest.raises(ValueError, match=words):
            logistic_regression(*arguments)


def test_data_frames():
    frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    import pandas as pd

    X, y, _ = rows(200)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    parts = frames.from_pandas(table, npartitions=3)
    found = logistic_regression(parts[list("abcdef")], parts["y"])
    np.testing.assert_allclose(
        found.coef_, logistic_regression(da.from_array(X, chunks=90), y).coef_, rtol=1e-9
    )
