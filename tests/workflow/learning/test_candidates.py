import numpy as np
import pandas as pd
import pytest

from toprank.datasets import Table, inspections
from toprank.lineup import Settings
from toprank.workflow.learning.candidates import candidates_for, choose, made_for
from toprank.workflow.learning.fitting import Items
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source

NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2])
PLAIN = (10 + NOISE).tolist()


def _ahead(by, noise=0.2):
    return (10 + by + NOISE + noise * NOISE[::-1]).tolist()


def test_who_is_judged():
    assert candidates_for("ensemble", "best") == ["ensemble", "logistic"]
    assert candidates_for("logistic", "best") == ["logistic"]
    assert candidates_for("rerank", "simple") == ["rerank", "logistic"]


def test_large_tables_get_catboost_of_fewer_steps():
    pytest.importorskip("catboost")

    def steps(rows):
        items = Items(
            Table(pd.DataFrame(np.zeros((rows, 10)))), (np.arange(rows) % 3 == 0).astype(np.int8), None
        )
        members = dict(made_for("ensemble", items, Settings(), 10, final=True).members)
        return members["catboost"].get_params()["iterations"]

    assert steps(300) == 2 * steps(5000)


def test_the_ensemble_is_delivered_unless_it_does_worse():
    for by in (1.0, 0.0, -0.01):
        assert choose("ensemble", "best", False, {"ensemble": _ahead(by), "logistic": PLAIN}, 0.5).why == ""
    choice = choose("ensemble", "best", False, {"ensemble": _ahead(-1.0), "logistic": PLAIN}, 0.5)
    assert choice.name == "logistic"
    assert "ensemble does worse than logistic regression on held-out items" in choice.why


def test_what_is_asked_for_by_name_is_delivered_with_a_warning():
    choice = choose("TopPush", "best", True, {"TopPush": _ahead(-1.0), "logistic": PLAIN}, 0.5)
    assert choice.name == "TopPush"
    assert "does worse" in choice.why
    assert "because --ranker asks for it" in choice.why


def test_the_simplest_within_a_standard_error():
    def delivered(**ahead):
        values = {name: _ahead(by) for name, by in ahead.items()} | {"logistic": PLAIN}
        return choose("ensemble", "simple", False, values, 0.5).name

    assert delivered(ensemble=0.01, rerank=0.0) == "logistic"
    assert delivered(ensemble=1.0, rerank=1.0) == "rerank"
    assert delivered(ensemble=1.0, rerank=0.0) == "ensemble"
    assert delivered(ensemble=-1.0, rerank=-1.0) == "logistic"


def test_one_split_decides_nothing():
    assert choose("ensemble", "simple", False, {"ensemble": [1.0], "logistic": [2.0]}, 0.5).name == "ensemble"


def test_the_harmful_list_is_not_what_is_written(tmp_path, monkeypatch):
    """Whatever the figures say, list and model are of the ranker that is called delivered."""
    from toprank.workflow.ranking import in_memory as rank_module

    rng = np.random.default_rng(0)
    path = tmp_path / "f.csv"
    a, b = rng.normal(size=(2, 80))
    y = (a + rng.normal(size=80) > 0.5).astype(int)
    np.savetxt(path, np.column_stack([a, b, y]), delimiter=",", header="a,b,y", comments="")
    source = open_source(str(path), Columns(target="y"))
    original = rank_module.choose

    def pessimist(ranker, prefer, named, values, held_out, baseline):
        values["rerank"] = [value - 1 - k / 9 for k, value in enumerate(values["logistic"])]
        return original(ranker, prefer, False, values, held_out, baseline)

    monkeypatch.setattr(rank_module, "choose", pessimist)
    report = rank_items(source, RankOptions(ranker="rerank", depth=20, splits=3, time_limit=20))
    assert report.delivered == "logistic"
    assert type(report.model.ranker).__name__ == "LogisticRegression"
    assert "logistic_rank" not in report.listing
    assert report.depth is None
    assert "logistic regression is what is delivered" in report.why


def test_logistic_regression_takes_no_share_of_the_time(tmp_path, monkeypatch):
    """A ranker that is cut short for a fit of milliseconds would be judged below its worth."""
    from toprank.workflow.ranking import in_memory as rank_module

    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(60, 2)), np.arange(60) % 3 == 0])
    np.savetxt(tmp_path / "f.csv", rows, delimiter=",", header="a,b,y", comments="")
    limits = []

    def judged(task, train, test, names, settings, *, seed):
        limits.append(settings.time_limit)
        raise KeyboardInterrupt

    monkeypatch.setattr(rank_module, "judge", judged)
    source = open_source(str(tmp_path / "f.csv"), Columns(target="y"))
    rank_items(source, RankOptions(ranker="TopPush", splits=2, time_limit=1e6))
    assert limits[0] > 0.3e6  # two splits, and placing items without their label, have a third each


def test_the_demo_finds_more_on_pumps_whose_label_was_not_used():
    report = rank_items(open_source(None, Columns()), RankOptions(budget=50, splits=0, time_limit=None))
    truth = dict(zip(inspections()["pump"], inspections()["failed"], strict=True))
    first = report.listing.head(50)
    by_logistic = report.listing.sort_values("logistic_rank").head(50)
    ours, theirs = (sum(truth[pump] for pump in some["pump"]) for some in (first, by_logistic))
    assert report.order == "out of fold"
    assert len(set(first["pump"]) - set(by_logistic["pump"])) >= 10
    assert ours >= theirs + 10
    assert (report.found.ours, report.found.baseline) == (ours, theirs)
