import numpy as np
import pandas as pd
import pytest

from toprank.datasets import InputError, Table
from toprank.workflow.learning.fitting import Items
from toprank.workflow.learning.splits import held_out_by, held_out_splits, out_of_fold_splits
from toprank.workflow.reading.source import Columns, open_source
from toprank.workflow.reading.split_by import split_column


def _items(n=60, **parts):
    y = (np.arange(n) % 3 == 0).astype(np.int8)
    return Items(Table(pd.DataFrame({"a": np.arange(n)})), y, None, **parts)


def test_the_latest_are_held_out():
    times = np.random.default_rng(0).permutation(60).astype(float)
    for train, test in held_out_splits(_items(times=times), repeats=4, held_out=0.5, seed=0):
        assert times[train].max() < times[test].min()
        assert len(np.unique(test % 3)) > 1


def test_one_class_among_the_latest_is_said():
    y_late = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)  # all positives early
    with pytest.raises(InputError, match="the latest items hold one class only"):
        list(held_out_splits(_items(times=y_late), repeats=1, held_out=0.5, seed=0))


def test_folds_hold_out_every_row_once_and_groups_whole():
    groups = np.arange(60) // 4
    folds = out_of_fold_splits(_items(groups=groups), 5, 0)
    assert len(folds) == 5
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(60))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(ValueError, match="too few groups"):
        out_of_fold_splits(_items(groups=np.zeros(60, dtype=np.int64)), 5, 0)


@pytest.mark.parametrize(
    ("cells", "by_time"),
    [
        (pd.date_range("2024-01-01", periods=12).astype(str), True),
        ([2001, 2001, 2002, 2003] * 3, True),
        (np.linspace(0, 1, 12), True),
        (["ann", "bob", "cy"] * 4, False),
        ([11, 12, 13] * 4, False),
    ],
)
def test_what_a_column_says(cells, by_time):
    times, said = split_column(Table(pd.DataFrame({"when": cells})), "when")
    assert (times is not None) == by_time
    assert ("latest rows" in said) == by_time
    if by_time:
        assert len(times) == 12


def test_split_by_is_no_feature(tmp_path):
    n = 40
    frame = pd.DataFrame({"a": np.arange(n) % 7, "person": np.arange(n) // 2, "y": np.arange(n) % 4 == 0})
    frame.to_csv(tmp_path / "f.csv", index=False)
    source = open_source(str(tmp_path / "f.csv"), Columns(target="y", split_by="person"))
    assert source.labelled.features.columns == ["a"]
    assert source.labelled.groups is not None
    with pytest.raises(InputError, match="--split-by 'a' and --group 'person'"):
        open_source(str(tmp_path / "f.csv"), Columns(target="y", split_by="a", group="person"))


def test_rows_without_a_label_are_apart(tmp_path):
    (tmp_path / "f.csv").write_text("a,y\n1,0\n2,\n3,1\n4, \n5,0\n")
    source = open_source(str(tmp_path / "f.csv"), Columns(target="y"))
    assert source.rows == 3
    assert source.unlabelled.frame["a"].tolist() == [2, 4]
    assert "2 rows have no label in 'y': they are what is ranked." in source.remarks


def test_a_label_that_may_have_been_forgotten_is_pointed_out(tmp_path):
    lines = [f"{k % 7},{k % 2}" for k in range(59)]
    (tmp_path / "f.csv").write_text("\n".join(["a,y", *lines[:30], "1,", *lines[30:]]))
    source = open_source(str(tmp_path / "f.csv"), Columns(target="y"))
    assert source.remarks[0] == (
        "1 row has no label in 'y' (row 31): it is what is ranked."
        " Without it in the file, the 59 others would be."
    )


def test_cells_are_named_by_their_row_in_the_file(tmp_path):
    lines = ["x,30,", *(f"x,{k},{k % 2}" for k in range(20)), "x,old,1"]
    (tmp_path / "f.csv").write_text("\n".join(["site,age,y", *lines]))
    source = open_source(str(tmp_path / "f.csv"), Columns(target="y"))
    assert any("'old' in row 22" in remark for remark in source.remarks)


def test_which_rows_are_held_out_together():
    y, codes = np.array([0, 1, 0, 1], dtype=np.int8), np.array([0, 0, 1, 1])
    features = Table(pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}))
    assert held_out_by(Items(features, y, None)) == "random"
    assert held_out_by(Items(features, y, None, groups=codes)) == "group"
    assert held_out_by(Items(features, y, codes, groups=codes)) == "query"
    assert held_out_by(Items(features, y, codes, groups=codes[::-1])) == "group"
    assert held_out_by(Items(features, y, None, times=np.arange(4.0))) == "time"
