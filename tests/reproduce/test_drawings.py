"""Figures of the papers from stored results: the curves that are drawn are those of the rows."""

import os
from dataclasses import replace

import numpy as np
import pytest

from miniature import miniature
from toprank.reproduce import all_papers
from toprank.reproduce.cells import Selection, arm_cells, cells_of
from toprank.reproduce.compute import compute
from toprank.reproduce.drawings import _curves, _rows, draw, drawing_state
from toprank.reproduce.experiment import Drawing, with_paper_limits
from toprank.reproduce.figures import Figures, State
from toprank.reproduce.store import Results

AGARWAL, RUDIN = all_papers()["agarwal-2011"], all_papers()["rudin-wang-2018"]
needs_data = pytest.mark.skipif(
    not os.environ.get("TOPRANK_DATA"), reason="TOPRANK_DATA names no folder with the data sets"
)


def computed(paper, places):
    """Stored results of the given arms."""
    results = Results()
    for name, arm in places:
        experiment = paper.experiment(name)
        for cell in arm_cells(paper.name, experiment, experiment.arm(arm), 1.0):
            results.add({"key": cell.key, **compute(cell)})
    return Figures(paper, results)


def drawing(paper, name):
    return next(one for one in paper.drawings if one.name == name)


def test_the_two_scores_of_equal_area():
    one = drawing(AGARWAL, "figure1")
    figures = computed(AGARWAL, one.places)
    assert drawing_state(one, figures) == State.DONE
    curves = dict(_curves(one, figures))
    assert set(curves) == {"f1", "f2"}
    assert {name: curve.area for name, curve in curves.items()} == pytest.approx(
        {"f1": 19 / 24, "f2": 19 / 24}
    )
    # Positives above the highest negative: one of four and three of four.
    assert [curves[name].tpr[curves[name].fpr == 0].max() for name in ("f1", "f2")] == [0.25, 0.75]
    assert draw(one, figures).startswith(b"\x89PNG")


@needs_data
def test_a_sample_run_shows_the_curves_of_the_runs_with_the_best_p():
    small = miniature(AGARWAL)
    one = drawing(small, "figure4")
    figures = computed(small, one.places)
    curves = list(_curves(one, figures))
    assert [name.split(" (")[0] for name, _ in curves] == ["RankSVM", "P-Norm Push", "Infinite Push"]
    assert curves[1][0].endswith(("(p = 1)", "(p = 4)"))
    for (place, arm), (_, curve) in zip(one.places, curves, strict=True):
        experiment = small.experiment(place)
        measured = figures.chosen(experiment, experiment.arm(arm))[0]["test"]
        positives = figures.records(experiment, experiment.arm(arm))[0]["positives"][1]
        assert measured["top"] == pytest.approx(positives * curve.tpr[curve.fpr == 0].max())
        # Where scores tie the area lies above the AUC that counts ties as mistakes.
        assert curve.area >= measured["auc"] - 1e-12
    assert draw(one, figures).startswith(b"\x89PNG")


def test_rows_lie_where_they_are_and_arrows_follow_the_lists():
    one = drawing(RUDIN, "figure1")
    figures = computed(RUDIN, one.places)
    (panel,) = _rows(one, figures).axes
    heights = {dots.get_label(): dots.get_offsets()[:, 1] for dots in panel.collections}
    assert {name: len(values) for name, values in heights.items()} == {"positive": 3080, "negative": 3010}
    assert np.sum(heights["positive"] < -9) == 80
    assert np.sum(heights["negative"] > 2) == 10
    assert [text.get_text() for text in panel.texts if text.get_text()] == ["Solution 1", "Solution 2"]
    arrows = [text for text in panel.texts if not text.get_text()]
    assert arrows[0].xy[1] < arrows[0].xyann[1]
    assert arrows[1].xy[1] > arrows[1].xyann[1]
    assert draw(one, figures).startswith(b"\x89PNG")


def test_the_state_of_a_drawing_is_that_of_what_it_shows():
    one = drawing(AGARWAL, "figure1")
    assert drawing_state(one, Figures(AGARWAL, Results())) == State.NOT_RUN
    assert drawing_state(one, computed(AGARWAL, one.places[:1])) == State.PARTLY
    absent = Drawing("figure6", "", (("f1", "given"), ("cheminformatics-run", "ip")), kind="roc")
    assert drawing_state(absent, Figures(AGARWAL, Results())) == State.UNAVAILABLE


def test_the_limits_of_the_paper_change_its_own_programs_alone():
    patient = with_paper_limits(RUDIN)
    before, after = (
        {cell.key: cell for cell in cells_of(one, Selection(), budget=1.0)} for one in (RUDIN, patient)
    )
    changed = {(cell.arm.name, cell.time_limit) for key, cell in after.items() if key not in before}
    assert {limit for _, limit in changed} == {3600.0, 7200.0}
    assert all(name.startswith("subrank") for name, _ in changed)
    assert {cell.time_limit for key, cell in before.items() if key not in after} == {5.0}


def test_an_arm_that_keeps_no_curve_has_the_key_it_had_before_there_were_curves():
    experiment = AGARWAL.experiment("ionosphere")
    arm = experiment.arm("ranksvm")
    (cell,) = arm_cells(
        AGARWAL.name, replace(experiment, splits=replace(experiment.splits, count=1)), arm, 1.0
    )
    assert cell.key == "7f0c45973892ed744900"
