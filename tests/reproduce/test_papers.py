"""Every registered paper: sound as a declaration, and run end to end as a miniature."""

import json
import os

import numpy as np
import pytest

import toprank
from miniature import miniature
from toprank import statistics
from toprank.reproduce import all_papers
from toprank.reproduce.cells import Selection, cells_of
from toprank.reproduce.figures import Figures, State
from toprank.reproduce.pages import docs_pages, pages, paper_view
from toprank.reproduce.protocol import BestAverage, BestOnTest, CrossValidation
from toprank.reproduce.rows import load_rows, missing_data, split
from toprank.reproduce.runner import run_cells
from toprank.reproduce.store import Store

PAPERS = sorted(all_papers())
needs_data = pytest.mark.skipif(
    not os.environ.get("TOPRANK_DATA"), reason="TOPRANK_DATA names no folder with the data sets"
)
SCIKIT_LEARN = {"LogisticRegression", "LinearSVC", "SVC"}


@pytest.fixture(params=PAPERS)
def paper(request):
    return all_papers()[request.param]


def _entries(paper):
    return [(table, entry) for table in paper.tables for entry in table.entries]


def test_names_are_unique(paper):
    shown = [one.name for one in (*paper.tables, *paper.drawings)]
    assert len(set(shown)) == len(shown)
    for group in (paper.experiments, *(one.arms for one in paper.experiments)):
        names = [one.name for one in group]
        assert len(set(names)) == len(names)


def test_every_arm_can_be_made_and_every_measure_exists(paper):
    for experiment in paper.experiments:
        for arm in experiment.arms:
            kinds = set(arm.grid.get("ranker", ())) | {arm.ranker} - {""}
            assert kinds <= set(toprank.__all__) | SCIKIT_LEARN | {"GivenCoefficients"}, arm.name
            json.dumps(dict(arm.parameters))
            assert bool(arm.grid) == (arm.choose is not None), arm.name
            assert isinstance(arm.choose, CrossValidation | BestOnTest | BestAverage | None)
            assert arm.beyond or not arm.from_paper_only or arm.time_limit is None
        for measure in experiment.measures:
            if measure.statistic and not measure.per_item:
                statistics.get(measure.statistic)


def test_every_entry_and_claim_points_to_something(paper):
    for _, entry in _entries(paper):
        experiment = paper.experiment(entry.experiment)
        experiment.arm(entry.arm)
        experiment.measure(entry.measure)
    tables = {table.name for table in paper.tables}
    for claim in paper.claims:
        experiment = paper.experiment(claim.experiment)
        for name in (claim.arm, *claim.than, *([claim.over] if claim.over else [])):
            experiment.arm(name)
        assert claim.table in tables
        if claim.kind != "proved":
            experiment.measure(claim.measure)


def test_every_printed_figure_has_a_place_of_its_own(paper):
    """No two figures of a table fall onto the same row and column, so that each is shown."""
    results = Store(_nowhere(), paper.name).read()
    view = paper_view(paper, Figures(paper, results), budget=1.0)
    for table, shown in zip(paper.tables, view.tables, strict=True):
        printed = sum(entry.printed for entry in table.entries)
        if table.runs:
            assert len(shown.runs) == len(table.entries)
            assert sum(bool(line.theirs or line.cell.theirs) for line in shown.runs) == printed
        else:
            cells = [cell for _, row in shown.rows for cell in row]
            assert sum(bool(cell.theirs) for cell in cells) == printed, table.name
            places = [(entry.experiment, entry.arm, entry.measure, entry.part) for entry in table.entries]
            assert len(set(places)) == len(places)


def _nowhere():
    from pathlib import Path

    return Path("no") / "such" / "folder"


def test_printed_means_agree_with_printed_runs(paper):
    """To rounding of the runs; where the paper contradicts itself, the declaration says so."""
    for table, entry in _entries(paper):
        if not entry.runs or entry.mean is None:
            continue
        off = abs(np.mean(entry.runs) - entry.mean)
        apart = 0.0 if entry.deviation is None else abs(np.std(entry.runs, ddof=1) - entry.deviation)
        wrong = off > 0.0101 or apart > 0.0111
        repeated = "repeats" in entry.misprint
        assert wrong == bool(entry.misprint and not repeated), (table.name, entry)


def test_the_same_figure_in_two_tables_is_the_same(paper):
    seen = {}
    for table, entry in _entries(paper):
        place = (entry.experiment, entry.arm, entry.measure, entry.part)
        if entry.mean is None or entry.misprint:
            continue
        before = seen.setdefault(place, (table.name, entry))
        assert abs(before[1].mean - entry.mean) <= 0.0101, (before, table.name, entry)


@needs_data
def test_every_split_has_both_classes_on_both_sides(paper):
    for experiment in paper.experiments:
        if missing_data(experiment.source):
            continue
        rows = load_rows(experiment.source)
        for number in range(experiment.splits.count):
            train, test = split(experiment.splits, rows, number)
            assert set(rows.y[train]) == {0, 1}, experiment.name
            assert set(rows.y[test]) == {0, 1}, experiment.name
            again = split(experiment.splits, rows, number)
            assert np.array_equal(again[0], train)
            assert np.array_equal(again[1], test)


@needs_data
def test_a_miniature_runs_end_to_end(paper, tmp_path):
    small = miniature(paper)
    store = Store(tmp_path, paper.name)
    cells = cells_of(small, Selection(), budget=1.0)
    summary = run_cells(cells, store, jobs=1)
    assert summary.failures == []
    assert summary.computed + summary.unavailable == len(cells)
    assert run_cells(cells, store, jobs=1).computed == 0
    figures = Figures(small, store.read())
    for experiment in small.experiments:
        for arm in experiment.arms:
            shown = any(
                (entry.experiment, entry.arm) == (experiment.name, arm.name) for _, entry in _entries(small)
            )
            expected = {State.DONE, State.QUOTED, State.UNAVAILABLE} if shown else {*vars(State).values()}
            assert figures.state(experiment, arm) in expected
    view = paper_view(small, figures, budget=1.0)
    written = pages([view], tmp_path) | docs_pages([view], tmp_path / "reproduction.md")
    html = written[tmp_path / f"{paper.name}.html"].decode()
    markdown = written[tmp_path / f"{paper.name}.md"].decode()
    for table in view.tables:
        assert f'id="{table.name}"' in html
        for _, row in table.rows:
            for cell in row:
                assert cell.ours in markdown
                assert cell.theirs in markdown
                assert cell.theirs in html
    assert all(verdict.figures for table in view.tables for verdict in table.verdicts)
    for drawing in view.drawings:
        assert drawing.state in (State.DONE, State.UNAVAILABLE), drawing.name
        # Of a search that is over before it reports anything there is nothing to draw.
        progress = next(one for one in paper.drawings if one.name == drawing.name).kind == "progress"
        if drawing.state == State.DONE and not (progress and drawing.png is None):
            assert drawing.png.startswith(b"\x89PNG")
