"""The table of held-out hits: what is compared, and that a run goes on where it stopped."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import bench_heldout as bench
import bench_heldout_contenders as contenders
import bench_heldout_page as page


def results(**shares):
    """Ten can be acted on; shares of hits by data set and contender."""
    found = {}
    for data, by in shares.items():
        for who, values in by.items():
            for split, share in enumerate(values):
                found[data, split, who] = {"hits": 10 * share, "budget": 10, "seconds": 1.0}
    return found


def test_differences_are_paired_and_of_common_splits_only():
    found = results(a={"toprank rank": [0.5, 0.7, 0.9], "other": [0.6, 0.9]}, b={"toprank rank": [1.0]})
    compared = page.Compared(found)
    assert compared.splits == {"a": [0, 1]}
    assert compared.best("a") == "other"
    difference, error = compared.behind("a", "toprank rank")
    assert difference == pytest.approx(-0.15)
    assert error == pytest.approx(np.std([-0.1, -0.2], ddof=1) / 2**0.5)
    assert "a (other, -0.150 ± 0.050)" in page.where_behind(found)


def test_ranks_are_shared_by_equals_and_the_best_stands_first():
    found = results(
        a={"x": [0.1], "toprank rank": [0.5], "z": [0.5]}, b={"x": [0.1], "toprank rank": [0.9], "z": [0.2]}
    )
    compared = page.Compared(found)
    assert compared.mean_rank == {"x": 3.0, "toprank rank": 1.25, "z": 1.75}
    assert page.table(found).splitlines()[0] == "| data | splits | budget | toprank rank | z | x |"
    assert "within one standard error of the best on every data set" in page.where_behind(found)


def test_distances_are_to_the_best_of_a_line():
    found = results(a={"toprank rank": [0.5, 0.7], "other": [0.6, 0.9]})
    assert page.distances(found).splitlines()[-1] == "| a | best | 0.150 ± 0.050 |"
    assert page.table(found).splitlines()[2] == "| a | 2 | 10 | **0.750** | 0.600 |"


def test_on_how_many_sets_each_is_near_the_best():
    ours, other = [0.5, 0.9, 0.5, 0.9], [0.6, 0.6, 0.9, 0.9]
    found = results(
        a={"toprank rank": ours, "x": other}, b={"toprank rank": ours, "x": [v - 0.4 for v in ours]}
    )
    assert page.table(found).splitlines()[-1].endswith("| 2 of 2 | 1 of 2 |")


def test_contenders_that_are_alike_are_rarely_near_the_best_everywhere():
    values = np.random.default_rng(0).normal(size=(12, 7, 20)).tolist()
    sets = {f"set{i}": {f"who{j}": one for j, one in enumerate(by)} for i, by in enumerate(values)}
    said = page.were_all_alike(results(**sets), draws=200)
    on_average = float(said.split("best on ")[1].split(" of")[0])
    # Of seven the best is the luckiest: of normal differences one is near it on 6.5 of 12 sets.
    assert 5.8 < on_average < 7.2
    same = {"who1": [0.5] * 3, "who2": [0.5] * 3}
    assert "2.0 of 2 sets on average, and on all of them in 1e+02 %" in page.were_all_alike(
        results(a=same, b=same), draws=5
    )


def test_a_page_keeps_its_words():
    text = "before\n<!-- results -->\nold\n<!-- end of results -->\nafter"
    new = page.page(text, results(a={"x": [0.1], "toprank rank": [0.5]}))
    assert new.startswith("before\n")
    assert new.endswith("\nafter")
    assert "old" not in new
    assert page.page(new, results(a={"x": [0.1], "toprank rank": [0.5]})) == new


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    path, computed = tmp_path / "found.jsonl", []

    def compute(cell, found, loaded, seconds):
        computed.append(cell)
        if cell[1:] == (1, "random forest"):
            raise RuntimeError("no memory")
        return dict(zip(("data", "split", "contender"), cell, strict=True), hits=5, budget=10, seconds=0)

    monkeypatch.setattr(bench, "compute", compute)
    monkeypatch.setattr(bench, "missing", lambda: {"AutoGluon": "pip install it"})
    call = ["bench", "--results", str(path), "--only", "pima,uis", "--splits", "2"]
    monkeypatch.setattr(sys, "argv", call)
    bench.main()
    said = capsys.readouterr().out
    assert "AutoGluon is left out: pip install it" in said
    assert "no memory" in said
    assert len(computed) == len(set(computed)) == 2 * 2 * 6
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(kept) == 24 - 2
    places = [(one["data"], one["split"], one["contender"]) for one in kept]
    assert places == sorted(places)
    path.write_text(path.read_text() + '{"data": "pima", "spl')  # a crash in the middle of a line
    computed.clear()
    bench.main()
    assert computed == [("pima", 1, "random forest"), ("uis", 1, "random forest")]


def test_what_another_run_added_meanwhile_stays(tmp_path):
    path = tmp_path / "found.jsonl"
    for data, split in (("uis", 0), ("pima", 10), ("pima", 2), ("pima", 2)):
        bench.keep(path, {"data": data, "split": split, "contender": "XGBoost", "hits": 5})
    assert list(bench.stored(path)) == [
        ("pima", 2, "XGBoost"),
        ("pima", 10, "XGBoost"),
        ("uis", 0, "XGBoost"),
    ]


def test_cells_are_kept_beside_the_benchmark(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert bench.arguments().results == Path(bench.__file__).parent / "heldout.jsonl"


@pytest.mark.skipif("TOPRANK_DATA" not in os.environ, reason="TOPRANK_DATA is not set")
def test_halves_share_no_row_and_whole_subjects_are_held_out():
    data = contenders.Data("polypharm")
    half = data.half(3)
    train, test = data.splits[3]
    assert not set(data.groups[train]) & set(data.groups[test])
    assert "id" not in half.train.columns
    assert half.budget == round(0.05 * len(half.y_unseen))
    ties = contenders.by_scores(half, np.zeros(len(half.y_unseen)))["hits"]
    assert ties == pytest.approx(half.budget * half.y_unseen.mean())
