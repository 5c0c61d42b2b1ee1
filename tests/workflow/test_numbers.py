"""Grades and any numbers as labels: ranked, judged, compared, scored and explained."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import toprank
from toprank.cli.main import main
from toprank.lineup import Settings
from toprank.statistics import get
from toprank.workflow.compare import CompareOptions, compare_rankers
from toprank.workflow.judging.hits import means_up_to
from toprank.workflow.learning import regression
from toprank.workflow.learning.fitting import Items
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source
from toprank.workflow.writing.summary import ranking_summary


def _numbers(n=80, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(3)
    loss = (100 + 30 * a - 10 * b + rng.normal(scale=15, size=n)).round(1)
    frame = pd.DataFrame({"code": [f"L{i:03d}" for i in range(n)], "a": a, "b": b, "loss": loss})
    frame["grade"] = pd.cut(loss, [-np.inf, 90, 120, np.inf], labels=False)
    frame["list"] = np.arange(n) % 8
    return frame


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What is judged here is the way of the figures, not how well forests of hundreds of trees do.
    monkeypatch.setattr(regression, "TREES", 5)
    monkeypatch.setattr(regression, "members_of_blend", lambda some: ["ridge", "forest"])
    _numbers().to_csv("items.csv", index=False)
    return tmp_path


def _continuous(**more):
    return open_source("items.csv", Columns(target="loss", id="code", ignore=["grade", "list"], **more))


def test_a_list_by_numbers(here):
    report = rank_items(_continuous(), RankOptions(budget=10, splits=3))
    assert (report.kind, report.baseline, report.delivered) == ("continuous", "ridge", "ensemble")
    assert report.statistic == "top_gain@10"
    assert report.positives is None
    listing = report.listing
    assert set(listing["order"]) == {"out of fold"}
    assert sorted(listing["ridge_rank"]) == list(range(1, 81))
    assert report.found.ours == pytest.approx(listing["loss"].head(10).mean())
    assert report.found.baseline == pytest.approx(listing.sort_values("ridge_rank")["loss"].head(10).mean())
    assert report.found.chance == pytest.approx(listing["loss"].mean())
    assert report.found.ours > report.found.chance + 20
    assert any("numbers from" in one and "top_gain@10" in one for one in report.remarks)


def test_held_out_means_are_those_of_the_rows(here):
    report = rank_items(_continuous(), RankOptions(budget=10, splits=3, ranker="ridge"))
    held_out, y = report.held_out, _numbers()["loss"].to_numpy()
    line = next(one for one in held_out.hits if one.k == 10)
    for number, split in enumerate(held_out.splits):
        first = split.rows[np.argsort(-split.scores["ridge"], kind="stable")[:10]]
        assert line.found["ridge"][number] == pytest.approx(y[first].mean())
    assert line.chance == pytest.approx(np.mean([y[split.rows].mean() for split in held_out.splits]))
    assert line.best == pytest.approx(
        np.mean([np.sort(y[split.rows])[-10:].mean() for split in held_out.splits])
    )
    low, high = line.interval("ridge")
    assert low < line.mean("ridge") < high
    assert f"a mean loss of {low:.3g} to {high:.3g}; by chance {line.chance:.3g}" in held_out.expectation(
        "ridge"
    )
    assert held_out.concordance("ridge") == pytest.approx(
        np.mean([get("c_index")(one.y, one.scores["ridge"]) for one in held_out.splits])
    )


def test_where_a_new_mean_lies():
    """Four of five new lists, of rows like those that were parted again and again."""
    from toprank.workflow.judging.hits import means_lines

    rng, inside, runs = np.random.default_rng(0), 0, 300
    for _ in range(runs):
        y, signal = rng.normal(size=(2, 240))
        y += signal
        judged = []
        for _ in range(5):
            rows = rng.permutation(160)[:80]
            judged.append((y[rows], None, {"ours": signal[rows]}))
        low, high = means_lines([20], judged, 0.5)[0].interval("ours")
        new = np.arange(160, 240)
        inside += low <= y[new][np.argsort(-signal[new])[:20]].mean() <= high
    assert 0.74 <= inside / runs <= 0.92


def test_means_of_queries_of_different_lengths():
    y, scores = np.array([3.0, 1.0, 5.0, 0.0, 2.0]), np.array([1.0, 2.0, 1.0, 3.0, 2.0])
    qid = np.array([0, 0, 1, 1, 1])
    # Query 0: 1, 3; query 1: 0, 2, 5. The shorter one counts with all it has.
    expected = [(1 + 0) / 2, (2 + 1) / 2, (2 + 7 / 3) / 2]
    np.testing.assert_allclose(means_up_to(y, scores, qid), expected)


def test_grades_within_queries(here):
    source = open_source("items.csv", Columns(target="grade", id="code", qid="list", ignore=["loss"]))
    assert source.kind == "ordinal"
    report = rank_items(source, RankOptions(budget=3, splits=2, ranker="ridge"))
    assert report.statistic == "ndcg@3"
    assert report.held_out.chance < np.mean(report.held_out.values("ridge"))
    assert "of each query would have a mean grade of" in report.held_out.expectation("ridge")
    by_query = report.listing.groupby("list")["rank"].apply(sorted)
    assert all(ranks == list(range(1, 11)) for ranks in by_query)


def test_labels_can_be_told(here):
    assert open_source("items.csv", Columns(target="grade")).kind == "ordinal"
    assert open_source("items.csv", Columns(target="grade", labels="continuous")).kind == "continuous"
    binary = open_source("items.csv", Columns(target="grade", positive=["2"]))
    assert binary.kind == "binary"
    assert binary.positives == (_numbers()["grade"] == 2).sum()
    frame = _numbers()
    frame["price"] = [f"${value:,.2f}" for value in 1000 * frame["loss"]]
    frame.to_csv("prices.csv", index=False)
    source = open_source("prices.csv", Columns(target="price"))
    np.testing.assert_allclose(source.labelled.y, 1000 * frame["loss"])


def test_the_command_says_what_it_does(here, capsys):
    arguments = ["rank", "items.csv", "-t", "loss", "--id", "code", "--ignore", "grade", "--ignore", "list"]
    arguments += ["--budget", "10", "--splits", "3", "--ranker", "ridge"]
    assert main([*arguments, "--model", "m.json", "--report", "page.html", "--out", "ranked.csv"]) == 0
    shown = capsys.readouterr().out
    low, high = _numbers()["loss"].min(), _numbers()["loss"].max()
    for words in (
        f"Learned from 80 labelled items, loss from {low:g} to {high:g}. Budget: the first 10.",
        "what counts is top_gain@10 (what the first are worth above chance",
        "Its first 10 have a mean loss of",
        "Mean loss of the first of held-out items",
        "at best",
        "c_index",
        "The first 10 would have a mean loss of",
    ):
        assert words in shown
    assert "hits" not in shown.lower()
    page = Path("page.html").read_text()
    assert "What will the first 10 be worth?" in page
    assert main(["score", "m.json", "items.csv", "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert scored["statistic"] == "top_gain@10"
    assert 0.5 < scored["value"] <= 1.0
    assert scored["chance"] == 0.0
    code = pd.read_csv("ranked.csv")["code"][0]
    assert main(["explain", "m.json", "items.csv", "--id", code]) == 0
    assert "adds" in capsys.readouterr().out


def test_a_blend_is_saved_and_scores_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regression, "TREES", 5)
    _numbers(40).to_csv("items.csv", index=False)
    arguments = ["rank", "items.csv", "-t", "loss", "--id", "code", "--ignore", "grade", "--splits", "0"]
    assert (
        main([*arguments, "--model", "m.skops", "--new", "items.csv", "--out", "first.csv", "--quiet"]) == 0
    )
    assert main(["score", "m.skops", "items.csv", "--out", "again.csv", "--quiet"]) == 0
    first, again = (pd.read_csv(name) for name in ("first.csv", "again.csv"))
    assert first["code"].tolist() == again["code"].tolist()
    np.testing.assert_array_equal(first["score"], again["score"])


def test_all_figures_are_finite_json(here):
    report = rank_items(_continuous(), RankOptions(budget=10, splits=3, ranker="ridge"))
    summary = ranking_summary(report, {}, head=3)
    json.dumps(summary, allow_nan=False)
    assert summary["label_kind"] == "continuous"
    assert summary["held_out"]["found"] == "mean loss"
    assert summary["held_out"]["roc"] == {}
    assert set(summary["held_out"]["cut_offs"]["rankers"]["ridge"]) == {"mean", "low", "high"}


@pytest.mark.parametrize("target", ["loss", "grade"])
def test_rankers_are_compared_with_ridge_regression(here, target):
    other = ["grade", "loss"][target == "grade"]
    source = open_source("items.csv", Columns(target=target, id="code", ignore=[other, "list"]))
    report = compare_rankers(source, CompareOptions(splits=2, time_limit=4, budget=10))
    names = [*(one.name for one in report.figures), *report.not_run]
    assert report.baseline == "ridge regression"
    assert {"ridge regression", "ensemble", "RankSVM", "RankRLS"} <= set(names)
    assert "Ridge regression will do" in report.advice
    assert ("LightGBM lambdarank" in names) <= (target == "grade")
    assert not {"TopPush", "logistic regression"} & set(names)


@pytest.mark.parametrize(
    ("cells", "options", "said"),
    [
        ([5.5] * 6, [], "target 'y' has one class only ('5.5')"),
        ([5.5] * 6, ["--labels", "continuous"], "target 'y' is 5.5 in every row"),
        ([""] * 6, [], "12 of 12 labels are missing"),
        ([1.5, 2.5, "inf", 3.5, 4, 5], [], "'y': inf in row 3 is no finite number"),
        (list("abcabc"), [], "say which belong at the top with --positive"),
        (list("abcabc"), ["--labels", "ordinal"], "holds words ('a' in row 1), which have no order"),
        ([1, 2, 3, 1, 2, 3], ["--labels", "many"], "--labels 'many' is not one of binary, ordinal"),
        (
            [1, 2, 3, 1, 2, 3],
            ["--labels", "ordinal", "--positive", "3"],
            "--positive makes two classes of 'y'",
        ),
        (
            [1, 2, 3, 1, 2, 3],
            ["--ranker", "TopPush"],
            "TopPush learns from two classes, and labels are ordinal",
        ),
        ([1, 2, 3, 1, 2, 3], ["--statistic", "auc"], "--statistic 'auc': "),
        ([0, 1, 1, 0, 1, 0], ["--ranker", "ridge"], "--ranker ridge is for numbers as labels"),
    ],
)
def test_bad_labels_are_one_line(tmp_path, capsys, cells, options, said):
    rows = "\n".join(f"{k},{cell}" for k, cell in enumerate(2 * cells))
    (tmp_path / "d.csv").write_text(f"x,y\n{rows}\n")
    for command in ("rank", "compare"):
        extra = [] if command == "rank" else ["--splits", "2"]
        if command == "compare" and "--ranker" in options:
            continue
        assert main([command, str(tmp_path / "d.csv"), "-t", "y", *options, *extra]) == 2
        shown = capsys.readouterr().err
        assert said in shown
        assert shown.count("\n") == 1


def test_negative_weights_of_comparisons_are_one_line(here, capsys):
    pd.DataFrame({"better": ["L001"], "worse": ["L002"], "weight": [-1]}).to_csv("pairs.csv", index=False)
    assert main(["rank", "items.csv", "--pairs", "pairs.csv", "--id", "code"]) == 2
    shown = capsys.readouterr().err
    assert "weight" in shown
    assert shown.count("\n") == 1


def test_the_blend_of_the_commands_is_the_public_ensemble(here):
    labelled = _continuous().labelled
    items = Items(labelled.features, labelled.y, None, kind="continuous")
    made = regression.blend(items, Settings(), folds=3)
    assert type(made) is toprank.TopEnsemble
    assert [name for name, _ in made.members] == ["ridge", "forest"]


@pytest.mark.parametrize("target", ["loss", "grade"])
def test_the_top_of_a_regressors_list_is_ordered_anew(here, target):
    other = {"loss": "grade", "grade": "loss"}[target]
    source = open_source("items.csv", Columns(target=target, id="code", ignore=[other, "list"]))
    options = RankOptions(budget=5, depth=10, splits=2, ranker="RankThenRerank", time_limit=20)
    report = rank_items(source, options)
    assert report.delivered == "rerank"
    ranker = report.model.ranker
    assert type(ranker.base_).__name__ == "RidgeCV"
    assert ranker.reranker.statistic == {"loss": "c_index", "grade": "ndcg@5"}[target]
    assert ranker.n_top_ >= 10


def test_the_depth_is_found_out_for_numbers_too(here):
    report = rank_items(_continuous(), RankOptions(budget=5, splits=2, ranker="rerank", time_limit=20))
    assert report.delivered == "rerank"
    assert report.depth >= 10
