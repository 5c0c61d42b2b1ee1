"""The cell search: equal to enumeration on small problems, honest at every step, in pieces, and resumable."""

import itertools
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import exact_oracles as oracles
from toprank.exact import RankingProblem
from toprank.exact.arithmetic.dependence import ledger
from toprank.exact.boxes.sweep import SweepSearch
from toprank.exact.cells import _layout as layout
from toprank.exact.cells._simplex import certify
from toprank.exact.cells.replay import replay_cells
from toprank.exact.cells.search import CellSearch
from toprank.exact.cells.units import build_units, convex_below
from toprank.exact.cells.worker import CellWorker

STATISTICS = [
    "dcg",
    "auc",
    "dcg@3",
    "reciprocal_rank_sum",
    "winner_takes_all",
    "precision@2",
    "p_norm(p=3)",
    "partial_auc@4",
]
KINDS = ["continuous", "whole", "duplicates", "constant"]


def rows_of(kind, rng, n, d):
    if kind == "whole":
        return rng.integers(-2, 3, (n, d)).astype(float)
    X = rng.normal(size=(n, d))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "constant":
        X[:, 0] = 4.0
    return X


def labels_of(rng, n):
    return rng.permutation(np.concatenate(([0, 1], rng.integers(0, 2, n - 2))))


def enumerate_lists(problem, X, y, qid=None):
    """Optimum over all vertices of the arrangement, in fractions."""
    scaled = X / problem.scales
    qid = np.zeros(len(y), dtype=int) if qid is None else np.asarray(qid)
    differences, parts = [], []
    for number, q in enumerate(np.unique(qid)):
        own = qid == q
        if len(np.unique(y[own])) == 2:
            found, positive, negative = oracles.class_pairs(scaled[own], y[own])
            a, b = problem.weight_start[number : number + 2]
            parts.append((len(found), positive, negative, problem.weights[a:b].tolist()))
            differences += found

    def value(won):
        begins = itertools.accumulate((size for size, *_ in parts), initial=0)
        return sum(
            oracles.order_value(won[begin : begin + size], positive, negative, weights)
            for begin, (size, positive, negative, weights) in zip(begins, parts, strict=False)
        )

    return oracles.best_value(differences, problem.margin, value)


def value_of(problem, scaled_coef):
    return problem.evaluate(problem.unscale(scaled_coef))


def search_through(problem, best, *, start=None, seconds=0.05, **options):
    """Search to the end, every step checked: value <= optimum <= bound, and the bound never rises."""
    target = problem.floor + 1e-9 if start is None else start
    search = CellSearch(problem.arrays(), target=target, **options)
    found, bounds = problem.floor, [math.inf]
    while not search.done:
        search.advance(seconds)
        found = max([found, *(value_of(problem, w) for w in search.candidates)])
        assert found <= best + 1e-12
        assert search.bound >= best - 1e-12
        assert search.bound <= bounds[-1]
        bounds.append(search.bound)
    return search, found


def assert_equal_to(problem, best, **options):
    search, found = search_through(problem, best, **options)
    assert search.unresolved == -math.inf
    assert found == pytest.approx(best, abs=1e-11)
    assert search.bound == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_enumeration(statistic, kind):
    rng = np.random.default_rng(abs(hash((STATISTICS.index(statistic), KINDS.index(kind)))))
    for _ in range(8):
        d = int(rng.integers(1, 5))
        n = int(rng.integers(4, 13 if d < 3 else 9 if d < 4 else 7))
        X, y = rows_of(kind, rng, n, d), labels_of(rng, n)
        problem = RankingProblem.from_labels(X, y, statistic)
        assert_equal_to(problem, enumerate_lists(problem, X, y))


@pytest.mark.parametrize("statistic", ["dcg", "precision@2"])
def test_equals_enumeration_over_queries(statistic):
    rng = np.random.default_rng(11)
    for trial in range(8):
        d, n = int(rng.integers(1, 4)), 10
        X, y = rows_of(KINDS[trial % 4], rng, n, d), labels_of(rng, n)
        qid = rng.integers(0, 3, n)
        problem = RankingProblem.from_labels(X, y, statistic, qid=qid)
        if problem.n_pairs:
            assert_equal_to(problem, enumerate_lists(problem, X, y, qid))


