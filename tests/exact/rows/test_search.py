"""The search by rows: equal to enumeration on small lists, sound at every step, linear in memory."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import exact_oracles as oracles
import hostile_problems as hostile
from box_problems import KINDS, features, position_weights
from toprank import ExactRanker
from toprank.control import Run, Status
from toprank.exact import RankingProblem, verify
from toprank.exact.rows.listed import list_rows, why_not
from toprank.exact.rows.search import RowSearch
from toprank.exact.rows.worker import differences
from toprank.exact.search.choice import by_rows, compile_for
from toprank.exact.search.driver import search


def run_to_the_end(problem, optimum, most=4000):
    """Value <= optimum <= bound all the way; what was found, and whether nothing was left."""
    found = RowSearch(list_rows(problem))
    best, bound = problem.floor, math.inf
    while not found.done and found.nodes < most:
        found.advance(0.02)
        best = max([best, *(problem.evaluate(problem.unscale(coef)) for coef in found.candidates)])
        assert best <= optimum + 1e-12
        assert optimum - 1e-12 <= found.bound <= bound
        bound = found.bound
    return found, best


def strict_problem(seed):
    """A small list without a margin, position weights of some kind, and its optimum by enumeration."""
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 2, 3, 3]))
    n = int(rng.integers(4, 11 if d < 3 else 9))
    X = features(rng, KINDS[seed % len(KINDS)] if d > 1 else "integer", n, d)
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: rng.integers(1, n)]] = 1
    weights = position_weights(rng, n)
    differences, positive, negative = oracles.class_pairs(X, y)
    optimum = oracles.best_value(
        differences, 0, lambda won: oracles.order_value(won, positive, negative, weights)
    )
    return RankingProblem.from_labels(X, y, weights), optimum


@pytest.mark.parametrize("block", range(6))
def test_equals_enumeration(block):
    """On smooth rows it ends; on whole numbers some directions are never told apart."""
    for seed in range(12 * block, 12 * block + 12):
        problem, optimum = strict_problem(seed)
        found, best = run_to_the_end(problem, optimum)
        ended = found.done and found.unresolved == -math.inf
        if ended:
            assert best == pytest.approx(optimum, abs=1e-9)
        assert ended or KINDS[seed % len(KINDS)] != "continuous"


def test_the_last_box_of_a_loss_is_searched_too():
    """Values of losses are negative: nothing that stands for no bound may be above them."""
    case = hostile.counted_problem(154)
    problem = RankingProblem.from_labels(case.X[:, [0, 2]], case.y, "infinite_push_loss")
    found = RowSearch(list_rows(problem), target=-0.25)
    for _ in range(50):
        found.advance(0.02)
    assert found.done
    assert found.bound == pytest.approx(-0.25)


STATISTICS = ("dcg@3", "precision@4", "ndcg@5", "positives_at_top", "partial_auc_fpr(max_fpr=0.3)")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_agrees_with_boxes(kind, statistic):
    rng = np.random.default_rng(len(kind) * len(statistic))
    X = features(rng, kind, 40, 2)
    y = (X[:, 0] + rng.normal(size=40) > 0.5).astype(int)
    y[:2] = [0, 1]
    problem = RankingProblem.from_labels(X, y, statistic)
    compile_for(problem, "boxes")
    with Run(rng=0, time_limit=30) as run:
        boxes = search(problem, run, method="boxes")
    with Run(rng=0, time_limit=30) as run:
        rows = search(problem, run, method="rows")
    assert boxes.proved
    assert rows.bound >= boxes.value - 1e-9
    assert rows.value <= boxes.value + 1e-9
    if rows.proved:
        assert rows.value == pytest.approx(boxes.value, abs=1e-9)
    else:
        assert kind != "continuous"


@pytest.mark.parametrize("block", range(4))
def test_no_hostile_problem_gets_a_wrong_certificate(block):
    proved = tried = 0
    for seed in range(block, 100, 4):
        case = (hostile.counted_problem if seed % 3 else hostile.hostile_problem)(seed)
        if case.pairs is not None or case.qid is not None:
            continue
        statistic = case.weights if case.statistic is None else case.statistic
        problem = RankingProblem.from_labels(case.X, case.y, statistic, penalty=case.penalty)
        if not problem.queries:
            continue
        best = hostile.best_value(case)
        with Run(rng=0, time_limit=1.0) as run:
            found = search(problem, run, method="rows")
        assert found.value <= best + 1e-12, (seed, case.kind)
        assert found.bound >= best - 1e-12, (seed, case.kind)
        assert not found.proved or found.value >= best - 1e-9, (seed, case.kind)
        tried, proved = tried + 1, proved + found.proved
    assert proved >= tried // 2


@pytest.mark.parametrize("seed", range(12))
def test_a_target_just_below_the_optimum_is_never_excluded(seed):
    """With no candidates taken, something must be left: only a bound that is too low could close it all."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), (rng.random(60) < 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg@10")
    with Run(rng=0, time_limit=60) as run:
        optimum = search(problem, run, method="boxes").value
    listed = list_rows(problem)
    found = RowSearch(listed, target=optimum - 1e-7)
    while not found.done:
        found.advance(0.1)
    assert max(problem.evaluate(problem.unscale(w)) for w in found.candidates) == pytest.approx(optimum)
    assert found.bound >= optimum


