import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from scale_items import items
from toprank.cli.main import main
from toprank.datasets import InputError, learn_encoder
from toprank.model import load_model
from toprank.workflow.asking.options import RankOptions
from toprank.workflow.rank import open_files, rank_files
from toprank.workflow.ranking import in_passes as rank_parts
from toprank.workflow.reading import many_files
from toprank.workflow.reading.many_files import read_many, too_large
from toprank.workflow.reading.source import Columns

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from toprank.scale.files import parts as parts_module  # noqa: E402

COLUMNS = Columns(target="y", id="code", ignore=("other",))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Four files, of two formats, that count as too large; all rows as one table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts_module, "BATCH_ROWS", 256)
    (tmp_path / "train").mkdir()
    frames = [items(400, seed) for seed in range(4)]
    for seed in range(3):
        frames[seed].to_parquet(f"train/a{seed}.parquet", row_group_size=150)
    frames[3].to_csv("train/b3.csv", index=False)
    return pd.concat(frames, ignore_index=True)


def in_memory(frame):
    """Features and labels as `toprank rank` makes them of one table."""
    frame.to_parquet("whole.parquet")
    source = open_files(["whole.parquet"], COLUMNS)
    encoder, _ = learn_encoder(source.labelled.features)
    return encoder, encoder.encode(source.labelled.features)[0], source.labelled.y


def test_what_passes_learn_is_what_memory_learns(here):
    encoder, X, y = in_memory(here)
    exact = LogisticRegression(tol=1e-12, solver="newton-cholesky", max_iter=1000).fit(X, y)
    report = rank_files(["train"], COLUMNS, RankOptions(ranker="logistic"), large=True)
    assert report.model.encoder.feature_names == encoder.feature_names
    np.testing.assert_allclose(report.model.ranker.coef_, exact.coef_, rtol=1e-6)
    np.testing.assert_allclose(report.model.ranker.intercept_, exact.intercept_, rtol=1e-6)
    assert (report.rows, report.positives) == (1600, int(here["y"].sum()))
    wanted = here.loc[np.argsort(-exact.decision_function(X), kind="stable"), "code"]
    assert report.listing["code"].tolist()[:50] == wanted.tolist()[:50]
    assert set(report.listing["order"]) == {"label used"}


def test_the_reranker_gets_the_same_top_as_in_memory(here):
    from toprank import ExactRanker, RankThenRerank

    _, X, y = in_memory(here)
    report = rank_files(["train"], COLUMNS, RankOptions(depth=30, budget=10, splits=0), large=True)
    ours = report.model.ranker
    assert report.delivered == "rerank"
    base = LogisticRegression(tol=1e-12, solver="newton-cholesky", max_iter=1000).fit(X, y)
    settings = {"top": 30, "cv": "prefit", "fewest_of_a_class": 0, "random_state": 0}
    theirs = RankThenRerank(base, ExactRanker(ours.reranker.statistic), **settings).fit(X, y)
    np.testing.assert_array_equal(ours.top_rows_, theirs.top_rows_)
    assert ours.certificate_.value == theirs.certificate_.value
    assert report.outcome.value == theirs.outcome_.value
    assert report.training == pytest.approx(
        rank_statistic(report.statistic, y, ours.decision_function(X)), rel=1e-9
    )


def rank_statistic(name, y, scores):
    from toprank.statistics import get

    return get(name)(y, scores)


def test_held_out_rows_are_learned_from_by_nobody_who_judges_them(here, monkeypatch):
    _, X, y = in_memory(here)
    monkeypatch.setattr(rank_parts, "MOST_JUDGED", 500)
    report = rank_files(["train"], COLUMNS, RankOptions(ranker="logistic"), large=True)
    (split,) = report.held_out.splits
    assert 400 < len(split.rows) < 600
    learned = np.setdiff1d(np.arange(len(y)), split.rows)
    other = LogisticRegression(tol=1e-12, solver="newton-cholesky").fit(X[learned], y[learned])
    np.testing.assert_allclose(split.scores["logistic"], other.decision_function(X[split.rows]), rtol=1e-6)
    np.testing.assert_array_equal(split.y, y[split.rows])


