"""The search over boxes: equal to enumeration on small problems, sound at every step, replayable."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import exact_oracles as oracles
from toprank.exact import RankingProblem
from toprank.exact.boxes._conflict_kernels import conflict
from toprank.exact.boxes._sweep_kernels import NOTHING, lose, regain, sweep
from toprank.exact.boxes.frame import build_frame
from toprank.exact.boxes.replay import replay
from toprank.exact.boxes.sweep import SweepSearch

KINDS = ("continuous", "integer", "duplicated", "constant column", "equal columns", "dependent columns")


def features(rng, kind, n, d):
    if kind == "continuous":
        return rng.normal(size=(n, d))
    if kind == "dependent columns":
        X = rng.normal(size=(n, d))
        X[:, -1] = X[:, :-1].sum(axis=1)
        return X
    X = rng.integers(0, rng.integers(2, 5), size=(n, d)).astype(float)
    if kind == "duplicated":
        X = X[rng.integers(0, n, size=n)]
    elif kind == "constant column":
        X[:, rng.integers(d)] = 1.0
    elif kind == "equal columns":
        X[:, -1] = X[:, 0] * rng.choice([1, 2, -1])
    return X


def position_weights(rng, n):
    places = np.arange(n)
    shapes = (
        (n - 1.0 - places) / n,  # AUC
        1 / np.log2(places + 2),  # DCG
        np.where(places < 3, 1 / np.log2(places + 2), 0.0),  # DCG@3
        1 / (places + 1.0),  # MRR
        np.where(places < 1, 1.0, 0.0),  # winner takes all
        np.where(places < 2, 0.5, 0.0),  # precision@2
        np.maximum(0.0, n // 2 - places),  # partial AUC
        (n - places) ** 3.0,  # p-norm
        np.sort(rng.random(n))[::-1],
    )
    return shapes[rng.integers(len(shapes))]


def finish(search, problem, optimum):
    """Run to the end; value <= optimum <= bound all the way, and the bound never rises."""
    best, bound = problem.floor, math.inf
    while not search.done:
        search.advance(0.01)
        for coef in search.candidates:
            assert 0.5 <= np.abs(coef).max() <= 1.0
        best = max([best, *(problem.evaluate(problem.unscale(coef)) for coef in search.candidates)])
        assert best <= optimum + 1e-12
        assert search.bound >= optimum - 1e-12
        assert search.bound <= bound
        bound = search.bound
    return best


def check(problem, optimum, **options):
    search = SweepSearch(problem.arrays(), **options)
    best = finish(search, problem, optimum)
    if search.unresolved == -math.inf:
        assert best == pytest.approx(optimum, abs=1e-9)
        assert search.bound == pytest.approx(optimum, abs=1e-8)
    return search


def random_problem(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 2, 3, 3, 3, 4]))
    n = int(rng.integers(3, 12 if d < 4 else 8))
    X = features(rng, KINDS[seed % len(KINDS)] if d > 1 else "integer", n, d)
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: rng.integers(1, n)]] = 1
    weights, margin = position_weights(rng, n), float(rng.choice([1e-6, 1e-6, 1e-3, 0.3]))
    problem = RankingProblem.from_labels(X, y, weights, margin=margin, scales=np.ones(d))
    differences, positive, negative = oracles.class_pairs(X, y)
    optimum = oracles.best_value(
        differences, margin, lambda won: oracles.order_value(won, positive, negative, weights)
    )
    return problem, optimum


@pytest.mark.parametrize("block", range(12))
def test_equals_enumeration(block):
    for seed in range(20 * block, 20 * block + 20):
        problem, optimum = random_problem(seed)
        search = check(problem, optimum)
        assert search.unresolved == -math.inf or problem.margin == 0.3


def test_faces_swept_in_pieces_equal_enumeration(monkeypatch):
    """So many pairs that a face is swept piece by piece, with more events in a piece than it has room for."""
    monkeypatch.setattr("toprank.exact.boxes.worker.MANY_PAIRS", 0)
    small = [(problem, best) for problem, best in map(random_problem, range(200)) if problem.n_features <= 2]
    assert len(small) > 40
    for problem, optimum in small:
        check(problem, optimum)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_equals_enumeration_on_thousands(block):
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        check(*random_problem(seed))


@pytest.mark.parametrize("seed", range(60))
def test_preferences_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([2, 3, 3, 4]))
    n = int(rng.integers(4, 10))
    X = features(rng, KINDS[seed % len(KINDS)], n, d)
    pairs = np.array([rng.permutation(n)[:2] for _ in range(rng.integers(1, 14 if d < 4 else 9))])
    worth = rng.integers(1, 4, size=len(pairs)) * 0.37 if seed % 2 else rng.random(len(pairs)) + 0.01
    problem = RankingProblem.from_preferences(X, pairs, worth, margin=1e-6, scales=np.ones(d))
    exact = [[Fraction(a) - Fraction(b) for a, b in zip(X[i], X[k], strict=True)] for i, k in pairs]
    check(problem, oracles.best_value(exact, 1e-6, lambda won: oracles.pair_value(won, worth)))


@pytest.mark.parametrize("seed", range(40))
def test_queries_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.choice([2, 3])), int(rng.integers(6, 11))
    X = features(rng, KINDS[seed % len(KINDS)], n, d)
    qid, y = np.sort(np.arange(n) % 2), np.zeros(n, dtype=int)
    y[[0, n - 1]] = 1
    y[1 : n - 1] = rng.integers(0, 2, size=n - 2)
    y[[1, n - 2]] = 0
    problem = RankingProblem.from_labels(X, y, "dcg", qid=qid, margin=1e-6, scales=np.ones(d))
    exact, owner = [], []
    for q in (0, 1):
        upper, lower = np.flatnonzero((qid == q) & (y == 1)), np.flatnonzero((qid == q) & (y == 0))
        for i, k in itertools.product(upper, lower):
            exact.append([Fraction(a) - Fraction(b) for a, b in zip(X[i], X[k], strict=True)])
            owner.append((q, i))

    def value(won):
        lost = dict.fromkeys(owner, 0)
        for who, is_won in zip(owner, won, strict=True):
            lost[who] += not is_won
        terms = []
        for q in (0, 1):
            counts = sorted(c for (query, _), c in lost.items() if query == q)
            terms += [1 / math.log2(j + c + 2) for j, c in enumerate(counts)]
        return math.fsum(terms)

    check(problem, oracles.best_value(exact, 1e-6, value))


# -- the parts ------------------------------------------------------------------------------------


def medium_problem(seed=0, n=60, d=4, statistic="dcg"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + 1.5 * rng.normal(size=n) > 0.8).astype(int)
    return RankingProblem.from_labels(X, y, statistic)


def solve(problem, **options):
    search = SweepSearch(problem.arrays(), **options)
    while not search.done:
        search.advance(0.05)
    return search


@pytest.mark.parametrize("seed", range(40))
def test_sweep_equals_looking_everywhere(seed):
    rng = np.random.default_rng(seed)
    m, n, events = 4, 5, int(rng.integers(1, 20))
    weight = np.sort(rng.integers(0, 100, size=m + n))[::-1].astype(np.int64).copy()
    owner = (np.arange(events) % m).astype(np.int32)
    owner = owner[: min(events, m * n)]
    times = rng.integers(-4, 5, size=len(owner)) / 4.0
    rising = rng.random(len(owner)) < 0.5

    def value_at(t):
        won = np.where(rising, t >= times, t <= times)
        lost = np.sort(np.bincount(owner[~won], minlength=m))
        return int(weight[np.arange(m) + lost].sum())

    spots = np.unique(np.concatenate([times, times + 0.01, times - 0.01, [-1.0, 1.0]]))
    spots = spots[(spots >= -1) & (spots <= 1)]
    values = np.array([value_at(t) for t in spots])
    for target, climb in ((NOTHING, True), (int(np.quantile(values, 0.6)), False)):
        at, who = np.zeros((2, len(owner))), np.zeros((2, len(owner)), np.int32)
        at[0] = times
        who[0] = np.where(rising, np.arange(len(owner)), -1 - np.arange(len(owner)))
        count, at_most = np.zeros(m, np.int32), np.full(n + 1, m, np.int32)
        out, start = np.zeros(3), int(weight[:m].sum())
        state = (owner, np.empty(0, np.int64), weight, np.zeros(m, np.int64), count, at_most)
        best, after = sweep(
            start, target, climb, len(owner), -1.0, 1.0, at, who, np.zeros(8, np.int64), *state, out
        )
        assert after == start
        assert not count.any()
        assert best == values.max()
        assert value_at(out[0]) == best
        if not climb:
            reached = spots[values >= target]
            assert out[1] <= reached.min()
            assert out[2] >= reached.max()


def test_losing_and_regaining_is_the_value_of_the_counts():
    rng = np.random.default_rng(0)
    m, n = 5, 6
    weight = np.sort(rng.integers(0, 50, size=m + n))[::-1].astype(np.int64).copy()
    owner = np.repeat(np.arange(m), n).astype(np.int32)
    count, at_most = np.zeros(m, np.int32), np.full(n + 1, m, np.int32)
    state = (owner, np.empty(0, np.int64), weight, np.zeros(m, np.int64), count, at_most)
    value, lost = int(weight[:m].sum()), set()
    for p in rng.integers(0, m * n, size=500):
        value = (regain if p in lost else lose)(p, *state, value)
        lost ^= {p}
        counts = np.sort(np.bincount(owner[list(lost)], minlength=m)) if lost else np.zeros(m, int)
        assert value == weight[np.arange(m) + counts].sum()


@pytest.mark.parametrize("seed", range(150))
def test_conflicts_are_those_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n, axes = int(rng.integers(1, 14)), int(rng.integers(1, 6))
    rows = np.zeros((n, axes + 1))
    if seed % 2:
        rows[:] = rng.normal(size=rows.shape)
        rows[:, 0] += 0.5 * axes - 0.4
    else:  # many ties and opposite pairs, a small margin deciding
        rows[:] = rng.integers(-1, 2, size=rows.shape)
        rows[:, 0] = rng.integers(-1, 2, size=n) * (rng.random(n) < 0.3) - 1e-6
    flags, lp = np.zeros((4, 64), np.int64), np.zeros((axes + 6, axes + 2))
    flags[0, :n] = rng.random(n) < 0.9
    live = rows[flags[0, :n] == 1]
    answer = conflict(n, axes, rows, flags, lp, 1e-12)
    if not len(live):
        assert answer == 0
        return
    truth = linprog(
        np.append(np.zeros(axes), -1.0),
        A_ub=np.column_stack([-live[:, 1:], np.ones(len(live))]),
        b_ub=live[:, 0],
        bounds=[(-1, 1)] * axes + [(None, None)],
    )
    if truth.x[-1] < -1e-9:
        assert answer == 1
        members = [q for i, q in enumerate(flags[2, : axes + 1]) if q >= 0 and lp[i, 0] > 0]
        chosen = rows[members]
        again = linprog(
            np.append(np.zeros(axes), -1.0),
            A_ub=np.column_stack([-chosen[:, 1:], np.ones(len(chosen))]),
            b_ub=chosen[:, 0],
            bounds=[(-1, 1)] * axes + [(None, None)],
        )
        assert again.x[-1] < 0
    elif truth.x[-1] > 1e-9:
        assert answer == 0
        point = -lp[axes + 4, 1 : axes + 1]
        assert np.abs(point).max() <= 1 + 1e-9
        assert (live[:, 0] + live[:, 1:] @ point).min() >= -1e-9


def test_error_covers_the_coordinates():
    """Rows of the frame differ from exact products by less than the error that is allowed for."""
    arrays = medium_problem(3, n=20).arrays()
    frame = build_frame(arrays, np.ones(4))
    basis = [[Fraction(v) for v in row] for row in frame.basis.tolist()]
    rows = [[Fraction(v) for v in row] for row in arrays.rows.tolist()]
    for p, (given, error) in enumerate(zip(frame.problem.E, frame.problem.error, strict=True)):
        row = [a - b for a, b in zip(rows[arrays.upper[p]], rows[arrays.lower[p]], strict=True)]
        exact = [sum(x * basis[i][j] for i, x in enumerate(row)) for j in range(len(given))]
        # Each row is brought to a size of its own by a power of two.
        scale = Fraction(2) ** round(math.log2(np.abs(given).max() / float(max(map(abs, exact)))))
        for a, b in zip(exact, given.tolist(), strict=True):
            assert abs(scale * a - Fraction(b)) <= Fraction(float(error))


# -- the search as a whole ------------------------------------------------------------------------


def test_target_is_all_that_is_excluded():
    problem = medium_problem()
    cold = solve(problem)
    best = max(problem.evaluate(problem.unscale(w)) for w in cold.candidates)
    warm = solve(problem, target=best + 1e-9, direction=cold.candidates[-1])
    assert warm.done
    assert not warm.candidates
    assert warm.nodes < cold.nodes
    assert warm.bound == pytest.approx(best, abs=1e-8)
    assert solve(problem, target=best - 1e-3).candidates


def test_threads_find_the_same():
    problem = medium_problem(1)
    alone, together = solve(problem), solve(problem, n_jobs=2)
    assert together.bound == pytest.approx(alone.bound, abs=1e-9)
    assert together.unresolved == -math.inf


def test_one_thread_is_repeatable():
    first, second = solve(medium_problem(2)), solve(medium_problem(2))
    assert first.nodes == second.nodes
    np.testing.assert_array_equal(first.candidates, second.candidates)


def test_stopped_and_resumed():
    problem = medium_problem(4, n=120)
    whole = solve(problem)
    search = SweepSearch(problem.arrays())
    rounds = 0
    while not search.done:
        search.advance(1e-3)
        search = SweepSearch.resume(problem.arrays(), search.checkpoint())
        rounds += 1
    assert rounds > 1
    assert search.bound == pytest.approx(whole.bound, abs=1e-9)


def test_two_features_match_every_angle():
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(60, 2)), 1)
    y = (X[:, 0] + rng.normal(size=60) > 0.7).astype(int)
    problem = RankingProblem.from_labels(X, y, "auc", scales=[1.0, 1.0])
    search = solve(problem)
    found = max(problem.evaluate(w) for w in search.candidates)
    angles = np.linspace(0, 2 * np.pi, 20001)
    swept = max(problem.evaluate([math.cos(a), math.sin(a)]) for a in angles[::10])
    assert swept <= found
    assert search.bound - found < 1e-9


@pytest.mark.parametrize("d", [1, 2, 3])
def test_nothing_to_win(d):
    problem = RankingProblem.from_labels(np.ones((4, d)), [0, 1, 0, 1], "auc")
    search = SweepSearch(problem.arrays())
    assert search.done
    assert search.bound < 1e-9


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_margin_larger_than_any_difference(d):
    X = np.random.default_rng(0).normal(size=(6, d))
    problem = RankingProblem.from_labels(X, [0, 1, 0, 1, 1, 0], "auc", margin=1e3, scales=np.ones(d))
    assert SweepSearch(problem.arrays()).done


def test_sure_value_is_never_too_high():
    rng = np.random.default_rng(0)
    problem = RankingProblem.from_labels(
        rng.integers(0, 3, size=(12, 3)), np.arange(12) % 2, "dcg", scales=np.ones(3)
    )
    for _ in range(50):
        coef = rng.integers(-2, 3, size=3) / 2.0
        if coef.any():
            assert problem.arrays().sure_value(coef) <= problem.evaluate_exact(coef)


# -- the replay -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(18))
def test_replay_confirms_small_searches(seed):
    problem, _ = random_problem(seed)
    search = SweepSearch(problem.arrays(), keep_log=True)
    while not search.done:
        search.advance(0.01)
    if search.unresolved == -math.inf:
        assert replay(problem.arrays(), search.log, search.bound + 1e-9) == []


@pytest.mark.parametrize("d", [2, 3, 4])
def test_replay_rejects_a_wrong_bound(d):
    problem = medium_problem(0, n=16, d=d, statistic="auc")
    search = solve(problem, keep_log=True)
    best = max(problem.evaluate(problem.unscale(w)) for w in search.candidates)
    assert replay(problem.arrays(), search.log, search.bound + 1e-9) == []
    assert replay(problem.arrays(), search.log, best - 1e-6) != []


def test_replay_rejects_a_tampered_log():
    problem = medium_problem(0, n=16, d=3)
    search = solve(problem, keep_log=True)
    arrays = problem.arrays()
    key = max((k for k in search.log if k != b"basis"), key=lambda k: len(search.log[k]))
    cut = {**search.log, key: search.log[key][:-1]}
    assert "early" in replay(arrays, cut, search.bound + 1e-9)[0]
    longer = {**search.log, key: search.log[key] + b"\xff"}
    assert "after its end" in replay(arrays, longer, search.bound + 1e-9)[0]
    missing = {k: v for k, v in search.log.items() if k != key}
    assert "missing" in replay(arrays, missing, search.bound + 1e-9)[0]
    flat = np.frombuffer(search.log[b"basis"]).copy().reshape(3, 3)
    flat[:, 1] = flat[:, 0]
    singular = {**search.log, b"basis": flat.tobytes()}
    assert "directions" in replay(arrays, singular, search.bound + 1e-9)[0]
    assert replay(arrays, {k: v for k, v in search.log.items() if k != b"basis"}, search.bound + 1e-9) != []


# -- speed ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_long_list_of_two_features_is_quick():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    y = np.zeros(10_000, dtype=int)
    y[np.argsort(-(X @ [1.0, 0.5] + rng.normal(size=10_000)))[:500]] = 1
    solve(medium_problem(0, n=20, d=2))
    problem = RankingProblem.from_labels(X, y, "dcg")
    search = solve(problem)
    assert search.unresolved == -math.inf
    assert search.bound - problem.evaluate(problem.unscale(search.candidates[-1])) < 1e-6
