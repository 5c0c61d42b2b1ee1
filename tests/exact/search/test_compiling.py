"""Kernels that are not there yet: who compiles them, and what a search does meanwhile."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from toprank.control import STILL_COMPILING, Run, SearchStoppedWarning, Status, warn_if_cut_short
from toprank.exact import RankingProblem
from toprank.exact.search import compiling, driver
from toprank.exact.search.driver import search

CRASH = [sys.executable, "-c", "raise SystemExit(3)"]


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """As in a process that has compiled nothing; the list of what it compiles itself."""
    here = []
    monkeypatch.delenv(compiling.COMPILE_FIRST, raising=False)
    monkeypatch.setattr(compiling, "_there", set())
    monkeypatch.setattr(compiling, "_running", {})
    monkeypatch.setattr(compiling, "LISTENERS", [])
    monkeypatch.setattr(compiling, "compile_kernels", here.append)
    monkeypatch.setattr(compiling, "_stamp", lambda name: tmp_path / f"{name}.nbi")
    monkeypatch.setattr(compiling, "_may_spawn", lambda: True)
    return here


def _wait(name):
    while not compiling.kernels_there([name], 1.0):
        pass


def test_what_is_on_disk_is_loaded_without_another_process(fresh, tmp_path, monkeypatch):
    compiling.compile_and_stamp("boxes")
    monkeypatch.setattr(compiling, "_spawn", lambda name: pytest.fail("needless"))
    assert compiling.kernels_there(["boxes"])
    assert fresh == ["boxes", "boxes"]
    assert compiling.kernels_there(["boxes"])
    assert len(fresh) == 2


def test_another_process_compiles_and_this_one_waits_no_longer_than_it_is_told(fresh, monkeypatch):
    waits = [sys.executable, "-c", "input()"]
    process = subprocess.Popen(waits, stdin=subprocess.PIPE)
    monkeypatch.setattr(compiling, "_spawn", lambda name: process)
    told = []
    compiling.LISTENERS.append(lambda what, seconds: told.append((what, seconds is None)))
    assert not compiling.kernels_there(["cells"])
    assert not compiling.kernels_there(["cells"], 0.01)
    assert fresh == []
    assert told == [("cells", True)]
    process.communicate(b"\n")
    assert compiling.kernels_there(["cells"])
    assert fresh == ["cells"]
    assert told == [("cells", True), ("done: cells", False)]


def test_a_process_that_fails_leaves_it_to_this_one(fresh, monkeypatch):
    monkeypatch.setattr(compiling, "_spawn", lambda name: subprocess.Popen(CRASH))
    _wait("boxes")
    assert fresh == ["boxes"]


def test_where_no_process_can_be_started_this_one_compiles(fresh, monkeypatch):
    def fails(*arguments, **options):
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", fails)
    assert compiling.kernels_there(["boxes"])
    assert fresh == ["boxes"]


def test_a_folder_that_cannot_be_written_to(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_stamp", lambda name: tmp_path / "missing" / name)
    monkeypatch.setattr(compiling, "_spawn", lambda name: None)
    assert compiling.kernels_there(["boxes"])
    assert fresh == ["boxes"]


@pytest.mark.parametrize("content", ["", "[]", '{"of": "an older version", "seconds": 41.5}'])
def test_stale_and_damaged_stamps_only_tell_how_long_it_took(fresh, tmp_path, monkeypatch, content):
    (tmp_path / "boxes.nbi").write_text(content)
    monkeypatch.setattr(compiling, "_spawn", lambda name: subprocess.Popen(CRASH))
    told = []
    compiling.LISTENERS.append(lambda what, seconds: told.append((what, seconds)))
    _wait("boxes")
    assert told[0] == ("boxes", 41.5 if "41.5" in content else None)
    assert fresh == ["boxes"]
    assert json.loads((tmp_path / "boxes.nbi").read_text())["of"] == compiling._digest()


def test_the_process_runs_our_code(fresh, tmp_path, monkeypatch):
    left = tmp_path / "left"
    call = "import sys; sys.path[:] = {path!r}; import {module}; open({name!r}, 'w'); sys.stdin.read()"
    monkeypatch.setattr(compiling, "CALL", call)
    process = compiling._spawn(str(left))
    assert process.wait(120) == 0
    assert left.exists()


def test_the_process_goes_on_when_the_one_that_wanted_it_is_over(tmp_path):
    left, told = tmp_path / "left", tmp_path / "told"
    call = (
        "import pathlib, time; told = pathlib.Path({name!r}); end = time.monotonic() + 60\n"
        "while not told.exists() and time.monotonic() < end: time.sleep(0.01)\n"
        "told.with_name('left').touch()"
    )
    code = f"from toprank.exact.search import compiling as c; c.CALL = {call!r}; c._spawn({str(told)!r})"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], check=True, capture_output=True, timeout=120
    )
    assert not left.exists()
    assert b"still running" not in done.stderr
    told.touch()
    end = time.monotonic() + 60
    while not left.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert left.exists()


def test_two_processes_do_not_compile_the_same_at_once(fresh, tmp_path, monkeypatch):
    at_once, most = [], []

    def compiles(name):
        at_once.append(name)
        most.append(len(at_once))
        time.sleep(0.1)
        at_once.remove(name)

    monkeypatch.setattr(compiling, "compile_kernels", compiles)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(compiling.compile_in_turn, ["boxes"] * 3))
    assert most == [1, 1, 1]
    assert (tmp_path / "boxes.nbi").exists()


def test_where_nothing_can_be_locked_it_compiles_all_the_same(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_stamp", lambda name: tmp_path / "missing" / name)
    compiling.compile_in_turn("boxes")
    assert fresh == ["boxes"]


def test_a_first_fit_in_python_says_that_it_compiles_and_later_ones_do_not(fresh, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "compile_climb", lambda: None)
    monkeypatch.setattr(compiling, "_spawn", lambda name: None)
    problem = RankingProblem.from_labels(np.eye(9, 2), np.arange(9) % 3 == 0, "dcg")
    for said in (1, 1):
        compiling.begin_compiling(problem)
        assert [record.name for record in caplog.records] == ["toprank"] * said
    assert "once on this machine" in caplog.text
    caplog.clear()
    monkeypatch.setattr(compiling, "_there", set())
    monkeypatch.setattr(compiling, "LISTENERS", [lambda what, seconds: None])
    compiling.begin_compiling(problem)
    assert not caplog.records  # the command line says it in its own way


def test_workers_of_others_and_patient_users_compile_first(monkeypatch):
    monkeypatch.setenv(compiling.COMPILE_FIRST, "1")
    assert not compiling._may_spawn()
    monkeypatch.delenv(compiling.COMPILE_FIRST)
    assert compiling._may_spawn()
    monkeypatch.setattr("multiprocessing.parent_process", object)
    assert not compiling._may_spawn()


# -- the search meanwhile ------------------------------------------------------------------------------


@pytest.fixture
def problem():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return RankingProblem.from_labels(X, np.arange(30) % 3 == 0, "dcg")


def _kernels_after(looks):
    """They are there at the look of this number."""
    count = iter(range(10**9))
    return lambda names, seconds=0.0: next(count) >= looks


def test_it_climbs_and_then_proves(problem, monkeypatch):
    monkeypatch.setattr(driver, "kernels_there", _kernels_after(3))
    phases = []
    with Run(rng=0, callback=lambda progress: phases.append(progress.phase), interval=0.0) as run:
        found = search(problem, run)
    assert found.proved
    assert found.notes == ()
    assert phases.count("climbing; the proof is being compiled") == 3


def test_told_to_stop_it_hands_over_the_best_answer_and_says_why_there_is_no_proof(problem, monkeypatch):
    monkeypatch.setattr(driver, "kernels_there", _kernels_after(10**8))

    def stop(progress):
        return "compiled" not in progress.phase

    with Run(rng=0, callback=stop, interval=0.0) as run:
        found = search(problem, run)
    assert found.status is Status.STOPPED
    assert not found.proved
    assert found.notes == (STILL_COMPILING,)
    with Run(rng=0) as run:
        monkeypatch.setattr(driver, "kernels_there", _kernels_after(0))
        best = search(problem, run)
    assert problem.floor < found.value <= best.value <= found.bound


def test_the_time_limit_holds_while_it_waits(problem, monkeypatch):
    monkeypatch.setattr(driver, "kernels_there", _kernels_after(10**8))
    with Run(rng=0, time_limit=0.3) as run:
        found = search(problem, run)
    assert found.status is Status.TIME_LIMIT
    assert found.notes == (STILL_COMPILING,)


def test_the_certificate_and_the_warning_say_that_compiling_took_the_time(problem, monkeypatch):
    monkeypatch.setattr(driver, "kernels_there", _kernels_after(10**8))
    with Run(rng=0, callback=lambda now: "compiled" not in now.phase, interval=0.0) as run:
        found = search(problem, run)
    assert found.summary().endswith(STILL_COMPILING)
    assert found._repr_html_().count(STILL_COMPILING) == 1
    with pytest.warns(
        SearchStoppedWarning, match="still being compiled, .* done once: fit again in a minute"
    ):
        warn_if_cut_short(found.outcome, "ExactRanker")


def test_a_climb_that_comes_to_the_bound_needs_no_kernels(monkeypatch):
    """One column is left out of the look for the perfect order, and the climb finds it."""
    monkeypatch.setattr(driver, "kernels_there", _kernels_after(10**8))
    rows, y = np.arange(12.0)[:, None], np.arange(12) >= 6
    monkeypatch.setattr(driver, "perfect_order", lambda *given: None)
    monkeypatch.setattr(driver.Climbing, "begin", lambda self, *given, **options: self.begin_again([[-1.0]]))
    with Run(rng=0, interval=0.0) as run:
        found = search(RankingProblem.from_labels(rows, y, "auc"), run)
    assert found.proved
