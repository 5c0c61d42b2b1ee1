"""The climbing budget: what is found is kept, and no more time is taken than it pays."""

import time
from dataclasses import replace

import numpy as np
import pytest

from clock import Clock
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.climb.local_search import LocalSearch, local_search
from toprank.exact.climb.priced_search import PricedSearch
from toprank.exact.search import climbing as module
from toprank.exact.search.climbing import Climbing
from toprank.exact.search.incumbent import Incumbent


def problem_of(n=60, d=4, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return RankingProblem.from_labels(X, y, "dcg", **options)


def climbing_on(problem, **options):
    run = Run(rng=0, **options)
    best = Incumbent(problem)
    return Climbing(best, run), best, run


def test_starts_are_offered_as_they_are():
    """Whatever the climb makes of them, an answer that a user brings is never lost."""
    problem = problem_of()
    starts = [np.array([1.0, 0.1, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0, 0.0])]
    climbing, best, _ = climbing_on(problem)
    climbing.begin(starts, 1.0, most_lines=1)
    assert best.value >= max(map(problem.evaluate, starts))


def test_climbing_finds_better_answers_and_counts_its_time():
    problem = problem_of()
    climbing, best, run = climbing_on(problem)
    climbing.begin([[1.0, 0.0, 0.0, 0.0]], 1.0)
    assert best.value > problem.evaluate([1.0, 0.0, 0.0, 0.0])
    assert 0 < climbing.seconds == climbing.seconds_to_best <= run.seconds


def test_a_price_leads_to_fewer_coefficients():
    problem = problem_of(penalty=0.3)
    climbing, best, _ = climbing_on(problem)
    climbing.begin([], 1.0)
    single = max(problem.evaluate(sign * row) for row in np.eye(4) for sign in (1.0, -1.0))
    assert best.value >= single
    assert np.count_nonzero(best.coef) < 4


def slow_climb(monkeypatch, begin):
    """A climb with a clock that moves by a hundredth of a second with each line of work, and the clock."""
    climbing, _, run = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=5)
    clock = [begin]
    monkeypatch.setattr(type(run), "seconds", property(lambda self: clock[0]))
    work = type(climbing._climber).work

    def slow(climber, lines):
        clock[0] += 0.01
        work(climber, min(lines, 2))

    monkeypatch.setattr(type(climbing._climber), "work", slow)
    climbing.seconds = climbing.seconds_to_best = 0.0
    return climbing, clock


@pytest.mark.parametrize("waiting", [False, True])
def test_in_the_first_seconds_less_is_climbed(monkeypatch, waiting):
    climbing, clock = slow_climb(monkeypatch, 1.0)
    while clock[0] < 5.0:
        climbing.go_on(waiting=waiting)
        clock[0] += 0.01
    share = climbing.seconds / clock[0]
    expected = module.SHARE_WHILE_IT_PAYS if waiting else module.SHARE_AT_FIRST
    assert expected - 0.05 < share <= expected + 0.01


def test_going_on_takes_its_share_and_no_more(monkeypatch):
    climbing, clock = slow_climb(monkeypatch, 100.0)
    for _ in range(40):
        begin = clock[0]
        climbing.go_on()
        assert clock[0] - begin <= module.SECONDS_AT_A_TIME + 0.011
        clock[0] += 0.1
    assert climbing.seconds <= module.SHARE_WHILE_IT_PAYS * clock[0]
    # Long in vain: from now on a twentieth.
    climbing.seconds, climbing.seconds_to_best = 40.0, 1.0
    monkeypatch.setattr(module, "default_lines", lambda problem: 0)
    begin = clock[0]
    climbing.go_on()
    assert clock[0] == begin


def test_nothing_is_climbed_when_time_is_up():
    climbing, _, run = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=5)
    run.stop()
    lines = climbing._climber.lines
    climbing.go_on()
    assert climbing._climber.lines == lines


