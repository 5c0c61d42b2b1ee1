"""From stored results to figures, verdicts and pages: made-up results, known answers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from toprank.reproduce.cells import Selection, arm_cells
from toprank.reproduce.claims import judge
from toprank.reproduce.experiment import (
    Arm,
    BestAverage,
    BestOnTest,
    Claim,
    Entry,
    Experiment,
    Measure,
    Paper,
    RandomSplits,
    Source,
    Table,
)
from toprank.reproduce.figures import Figure, Figures, State, errors_apart
from toprank.reproduce.pages import pages, paper_view
from toprank.reproduce.store import Results
from toprank.reproduce.views import table_view

GRID = {"C": (0.1, 1.0)}
EXPERIMENT = Experiment(
    name="set",
    source=Source(title="Set <1>", maker="gaussians"),
    splits=RandomSplits(count=3),
    measures=(Measure("auc", "AUC", "auc"), Measure("loss", "loss", loss="hinge")),
    arms=(
        Arm("plain", "Plain"),
        Arm("a", "A", "RankSVM"),
        Arm("b", "B", "RankSVM", {"C": 2.0}),
        Arm("each", "Each", "RankSVM", grid=GRID, choose=BestOnTest(measure="auc")),
        Arm("mean", "Mean", "RankSVM", grid=GRID, choose=BestAverage(measure="auc")),
        Arm("low", "Low", "RankSVM", grid=GRID, choose=BestAverage(measure="loss", part="train")),
        Arm("exact", "Exact", "ExactRanker", time_limit=10.0),
    ),
)
ENTRIES = (
    Entry("set", "plain", "auc", mean=0.5, deviation=0.1),
    Entry("set", "a", "auc", mean=2.0, deviation=0.3),
    Entry("set", "a", "auc", "train", mean=1.0, deviation=0.2),
    Entry("set", "b", "auc"),
)
PAPER = Paper(
    name="someone-2020",
    title="On <b>ranking</b>",
    authors="Some & One",
    citation="Journal",
    experiments=(EXPERIMENT,),
    tables=(Table("table1", "Everything", ("arm",), ("part", "measure"), ENTRIES),),
)


def _point(train, test, *, certificate=None, **parameters):
    return {
        "parameters": parameters,
        "train": dict(zip(("auc", "loss"), train, strict=True)),
        "test": dict(zip(("auc", "loss"), test, strict=True)),
        "seconds": 0.1,
        "certificate": certificate,
        "history": [],
        "notes": [],
    }


def _results(**points_by_arm):
    """Results of arms: a list of points for each split."""
    results = Results()
    for name, splits in points_by_arm.items():
        cells = arm_cells(PAPER.name, EXPERIMENT, EXPERIMENT.arm(name), 1.0)
        for cell, points in zip(cells, splits, strict=False):
            record = {"error": points} if isinstance(points, str) else {"points": points, "seconds": 1.0}
            results.add({"key": cell.key, **record})
    return results


def _runs(*values):
    return [[_point((value - 1.0, 1.0), (value, 1.0))] for value in values]


def _figures(**points_by_arm):
    return Figures(PAPER, _results(**points_by_arm))


def _certificate(status, value, bound):
    return {"exact": True, "status": status, "value": value, "bound": bound, "seconds": 2.0}


def test_means_deviations_and_states():
    figures = _figures(a=_runs(1.0, 2.0, 3.0), b=_runs(1.0), mean=["ValueError: no"])
    arm = EXPERIMENT.arm
    assert figures.ours(ENTRIES[1]) == Figure(2.0, 1.0, 3, (1.0, 2.0, 3.0))
    assert figures.ours(ENTRIES[0]) is None
    expected = {
        "a": State.DONE,
        "b": State.PARTLY,
        "low": State.FAILED,
        "plain": State.QUOTED,
        "exact": State.NOT_RUN,
    }
    assert {name: figures.state(EXPERIMENT, arm(name)) for name in expected} == expected
    assert figures.failures(EXPERIMENT, arm("mean")) == ["ValueError: no"]


def test_arms_that_differ_in_their_choice_share_cells_and_choose_for_themselves():
    splits = [
        [_point((0.0, 9.0), (0.9, 1.0), C=0.1), _point((0.0, 1.0), (0.1, 1.0), C=1.0)],
        [_point((0.0, 9.0), (0.2, 1.0), C=0.1), _point((0.0, 1.0), (0.3, 1.0), C=1.0)],
        [_point((0.0, 9.0), (0.2, 1.0), C=0.1), _point((0.0, 1.0), (0.3, 1.0), C=1.0)],
    ]
    figures = _figures(each=splits)
    chosen = {
        name: [point["parameters"]["C"] for point in figures.chosen(EXPERIMENT, EXPERIMENT.arm(name))]
        for name in ("each", "mean", "low")
    }
    assert chosen == {"each": [0.1, 1.0, 1.0], "mean": [0.1, 0.1, 0.1], "low": [1.0, 1.0, 1.0]}


def test_the_distance_is_in_units_of_the_combined_standard_error():
    apart = errors_apart(Figure(2.0, 1.0, 3), Figure(1.0, 0.3, 10))
    assert apart == pytest.approx(1.0 / math.sqrt(1.0 / 3 + 0.09 / 10))
    assert errors_apart(Figure(2.0, 0.0, 3), Figure(1.0, None, 10)) is None
    assert errors_apart(None, Figure(1.0, 1.0, 10)) is None


def _judged(figures, **changes):
    claim = Claim("It is so.", kind="better", experiment="set", arm="a", measure="auc", than=("b",))
    return judge(replace(claim, **changes), figures)


CLEAR = {"a": _runs(1.0, 2.0, 3.0), "b": _runs(0.5, 1.6, 2.4)}
CLOSE = {"a": _runs(1.0, 2.0, 3.0), "b": _runs(0.5, 3.0, 1.0)}


@pytest.mark.parametrize(
    ("results", "significant", "arm", "than", "holds"),
    [
        (CLEAR, True, "a", "b", "holds"),
        (CLEAR, False, "a", "b", "holds"),
        (CLEAR, None, "a", "b", "holds"),
        (CLEAR, True, "b", "a", "fails"),
        (CLEAR, False, "b", "a", "fails"),
        (CLOSE, True, "a", "b", "partly"),
        (CLOSE, False, "a", "b", "holds"),
        (CLOSE, True, "b", "a", "fails"),
        (CLOSE, False, "b", "a", "partly"),
        (CLOSE, None, "b", "a", "fails"),
        ({"a": CLEAR["a"]}, None, "a", "b", "not run"),
    ],
)
def test_who_is_better_and_significantly_or_not(results, significant, arm, than, holds):
    verdict = _judged(_figures(**results), significant=significant, arm=arm, than=(than,))
    assert verdict.holds == holds
    if holds != "not run":
        a, b = ([points[0]["test"]["auc"] for points in results[name]] for name in "ab")
        assert f"p = {stats.ttest_rel(a, b).pvalue:.2g}" in verdict.figures


def test_smaller_is_better_for_a_loss():
    low = [[_point((0.0, 1.0), (0.0, 1.0))]] * 3
    high = [[_point((0.0, 2.0), (0.0, 2.0))]] * 3
    assert _judged(_figures(a=low, b=high), measure="loss").holds == "holds"
    assert _judged(_figures(a=high, b=low), measure="loss").holds == "fails"


@pytest.mark.parametrize(
    ("shift", "holds"), [(0.0, "holds"), (1.1, "holds"), (1.3, "fails"), (-1.3, "fails")]
)
def test_agreement_is_judged_by_standard_errors(shift, holds):
    figures = _figures(a=_runs(1.0 + shift, 2.0 + shift, 3.0 + shift))
    assert _judged(figures, kind="agrees", than=()).holds == holds
    error = math.sqrt(1.0 / 3 + 0.09 / 3)
    assert f"{shift / error:+.1f} standard errors" in _judged(figures, kind="agrees", than=()).figures


def test_at_least_the_printed_figure_or_the_printed_gain():
    figures = _figures(a=_runs(1.0, 2.0, 3.0), b=_runs(1.0, 1.0, 1.0))
    assert _judged(figures, kind="at least printed", than=()).holds == "holds"
    assert _judged(_figures(a=_runs(1.0, 2.0, 2.9)), kind="at least printed", than=()).holds == "fails"
    printed = replace(PAPER.tables[0], entries=(*ENTRIES[:3], Entry("set", "b", "auc", mean=0.9)))
    paper = replace(PAPER, tables=(printed,))
    figures = Figures(paper, _results(a=_runs(1.0, 2.0, 3.0), b=_runs(1.0, 1.0, 1.0)))
    verdict = _judged(figures, kind="at least printed", than=(), over="b")
    assert (verdict.holds, verdict.figures) == ("fails", "1.00, paper 1.10")


@pytest.mark.parametrize(
    ("statuses", "holds", "words"),
    [
        (("optimal", "optimal", "optimal"), "holds", "proved 3/3; 2 s of 10 s"),
        (("optimal", "time_limit", "optimal"), "fails", "proved 2/3, gap up to 20 %; 2 s of 10 s"),
    ],
)
def test_proofs_are_counted_with_the_time_limit_beside(statuses, holds, words):
    points = [[_point((0, 0), (0, 0), certificate=_certificate(status, 4.0, 5.0))] for status in statuses]
    verdict = _judged(_figures(exact=points), kind="proved", arm="exact", than=())
    assert (verdict.holds, verdict.figures) == (holds, words)


def test_a_table_shows_ours_theirs_and_what_is_missing():
    view = table_view(PAPER.tables[0], _figures(a=_runs(1.0, 2.0, 3.0), b=_runs(1.0)), Selection())
    assert view.columns == ("test AUC", "train AUC")
    rows = dict(view.rows)
    assert (rows["A",][0].ours, rows["A",][0].theirs) == ("2.00 ± 1.00", "2.00 ± 0.30")
    assert rows["B",][0].note == "1 of 3 runs"
    assert rows["B",][0].beyond
    assert rows["Plain",][0].note == State.QUOTED
    only = table_view(PAPER.tables[0], _figures(), Selection({("table1", "set", "a"): None}))
    assert [labels for labels, _ in only.rows] == [("A",)]


def test_pages_escape_what_html_would_take_for_itself(tmp_path):
    view = paper_view(PAPER, _figures(a=_runs(1.0, 2.0, 3.0)), budget=1.0)
    written = pages([view], tmp_path)
    html = written[tmp_path / "someone-2020.html"].decode()
    assert "<b>ranking</b>" not in html
    assert "On &lt;b&gt;ranking&lt;/b&gt;" in html
    assert "Some &amp; One" in html
    assert "On <b>ranking</b>" in written[tmp_path / "someone-2020.md"].decode()
    assert {path.name for path in written} == {
        "someone-2020.html",
        "someone-2020.md",
        "index.md",
        "index.html",
    }


def test_every_number_of_a_page_is_that_of_the_results(tmp_path):
    values = np.random.default_rng(0).normal(size=3)
    view = paper_view(PAPER, _figures(a=_runs(*values)), budget=1.0)
    text = pages([view], tmp_path)[tmp_path / "someone-2020.md"].decode()
    assert f"**{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}**" in text


def test_fits_that_the_clock_stopped_are_told():
    def points(status):
        return [_point((0, 0), (0, 0), certificate={"exact": False, "status": status, "seconds": 1.0})]

    entry = Entry("set", "exact", "auc")
    table = replace(PAPER.tables[0], entries=(entry,))
    cut = _figures(exact=[points("time_limit"), points("optimal"), points("time_limit")])
    assert table_view(table, cut, Selection()).certificates == [
        ("Set <1>", "Exact", "stopped by the clock in 2/3; limit 10 s")
    ]
    whole = _figures(exact=[points("optimal")] * 3)
    assert table_view(table, whole, Selection()).certificates == []