def long_list(n=20_000, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X.sum(axis=1) + 3 * rng.normal(size=n) > 3).astype(int)


def test_a_long_list_is_proved_without_its_pairs(monkeypatch):
    monkeypatch.setattr(RankingProblem, "arrays", lambda *asked: pytest.fail("pairs were listed"))
    X, y = long_list()
    ranker = ExactRanker("dcg@20", time_limit=60, random_state=0)
    compile_for(ranker.problem(X, y))
    ranker.fit(X, y)
    certificate = ranker.certificate_
    assert certificate.method == "rows"
    assert certificate.status == Status.OPTIMAL
    assert certificate.nodes > 0
    assert certificate.value <= certificate.bound < ranker.problem(X, y).trivial_bound
    checked = verify(ranker.problem(X, y), certificate, seconds=0)
    assert checked.passed


@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0])
def test_the_bound_holds_whenever_the_clock_stops_it(seconds):
    X, y = long_list(seed=1)
    problem = RankingProblem.from_labels(X, y, "precision@50")
    assert by_rows(problem)
    with Run(rng=0, time_limit=30) as run:
        best = search(problem, run).value
    with Run(rng=0, time_limit=seconds) as run:
        found = search(problem, run)
    assert found.bound >= best
    assert found.status in (Status.TIME_LIMIT, Status.OPTIMAL)


def test_goes_on_from_a_checkpoint(tmp_path):
    X, y = long_list(n=3000, d=2)
    problem = RankingProblem.from_labels(X, y, "dcg@30")
    with Run(rng=0, time_limit=60) as run:
        whole = search(problem, run, method="rows")
    begun = RowSearch(list_rows(problem), target=whole.value)
    begun.advance(0.0)
    again = RowSearch.resume(list_rows(problem), begun.checkpoint())
    while not again.done:
        again.advance(0.1)
    assert again.bound == pytest.approx(whole.value)


def test_what_it_is_not_for():
    X, y = long_list(n=30, d=2)
    with pytest.raises(ValueError, match="knows no margin"):
        ExactRanker("dcg@5", method="rows", margin=0.1).fit(X, y)
    with pytest.raises(ValueError, match="for one list"):
        ExactRanker("dcg@5", method="rows").fit(X, y, qid=np.arange(30) % 2)
    with pytest.raises(ValueError, match="no log is kept"):
        ExactRanker("dcg@5", method="rows", keep_proof=True).fit(X, y)
    many, labels = np.zeros((9000, 2)), np.arange(9000) % 2
    assert "more than the first places" in why_not(RankingProblem.from_labels(many, labels, "auc"))


MEMORY = """
import numpy as np
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.search.choice import compile_for
from toprank.exact.search.driver import search

rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 5))
y = (X.sum(axis=1) + 3 * rng.normal(size=100_000) > 6).astype(int)
problem = RankingProblem.from_labels(X, y, "dcg@1000")
compile_for(problem)
with Run(rng=0, time_limit=15) as run:
    found = search(problem, run, n_jobs=2, starts=[np.ones(5)])
assert found.method == "rows" and found.nodes > 0, found
# Not ru_maxrss, which begins with what the process had that started this one.
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak of its memory")
def test_a_hundred_thousand_rows_take_less_than_a_gigabyte():
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1_000_000  # in kilobytes


@pytest.mark.parametrize("largest", [300, 2**15, 2**24])
def test_groups_are_the_same_after_their_differences(largest):
    """Close ones take two bytes each, and those far apart are not cut off."""
    rng = np.random.default_rng(0)
    groups = rng.choice(largest, 200, replace=False).astype(np.int32)
    kept = differences(groups)
    assert kept.dtype == (np.uint16 if np.diff(np.sort(groups), prepend=0).max() < 2**16 else np.int32)
    assert np.array_equal(np.cumsum(kept, dtype=np.int32), np.sort(groups))
    assert differences(groups[:0]).size == 0
