"""Sources and splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.errors import InputError
from toprank.reproduce.compute import measured
from toprank.reproduce.experiment import (
    ConsecutiveParts,
    GivenFolds,
    Measure,
    RandomSplits,
    Source,
    StratifiedSplits,
    WholeSet,
)
from toprank.reproduce.rows import Rows, load_rows, missing_data, split

FILE = Source(title="Secret", file="secret.csv", file_format="two columns and y.")


def _rows(labels, parts=None):
    y = np.array(labels, dtype=np.int8)
    return Rows(
        np.zeros((len(y), 1)), y, np.zeros(len(y), dtype=np.intp) if parts is None else np.array(parts)
    )


@given(st.lists(st.integers(0, 1), min_size=12, max_size=40), st.integers(0, 9))
def test_every_kind_of_split_is_a_partition(labels, number):
    labels = [0, 1, 0, 1, *labels]
    rows = _rows(labels)
    for splits in (
        RandomSplits(count=10, train=0.5),
        StratifiedSplits(count=10, train=2 / 3),
        ConsecutiveParts(count=10, parts=10, train=3),
    ):
        train, test = split(splits, rows, number)
        assert sorted([*train, *test]) == list(range(len(labels)))
        assert len(train) > 0


def test_random_halves_are_the_first_half_of_a_seeded_permutation():
    train, _ = split(RandomSplits(count=10), _rows([0, 1] * 10), 7)
    assert set(train) == set(np.random.default_rng(7).permutation(20)[:10])


def test_stratified_parts_have_the_same_share_of_positives():
    train, test = split(StratifiedSplits(count=10, train=2 / 3), _rows([1] * 30 + [0] * 60), 1)
    assert (train < 30).sum() == 20
    assert len(train) == 60
    assert (test < 30).sum() == 10


def test_consecutive_parts_wrap_around_and_cover_everything_equally():
    splits = ConsecutiveParts(count=10, parts=10, train=3, seed=None)
    rows = _rows([0, 1] * 10)
    assert split(splits, rows, 9)[0].tolist() == [0, 1, 2, 3, 18, 19]
    counts = np.bincount(np.concatenate([split(splits, rows, k)[0] for k in range(10)]))
    assert set(counts) == {3}


def test_given_folds_draw_from_their_parts():
    splits = GivenFolds(train=((0, 1), (1, 2)), test=((2,), (0,)), train_rows=5, test_rows=3)
    parts = np.repeat([0, 1, 2], 6)
    train, test = split(splits, _rows([0, 1] * 9, parts), 1)
    assert (len(train), len(test), splits.count) == (5, 3, 2)
    assert set(parts[train]) <= {1, 2}
    assert set(parts[test]) == {0}


def test_the_whole_set_is_both_parts():
    train, test = split(WholeSet(), _rows([0, 1, 1]), 0)
    assert train.tolist() == test.tolist() == [0, 1, 2]


def test_data_that_cannot_be_had_run_when_a_user_brings_the_file(tmp_path, monkeypatch):
    monkeypatch.delenv("TOPRANK_DATA", raising=False)
    assert "secret.csv: two columns and y." in missing_data(FILE)
    with pytest.raises(InputError, match="Secret cannot be had"):
        load_rows(FILE)
    monkeypatch.setenv("TOPRANK_DATA", str(tmp_path))
    assert missing_data(FILE)
    (tmp_path / "secret.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    assert missing_data(FILE) == ""
    rows = load_rows(FILE)
    assert (rows.X.tolist(), rows.y.tolist()) == ([[1, 2], [3, 4]], [0, 1])
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no column y"):
        load_rows(FILE)


def test_missing_files_of_the_catalogue_are_named(monkeypatch):
    monkeypatch.delenv("TOPRANK_DATA", raising=False)
    assert "uis.csv" in missing_data(Source(title="UIS", catalog=("uis",)))


def test_a_few_rows_keep_both_classes():
    rows = load_rows(Source(title="Gaussians", maker="gaussians", most_rows=20))
    assert len(rows.y) == 20
    assert rows.y.sum() == 10


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=3, max_size=12))
def test_losses_are_means_over_pairs(items):
    y, scores = (np.array(column) for column in zip(*[(1, 0), (0, 1), *items], strict=True))
    pairs = [(a, b) for a in scores[y == 1] for b in scores[y == 0]]
    hinge = np.mean([max(0.0, 1.0 - (a - b)) for a, b in pairs])
    exponential = np.mean([np.exp(b - a) for a, b in pairs])
    assert measured(Measure("h", "h", loss="hinge"), y, scores) == pytest.approx(hinge)
    assert measured(Measure("e", "e", loss="exponential"), y, scores) == pytest.approx(exponential)
