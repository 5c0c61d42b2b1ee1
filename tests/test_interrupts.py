"""Ctrl-C at every moment: the best answer is stored, and whoever is outside hears of it."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from toprank import AccuracyAtTop, DirectRanker, ExactRanker, RankerCV, RankSVM, RankThenRerank, TopPush
from toprank.control import SearchStoppedWarning, Status, keep_best_on_interrupt
from toprank.datasets import inspections
from toprank.lineup import Contender
from toprank.workflow import compare as comparing
from toprank.workflow.compare import CompareOptions, compare_rankers
from toprank.workflow.reading.source import Columns, open_source

pytestmark = pytest.mark.wall_clock


def hard(n=250, d=12, seed=0):
    """Rows whose best order takes minutes to prove."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 2 * rng.normal(size=n) > 1).astype(int)


@contextmanager
def ctrl_c_after(seconds):
    """A real signal to this process, some time from now."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def usable(ranker, X):
    return bool(np.isfinite(ranker.decision_function(X)).all()) and len(ranker.predict(X)) == len(X)


LONG = {
    "exact": lambda: ExactRanker(time_limit=30, random_state=0),
    "direct": lambda: DirectRanker(n_restarts=10**6, random_state=0, time_limit=30),
    "rerank": lambda: RankThenRerank(top=150, time_limit=30),
    "rerank within rerank": lambda: RankThenRerank(
        reranker=RankThenRerank(reranker=ExactRanker(time_limit=30), top=150), top=200
    ),
    "cross-validated": lambda: RankerCV(Slow(), Cs=np.logspace(-3, 3, 7), cv=5, time_limit=None),
    "pins": lambda: AccuracyAtTop(top_share=0.1, time_limit=30),
    "pins, two processes": lambda: AccuracyAtTop(top_share=0.1, time_limit=30, n_jobs=2),
}


class Slow(RankSVM):
    """Takes a second for every fit, whatever C is."""

    def _fit(self, data, run):
        begin = time.perf_counter()
        while time.perf_counter() < begin + 1.0 and not run.should_stop():
            time.sleep(0.01)
        return super()._fit(data, run)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    X, y = hard(40, 12)
    for make in (*LONG.values(), RankSVM, TopPush):
        ranker = make()
        if "time_limit" in ranker.get_params():
            ranker.set_params(time_limit=0.2)
        with _quiet():
            ranker.fit(X, y)


@contextmanager
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("moment", [0.05, 0.4])
@pytest.mark.parametrize("name", sorted(LONG))
def test_the_best_so_far_is_stored_and_the_caller_hears_of_it(name, moment):
    X, y = hard(n=1500 if name.startswith("pins") else 250)
    ranker, begin = LONG[name](), time.perf_counter()
    with _quiet(), pytest.raises(KeyboardInterrupt), ctrl_c_after(moment):
        ranker.fit(X, y)
    assert time.perf_counter() - begin < moment + 5.0
    assert usable(ranker, X)
    assert ranker.outcome_.status is Status.INTERRUPTED


def test_who_asks_keeps_the_answer_without_an_exception():
    X, y = hard()
    ranker = ExactRanker(time_limit=30)
    said = pytest.warns(SearchStoppedWarning, match="interrupted")
    with keep_best_on_interrupt() as kept, said, ctrl_c_after(0.3):
        ranker.fit(X, y)
    assert kept.interrupted
    assert usable(ranker, X)
    assert ranker.outcome_.status is Status.INTERRUPTED


class AtTheEnd(TopPush):
    """Ctrl-C in the last instant: the answer is there, the run is not over yet."""

    fits = 0

    def _finish(self, data):
        super()._finish(data)
        type(self).fits += 1
        os.kill(os.getpid(), signal.SIGINT)


def test_the_last_instant():
    X, y = hard(60, 3)
    ranker = AtTheEnd()
    with _quiet(), pytest.raises(KeyboardInterrupt):
        ranker.fit(X, y)
    assert usable(ranker, X)
    assert ranker.outcome_.status.finished


def test_the_last_instant_inside_a_grid_search():
    X, y = hard(60, 3)
    AtTheEnd.fits = 0
    with _quiet(), pytest.raises(KeyboardInterrupt):
        GridSearchCV(AtTheEnd(), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    assert AtTheEnd.fits == 1, "the loop around the fits went on"


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("moment", [0.1, 0.95, 1.0, 1.05])
def test_a_grid_search_stops(moment, jobs):
    X, y = hard()
    search = GridSearchCV(ExactRanker(time_limit=1.0), {"penalty": [0.0, 1e-3, 1e-2, 0.1]}, cv=3, n_jobs=jobs)
    begin = time.perf_counter()
    threads = joblib.parallel_config("threading")
    with _quiet(), threads, pytest.raises(KeyboardInterrupt), ctrl_c_after(moment):
        search.fit(X, y)
    assert time.perf_counter() - begin < moment + 4.0


# -- compare --------------------------------------------------------------------------------------


class Strikes(TopPush):
    """Ctrl-C in the last instant of the fit whose number it is told."""

    count = 0

    def __init__(self, at=0, late=True):
        super().__init__()
        self.at, self.late = at, late

    def _fit(self, data, run):
        self._strike(not self.late)
        return super()._fit(data, run)

    def _finish(self, data):
        super()._finish(data)
        self._strike(self.late)
        type(self).count += 1

    def _strike(self, now):
        if now and type(self).count == self.at:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("split", [0, 1, 2, 3])
def test_compare_stops_at_once_and_keeps_whole_splits(monkeypatch, split, late):
    Strikes.count = 0
    contenders = [
        Contender("logistic regression", LogisticRegression),
        Contender("strikes", lambda: Strikes(at=split + 1, late=late)),  # the first fit warms up
    ]
    monkeypatch.setattr(comparing, "lineup", lambda settings, rows, queries: contenders)
    options = CompareOptions(splits=6, budget=20)
    source = open_source(None, Columns())
    if split < 2:
        with pytest.raises(KeyboardInterrupt, match="nothing to compare yet"):
            compare_rankers(source, options)
    else:
        report = compare_rankers(source, options)
        assert report.interrupted
        assert report.splits == split
        assert any(f"{split} of 6 splits" in text for text in report.remarks)
    assert Strikes.count == split + 2, "fits went on after Ctrl-C"


# -- the command line, in a process of its own ----------------------------------------------------

DRIVER = """
import sys
from toprank.screen import progress as screen
from toprank.cli.main import main
stage = screen.Bars.stage
def told(self, text, **options):
    stage(self, text, **options)
    print("STAGE", text, file=sys.stderr, flush=True)
