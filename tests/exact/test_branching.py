"""Open nodes, best first, and threads that search subtrees: a search over whole numbers as an example."""

import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.branching import BranchAndBound
from toprank.exact.rounding import Scale


class Interval(NamedTuple):
    bound: int
    first: int
    last: int


class Halving:
    """Looks at one interval at a time: one number is a leaf, longer ones are halved."""

    def __init__(self, values, delay):
        self.values, self.delay = values, delay
        self.open, self.nodes, self.told = [], 0, []
        self.key = None

    @property
    def busy(self):
        return bool(self.open)

    @property
    def bound(self):
        return max((node.bound for node in self.open), default=-(10**9))

    def load(self, node):
        self.open, self.key = [node], str(node[1:]).encode()

    def hurry(self, wanted):
        self.told.append(wanted)

    def run(self, target):
        time.sleep(self.delay)
        node = self.open.pop()
        self.nodes += 1
        if node.bound < target:
            return None
        if node.first == node.last:
            return node.first
        middle = (node.first + node.last) // 2
        for first, last in ((node.first, middle), (middle + 1, node.last)):
            # A bound that is loose for long intervals.
            bound = max(self.values[first : last + 1]) + (last - first)
            self.open.append(Interval(min(bound, node.bound), first, last))
        return None

    def give_back(self):
        key, opened = self.key, self.open
        self.key, self.open = None, []
        return key, opened, b"done"


class Numbers(BranchAndBound):
    """The largest of some values."""

    name = "numbers"

    def __init__(self, values, *, n_jobs=1, delay=0.0, give_up=10**9, fails=False, keep_log=False):
        arrays = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc").arrays()
        super().__init__(arrays, Scale(0), step=1.0, n_jobs=n_jobs, log={} if keep_log else None)
        self.values, self.delay, self.give_up, self.fails = values, delay, give_up, fails
        self.found, self.ran, self.dropped = [], set(), []
        self._push(Interval(max(values) + len(values), 0, len(values) - 1))
        self._settle()

    def _make_workers(self):
        return [Halving(self.values, self.delay) for _ in range(self._n_jobs)]

    def _run(self, worker, seconds):
        assert seconds > 0
        self.ran.add(id(worker))
        return worker.run(self._target)

    def _after(self, worker, result):
        if result is not None:
            if self.fails:
                raise ArithmeticError("a leaf that fails")
            self.found.append(result)
            self._raise_target(Fraction(self.values[result]) + 1)
        return not worker.busy or worker.nodes % 7 == 0 or self._idle > 0

    def plan(self):
        return {}

    def pack(self, nodes):
        return {"nodes": nodes}

    def unpack(self, packed):
        return packed["nodes"]

    def _hopeless(self):
        return len(self.found) >= self.give_up

    def _drop(self, node):
        self.dropped.append(node)


VALUES = np.random.default_rng(0).integers(0, 500, 300).tolist()


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_best_is_found_and_proved(n_jobs):
    # An advance is worth four nodes of each worker at most, however quick the machine: there are many of
    # them, and the first is no race between starting threads.
    search = Numbers(VALUES, n_jobs=n_jobs, delay=2e-3)
    bounds = [search.bound]
    while not search.done:
        search.advance(8e-3)
        bounds.append(search.bound)
        assert search.bound >= max(VALUES)
    assert max(VALUES[place] for place in search.found) == max(VALUES)
    # The target, every other being worth less; or what was open last, when the target rose after that.
    assert search.bound in {max(VALUES), max(VALUES) + 1}
    assert bounds == sorted(bounds, reverse=True)
    assert len(bounds) > 2
    assert search.unresolved == -np.inf
    assert len(search.ran) == n_jobs
    assert search.nodes < 2 * len(VALUES)


def test_a_target_leaves_out_what_cannot_reach_it():
    search = Numbers(VALUES)
    search.advance(1.0, target=float(max(VALUES) + 1))
    assert search.done
    assert search.found == []
    high = Numbers(VALUES)
    high.advance(0.0, target=float(max(VALUES) + len(VALUES) + 1))
    assert high.done
    assert high.nodes == 0
    assert len(high.dropped) == 1


def test_what_is_given_up_stays_in_the_bound():
    search = Numbers(VALUES[::-1], give_up=1)
    while not search.done:
        search.advance(0.05)
    assert search.unresolved >= max(VALUES)
    assert search.bound >= max(VALUES)


def test_an_error_in_a_thread_comes_out():
    search = Numbers(VALUES, n_jobs=2, fails=True)
    with pytest.raises(ArithmeticError, match="a leaf that fails"):
        search.advance(10.0)


def test_a_stop_asked_for_reaches_every_worker():
    search = Numbers(VALUES, n_jobs=2, delay=0.02)
    search.should_stop = lambda: True
    search.advance(0.3)
    assert not search.done
    assert all(True in worker.told for worker in search._workers)
    search.should_stop = lambda: False
    search.advance(0.05)
    assert all(worker.told[-1] is False for worker in search._workers)


def test_every_subtree_is_in_the_log():
    search = Numbers(VALUES, keep_log=True)
    while not search.done:
        search.advance(0.05)
    assert str((0, len(VALUES) - 1)).encode() in search.log
    assert set(search.log.values()) == {b"done"}
