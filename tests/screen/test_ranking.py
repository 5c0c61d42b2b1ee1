"""What a narrow terminal shows: every figure, and no line that is too long."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from made_up_reports import comparison
from toprank.screen import pieces
from toprank.screen.ranking import MOST_COLUMNS, show_ranking
from toprank.screen.tables import show_comparison
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 200
    a, b = rng.normal(size=(2, n))
    y = (a + 0.3 * b + rng.normal(size=n) > 1.0).astype(int)
    path = tmp_path_factory.mktemp("screen") / "items.csv"
    frame = pd.DataFrame({"name": [f"item {i}" for i in range(n)], "temperature": a, "pressure": b, "y": y})
    frame.to_csv(path, index=False)
    source = open_source(str(path), Columns(target="y", id="name"))
    return rank_items(source, RankOptions(ranker="logistic", splits=5))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_figures_are_whole_at_any_width(report, monkeypatch, width):
    shown = io.StringIO()
    console = Console(file=shown, width=width, highlight=False, markup=False)
    monkeypatch.setattr(pieces, "console", lambda: console)
    show_ranking(report, {}, head=4)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    for line in report.held_out.hits:
        low, high = line.interval("logistic")
        figures = f"{line.k} {line.chance:.1f} {line.mean('logistic'):.1f} ({low}-{high})"
        assert figures in words
    assert " ".join(report.held_out.expectation("logistic").split()) in words
    for row in report.listing.head(4).to_dict(orient="records"):
        assert f"{row['name']} {row['y']} {row['in_first_20']}" in words
        assert row["why"].split(",")[0] in words
    assert "had not seen its own label" in words
    for worth in report.columns:
        assert f"{worth.name} {worth.value:+.2g} {worth.agreeing} of 5" in words


def test_three_rankers_on_a_narrow_screen(report, monkeypatch):
    """As `--prefer simple` shows them: the figures of each stay whole, in tables one below the other."""
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=40, highlight=False))
    held_out = report.held_out
    more = ["rerank", "ensemble"]
    splits = tuple(
        replace(
            one,
            scores=one.scores | dict.fromkeys(more, one.scores["logistic"]),
            values=one.values | dict.fromkeys(more, one.values["logistic"]),
        )
        for one in held_out.splits
    )
    three = replace(held_out, splits=splits)
    show_ranking(replace(report, held_out=three), {}, head=1)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    for line in three.hits:
        low, high = line.interval("logistic")
        figures = f"{line.mean('logistic'):.1f} ({low:.0f}-{high:.0f})"
        assert sum(figures in one for one in lines) >= 3, figures


def test_a_comparison_on_a_narrow_screen(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=40, highlight=False))
    report = comparison()
    show_comparison(report)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    for one in report.figures:
        assert any(f"test {one.test_mean:.4g}"[:9] in line for line in lines)
        assert any(f"{one.seconds:.2f}" in line for line in lines)
    assert "by chance 0.2500" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("splits", [1, 5])
def test_brackets_are_explained_where_there_are_some(report, monkeypatch, splits):
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=200, highlight=False))
    few = replace(report.held_out, splits=report.held_out.splits[:splits])
    show_ranking(replace(report, held_out=few), {}, head=1)
    assert ("in brackets where four of five such lists lie" in shown.getvalue()) is (splits == 5)
    assert f"({splits} split" in shown.getvalue()


@pytest.mark.parametrize("number, words", [(1, "differ in 1 item)"), (3, "differ in 3 items)")])
def test_how_many_items_logistic_regression_would_have_left_out(report, monkeypatch, number, words):
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=200, highlight=False))
    found = replace(report.found, different=number)
    show_ranking(replace(report, delivered="ensemble", found=found, held_out=None), {}, head=1)
    assert words in shown.getvalue()


def test_columns_that_are_not_shown_are_counted(report, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=200, highlight=False))
    show_ranking(report, {}, head=1)
    assert "count less" not in shown.getvalue()
    many = [replace(report.columns[0], name=f"c{k}", value=1.0 + k) for k in range(MOST_COLUMNS + 3)]
    show_ranking(replace(report, columns=many), {}, head=1)
    assert "... and 3 that count less; --json has all of them." in shown.getvalue()


def test_one_hit_is_one(report, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=200, highlight=False))
    show_ranking(replace(report, found=replace(report.found, ours=1)), {}, head=1)
    assert "Its first 20 hold 1 hit; by chance" in shown.getvalue()


def test_resamples_are_spoken_of_where_there_were_some(report, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(pieces, "console", lambda: Console(file=shown, width=200, highlight=False))
    none = [replace(one, agreeing=0, resamples=0) for one in report.columns]
    show_ranking(replace(report, columns=none), {}, head=1)
    assert "Coefficients (of standardised columns):" in shown.getvalue()
