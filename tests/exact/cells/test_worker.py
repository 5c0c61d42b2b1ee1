"""One thread of the search over cells."""

import math

import numpy as np
import pytest

from cell_problems import STATISTICS, enumerate_lists, labels_of, medium, value_of
from toprank.exact import RankingProblem
from toprank.exact.cells import _layout as layout
from toprank.exact.cells.search import CellSearch
from toprank.exact.cells.units import build_units
from toprank.exact.cells.worker import CellWorker, Node


@pytest.mark.parametrize("seed", range(6))
def test_a_search_in_a_hurry_claims_nothing_false(seed, monkeypatch):
    """Every node is cut short at once, and still every bound holds and the optimum is found."""
    monkeypatch.setattr(
        CellWorker, "hurry", lambda self, wanted: self._walk.control.__setitem__(layout.HURRY, 1)
    )
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


def holds(units, node, w):
    """Whether a direction wins and loses what the node's literals say."""
    leads = units.rows[node.literals >> 1] @ w
    return bool(np.where(node.literals & 1, leads <= 0, leads > 0).all())


@pytest.mark.parametrize("slices", [1, 10, 50])
def test_every_direction_worth_the_target_is_in_just_one_open_node(slices):
    problem = medium(3, 60, 2)
    units = build_units(problem.arrays())
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, size=(300, 3))
    values = np.array([value_of(problem, units.basis @ w) for w in points])
    target = units.scale.up(float(np.quantile(values, 0.95)))
    worker = CellWorker(units, 0, keep_log=False)
    worker.load(Node(units.ceiling, 0, np.empty(0, dtype=np.int64)))
    for _ in range(slices):
        # No time at all: the walk pauses after its next node, on fast machines and slow ones alike.
        reason = worker.run(target, 0.0)
        worker.candidate()
        assert reason == layout.PAUSE
    assert worker.busy
    bound = worker.bound
    key, opened, log = worker.give_back()
    assert (key, log) == ((0).to_bytes(8, "little"), b"")
    assert not worker.busy
    assert bound == max(node.bound for node in opened)
    for w, value in zip(points, values, strict=True):
        inside = [node for node in opened if holds(units, node, w)]
        assert len(inside) <= 1
        if units.scale.up(value) > target:
            assert len(inside) == 1
            assert inside[0].bound >= units.scale.up(value) - len(problem.X)


def test_numbers_of_nodes_differ_between_workers():
    problem = medium(3, 40, 1)
    units = build_units(problem.arrays())
    numbers = []
    for rank in range(2):
        worker = CellWorker(units, rank, keep_log=False)
        worker.load(Node(units.ceiling, 0, np.empty(0, dtype=np.int64)))
        worker.run(units.floor + 1, 1.0)
        numbers += [node.number for node in worker.give_back()[1] if node.number]
    assert len(set(numbers)) == len(numbers)
    assert math.log2(max(numbers)) >= 40
