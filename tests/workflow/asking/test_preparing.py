"""What is said about labels that may be something else."""

import pytest

from toprank.datasets import InputError
from toprank.model import save_model
from toprank.workflow.explain import explain_item
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source

QUICK = {"splits": 0, "time_limit": 5.0}


def _file(tmp_path, labels, *more):
    lines = [f"{(7 * k) % 40},{label}" for k, label in enumerate(labels)]
    (tmp_path / "f.csv").write_text("\n".join(["a,y", *lines, *more]) + "\n")
    return str(tmp_path / "f.csv")


def _remarks(file, ranker, **columns):
    source = open_source(file, Columns(target="y", **columns))
    return rank_items(source, RankOptions(ranker=ranker, **QUICK)).remarks


def test_a_total_below_the_table_is_pointed_out(tmp_path):
    file = _file(tmp_path, [0, 1] * 20, "0,20")
    said = [one for one in _remarks(file, "ridge") if one.startswith("Only row")]
    assert [one.partition(":")[0] for one in said] == ["Only row 41 has y = 20, all others have 0 or 1"]
    grades = _remarks(_file(tmp_path, [0, 1, 2, 1] * 10), "ridge")
    assert not any(one.startswith("Only row") for one in grades)


def test_unknown_is_no_label(tmp_path):
    file = _file(tmp_path, ["y", "n", "unknown", "n"] * 10)
    with pytest.raises(InputError, match="leave cells empty where 'unknown' means that nobody knows"):
        open_source(file, Columns(target="y"))
    said = "'unknown' in 'y' is taken for a label that does not belong at the top"
    assert any(one.startswith(said) for one in _remarks(file, "logistic", positive=["y"]))
    two = _file(tmp_path, ["present", "missing"] * 20)
    assert not any("taken for a label" in one for one in _remarks(two, "logistic", positive=["present"]))


def test_rows_go_by_their_number_in_the_file_where_some_are_empty(tmp_path):
    file = _file(tmp_path, [0, 1] * 20, ",", "3,1")
    source = open_source(file, Columns(target="y"))
    report = rank_items(source, RankOptions(ranker="logistic", **QUICK))
    assert sorted(report.listing["row"]) == [*range(1, 41), 42]
    assert report.encoding == "1 feature, numbers standardised"
    save_model(report.model, tmp_path / "m.json")
    explained = explain_item(str(tmp_path / "m.json"), file, None, 42)
    assert (explained.name, explained.items) == ("row 42", 41)
    assert explained.parts[0].value == "3"
    with pytest.raises(InputError, match="--row 41: give a number from 1 to 42"):
        explain_item(str(tmp_path / "m.json"), file, None, 41)
