import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification

from toprank import RankSVM, RankThenRerank
from toprank.datasets import InputError

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da  # noqa: E402

from toprank.scale import boosted_base, learn_partitioned  # noqa: E402

PARAMETERS = {"lightgbm": {"n_estimators": 5, "verbose": -1}, "xgboost": {"n_estimators": 5}}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows():
    X, y = make_classification(n_samples=400, n_features=6, weights=[0.8], random_state=0)
    return X, y, da.from_array(X, chunks=(100, 3))


@pytest.mark.filterwarnings("ignore")  # theirs: of ports, and of arguments they are about to rename
@pytest.mark.parametrize("engine", PARAMETERS)
def test_a_boosted_base_reranks_as_in_memory(client, engine):
    pytest.importorskip(engine)
    X, y, parts = rows()
    base = boosted_base(parts, y, engine=engine, **PARAMETERS[engine])
    assert not is_dask(base)
    ours = learn_partitioned(RankThenRerank(base, RankSVM(), top=60, cv="prefit"), parts, y)
    theirs = RankThenRerank(base, RankSVM(), top=60, cv="prefit").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_dask_learner_is_a_base(client):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, parts = rows()
    learner = lightgbm.DaskLGBMClassifier(**PARAMETERS["lightgbm"])
    ranker = learn_partitioned(RankThenRerank(learner, RankSVM(), top=60), parts, y)
    alone = lightgbm.LGBMClassifier(**PARAMETERS["lightgbm"]).fit(X, y)
    assert type(ranker.base_) is lightgbm.LGBMClassifier
    np.testing.assert_allclose(ranker.base_.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def is_dask(estimator):
    return "dask" in type(estimator).__module__


def test_without_a_cluster_or_the_package_one_line_says_so(monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    _, y, parts = rows()

    def nobody():
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", nobody)
    with pytest.raises(ValueError, match=r"learns on a Dask cluster: start one first"):
        learn_partitioned(RankThenRerank(lightgbm.DaskLGBMClassifier()), parts, y)
    with pytest.raises(ValueError, match="must be one of lightgbm, xgboost"):
        boosted_base(parts, y, engine="catboost")
    monkeypatch.setitem(sys.modules, "xgboost.dask", None)
    with pytest.raises(InputError, match="needs xgboost: install it with `pip install xgboost`"):
        boosted_base(parts, y, engine="xgboost")
