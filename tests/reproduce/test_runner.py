"""Results survive whatever happens, and nothing is computed twice."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from toprank.errors import InputError
from toprank.reproduce import paper
from toprank.reproduce.cells import arm_cells, cells_of, select
from toprank.reproduce.experiment import Arm, Experiment, Measure, RandomSplits, Source
from toprank.reproduce.runner import run_cells
from toprank.reproduce.store import Store

QUICK = Experiment(
    name="quick",
    source=Source(title="Gaussians", maker="gaussians", options={"n": 60}),
    splits=RandomSplits(count=3),
    measures=(Measure("auc", "AUC", "auc"),),
    arms=(Arm("lr", "LR", "LogisticRegression"),),
)
BROKEN = Arm("broken", "broken", "LogisticRegression", {"C": -1.0})
ARMS = ("lr", "svm", "rb", "pnp", "k50", "k100")
COMMAND = [
    *(sys.executable, "-m", "toprank", "reproduce", "rudin-wang-2018", "--budget", "0.5", "--quiet"),
    *("--only", ",".join(f"table1:gaussians:{arm}" for arm in ARMS)),
]


def _cells(arm=QUICK.arms[0], **changes):
    experiment = replace(QUICK, **changes)
    return arm_cells("someone-2020", experiment, arm, 1.0)


def _records(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def _figures(file):
    """What must not depend on when and how often it was run."""
    return {
        record["key"]: [(point["parameters"], point["train"], point["test"]) for point in record["points"]]
        for record in _records(file)
    }


def test_finished_cells_are_kept_and_not_repeated(tmp_path):
    store = Store(tmp_path, "someone-2020")
    first = run_cells(_cells()[:2], store, jobs=1)
    second = run_cells(_cells(), store, jobs=1)
    assert (first.computed, second.computed, second.kept) == (2, 1, 2)
    assert len(_records(store.file)) == 3


def test_processes_give_what_one_process_gives(tmp_path):
    alone, together = Store(tmp_path / "a", "someone-2020"), Store(tmp_path / "b", "someone-2020")
    run_cells(_cells(), alone, jobs=1)
    run_cells(_cells(), together, jobs=2)
    assert _figures(alone.file) == _figures(together.file)


def test_a_failing_cell_is_told_and_does_not_stop_the_rest(tmp_path):
    store = Store(tmp_path, "someone-2020")
    summary = run_cells([*_cells(BROKEN), *_cells()], store, jobs=1)
    assert [name for name, _ in summary.failures] == ["quick:broken:1", "quick:broken:2", "quick:broken:3"]
    assert "C" in summary.failures[0][1]
    assert all(summary.results.get(cell) is not None for cell in _cells())
    # It is tried again: what was broken may have been mended.
    assert run_cells(_cells(BROKEN), store, jobs=1).computed == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"source": replace(QUICK.source, options={"n": 62})},
        {"splits": RandomSplits(count=3, train=0.4)},
        {"measures": (Measure("auc", "AUC", "auc", scale=2.0),)},
    ],
)
def test_a_changed_declaration_is_computed_again(tmp_path, changes):
    store = Store(tmp_path, "someone-2020")
    run_cells(_cells(), store, jobs=1)
    assert run_cells(_cells(**changes), store, jobs=1).computed == 3


def test_what_only_changes_names_is_not_computed_again(tmp_path):
    store = Store(tmp_path, "someone-2020")
    run_cells(_cells(), store, jobs=1)
    renamed = replace(QUICK.arms[0], name="other", title="Other", group="Group", seconds=7.0)
    assert run_cells(_cells(renamed), store, jobs=1).computed == 0
    assert run_cells(_cells(splits=RandomSplits(count=4)), store, jobs=1).computed == 1


def test_the_budget_counts_only_where_a_clock_runs():
    timed = replace(QUICK.arms[0], time_limit=5.0)
    keys = {
        (arm.name, budget): arm_cells("p", QUICK, arm, budget)[0].key
        for arm in (QUICK.arms[0], replace(timed, name="timed"))
        for budget in (0.5, 1.0)
    }
    assert keys["lr", 0.5] == keys["lr", 1.0]
    assert keys["timed", 0.5] != keys["timed", 1.0]


@pytest.mark.parametrize("torn", ['{"key": "ab', '{"key": "abc", "points": []}', "\x00"])
def test_a_torn_last_line_is_ignored_and_removed(tmp_path, torn):
    store = Store(tmp_path, "someone-2020")
    run_cells(_cells()[:2], store, jobs=1)
    with store.file.open("a") as stream:
        stream.write(torn)
    assert len(store.read()) == 2
    assert run_cells(_cells(), store, jobs=1).computed == 1
    assert len(_records(store.file)) == 3


@pytest.mark.parametrize("damage", ["not json", "[1, 2]", '{"no": "key"}', "", "\udcff\udcfe"])
def test_a_damaged_line_is_an_error_that_names_it(tmp_path, damage):
    store = Store(tmp_path, "someone-2020")
    run_cells(_cells()[:2], store, jobs=1)
    lines = store.file.read_bytes().split(b"\n")
    lines[0] = damage.encode(errors="surrogateescape")
    store.file.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match=r"Line 1 of .*someone-2020\.jsonl' is damaged; delete that line"):
        store.read()


def test_one_writer_at_a_time(tmp_path):
    store = Store(tmp_path, "someone-2020")
    with store.writing(), pytest.raises(InputError, match="Another toprank reproduce"):
        run_cells(_cells(), store, jobs=1)


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="`results="):
        run_cells(_cells(), Store(tmp_path / "file" / "folder", "someone-2020"), jobs=1)


def _wait_for_lines(process, file, count):
    for _ in range(60_000):  # minutes: on a busy machine it starts slowly
        if file.is_file() and file.read_bytes().count(b"\n") >= count:
            return
        if process.poll() is not None:
            break
        time.sleep(0.005)
    said = process.poll()
    if said is None:
        os.killpg(process.pid, signal.SIGKILL)
    pytest.fail(f"no {count} results in time; exit code {said}")


def _start(folder, jobs):
    command = [*COMMAND, "--results", str(folder), "--jobs", str(jobs)]
    with (folder.parent / "said").open("w") as said:
        return subprocess.Popen(command, start_new_session=True, stderr=said)


def _said(folder):
    return (folder.parent / "said").read_text()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_killed_midway_and_started_again_it_ends_with_the_same_figures(tmp_path):
    rudin_wang = paper("rudin-wang-2018")
    cells = cells_of(rudin_wang, select(rudin_wang, [COMMAND[-1]]), budget=0.5)
    whole = Store(tmp_path / "whole", "rudin-wang-2018")
    run_cells(cells, whole, jobs=1)

    folder = tmp_path / "killed"
    file = folder / "rudin-wang-2018.jsonl"
    process = _start(folder, jobs=2)
    _wait_for_lines(process, file, 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = file.read_bytes()
    assert 3 <= kept.count(b"\n") < len(cells)

    assert _start(folder, jobs=2).wait() == 0, _said(folder)
    assert file.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert file.read_bytes().count(b"\n") == len(cells)
    assert _figures(file) == _figures(whole.file)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_keeps_what_is_finished(tmp_path, jobs):
    folder = tmp_path / "results"
    process = _start(folder, jobs)
    _wait_for_lines(process, folder / "rudin-wang-2018.jsonl", 3)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert _said(folder).strip().splitlines()[-1] == "toprank: interrupted"
    assert len(_figures(folder / "rudin-wang-2018.jsonl")) >= 3
    assert (folder / "index.html").is_file()
