"""Two methods in turns: the lower bound, the first proof, and each its share of the time."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.search.driver import search
from toprank.exact.search.tandem import HEAD_START, Tandem
from toprank.exact.verification import verify


class Fake:
    """A method whose bound falls by a step a call, on a clock of its own."""

    def __init__(self, name, bounds, unresolved=-math.inf):
        self.name, self.bounds, self.end = name, list(bounds), unresolved
        self.bound, self.candidates, self.nodes = math.inf, [], 0
        self.log = {name.encode(): b""}
        self.targets, self.should_stop = [], lambda: False

    def advance(self, max_seconds, target):
        Fake.clock += max_seconds
        self.nodes += 1
        self.targets.append(target)
        self.bound = self.bounds.pop(0)
        self.candidates.append(np.full(1, self.bound))

    @property
    def done(self):
        return not self.bounds

    @property
    def unresolved(self):
        return self.end if self.done else -math.inf

    def checkpoint(self):
        return {"of": self.name}


@pytest.fixture(autouse=True)
def own_clock(monkeypatch, request):
    if "fake" in request.node.name:
        Fake.clock = 0.0
        monkeypatch.setattr(
            "toprank.exact.search.tandem.time", SimpleNamespace(perf_counter=lambda: Fake.clock)
        )


@pytest.mark.parametrize("lower", [True, False])
def test_fake_methods_share_the_time_and_the_lower_bound_counts(lower):
    first, second = (
        Fake("boxes", np.linspace(9, 8, 900)),
        Fake("cells", np.linspace(6 if lower else 9.5, 5 if lower else 9, 900)),
    )
    made = []
    tandem = Tandem(first, lambda target: made.append(target) or second)
    bounds = []
    while Fake.clock < 50:
        tandem.advance(0.1, 3.0 + Fake.clock)
        bounds.append(tandem.bound)
        assert tandem.bound <= min(first.bound, second.bound)
        if Fake.clock < HEAD_START - 0.1:
            assert not made
    assert made == [second.targets[0]]
    assert second.nodes / (tandem.nodes - 10 * HEAD_START) == pytest.approx(0.5, abs=0.02)
    assert bounds == sorted(bounds, reverse=True)
    leader = second if lower else first
    assert (tandem.name, tandem.checkpoint(), tandem.log) == (leader.name, {"of": leader.name}, leader.log)
    assert len(tandem.candidates) == tandem.nodes
    assert not tandem.done


def test_fake_methods_the_first_that_is_through_ends_it():
    first, second = Fake("boxes", np.linspace(9, 8, 400)), Fake("cells", [9.0, 8.5])
    tandem = Tandem(first, lambda target: second)
    while not tandem.done:
        tandem.advance(0.1, 0.0)
    assert tandem.name == "cells"
    assert tandem.unresolved == -math.inf
    assert Fake.clock < 12


@pytest.mark.parametrize("rescued", [True, False])
def test_fake_methods_what_rounding_leaves_open_is_left_to_the_other(rescued):
    first = Fake("boxes", [9.0], unresolved=9.0)
    second = Fake("cells", [9.5, 8.0], unresolved=-math.inf if rescued else 8.0)
    tandem = Tandem(first, lambda target: second)
    while not tandem.done:
        tandem.advance(0.1, 0.0)
    assert Fake.clock == pytest.approx(0.3)
    assert tandem.name == "cells"
    assert tandem.unresolved == (-math.inf if rescued else 8.0)


# -- in the driver ------------------------------------------------------------------------------------------


@pytest.fixture
def in_turns(monkeypatch):
    """Both methods on every problem, in short turns from the first moment."""
    monkeypatch.setattr("toprank.exact.search.choice.HARD_FROM", 1)
    monkeypatch.setattr("toprank.exact.search.choice.HARD_PAIRS", (1, 10**6))
    monkeypatch.setattr("toprank.exact.search.tandem.HEAD_START", 0.0)
    monkeypatch.setattr("toprank.exact.search.driver.CHUNK_SECONDS", 1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_equals_enumeration_and_the_proof_is_replayed(in_turns, seed):
    rng = np.random.default_rng(seed)
    n, d = 10, 2 + seed % 3
    X = rng.integers(-2, 3, (n, d)).astype(float) if seed % 2 else rng.normal(size=(n, d))
    y = rng.permutation(np.arange(n) < 4).astype(int)
    problem = RankingProblem.from_labels(X, y, ["dcg", "auc", "reciprocal_rank_sum"][seed % 3])
    differences, positive, negative = oracles.class_pairs(X / problem.scales, y)
    best = oracles.best_value(
        differences,
        problem.margin,
        lambda won: oracles.order_value(won, positive, negative, problem.objective.weights.tolist()),
        0.0,
    )
    with Run(rng=0) as run:
        found = search(problem, run, keep_proof=True)
    assert found.proved
    assert found.value == pytest.approx(best, rel=1e-12)
    assert verify(problem, found, seconds=0).passed


def coarse_problem(rows=50):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 5)).round(1)
    return RankingProblem.from_labels(X, rng.random(rows) < 0.4, "dcg")


def test_both_work_and_agree_with_each_alone(in_turns, monkeypatch):
    problem = coarse_problem()
    monkeypatch.setattr("toprank.exact.search.driver.CHUNK_SECONDS", 0.02)  # enough for the first nodes
    turns = []
    advance = Tandem.advance

    def watched(self, *args):
        advance(self, *args)
        turns.append([method.nodes for method in self._methods])

    monkeypatch.setattr(Tandem, "advance", watched)
    values = {}
    for method in ("auto", "boxes", "cells"):
        with Run(rng=0) as run:
            found = search(problem, run, method=method, n_jobs=2)
        assert found.proved
        values[method] = found.value
    assert len(turns[-1]) == 2
    assert min(turns[-1]) > 0
    assert values["auto"] == values["boxes"] == values["cells"]


def test_stopped_and_resumed_gives_the_same_optimum(in_turns, tmp_path):
    problem = coarse_problem(100)
    with Run(rng=0) as run:
        whole = search(problem, run)
    file, bounds = tmp_path / "state.npz", []
    for rounds in range(500):
        # A slow machine does little between two calls: each round is let go on a little longer.
        calls = itertools.count(-rounds)
        with Run(rng=rounds, callback=lambda _, calls=calls: next(calls) < 6, interval=0.0) as run:
            part = search(problem, run, checkpoint=file)
        bounds.append(part.bound)
        if part.proved:
            break
    assert rounds > 0
    assert part.proved
    assert part.value == pytest.approx(whole.value, rel=1e-12)
    assert bounds == sorted(bounds, reverse=True)


def test_a_fake_second_method_gets_its_share_of_the_time():
    first, second = Fake("slices", np.linspace(9, 8, 900)), Fake("cells", np.linspace(9, 8, 900))
    tandem = Tandem(first, lambda target: second, share=0.1)
    for _ in range(400):
        tandem.advance(1.0, 0.0)
    assert second.nodes == pytest.approx(0.1 * (400 - HEAD_START), abs=2)
