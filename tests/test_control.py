"""The clock, the stop button, progress and outcomes."""

# ruff: noqa: PT012  # what is raised at the end of a context needs the whole context in the block

import math
import signal
import threading
import time

import numpy as np
import pytest

from toprank.control import (
    Outcome,
    Progress,
    Run,
    SearchStoppedWarning,
    Status,
    check_time_limit,
    keep_best_on_interrupt,
    legacy_seed,
    relative_gap,
    warn_if_cut_short,
    warn_user,
    worker_count,
)


@pytest.mark.parametrize(
    "value, bound, gap",
    [
        (9.0, 10.0, 0.1),
        (10.0, 9.0, 0.1),
        (-9.0, -10.0, 0.1),
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 1.0),
        (-1.0, 1.0, 2.0),
        (1.0, math.inf, math.inf),
        (math.inf, math.inf, 0.0),
        (1.0, math.nan, math.inf),
    ],
)
def test_gap_is_relative_to_the_larger(value, bound, gap):
    assert relative_gap(value, bound) == pytest.approx(gap)
    assert Progress(value, bound).gap == Outcome(value, bound).gap == relative_gap(value, bound)


@pytest.mark.parametrize("status", list(Status))
def test_status_says_whether_the_answer_can_be_repeated(status):
    assert Status(str(status)) is status
    assert status.finished == (
        status not in (Status.TIME_LIMIT, Status.INTERRUPTED, Status.STOPPED, Status.LOST)
    )


@pytest.mark.wall_clock
def test_time_limit_stops_and_is_named():
    with Run(time_limit=0.05) as run:
        assert not run.should_stop()
        assert 0 < run.remaining() <= 0.05
        time.sleep(0.06)
        assert run.should_stop()
        assert run.remaining() == 0.0
        assert run.stopped_by is Status.TIME_LIMIT
        assert run.report(Progress(1.0)) is False


@pytest.mark.parametrize("limit", [None, math.inf])
def test_no_limit_is_infinite(limit):
    with Run(time_limit=limit) as run:
        assert run.remaining() == math.inf
        assert run.part(0.5).remaining() == math.inf


@pytest.mark.wall_clock
def test_callback_is_throttled_timed_and_can_stop():
    heard = []
    with Run(callback=heard.append, interval=0.05) as run:
        for _ in range(5):
            assert run.report(Progress(1.0, phase="climbing"))
        assert len(heard) == 1
        run.report(Progress(2.0), force=True)
        time.sleep(0.06)
        run.report(Progress(3.0))
    assert [progress.value for progress in heard] == [1.0, 2.0, 3.0]
    assert heard[0].phase == "climbing"
    assert 0 < heard[0].seconds <= heard[1].seconds < heard[2].seconds
    with Run(callback=lambda progress: False) as run:
        assert run.report(Progress(1.0)) is False
        assert run.stopped_by is Status.STOPPED
    with Run(callback=lambda progress: np.float64(progress.value) > 2) as run:
        assert run.report(Progress(1.0)) is False  # numpy's False, of a comparison, is one too
    for answer in (None, True, 0, ""):
        with Run(callback=lambda progress, answer=answer: answer) as run:
            assert run.report(Progress(1.0)), "only False stops"


def test_first_reason_stays():
    with Run(time_limit=0.01) as run:
        run.stop()
        time.sleep(0.02)
        assert run.stopped_by is Status.STOPPED


def press():
    signal.raise_signal(signal.SIGINT)


def test_interrupt_sets_a_flag_and_goes_on_at_the_end():
    before, seen = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), Run() as run:
        press()
        seen.append(run.stopped_by)
    assert seen == [Status.INTERRUPTED]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_raises_at_once():
    before, seen = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), Run():
        press()
        seen.append("after the first")
        press()
        seen.append("after the second")
    assert seen == ["after the first"]
    assert signal.getsignal(signal.SIGINT) is before


