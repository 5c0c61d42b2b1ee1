import numpy as np
import pytest
import scipy.sparse as sp

from toprank.base import RankingData
from toprank.networks.rows import Dealer, Scaling


def batches(y, size, *, qid=None, weight=None, kind="binary", seed=0):
    data = RankingData(np.zeros((len(y), 1)), np.asarray(y), qid, weight, kind=kind)
    dealer = Dealer(data, size)
    return [one.tolist() for one in dealer.passes(np.random.default_rng(seed))]


@pytest.mark.parametrize("positives", [1, 3, 40, 199])
def test_every_row_once_and_both_classes_in_every_batch(positives):
    y = np.zeros(200, dtype=np.int8)
    y[:positives] = 1
    found = batches(y, 20)
    assert sorted(np.concatenate(found).tolist()) == list(range(200))
    assert all(len(np.unique(y[one])) == 2 for one in found)
    assert len(found) == min(10, positives, 200 - positives)
    counts = [int(y[one].sum()) for one in found]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
def test_batches_of_numbers_hold_different_ones(kind):
    rng = np.random.default_rng(0)
    y = (
        rng.normal(size=150)
        if kind == "continuous"
        else rng.choice([0.0, 1.0, 2.0], 150, p=[0.9, 0.07, 0.03])
    )
    found = batches(y, 15, kind=kind)
    assert sorted(np.concatenate(found).tolist()) == list(range(150))
    assert all(len(np.unique(y[one])) > 1 for one in found)


def test_queries_stay_whole_and_those_of_one_label_stay_out():
    rng = np.random.default_rng(0)
    qid, y = rng.integers(0, 20, 200), rng.integers(0, 2, 200)
    y[qid == 7] = 0
    found = batches(y, 40, qid=qid)
    assert sorted(np.concatenate(found).tolist()) == np.flatnonzero(qid != 7).tolist()
    for query in set(range(20)) - {7}:
        assert sum(bool(set(np.flatnonzero(qid == query)) & set(one)) for one in found) == 1
    assert batches(y, 40, qid=qid, seed=1) != found
    with pytest.raises(ValueError, match="qid: no query holds rows of two different labels"):
        batches(np.zeros(4), 2, qid=np.zeros(4, dtype=int))
    with pytest.raises(ValueError, match="give queries of several rows each, or fit without qid"):
        batches(np.arange(4) % 2, 2, qid=np.arange(4))


def test_rows_without_weight_are_not_dealt():
    weight = np.array([1.0, 0.0, 1.0, 2.0])
    assert batches([0, 1, 1, 0], 8, weight=weight) == [[0, 2, 3]]


def test_scaling_counts_by_weight_and_leaves_constant_columns_at_zero():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5, 3, 50), np.full(50, 1e6 / 3), rng.random(50) < 0.3]).astype(float)
    weight = rng.integers(0, 4, 50).astype(float)
    repeated = Scaling.of(np.repeat(X, weight.astype(int), axis=0), None)
    for rows in (X, sp.csr_matrix(X)):
        found = Scaling.of(rows, weight)
        np.testing.assert_allclose(found.mean, repeated.mean)
        np.testing.assert_allclose(found.scale[[0, 2]], repeated.scale[[0, 2]])
    applied = repeated.apply(X)
    assert np.abs(applied[:, 1]).max() == 0
    np.testing.assert_array_equal(repeated.apply(sp.csr_matrix(X)), applied)
