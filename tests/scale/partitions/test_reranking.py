import importlib.util

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from toprank import DirectRanker, RankSVM, RankThenRerank
from toprank.datasets import Roles
from toprank.model import RankingModel

if importlib.util.find_spec("dask") is None:
    pytest.skip("dask is not installed", allow_module_level=True)

import dask
import dask.array as da

from toprank.scale.partitions.logistic import logistic_regression
from toprank.scale.partitions.reranking import learn_partitioned


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler=dask.get):  # by its name, Dask may warn of an open client
        yield


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    return (
        X,
        (X @ [1.0, -0.5, 0.2, 0.0] + rng.logistic(size=n) > 2.0).astype(int),
        rng.integers(1, 3, n) * 1.0,
    )


@pytest.mark.parametrize(
    ("reranker", "weighted"),
    [
        (RankSVM(), True),
        (DirectRanker("precision@5%", random_state=0), False),
    ],
)
def test_partitions_give_what_memory_gives(reranker, weighted):
    X, y, weight = rows()
    mass = weight if weighted else None
    ranker = RankThenRerank(LogisticRegression(C=0.5), reranker, top=60, random_state=0)
    parts = da.from_array(X, chunks=((100, 60, 440), -1))
    found = learn_partitioned(ranker, parts, da.from_array(y, chunks=150), mass)
    base = logistic_regression(parts, y, mass, C=0.5)
    wanted = RankThenRerank(base, reranker, top=60, cv="prefit", random_state=0).fit(X, y, mass)
    assert found.threshold_ == pytest.approx(wanted.threshold_, rel=1e-12)
    assert found.top_rows_.tolist() == wanted.top_rows_.tolist()
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.predict_proba(X), wanted.predict_proba(X), rtol=1e-9, atol=1e-9)
    assert found.intercept_ == pytest.approx(wanted.intercept_, rel=1e-12)
    assert found.rank(X).tolist() == wanted.rank(X).tolist()
    assert isinstance(found.base_, LogisticRegression)


def test_only_partitions_with_rows_of_the_top_are_read_again():
    X = rows()[0]
    X = X[np.argsort(-(X @ [1.0, -0.5, 0.2, 0.0]), kind="stable")]
    read = []

    def block(block_info=None):
        (begin, end), _ = block_info[None]["array-location"]
        read.append(begin)
        return X[begin:end]

    parts = da.map_blocks(block, chunks=((200,) * 3, (4,)), dtype=float)
    base = LogisticRegression().fit(X, X @ [1.0, -0.5, 0.2, 0.0] > 1.0)
    read.clear()
    ranker = RankThenRerank(base, RankSVM(), top=40, cv="prefit")
    learn_partitioned(ranker, parts, np.arange(600) % 3 == 0)
    assert sorted(read) == [0, 0, 200, 400]


def test_a_learned_model_is_saved_like_any_other(tmp_path):
    import pandas as pd

    from toprank.model import load_model, save_model

    X, y, _ = rows()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    model = RankingModel.learned(LogisticRegression(), frame, Roles("y"))
    encoded, _ = model.encoder.encode(model.roles.features(model_table(frame)))
    ranker = learn_partitioned(
        RankThenRerank(reranker=RankSVM(), top=60), da.from_array(encoded, chunks=250), y
    )
    saved = RankingModel(model.encoder, ranker, model.roles, model.positive, "dcg")
    save_model(saved, tmp_path / "m.json")
    np.testing.assert_array_equal(load_model(tmp_path / "m.json").scores(frame)[0], saved.scores(frame)[0])


def model_table(frame):
    from toprank.datasets import Table

    return Table(frame)


def test_a_base_that_does_not_learn_in_passes_is_named():
    X, y, _ = rows(60)
    with pytest.raises(ValueError, match=r"base=RankSVM does not learn in passes"):
        learn_partitioned(RankThenRerank(RankSVM()), da.from_array(X, chunks=20), y)


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_give_what_memory_gives(weighted):
    X, y, weight = rows()
    mass = weight if weighted else None
    ranker = RankThenRerank(LogisticRegression(C=0.5), RankSVM(), top=60)

    def batches():
        for begin in range(0, len(X), 130):
            part = slice(begin, begin + 130)
            yield (X[part], y[part], weight[part]) if weighted else (X[part], y[part])

    found = learn_partitioned(ranker, batches)
    base = logistic_regression(batches, C=0.5)
    wanted = RankThenRerank(base, RankSVM(), top=60, cv="prefit").fit(X, y, mass)
    assert found.top_rows_.tolist() == wanted.top_rows_.tolist()
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), rtol=1e-9, atol=1e-9)


def test_batches_that_come_once_or_differ_are_named():
    X, y, _ = rows()
    ranker = RankThenRerank(reranker=RankSVM(), top=60)
    with pytest.raises(ValueError, match="an iterator only once: give a function"):
        learn_partitioned(ranker, iter([(X, y)]))
    with pytest.raises(ValueError, match="an iterator only once: give a function"):
        logistic_regression(iter([(X, y)]))
    prefit = RankThenRerank(LogisticRegression().fit(X, y), RankSVM(), top=60, cv="prefit")
    sizes = iter([[300, 300], [200, 400]])
    with pytest.raises(ValueError, match="not the same ones each time"):
        learn_partitioned(
            prefit, lambda: zip(np.split(X, [k := next(sizes)[0]]), np.split(y, [k]), strict=True)
        )