def test_a_candidate_is_where_the_climb_goes_on():
    problem = problem_of()
    climbing, _, _ = climbing_on(problem)
    climbing.take_up(np.ones(4))  # before there is a climb nothing happens
    climbing.begin([], 1.0, most_lines=1)
    climbing.take_up(np.array([3.0, 0.0, 0.0, 0.0]))
    assert climbing._climber.value >= problem.evaluate([1.0, 0.0, 0.0, 0.0])


@pytest.mark.wall_clock
@pytest.mark.parametrize("share, limit", [(0.5, 0.4), (1.0, 0.2)])
def test_the_first_climb_keeps_to_its_share(share, limit):
    problem = problem_of(n=1000, d=20)
    climbing, _, _ = climbing_on(problem, time_limit=0.05)
    climbing.begin([], 1.0)  # compile first
    climbing, _, _ = climbing_on(problem, time_limit=limit)
    with Clock(share * limit) as clock:
        climbing.begin([], share)
    assert clock.seconds_over < 0.3


@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_of_equal_answers_a_slow_machine_takes_the_same(monkeypatch, penalty):
    """Whoever is first to find a best answer, by the clock or by luck: the one taken is found by count."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 3)), np.arange(24) % 3 == 0
    problem = RankingProblem.from_labels(X, y, "positives_at_top", penalty=penalty)
    quick, best, _ = climbing_on(problem)
    quick.begin([], 1.0)
    quick.settle()
    slow, other, _ = climbing_on(problem)
    climber = PricedSearch if penalty else LocalSearch
    with monkeypatch.context() as busy:
        busy.setattr(climber, "lines_within", lambda self, seconds: 1)
        slow.begin([], 1.0, most_lines=2)
    # What a proof might have come to first: as good, and somewhere else.
    found = local_search(problem, [rng.normal(size=3)], Run(rng=5), n_restarts=30, until=best.value)
    assert found.best.value == best.value
    other.offer(problem.unscale(found.best.coef))
    assert other.value == best.value
    assert not np.array_equal(other.coef, best.coef)
    slow._first = replace(slow._first, lines=quick._first.lines)
    slow.settle()
    np.testing.assert_array_equal(other.coef, best.coef)


def test_a_steady_answer_is_left_as_it_is():
    climbing, best, _ = climbing_on(problem_of())
    climbing.begin([], 1.0)
    before = best.coef
    climbing.settle()
    assert best.coef is before
    nothing, empty, _ = climbing_on(problem_of())
    nothing.settle()  # before there is a climb nothing happens
    assert not empty.coef.any()


@pytest.mark.parametrize("at_once", [True, False])
def test_climbing_goes_along_with_the_proof(at_once):
    climbing, _, _ = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=1)
    lines, done = climbing._climber.lines, []
    for _ in range(40):
        climbing.along(lambda: done.append(time.sleep(0.01)), at_once=at_once)
    assert len(done) == 40
    assert climbing._climber.lines > lines


@pytest.mark.parametrize("at_once", [True, False])
def test_what_goes_wrong_in_the_proof_is_heard_of(at_once):
    climbing, _, _ = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=1)
    with pytest.raises(ZeroDivisionError):
        climbing.along(lambda: 1 // 0, at_once=at_once)


# -- beside a proof that leaves the processor free ----------------------------------------------------------


def wait_for(true, seconds=20.0):
    deadline = time.perf_counter() + seconds
    while not true():
        assert time.perf_counter() < deadline
        time.sleep(1e-3)


def test_beside_a_proof_climbing_never_pauses_and_what_it_finds_is_collected():
    climbing, best, _ = climbing_on(problem_of(n=120, d=8))
    climbing.begin([], 1.0, most_lines=1)
    before, lines = best.value, climbing._climber.lines
    with climbing.beside(True):
        wait_for(lambda: climbing._climber.best.value > before)
        assert best.value == before  # the incumbent belongs to the thread that proves
        climbing.along(lambda: None, at_once=True)
        assert best.value > before
        assert climbing.collect() == best.target
        wait_for(lambda: climbing._climber.lines > lines + 100)
    lines = climbing._climber.lines
    time.sleep(0.02)
    assert climbing._climber.lines == lines
    assert climbing.seconds_to_best > 0
    assert best.value == climbing._climber.best.value


@pytest.mark.wall_clock
def test_a_proof_that_is_over_does_not_wait_for_the_climb():
    climbing, _, _ = climbing_on(problem_of(n=300, d=8))
    climbing.begin([], 1.0, short=True)
    with Clock(0.0) as clock:
        for _ in range(10):
            with climbing.beside(True):
                pass
    assert clock.seconds_over < 10 * module.SECONDS_AT_A_TIME


def test_a_candidate_of_the_proof_is_taken_up_beside_it():
    climbing, _, _ = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=1)
    with climbing.beside(True):
        climbing.take_up(np.array([3.0, 0.0, 0.0, 0.0]))
        wait_for(lambda: not climbing._handed)
    assert climbing._climber.value >= climbing._incumbent.problem.evaluate([1.0, 0.0, 0.0, 0.0])


def test_beside_a_proof_less_is_climbed_when_it_no_longer_pays(monkeypatch):
    climbing, _, run = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=5)
    monkeypatch.setattr(module, "default_lines", lambda problem: 0)
    climbing.seconds, climbing.seconds_to_best = 40.0 + run.seconds, 1.0
    lines = climbing._climber.lines
    with climbing.beside(True):
        time.sleep(0.05)
    assert climbing._climber.lines == lines


def test_nothing_is_climbed_beside_where_it_is_not_wanted_or_there_is_no_time():
    climbing, _, run = climbing_on(problem_of())
    with climbing.beside(True):  # before there is a climb nothing happens
        pass
    climbing.begin([], 1.0, most_lines=5)
    lines = climbing._climber.lines
    with climbing.beside(False):
        time.sleep(0.02)
    run.stop()
    with climbing.beside(True):
        time.sleep(0.02)
    assert climbing._climber.lines == lines


def test_what_goes_wrong_beside_the_climb_is_heard_of(monkeypatch):
    climbing, _, _ = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=1)
    with pytest.raises(ZeroDivisionError), climbing.beside(True):
        raise ZeroDivisionError
    monkeypatch.setattr(LocalSearch, "work", lambda self, lines: 1 // 0)
    with pytest.raises(ZeroDivisionError), climbing.beside(True):
        time.sleep(0.02)


def test_a_short_first_climb_is_not_climbed_again():
    """As long a climb from the same place would find the same; a later answer stays as it is."""
    problem = problem_of(n=120, d=8)
    climbing, best, _ = climbing_on(problem)
    climbing.begin([], 1.0, short=True)
    lines = climbing._climber.lines
    assert lines == climbing._first.lines <= module.LINES_TO_SETTLE
    longer = local_search(problem, [np.ones(8)], Run(rng=1), max_iter=3000).best
    assert best.offer(problem.unscale(longer.coef))
    before = best.coef
    climbing.settle()
    assert best.coef is before


def test_in_a_longer_proof_others_join_the_climb(monkeypatch):
    monkeypatch.setattr(module, "SECONDS_ALONE", 0.01)
    climbing, best, _ = climbing_on(problem_of(n=120, d=8))
    climbing.begin([], 1.0, most_lines=1)
    before = best.value
    with climbing.beside(True, processors=16):
        wait_for(lambda: len(climbing._team) == module.MOST_CLIMBERS)
        team = list(climbing._team)
        for other in team[1:]:
            wait_for(lambda other=other: other.best.value > before)
        assert climbing.collect() == best.target
    assert best.value == max(other.best.value for other in team)
    assert not climbing._team
    monkeypatch.setattr(module, "SECONDS_ALONE", 20.0)
    with climbing.beside(True, processors=16):  # which is over before they come
        assert len(climbing._team) == 1


def test_what_goes_wrong_with_another_climb_is_heard_of(monkeypatch):
    monkeypatch.setattr(module, "SECONDS_ALONE", 0.0)
    climbing, _, _ = climbing_on(problem_of())
    climbing.begin([], 1.0, most_lines=1)
    monkeypatch.setattr(module, "local_search", lambda *given, **options: 1 // 0)
    with pytest.raises(ZeroDivisionError), climbing.beside(True, processors=4):
        time.sleep(0.02)