def test_equals_enumeration_for_weighted_pairs():
    rng = np.random.default_rng(12)
    for trial in range(20):
        n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
        X = rows_of(KINDS[trial % 4], rng, n, d)
        pairs = [(i, k) for i in range(n) for k in range(n) if i != k and rng.random() < 0.5] or [(0, 1)]
        problem = RankingProblem.from_preferences(X, pairs, rng.integers(1, 5, len(pairs)) / 4)
        scaled = X / problem.scales
        differences = [scaled[i] - scaled[k] for i, k in problem.pairs]
        worth = problem.pair_weight
        best = oracles.best_value(
            differences, problem.margin, lambda won, worth=worth: oracles.pair_value(won, worth)
        )
        assert_equal_to(problem, best)


@pytest.mark.parametrize("margin", [0.25, 0.5, 1.0])
def test_a_wide_margin_is_never_misjudged(margin):
    """With whole numbers answers often exist on the very edge only: open at worst, never wrong."""
    rng = np.random.default_rng(13)
    for trial in range(12):
        n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        X, y = rows_of(KINDS[trial % 4], rng, n, d), labels_of(rng, n)
        problem = RankingProblem.from_labels(X, y, "dcg", margin=margin, scales=np.ones(d))
        best = enumerate_lists(problem, X, y)
        search, found = search_through(problem, best)
        below = enumerate_lists(
            RankingProblem.from_labels(X, y, "dcg", margin=margin * (1 + 1e-7), scales=np.ones(d)), X, y
        )
        assert found >= below - 1e-11
        assert max(search.bound, search.unresolved) >= best - 1e-9
        if search.unresolved == -math.inf:
            assert found == pytest.approx(best, abs=1e-11)


def medium(d=5, n=40, seed=0, statistic="dcg"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0.3).astype(int)
    return RankingProblem.from_labels(X, y, statistic)


def solved(search):
    while not search.done:
        search.advance(0.05)
    return search


@pytest.mark.parametrize("statistic", ["dcg", "dcg@5", "auc"])
def test_agrees_with_the_sweep(statistic):
    problem = medium(4, 40, 1, statistic)
    both = [
        solved(method(problem.arrays(), target=problem.floor + 1e-9)) for method in (CellSearch, SweepSearch)
    ]
    values = [max(value_of(problem, w) for w in search.candidates) for search in both]
    assert values[0] == pytest.approx(values[1], abs=1e-11)


def test_threads_agree_and_a_good_start_saves_work():
    problem = medium(seed=1)
    alone = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9))
    best = max(value_of(problem, w) for w in alone.candidates)
    pair = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9, n_jobs=2))
    assert max(value_of(problem, w) for w in pair.candidates) == best
    proof = solved(CellSearch(problem.arrays(), target=best + 1e-9))
    assert proof.candidates == []
    assert proof.bound == pytest.approx(best + 1e-9)
    assert proof.nodes < alone.nodes


def test_stopped_and_resumed():
    problem = medium()
    whole = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9))
    best = max(value_of(problem, w) for w in whole.candidates)
    search, found = CellSearch(problem.arrays(), target=problem.floor + 1e-9), []
    for _ in range(10_000):
        search.advance(0.01)
        found += search.candidates
        if search.done:
            break
        search = CellSearch.resume(problem.arrays(), search.checkpoint())
    assert search.done
    assert max(value_of(problem, w) for w in found) == pytest.approx(best, abs=1e-11)
    assert search.bound == pytest.approx(best, abs=1e-8)


def test_nothing_to_win_is_done_at_once():
    same = RankingProblem.from_labels(np.ones((6, 2)), [0, 1, 0, 1, 0, 1], "dcg")
    search = CellSearch(same.arrays())
    assert search.done
    assert search.nodes == 0


@pytest.mark.parametrize("seed", range(20))
def test_convex_weights_lie_below(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.integers(-50, 1000, rng.integers(2, 30)))[::-1].tolist()
    convex = convex_below(values)
    steps = [a - b for a, b in itertools.pairwise(convex)]
    assert all(c <= v for c, v in zip(convex, values, strict=True))
    assert steps == sorted(steps, reverse=True)
    assert min(steps) >= 0
    already = np.cumsum(np.sort(rng.integers(0, 99, 12)))[::-1].tolist()
    assert convex_below(already) == already


def test_without_a_margin_dependence_must_be_exact():
    assert claim([1.0, 0.5], [-1.0, -0.5], 1.0, 0.0)
    assert claim([1.0, 0.5], [-2.0, -1.0], 2.0, 0.0)
    assert not claim([1.0, 0.5], [-1.0, np.nextafter(-0.5, 0.0)], 1.0, 0.0)  # a sliver between the two
    assert not claim([1.0, 0.5], [1.0, -0.5], 1.0, 0.0)


