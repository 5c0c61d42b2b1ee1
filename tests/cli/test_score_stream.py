import json

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from scale_items import items, model_of
from toprank.cli.main import main
from toprank.model import save_model

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(model_of(LogisticRegression()), "m.json")
    for seed in (1, 2):
        items(200, seed).to_parquet(f"part{seed}.parquet")
    return tmp_path


def test_the_best_of_several_files(here, capsys):
    assert main(["score", "m.json", "part*.parquet", "--top", "7", "--out", "top.csv"]) == 0
    shown = capsys.readouterr().out
    assert "400 rows of 2 files scored." in shown
    listed = pd.read_csv("top.csv")
    assert listed["rank"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert set(listed["file"]) <= {"part1.parquet", "part2.parquet"}
    assert main(["score", "m.json", "part1.parquet", "part2.parquet", "--top", "7", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in summary["list"]] == listed["code"].tolist()
    assert (summary["rows"], summary["interrupted"]) == (400, False)


def test_items_of_several_files_are_named_on_the_screen(here, capsys):
    assert main(["score", "m.json", "part*.parquet", "--top", "3", "--out", "top.csv"]) == 0
    shown = capsys.readouterr().out
    head = next(line.split() for line in shown.splitlines() if line.startswith("rank"))
    assert head[:3] == ["rank", "file", "code"]
    assert all(str(one) in shown for one in pd.read_csv("top.csv")["code"])
    frame = items(20).drop(columns="code").assign(file="mine")
    frame.to_parquet("own.parquet")
    assert main(["score", "m.json", "own.parquet", "--top", "3"]) == 0
    head = next(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("rank"))
    assert head[:2] == ["rank", "row"], "a column of the user's is no name of ours"


def test_every_score_and_the_best(here, capsys):
    arguments = ["score", "m.json", "part1.parquet", "--top", "3", "--out", "top.csv", "--all", "scores"]
    assert main(arguments) == 0
    scores = pd.read_parquet("scores")
    assert scores.nlargest(3, "score")["code"].tolist() == pd.read_csv("top.csv")["code"].tolist()
    assert main(arguments) == 2
    assert "--all 'scores' is not empty" in capsys.readouterr().err


def test_a_file_that_is_not_read_in_batches_is_cut_too(here, capsys):
    items(30).to_excel("items.xlsx", index=False)
    assert main(["score", "m.json", "items.xlsx", "--top", "4", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (len(summary["list"]), summary["rows"]) == (4, 30)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["part*.parquet"], "say --top NUMBER for the best items, or --all FOLDER"),
        (["part1.parquet", "--all", "s", "--out", "o.csv"], "say how many with --top NUMBER"),
        (["items.xlsx", "--all", "s"], "--all is for Parquet and CSV files"),
        (["none*.parquet", "--top", "3"], "No file matches 'none*.parquet'"),
        (["part1.parquet", "--top", "3", "--out", "m.json"], "would write over an input"),
    ],
)
def test_what_does_not_go_together(arguments, words, here, capsys):
    assert main(["score", "m.json", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.strip().splitlines()) == 1
    assert sorted(path.name for path in here.iterdir()) == ["m.json", "part1.parquet", "part2.parquet"]
