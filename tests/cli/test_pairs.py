"""`toprank rank --pairs`: a list learned from comparisons, and what can be wrong with them."""

import json
import signal

import numpy as np
import pandas as pd
import pytest

from toprank.cli.main import main
from toprank.workflow.by_pairs import PairOptions, rank_by_pairs
from toprank.workflow.reading.source import Columns
from toprank.workflow.watch import Silent


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 30
    items = pd.DataFrame(
        {
            "lead": [f"{number:03d}" for number in range(n)],
            "age": rng.integers(20, 70, n),
            "income": [f"${value:,}" for value in rng.integers(20_000, 90_000, n)],
            "site": rng.choice(list("abc"), n),
        }
    )
    items.to_csv("leads.csv", index=False)
    worth = items["age"].to_numpy() + 5 * rng.normal(size=n)
    pairs = rng.integers(0, n, (120, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs = np.where((worth[pairs[:, 0]] > worth[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    names = items["lead"].to_numpy()
    frame = pd.DataFrame({"day": "mon", "loser": names[pairs[:, 1]], "winner": names[pairs[:, 0]]})
    frame.assign(weight=rng.integers(1, 4, len(pairs))).to_csv("pairs.csv", index=False)
    return tmp_path


RANK = ["rank", "leads.csv", "--pairs", "pairs.csv", "--id", "lead"]


def test_a_list_a_model_and_honest_words(here, capsys):
    assert main([*RANK, "--out", "list.csv", "--model", "model.json", "--head", "3"]) == 0
    shown = capsys.readouterr().out
    assert "by chance 50%" in shown
    assert "it has not seen" in shown
    listed = pd.read_csv("list.csv", dtype={"lead": str})
    assert listed["rank"].tolist() == list(range(1, 31))
    assert listed["age"].head(10).mean() > listed["age"].tail(10).mean() + 15
    assert main(["score", "model.json", "leads.csv", "--out", "again.csv", "-q"]) == 0
    assert pd.read_csv("again.csv", dtype={"lead": str})["lead"].tolist() == listed["lead"].tolist()


def test_figures_for_machines_and_a_proof(here, capsys):
    few = ["--ranker", "exact", "--ignore", "income", "--ignore", "site", "--json", "--head", "2"]
    assert main([*RANK, *few]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"]["proved"] is True
    assert said["training"] >= max(share["mean"] for share in said["held_out"]) - 0.2
    assert [share["unseen"] for share in said["held_out"]] == ["comparisons", "items"]
    assert len(said["list"]) == 2


BAD = {
    "unknown item": ("better,worse\n001,002\n003,999\n", "row 2: '999' is no identifier"),
    "itself": ("better,worse\n001,001\n", "row 1 compares '001' with itself"),
    "negative weight": ("better,worse,weight\n001,002,-1\n", "row 1 has -1; weights are positive"),
    "no weight": ("better,worse,weight\n001,002,1\n003,004,\n", "row 2 has nan"),
    "empty cell": ("better,worse\n001,\n", "row 1: has none"),
    "one column": ("better\n001\n", "needs two columns"),
    "no rows": ("better,worse\n", "no rows"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_comparisons_are_one_line(here, capsys, what):
    text, message = BAD[what]
    (here / "bad.csv").write_text(text, encoding="utf-8")
    assert main(["rank", "leads.csv", "--pairs", "bad.csv", "--id", "lead"]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((["rank", "leads.csv", "--pairs", "pairs.csv"]), "--id is missing"),
        (([*RANK, "--budget", "5"]), "--budget is about labels"),
        (([*RANK, "--split-by", "site"]), "--split-by is about labels"),
        (([*RANK, "--ranker", "forest"]), "--ranker 'forest'"),
        (([*RANK, "--ignore", "nothing"]), "no such column"),
        (([*RANK, "--out", "pairs.csv"]), "would write over an input"),
    ],
)
def test_what_does_not_fit_is_named(here, capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_few_comparisons_are_enough_for_a_list_but_not_for_figures(here, capsys):
    (here / "one.csv").write_text("better,worse\n001,002\n", encoding="utf-8")
    assert main(["rank", "leads.csv", "--pairs", "one.csv", "--id", "lead"]) == 0
    assert "too few comparisons" in capsys.readouterr().out


def test_after_ctrl_c_there_is_a_list_but_no_figure_of_fits_cut_short(here):
    class Interrupting(Silent):
        def stage(self, text, **options):
            if text.startswith("Judging"):
                signal.raise_signal(signal.SIGINT)

    report = rank_by_pairs("leads.csv", "pairs.csv", Columns(id="lead"), PairOptions(), watch=Interrupting())
    assert report.interrupted
    assert report.held_out == []
    assert len(report.listing) == 30