def test_pairs_told_apart_by_rounding_only_are_two_units():
    """1e17 - 1 and 1e17 - 3 round to the same float."""
    X = np.array([[1e17, 1.0], [3.0, 0.0], [1.0, 0.0]])
    units = build_units(RankingProblem.from_labels(X, [1, 0, 0], "auc", scales=[1.0, 1.0]).arrays())
    assert units.size == 2


def test_standardised_whole_numbers_are_decided_or_left_open():
    """Rounding tells apart what was tied: with such slivers the bound holds, and what is open is named."""
    rng = np.random.default_rng(5)
    for _ in range(6):
        X = rng.integers(0, 4, (9, 2)).astype(float)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        y = labels_of(rng, 9)
        problem = RankingProblem.from_labels(X, y, "dcg")
        best = enumerate_lists(problem, X, y)
        search, found = search_through(problem, best)
        assert max(search.bound, search.unresolved) >= best - 1e-12
        if search.unresolved == -math.inf:
            assert found == pytest.approx(best, abs=1e-11)


def test_a_proof_with_a_pair_at_the_very_margin_is_replayed():
    """One rule tells search and replay which pairs can be won at all."""
    rng = np.random.default_rng(3)
    for units in (-1000, -10, 0, 3, 10, 12, 20, 1000):
        D = rng.uniform(0.3, 1.0, size=2)
        D[0] = rng.uniform(0.5, 1.0)  # of length one
        margin = float(np.abs(D).sum()) * (1 + units * 2.0**-53)
        X = np.vstack((rng.normal(size=(10, 2)), np.zeros((2, 2)), D))
        y = np.append(rng.permutation(np.arange(11) % 2), [0, 1])
        problem = RankingProblem.from_labels(X, y, "dcg", margin=margin, scales=[1.0, 1.0])
        search = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9, keep_log=True))
        assert replay_cells(problem.arrays(), search.log, max(search.bound, search.unresolved) + 1e-9) == []


def test_equal_differences_are_one_unit():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]])
    problem = RankingProblem.from_labels(X, [0, 1, 1, 0, 1, 0], "dcg", scales=[1.0, 1.0])
    units = build_units(problem.arrays())
    assert units.size == len({(1.0, 2.0), (5.0, 5.0), (-4.0, -3.0)})
    assert len(units.prize[1][0]) == problem.n_pairs


# -- the log -----------------------------------------------------------------------------------


def logged(problem, **options):
    search = solved(CellSearch(problem.arrays(), target=problem.floor + 1e-9, keep_log=True, **options))
    assert search.unresolved == -math.inf
    return search