def test_nested_runs_stop_together_and_the_outermost_raises():
    seen = []
    with pytest.raises(KeyboardInterrupt), Run() as outer:
        with Run() as inner:
            part = inner.part()
            press()
            seen += [inner.stopped_by, part.stopped_by, outer.stopped_by, outer.flagged]
        seen.append("outer goes on")
        with Run() as following:
            seen.append(following.stopped_by)
    inside = [Status.INTERRUPTED] * 3
    assert seen == [*inside, True, "outer goes on", Status.INTERRUPTED]


def test_an_error_does_not_hide_the_interrupt():
    with pytest.raises(KeyboardInterrupt) as caught, Run():
        press()
        raise ValueError("too early to have an answer")
    assert isinstance(caught.value.__context__, ValueError)


def test_a_handler_of_the_user_gets_the_interrupt():
    heard = []
    before = signal.signal(signal.SIGINT, lambda signum, frame: heard.append(signum))
    try:
        with Run() as run:
            press()
            assert run.stopped_by is Status.INTERRUPTED
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_asks_to_keep_the_best_gets_no_exception():
    before = signal.getsignal(signal.SIGINT)
    with keep_best_on_interrupt() as kept:
        with Run() as run:
            assert not kept.interrupted
            press()
            assert run.stopped_by is Status.INTERRUPTED
        assert kept.interrupted
        with Run() as following:
            assert following.should_stop(), "what begins later in the context stops at once"
    assert kept.interrupted
    assert signal.getsignal(signal.SIGINT) is before
    with Run() as run:
        assert not run.should_stop(), "over with the context"
    with pytest.raises(KeyboardInterrupt), keep_best_on_interrupt():
        press()
        press()


def test_keeping_inside_a_run_leaves_the_interrupt_to_the_run():
    seen = []
    with pytest.raises(KeyboardInterrupt), Run():
        with keep_best_on_interrupt() as kept:
            press()
        seen.append(kept.interrupted)
    assert seen == [True]


def test_runs_in_threads_stop_and_do_not_raise():
    begun, pressed, seen = threading.Event(), threading.Event(), []

    def body():
        with Run() as run:
            begun.set()
            pressed.wait(10)
            seen.append(run.stopped_by)
        seen.append("no exception")

    thread = threading.Thread(target=body)
    with pytest.raises(KeyboardInterrupt), Run():
        thread.start()
        begun.wait(10)
        press()
    pressed.set()  # the thread looks only after the run of the main thread is over
    thread.join()
    assert seen == [Status.INTERRUPTED, "no exception"]


@pytest.mark.parametrize("delay", range(40))
def test_no_moment_loses_an_interrupt(delay):
    """Pressed from another thread around the end of a run: raised, by us or by Python, and only once."""
    before = signal.getsignal(signal.SIGINT)
    main, go = threading.main_thread().ident, threading.Event()

    def strike():
        go.wait()
        time.sleep(delay * 2e-6)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    raised = 0
    for wait in (False, True):
        try:
            with Run():
                go.set()
                time.sleep(0)
            if wait:
                thread.join()
                time.sleep(0.001)
        except KeyboardInterrupt:
            raised += 1
    thread.join()
    assert raised == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Run() as run:
            signal.raise_signal(signal.SIGINT)
            assert not run.should_stop()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_runs_work_outside_the_main_thread():
    done = []

    def body():
        with Run(time_limit=10) as run:
            done.append(run.report(Progress(1.0)))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert done == [True]


def test_parts_share_the_stop_button_and_have_a_deadline_of_their_own():
    heard = []
    with Run(time_limit=10, callback=heard.append, rng=0) as run:
        part, silent = run.part(0.5), run.part(silent=True)
        assert part.remaining() <= 5 < silent.remaining() <= 10
        part.report(Progress(1.0))
        silent.report(Progress(2.0))
        assert [progress.value for progress in heard] == [1.0]
        run.stop(Status.INTERRUPTED)
        assert part.stopped_by is silent.stopped_by is Status.INTERRUPTED
    with Run(time_limit=10) as run:
        short = run.part(0.0)
        assert short.stopped_by is Status.TIME_LIMIT
        assert not run.should_stop(), "an inner solve out of time does not stop the outer one"


