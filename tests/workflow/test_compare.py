"""The bar of a comparison: it moves by what each ranker costs."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from toprank.control import Outcome, Status
from toprank.lineup import Contender, Settings, lineup
from toprank.screen.tables import show_comparison
from toprank.workflow import compare
from toprank.workflow.compare import CompareOptions, compare_rankers
from toprank.workflow.reading.source import Columns, open_source
from toprank.workflow.watch import Silent
from toprank.workflow.writing.page import comparison_page_of
from toprank.workflow.writing.summary import comparison_summary


class Recorded(Silent):
    def __init__(self):
        self.steps = {}
        self.total = 0

    def stage(self, text, *, steps=None, seconds=None):
        self.text, self.total = text, steps
        self.steps[text] = []

    def step(self, size=1.0):
        self.steps[self.text].append(size)


@pytest.fixture
def clock(monkeypatch):
    """A clock on which every look takes a second, and a fit of one contender ten more."""
    now = [0.0]

    def look():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(compare, "time", SimpleNamespace(perf_counter=look))
    return now


def test_the_second_split_moves_by_what_the_first_cost(monkeypatch, clock, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    rows = [f"{a:.3f},{int(a + rng.normal() > 0)}" for a in x]
    (tmp_path / "d.csv").write_text("x,y\n" + "\n".join(rows))
    fit = compare.fit_quietly

    def slow(ranker, X, y, qid):
        clock[0] += 10.0 if type(ranker).__name__ == "RankRLS" else 0.0
        return fit(ranker, X, y, qid)

    monkeypatch.setattr(compare, "fit_quietly", slow)
    some = ("logistic regression", "RankRLS", "TopPush")
    every = compare.lineup
    monkeypatch.setattr(
        compare, "lineup", lambda *a, **o: [one for one in every(*a, **o) if one.name in some]
    )
    watch = Recorded()
    source = open_source(str(tmp_path / "d.csv"), Columns(target="y"))
    compare_rankers(source, CompareOptions(splits=3, time_limit=None), watch=watch)
    steps = np.array(watch.steps["Comparing"]).reshape(3, 3)
    np.testing.assert_allclose(steps.sum(axis=1), 1.0)
    np.testing.assert_allclose(steps[0], 1 / 3)
    assert steps[1].max() > 0.7  # the slow one, as the first split has shown
    assert watch.total == 3


class OutOfTime(ClassifierMixin, BaseEstimator):
    """A ranker the clock stopped before it had anything."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.outcome_ = Outcome(np.nan, status=Status.TIME_LIMIT)
        return self

    def decision_function(self, X):
        return np.zeros(len(X))


def test_a_ranker_without_time_is_not_run_and_in_no_test(monkeypatch, tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{int(a + rng.normal() > 0)}" for a in rng.normal(size=80)]
    (tmp_path / "d.csv").write_text("x,y\n" + "\n".join(rows))
    some = [one for one in lineup(Settings(), 40) if one.name in ("logistic regression", "RankRLS")]
    monkeypatch.setattr(
        compare,
        "lineup",
        lambda *a, **o: [*some, Contender("late", OutOfTime), Contender("later", OutOfTime)],
    )
    source = open_source(str(tmp_path / "d.csv"), Columns(target="y"))
    report = compare_rankers(source, CompareOptions(splits=5))
    assert report.not_run == ["late", "later"]
    assert {one.name for one in report.figures} == {"logistic regression", "RankRLS"}
    assert "number of tests, 1 " in report.tested
    assert comparison_summary(report)["not_run"] == ["late", "later"]
    show_comparison(report)
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("late")]
    assert [line.split() for line in shown] == [["late", "not", "run"], ["later", "not", "run"]]
    assert "not run" in report._repr_html_()
    assert comparison_page_of(report).decode().count(">not run<") == 2