@pytest.mark.parametrize("statistic", ["dcg", "auc", "precision@2", "reciprocal_rank_sum"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_log_proves_the_bound_anew(statistic, kind):
    rng = np.random.default_rng(20 + KINDS.index(kind))
    X, y = rows_of(kind, rng, 12, 3), labels_of(rng, 12)
    problem = RankingProblem.from_labels(X, y, statistic, qid=np.arange(12) % 2 if kind == "whole" else None)
    search = logged(problem)
    best = max([problem.floor, *(value_of(problem, w) for w in search.candidates)])
    assert replay_cells(problem.arrays(), search.log, search.bound + 1e-9) == []
    assert replay_cells(problem.arrays(), search.log, best - 1e-9) != []


def test_the_log_of_weighted_pairs_and_of_two_threads_is_replayed():
    rng = np.random.default_rng(21)
    X = rng.normal(size=(9, 3))
    pairs = [(i, k) for i in range(9) for k in range(9) if i != k and rng.random() < 0.5]
    problem = RankingProblem.from_preferences(X, pairs, rng.integers(1, 5, len(pairs)) / 4)
    search = logged(problem, n_jobs=2)
    assert replay_cells(problem.arrays(), search.log, search.bound + 1e-9) == []


def stream_of(log, number=0):
    return np.frombuffer(log[number.to_bytes(8, "little")], dtype="<i8").tolist()


def with_stream(log, numbers, number=0):
    return {**log, number.to_bytes(8, "little"): np.array(numbers, dtype="<i8").tobytes()}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_log_of_a_search_that_takes_nodes_up_again_is_replayed(seed, n_jobs, monkeypatch):
    """A node handed back is begun anew, by any thread, without what was deduced above it."""
    monkeypatch.setattr("toprank.exact.cells.search.SUBTREE_SECONDS", 0.0)
    problem = medium(3, 36, seed, STATISTICS[seed])
    search = logged(problem, n_jobs=n_jobs)
    assert len(search.log) > 4 or search.nodes < 20
    assert replay_cells(problem.arrays(), search.log, search.bound + 1e-9) == []


def test_the_log_of_nodes_the_simplex_method_fails_on_is_replayed(monkeypatch):
    """What a node had to win before the failure holds when it is tried again."""
    whole = CellWorker.run
    failures = []

    def sometimes(self, target, seconds):
        reason = whole(self, target, seconds)
        if reason == layout.PAUSE and self.level >= 0 and len(failures) < 20 and self.open_nodes():
            stack = self._tree[0]
            if stack[self.level, layout.PHASE] == layout.FRESH and self.level > 0:
                failures.append(self.level)
                stack[self.level, layout.PHASE] = layout.WAITING
                return layout.JAMMED
        return reason

    monkeypatch.setattr(CellWorker, "run", sometimes)
    monkeypatch.setattr("toprank.exact.cells.worker.SLICE_SECONDS", 1e-4)
    problem = medium(4, 40, 5)
    search = logged(problem)
    assert failures
    assert replay_cells(problem.arrays(), search.log, search.bound + 1e-9) == []


def records_of(stream):
    """(code, place, numbers) of each record."""
    at = 0
    while at < len(stream):
        many = stream[at] in (layout.LOG_LOST, layout.LOG_RESET, layout.LOG_PACK, layout.LOG_FROM)
        end = at + 2 + (stream[at + 1] if many else 0)
        yield stream[at], at, stream[at + 2 : end] if many else stream[at + 1 : end]
        at = end


def test_a_node_is_taken_up_again_with_what_was_shown_of_it_and_no_more():
    problem = medium(3, 40, 4)
    search = logged(problem)
    arrays, bound = problem.arrays(), search.bound + 1e-9
    stream, node, won = stream_of(search.log), 0, []
    for code, _, numbers in records_of(stream):
        node = numbers[0] if code == layout.LOG_ENTER else node
        won += [(node, 2 * numbers[0])] if code == layout.LOG_WIN else []
    assert len(won) > 1
    for node, literal in won[:3]:
        again = [layout.LOG_ENTER, node, layout.LOG_FROM]
        for more in ([0], [1, literal]):
            assert replay_cells(arrays, with_stream(search.log, [*stream, *again, *more]), bound) == []
        for more in ([1, literal + 1], [1, next(other for _, other in won if other != literal) + 1]):
            (complaint,) = replay_cells(arrays, with_stream(search.log, [*stream, *again, *more]), bound)
            assert "more than is known" in complaint


def test_units_are_those_of_the_log_and_are_checked():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [2.0, 4.0], [5.0, 1.0], [1.0, 9.0]])
    y = [0, 1, 1, 0, 1, 0, 0]
    for margin in (0.0, 0.25):
        problem = RankingProblem.from_labels(X, y, "dcg", margin=margin, scales=[1.0, 1.0])
        search = logged(problem)
        arrays, bound = problem.arrays(), search.bound + 1e-9
        units = np.frombuffer(search.log[b"units"], dtype="<i8").copy()

        def refusal(changed, log=search.log, arrays=arrays, bound=bound):
            return replay_cells(arrays, {**log, b"units": np.asarray(changed, dtype="<i8").tobytes()}, bound)

        assert refusal(units) == []
        assert "does not list" in refusal(units[:-1])[0]
        assert "does not list" in refusal([])[0]
        assert "left out" in refusal(np.where(units == 0, -1, units - 1))[0]
        assert "numbered" in refusal(units + (units > 0))[0]
        assert "differ" in refusal(np.where(units > 0, units - 1, units))[0]


def test_pairs_of_one_direction_and_other_lengths_are_one_unit_only_without_a_margin():
    """A longer lead reaches a margin that a shorter one does not."""
    row = 1 + np.array([12345, 2**37 + 1]) * 2.0**-40
    X = np.array([0 * row, row, 3 * row])
    for margin, complaint in ((0.0, None), (0.6, "differ")):
        problem = RankingProblem.from_labels(X, [0, 1, 1], "auc", scales=[1.0, 1.0])
        arrays = replace(problem.arrays(), margin=margin)
        joined = {b"units": np.zeros(2, dtype="<i8").tobytes()}
        found = replay_cells(arrays, joined, 1.5)
        assert (complaint is None and found == []) or complaint in found[0]


@pytest.mark.parametrize("entered", [False, True])
def test_a_search_that_ends_because_the_target_rose_leaves_a_whole_log(entered):
    problem = medium(5, 40)
    search = CellSearch(problem.arrays(), target=problem.floor + 1e-9, keep_log=True)
    if entered:
        search.advance(1e-3)
        assert not search.done
    search.advance(0.0, problem.trivial_bound + 1e-6)
    assert search.done
    assert replay_cells(problem.arrays(), search.log, search.bound + 1e-9) == []