def test_random_numbers_repeat():
    def draw(seed):
        run = Run(rng=seed)
        return [*run.rng.random(2), *run.part().rng.random(2)]

    assert draw(3) == draw(3) != draw(4)
    legacy = [draw(np.random.RandomState(1)) for _ in range(2)]
    assert legacy[0] == legacy[1]
    assert draw(None) != draw(None)


@pytest.mark.parametrize("status", list(Status))
def test_only_what_was_cut_short_warns(recwarn, status):
    warn_if_cut_short(Outcome(1.0, status=status, seconds=2.0), "Ranker")
    expected = status not in (Status.OPTIMAL, Status.FINISHED)
    assert [w.category for w in recwarn] == [SearchStoppedWarning] * expected


@pytest.mark.parametrize("limit", [-1, 0, 0.0, -math.inf, math.nan, "3", True, [1.0], 1j])
def test_a_time_limit_is_a_positive_number(limit):
    with pytest.raises(ValueError, match=r"time_limit=.* must be seconds above 0, or None"):
        Run(time_limit=limit)


@pytest.mark.parametrize("callback", [3, "stop", True])
def test_a_callback_that_cannot_be_called_is_named(callback):
    with pytest.raises(TypeError, match=r"callback=.* must be a function of one Progress, or None"):
        Run(callback=callback)


@pytest.mark.parametrize("limit", [1, 0.5, np.float32(2), np.int64(3), math.inf])
def test_any_kind_of_positive_number_will_do(limit):
    assert check_time_limit(limit) == float(limit)


def test_a_part_of_no_time_is_no_error():
    with Run(time_limit=1e-9) as run:
        time.sleep(0.001)
        assert run.part().should_stop()


def test_workers_are_counted_without_what_only_linux_has(monkeypatch):
    assert worker_count(-1) >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert worker_count(-1) >= 1
    assert worker_count(5) == 5
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=f"n_jobs={wrong} must be at least 1, or -1"):
            worker_count(wrong)


def test_seeds_that_scikit_learn_knows_stay_what_they_are():
    state = np.random.RandomState(0)
    assert legacy_seed(None) is None
    assert legacy_seed(state) is state
    assert legacy_seed(5) == 5
    first, again = np.random.default_rng(1), np.random.default_rng(1)
    assert [legacy_seed(first) for _ in range(3)] == [legacy_seed(again) for _ in range(3)]


def test_a_warning_points_at_the_first_line_that_is_nobodys_library():
    """Through a frame of ours and one of scikit-learn's, made up under their names."""
    calls = {}
    bodies = {
        "toprank.made_up": "warn_user('so')",
        "sklearn.made_up": "calls['toprank.made_up']()",
        "toprankish": "calls['sklearn.made_up']()",
    }
    for name, body in bodies.items():
        module = {"__name__": name, "calls": calls, "warn_user": warn_user}
        exec(compile(f"def call():\n    {body}", f"{name}.py", "exec"), module)
        calls[name] = module["call"]
    for name, expected in (("sklearn.made_up", __file__), ("toprankish", "toprankish.py")):
        with pytest.warns(UserWarning, match="so") as caught:
            calls[name]()
        assert caught[0].filename == expected


def test_a_failure_is_raised_by_the_outermost_run_when_all_is_kept():
    kept = []

    def fit():
        with Run(rng=0) as run:
            with run.part() as inner:
                inner.fail(ConnectionError("all are gone"))
                kept.append(inner.stopped_by)
            kept.append(run.should_stop())

    with pytest.raises(ConnectionError, match="all are gone"):
        fit()
    assert kept == [Status.LOST, False]


def test_an_error_on_the_way_is_not_hidden_by_a_failure():
    def fit():
        with Run(rng=0) as run:
            run.fail(ConnectionError("all are gone"))
            raise ArithmeticError("something else")

    with pytest.raises(ArithmeticError, match="something else"):
        fit()
