"""The replay of a search over cells: it confirms what holds, on any number of threads, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

import exact_oracles as oracles
from cell_problems import KINDS, STATISTICS, labels_of, logged, medium, rows_of, solved, value_of
from toprank.exact import RankingProblem
from toprank.exact.cells import _layout as layout
from toprank.exact.cells.replay import replay_cells
from toprank.exact.cells.search import CellSearch


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


def records_of(stream):
    """(code, place, numbers) of each record."""
    at = 0
    while at < len(stream):
        many = stream[at] in (layout.LOG_LOST, layout.LOG_RESET, layout.LOG_PACK, layout.LOG_FROM)
        end = at + 2 + (stream[at + 1] if many else 0)
        yield stream[at], at, stream[at + 2 : end] if many else stream[at + 1 : end]
        at = end


def test_a_node_is_taken_up_again_with_what_was_shown_of_it_and_no_more():
    problem = medium(3, 30, 4)
    search = logged(problem)
    arrays, bound = problem.arrays(), search.bound + 1e-9
    stream, node, won = stream_of(search.log), 0, []
    for code, _, numbers in records_of(stream):
        node = numbers[0] if code == layout.LOG_ENTER else node
        won += [(node, 2 * numbers[0])] if code == layout.LOG_WIN else []
    assert len(won) > 1
    for node, literal in won[:2]:
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
    labels, _ = oracles.labels_and_lists(problem.queries, len(problem.X))
    other = RankingProblem.from_labels(problem.X[::-1], labels, "dcg")
    assert replay_cells(other.arrays(), search.log, bound) != []


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