def test_the_command_writes_a_model_that_scores_streams(here, monkeypatch, capsys):
    monkeypatch.setattr(many_files, "FITS", 1)
    command = [
        "rank",
        "train/*.parquet",
        "train/b3.csv",
        "--target",
        "y",
        "--id",
        "code",
        "--ignore",
        "other",
    ]
    files = ["--model", "model.json", "--out", "list.csv", "--depth", "20", "--budget", "10"]
    assert main([*command, *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["order"] == "label used"
    assert main(["score", "model.json", "train", "--top", "20", "--out", "again.csv", "--quiet"]) == 0
    first, again = pd.read_csv("list.csv"), pd.read_csv("again.csv")
    assert first["code"].tolist()[:20] == again["code"].tolist()
    assert {"rank", "score", "file", "order", "why", "code"} <= set(first.columns)
    assert load_model("model.json").provenance["rows"] == 1600
    assert main([*command, "--depth", "20", "--budget", "10"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "in passes" in said
    assert "Learned from 1600 labelled items" in said


@pytest.mark.parametrize("name", ["dcg@50", "precision@10", "auc", "ndcg@20", "average_precision"])
def test_chance_is_that_of_all_orders(name):
    from toprank.statistics import get
    from toprank.workflow.judging.held_out import chance_value

    y = (np.arange(400) % 7 == 0).astype(np.int8)
    assert rank_parts._chance(get(name), y) == pytest.approx(chance_value(get(name), y), rel=1e-12)


def test_unseen_items_of_other_files_are_ranked(here):
    items(200, 9).drop(columns="y").to_parquet("new.parquet")
    report = rank_files(
        ["train"], COLUMNS, RankOptions(ranker="logistic", splits=0), new="new.parquet", large=True
    )
    assert set(report.listing["order"]) == {"unseen"}
    assert set(report.listing["code"].str[0]) == {"9"}


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"qid": "kind"}, {}, "--qid 'kind'"),
        ({"target": None}, {}, "--target is missing"),
        ({"target": "other"}, {}, "'other' holds 9 different values"),
        ({}, {"ranker": "TopPush"}, "--ranker TopPush does not learn in passes"),
        ({}, {"base": "forest"}, "--base forest does not learn in passes"),
    ],
)
def test_what_cannot_be_done_in_passes_is_said(here, columns, options, message):
    from dataclasses import replace

    ignore = () if columns.get("target") == "other" else ("other",)
    with pytest.raises(InputError, match=message):
        rank_files(["train"], replace(COLUMNS, ignore=ignore, **columns), RankOptions(**options), large=True)


def test_a_row_without_a_label_and_a_file_without_a_column_are_named(here):
    frame = items(30, 7)
    frame["y"] = frame["y"].astype(float).mask(np.arange(30) == 4)
    frame.to_parquet("train/c.parquet")
    with pytest.raises(InputError, match=r"c.parquet, row group 0: row 5 has no label in 'y'"):
        rank_files(["train"], COLUMNS, RankOptions(), large=True)
    frame.drop(columns="a").to_parquet("train/c.parquet")
    with pytest.raises(InputError, match=r"c.parquet, row group 0 lacks columns that a0.parquet has: 'a'"):
        rank_files(["train"], COLUMNS, RankOptions(), large=True)


def test_thresholds_make_two_classes(here):
    from dataclasses import replace

    columns = replace(COLUMNS, target="count", positive=(">=3",), ignore=("other", "y"))
    report = rank_files(["train"], columns, RankOptions(ranker="logistic", splits=0), large=True)
    assert report.positives == int((here["count"] >= 3).sum())


# -- several files that fit ------------------------------------------------------------------------


def test_several_files_that_fit_are_one_table(here):
    table, digest = read_many(["train"], COLUMNS, text_columns=())
    pd.testing.assert_frame_equal(table.frame, here, check_dtype=False)
    assert len(digest) == 64
    assert table.source == "4 files"
    assert not too_large(["train"], COLUMNS)
    report = rank_files(["train"], COLUMNS, RankOptions(ranker="logistic", splits=2))
    assert report.rows == 1600
    assert set(report.listing["order"]) == {"out of fold"}


def test_a_column_that_is_text_in_one_file_is_text_in_all(here, tmp_path):
    (tmp_path / "zips").mkdir()
    pd.DataFrame({"zip": ["02139", "10001"], "y": [0, 1]}).to_csv("zips/a.csv", index=False)
    pd.DataFrame({"zip": ["94110", "60601"], "y": [0, 1], "more": 1}).to_csv("zips/b.csv", index=False)
    table, _ = read_many(["zips"], Columns(), text_columns=())
    assert table.frame["zip"].tolist() == ["02139", "10001", "94110", "60601"]
    assert table.remarks == ("b.csv has columns that a.csv lacks, left out: 'more'.",)
    with pytest.raises(InputError, match=r"a.csv lacks columns that b.csv has: 'more'"):
        read_many(["zips/b.csv", "zips/a.csv"], Columns(), text_columns=())


def test_how_large_files_are_is_known_without_reading_them(here, monkeypatch):
    rows, width = 1200, len(here.columns)
    monkeypatch.setattr(many_files, "FITS", 8 * rows * width)
    assert not too_large(["train/*.parquet"], COLUMNS)
    assert too_large(["train/*.parquet", "train/b3.csv"], COLUMNS)
    assert not too_large([], COLUMNS)
    monkeypatch.setattr(many_files, "FITS", 1)
    assert too_large(["train/b3.csv"], COLUMNS)
