"""The history of speeds: ratios by hand, what is kept is what the page shows."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import bench_history as bench


@pytest.fixture
def history():
    return json.loads(bench.HISTORY.read_text(encoding="utf-8"))


def test_the_page_shows_what_is_kept(history):
    page = bench.PAGE.read_text(encoding="utf-8")
    assert bench.between_marks(page, bench.MARK, bench.table(history)) == page
    assert [*history[-1]["figures"]] == [*bench.TASKS], "measure again: tasks have come or gone"


def test_the_history_names_no_machine(history):
    for one in history:
        assert {*one} == {"date", "version", "python", "numpy", "numba", "machine", "figures"}
        assert one["machine"].split(",")[0] in ("Linux", "Darwin", "Windows")


def test_ratios_are_of_neighbours_and_seconds_the_best(monkeypatch):
    """Twice, four and three times the yardstick next to it: three times, though the machine slows down."""
    took = iter([2.0, 1.0, 8.0, 2.0, 9.0, 3.0])
    monkeypatch.setattr(bench, "seconds_of", lambda work: next(took))
    monkeypatch.setattr(bench, "yardstick", lambda: lambda: None)
    monkeypatch.setattr(bench, "TASKS", {"nothing": ("none", lambda: lambda: None)})
    found = bench.measured("nothing")
    assert (found["seconds"], found["ratio"]) == (2.0, 3.0)
    assert 20 < found["megabytes"] < 100_000


def test_later_figures_stand_beside_the_first(monkeypatch, tmp_path):
    about = dict.fromkeys(("date", "version", "python", "numpy", "numba", "machine"), "1")
    old, new = (
        {**about, "figures": {"auc, 1,000,000": {"seconds": 1.0, "ratio": ratio, "megabytes": 300}}}
        for ratio in (4.0, 2.0)
    )
    assert "| auc, 1,000,000 | 1 | 2 | 4 | 300 |" in bench.table([old, new])
    bench.draw([old, new], tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 1000


@pytest.mark.parametrize("name", ["exact, boxes, 60 x 4", "auc, 1,000,000"])
def test_tasks_can_be_made_ready(name):
    assert callable(bench.TASKS[name][1]())
