import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.datasets import InputError
from toprank.statistics import get

if importlib.util.find_spec("dask") is None:
    pytest.skip("dask is not installed", allow_module_level=True)

import dask
import dask.array as da

from toprank.scale.partitions import statistics
from toprank.scale.partitions.statistics import statistic_of

NAMES = [
    "auc",
    "dcg@3",
    "dcg@30%",
    "ndcg@4",
    "precision@2",
    "precision@20%",
    "recall@3",
    "positives_at_top",
    "wta",
]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(statistics, "BUCKET_ROWS", 7)  # several buckets even of few rows
    with dask.config.set(scheduler=dask.get):  # by its name, Dask may warn of an open client
        yield


@st.composite
def lists(draw):
    """Labels of both classes, scores with many ties, infinite ones too, perhaps weights, and partitions."""
    n = draw(st.integers(4, 40))
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=int)
    y[:2] = [0, 1]
    values = st.sampled_from([-np.inf, -2.0, -0.0, 0.0, 0.5, 1.0, 3.0, np.inf]) | st.floats(-5, 5)
    scores = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    kind = draw(st.sampled_from(["none", "whole", "fractional"]))
    masses = {"whole": st.sampled_from([0.0, 1.0, 2.0, 5.0]), "fractional": st.floats(0.1, 3.0)}.get(kind)
    weight = None
    if masses is not None:
        weight = np.array(draw(st.lists(masses, min_size=n, max_size=n)))
        weight[:2] = 1.0
    cuts = sorted(set(draw(st.lists(st.integers(1, n - 1), max_size=6))))
    return y, scores, weight, tuple(np.diff([0, *cuts, n]).tolist())


def refused_or_between(message, name, y, scores, weight, cuts):
    """Memory refuses to average over ties of fractional rows wherever they are; here only the top is seen."""
    parts, found, said = da.from_array(scores, chunks=(cuts,)), None, ""
    try:
        found = statistic_of(name, y, parts, ties="mean", sample_weight=weight)
    except ValueError as error:
        said = str(error)
    if found is None:
        assert said[:20] == message[:20]
    else:
        low, high = (get(name)(y, scores, ties=ties, sample_weight=weight) for ties in ("worst", "best"))
        assert low - 1e-12 <= found <= high + 1e-12


@settings(max_examples=120)
@given(lists(), st.sampled_from(NAMES), st.sampled_from(["worst", "mean", "best"]))
def test_a_partitioned_value_is_the_one_in_memory(case, name, ties):
    y, scores, weight, cuts = case
    how = {"ties": ties, "sample_weight": weight}
    try:
        wanted = get(name)(y, scores, **how)
    except ValueError as error:
        refused_or_between(str(error), name, y, scores, weight, cuts)
        return
    if weight is not None:
        how["sample_weight"] = da.from_array(weight, chunks=(cuts,))
    found = statistic_of(name, da.from_array(y, chunks=(cuts,)), da.from_array(scores, chunks=(cuts,)), **how)
    assert found == pytest.approx(wanted, rel=1e-13, abs=1e-13)
    if weight is None:
        assert statistic_of(name, y, da.from_array(scores, chunks=3), ties=ties) == pytest.approx(
            wanted, rel=1e-14
        )


def test_only_the_top_of_each_partition_travels():
    from toprank.scale.partitions.tallies import Tally, merged

    rng = np.random.default_rng(0)
    y, scores = rng.random(10_000) < 0.2, rng.normal(size=10_000)
    parts = [Tally.of(y[k::10], scores[k::10]).top(20) for k in range(10)]
    assert [len(part.scores) for part in parts] == [20] * 10
    assert merged(parts).top(20).scores.tolist() == np.sort(scores)[::-1][:20].tolist()


def test_a_million_rows_in_buckets(monkeypatch):
    from sklearn.metrics import roc_auc_score

    monkeypatch.setattr(statistics, "BUCKET_ROWS", 30_000)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200_000).round(3)
    y = (rng.random(200_000) < 1 / (1 + np.exp(-scores))).astype(int)
    found = statistic_of(
        "auc", da.from_array(y, chunks=17_000), da.from_array(scores, chunks=17_000), ties="mean"
    )
    assert found == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


def test_labels():
    scores = da.from_array(np.array([3.0, 2.0, 1.0]), chunks=2)
    assert statistic_of("auc", np.array(["a", "b", "b"]), scores, pos_label="a") == 1.0
    assert statistic_of("auc", np.array([1, -1, -1]), scores) == 1.0
    for y, words in (
        ([0, 1, 2], "pos_label"),
        ([0, 0, 0], "one class only"),
        ([0.0, 1.0, np.nan], "y contains NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            statistic_of("auc", np.array(y), scores)
    with pytest.raises(ValueError, match="scores contains NaN"):
        statistic_of("auc", np.array([0, 1, 1]), scores * np.nan)
    with pytest.raises(ValueError, match="arrays of 4 and of 3 rows"):
        statistic_of("auc", da.from_array(np.array([0, 1, 1, 0])), scores)
    with pytest.raises(InputError, match=r"dcg looks at the whole list: .* dcg@100"):
        statistic_of("dcg", np.array([0, 1, 1]), scores)


def test_series_of_data_frames():
    frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    import pandas as pd

    rng = np.random.default_rng(1)
    table = pd.DataFrame({"y": rng.integers(0, 2, 50), "score": rng.normal(size=50)})
    parts = frames.from_pandas(table, npartitions=4)
    assert statistic_of("auc", parts["y"], parts["score"]) == pytest.approx(
        get("auc")(table["y"], table["score"])
    )


@pytest.mark.parametrize("name", ["dcg@50", "precision@1%", "recall@30", "positives_at_top", "auc", "dcg"])
def test_values_in_blocks_are_those_of_the_whole(monkeypatch, name):
    monkeypatch.setattr(statistics, "BLOCK_ROWS", 64)
    rng = np.random.default_rng(3)
    scores = rng.normal(size=1000).round(1)
    y = (rng.random(1000) < 0.2).astype(np.int8)
    assert statistics.value_in_blocks(get(name), y, scores) == pytest.approx(get(name)(y, scores), rel=1e-12)