def test_a_log_with_anything_missing_or_changed_is_refused():
    problem = medium(3, 40, 4)
    search = logged(problem)
    assert search.nodes > 20
    arrays, bound = problem.arrays(), search.bound + 1e-9
    assert replay_cells(arrays, search.log, bound) == []
    root = (0).to_bytes(8, "little")
    stream = np.frombuffer(search.log[root], dtype="<i8")
    assert replay_cells(arrays, {}, bound) != []
    assert replay_cells(arrays, {**search.log, root: stream[: len(stream) // 2].tobytes()}, bound) != []
    assert replay_cells(arrays, {**search.log, root: search.log[root][:-3]}, bound) != []
    other = RankingProblem.from_labels(-problem.X, problem.labels, "dcg")
    assert replay_cells(other.arrays(), search.log, bound) != []


def test_an_answer_at_the_corner_of_the_box_is_found():
    X = [[-2, -1, 2], [1, 1, -2], [-1, -1, -2], [0, 1, -2], [-1, 1, 0], [0, -1, 1], [-2, 1, -1], [1, -2, 2]]
    X, y = np.array(X, dtype=float), np.array([1, 0, 0, 1, 0, 1, 1, 1])
    problem = RankingProblem.from_labels(X, y, "reciprocal_rank_sum")
    assert_equal_to(problem, enumerate_lists(problem, X, y))


# -- what the simplex method claims is checked ---------------------------------------------------


@njit
def certified(facts, lp, literal, found):
    return certify(facts, lp, literal, found)


def claim(first, second, price, margin):
    """Whether "unit 1 cannot be won where unit 0 is" is accepted with this multiplier."""
    units = np.array([first, second])
    d = units.shape[1]
    size = np.abs(units).sum(axis=1)
    gauge = np.array([[margin] * 2, [margin] * 2, [margin] * 2, size, [margin] * 2])
    vertex = np.zeros((d + 2, d))
    vertex[d + 1, 0] = -price
    ids = np.array([0, *[-1] * (d - 1)])
    lp = np.zeros((d, d)), np.zeros((5, d)), ids, np.arange(d), vertex
    found = np.zeros((2, d + 4), dtype=np.int32)
    book = ledger(np.vstack((units, np.zeros(d))), [0, 1], [2, 2])
    scratch = np.empty((2 * d + 6, d + 1))
    facts = (units, np.ascontiguousarray(units.T), gauge, np.zeros(2), book, scratch)
    return bool(certified(facts, lp, 2, found))


def test_an_infeasible_set_needs_a_proof_beyond_rounding():
    opposite = ([1.0, 0.5], [-1.0, -0.5])
    assert claim(*opposite, 1.0, 1e-6)
    assert not claim(*opposite, 0.5, 1e-6)  # the wrong multiplier
    assert not claim(*opposite, 0.0, 1e-6)  # none at all
    assert not claim([1.0, 0.5], [1.0, -0.5], 1.0, 1e-6)  # both can be won
    assert not claim([1.0, 0.5], [-1.0 + 4e-6, -0.5], 1.0, 1e-6)  # the wider lead is within the box
    assert not claim(*opposite, 1.0, 1e-16)  # true, but within rounding


@pytest.mark.parametrize("seed", range(6))
def test_a_search_in_a_hurry_claims_nothing_false(seed, monkeypatch):
    """Every node is cut short at once, and still every bound holds and the optimum is found."""
    monkeypatch.setattr(CellWorker, "hurry", lambda self, wanted: self._control.__setitem__(layout.HURRY, 1))
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(10, 3)), labels_of(rng, 10)
    problem = RankingProblem.from_labels(X, y, STATISTICS[seed])
    best = float(enumerate_lists(problem, X, y))
    search = CellSearch(problem.arrays(), keep_log=True)
    while not search.done:
        search.advance(0.1)
        assert search.bound >= best - 1e-9
    assert max(value_of(problem, w) for w in search.candidates) == pytest.approx(best)
    # Cut at random, cells can get too thin for floating point: these are left open, and the bound says so.
    assert search.bound == pytest.approx(max(best, search.unresolved))


def test_a_node_that_takes_seconds_is_left_when_told_to_stop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 12))
    problem = RankingProblem.from_labels(X, X[:, 0] + 3 * rng.normal(size=700) > 2, "dcg")
    search = CellSearch(problem.arrays())
    before = search.bound
    search.should_stop = lambda: True
    processor = time.process_time()
    search.advance(0.1)
    assert time.process_time() - processor < 1.0
    assert not search.done
    assert search.bound <= before