screen.Bars.stage = told
sys.exit(main(sys.argv[1:]))
"""


def interrupted_command(arguments, stage, delay):
    """Exit code, output and errors of a command that gets Ctrl-C some time after a stage begins."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith(f"STAGE {stage}"):
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            break
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, "".join(said) + errors


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("interrupts") / "items.csv"
    rng = np.random.default_rng(0)
    frame = inspections(800)
    for number in range(8):
        frame[f"noise {number}"] = rng.normal(size=len(frame))
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("stage", "delay", "code"),
    [
        ("Fitting", 0.0, 130),
        pytest.param("Fitting", 1.0, 130, marks=pytest.mark.slow),
        ("Judging", 0.5, 130),
        pytest.param("Judging", 3.0, 130, marks=pytest.mark.slow),
    ],
)
def test_rank_writes_the_best_list_so_far(table, tmp_path, stage, delay, code):
    out, model = tmp_path / "list.csv", tmp_path / "model.json"
    arguments = ["rank", table, "-t", "failed", "--id", "pump", "--depth", 200, "-k", 50, "--time-limit", 8]
    begin = time.perf_counter()
    ended, printed, errors = interrupted_command([*arguments, "--out", out, "--model", model], stage, delay)
    assert ended == code, errors
    assert "interrupted" in errors
    assert len(out.read_text().splitlines()) == 801
    assert model.is_file()
    assert str(out) in printed
    assert time.perf_counter() - begin < 60


def test_rank_writes_nothing_before_there_is_a_list(table, tmp_path):
    out = tmp_path / "list.csv"
    ended, _, errors = interrupted_command(
        ["rank", table, "-t", "failed", "--base", "forest", "--out", out], "Reading", 0.0
    )
    assert ended == 130, errors
    assert list(tmp_path.iterdir()) == []


def test_compare_says_what_it_keeps(table):
    ended, _, errors = interrupted_command(
        ["compare", table, "-t", "failed", "--id", "pump"], "Comparing", 0.5
    )
    assert ended == 130
    assert (
        "fewer than two splits were finished, so there is nothing to compare yet\ntoprank: interrupted"
        in errors
    )
    assert "Traceback" not in errors
