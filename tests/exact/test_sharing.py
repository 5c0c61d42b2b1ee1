"""Open nodes dealt out to others: the same answer, bound and proof, whoever is lost on the way."""

import shutil
import time
from dataclasses import replace

import numpy as np
import pytest

from crews import HereCrew
from toprank.control import Run, Status
from toprank.exact import RankingProblem, sharing
from toprank.exact.boxes.search import BoxSearch
from toprank.exact.cells.search import CellSearch
from toprank.exact.search import errands
from toprank.exact.search.driver import search
from toprank.exact.search.methods import METHODS, compile_kernels
from toprank.exact.slices.search import SliceSearch
from toprank.exact.verification import verify

SHARED = sorted(set(METHODS) - {"angles"})
"""Angles are searched here, in no time."""
SEARCHES = {"boxes": BoxSearch, "cells": CellSearch, "slices": SliceSearch}


def problem_of(n=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 2.0 * rng.normal(size=n) > 0.8
    return RankingProblem.from_labels(X, y, "dcg")


@pytest.fixture(scope="module")
def alone():
    """Problem and answers of one thread, by method."""
    problem, found = problem_of(), {}
    for method in SHARED:
        compile_kernels(method)
        with Run(rng=0) as run:
            found[method] = search(problem, run, n_jobs=1, method=method)
    return problem, found


@pytest.fixture(autouse=True)
def _short_errands(monkeypatch):
    """However fast the machine, a search takes many errands."""
    monkeypatch.setattr(sharing, "SHORTEST_ERRAND", 1e-3)
    monkeypatch.setattr(sharing, "LONGEST_ERRAND", 1e-3)
    monkeypatch.setattr(sharing, "SECONDS_PER_HAND", 0.0)
    monkeypatch.setattr(errands, "CHUNK_SECONDS", 1e-3)


def searched(problem, method, *, crews=None, checkpoint=None, keep_proof=False, **options):
    def recruit(assignment):
        crew = HereCrew(assignment, **options)
        if crews is not None:
            crews.append(crew)
        return crew

    with Run(rng=0) as run:
        return search(
            problem, run, method=method, recruit=recruit, checkpoint=checkpoint, keep_proof=keep_proof
        )


def the_same(one, other):
    assert (one.value, one.bound, one.status) == (other.value, other.bound, other.status)
    assert one.coef == other.coef
    assert one.method == other.method


@pytest.mark.parametrize("method", SHARED)
def test_others_give_the_same_certificate(alone, method):
    problem, found = alone
    crews = []
    the_same(searched(problem, method, crews=crews), found[method])
    assert len(crews[0].sent) > 3
    assert crews[0].dismissed
    assert [errand.serial for errand in crews[0].sent] == list(range(1, len(crews[0].sent) + 1))


def test_others_are_let_go_where_it_takes_no_time():
    problem, crews = problem_of(d=2), []
    found = searched(problem, "angles", crews=crews)
    assert found.proved
    assert found.method == "angles"
    assert not crews[0].sent
    assert crews[0].dismissed


@pytest.mark.parametrize("method", SHARED)
def test_errands_that_come_to_nothing_are_run_again(alone, method):
    problem, found = alone
    crews = []
    the_same(searched(problem, method, crews=crews, lost={1, 3, 4}), found[method])
    assert crews[0].back > 3


@pytest.mark.parametrize("method", sorted(name for name, entry in METHODS.items() if entry.replay))
def test_the_log_of_others_can_be_replayed(method):
    problem = problem_of(n=20, d=3, seed=1)  # the replay of cells is thorough, and slow
    crews = []
    kept = searched(problem, method, crews=crews, lost={2}, keep_proof=True)
    assert kept.proved
    assert len(crews[0].sent) > 2
    assert verify(problem, kept, seconds=0).complete


def test_a_proof_that_others_made_fails_its_replay_where_it_claims_more(alone):
    problem, _ = alone
    kept = searched(problem, "boxes", keep_proof=True)
    parts = kept.proof["parts"]
    some = dict(list(parts[0]["log"].items())[:-1])
    assert verify(problem, replace(kept, proof={"parts": [{**parts[0], "log": some}]}), seconds=0).failed


@pytest.mark.parametrize("method", SHARED)
def test_all_lost_is_an_error_after_the_best_so_far_was_kept(alone, method, tmp_path):
    problem, found = alone
    file = tmp_path / "proof.checkpoint"
    found_by_then = []

    def fit():
        with Run(rng=0) as run:
            here = lambda assignment: HereCrew(assignment, gone_after=2)  # noqa: E731
            found_by_then.append(search(problem, run, method=method, recruit=here, checkpoint=file))

    with pytest.raises(sharing.CrewLost, match=r"all are gone; the best answer so far was kept.*go on from"):
        fit()
    kept = found_by_then[0]
    assert kept.status is Status.LOST
    assert kept.value <= found[method].value <= kept.bound
    assert "all are gone" in kept.notes
    twin = tmp_path / "twin.checkpoint"
    shutil.copy(file, twin)
    with Run(rng=0) as run:
        here = search(problem, run, n_jobs=1, method=method, checkpoint=file)
    for again in (here, searched(problem, method, checkpoint=twin)):
        assert (again.value, again.bound) == (found[method].value, found[method].bound)
    assert not file.exists()


@pytest.mark.parametrize("method", sorted(SEARCHES))
def test_what_others_have_is_in_bound_and_checkpoint(alone, method):
    problem, _ = alone
    whole = SEARCHES[method](problem.arrays())
    before = len(whole.checkpoint()["bounds"])
    assignment = errands.Assignment("t", problem, np.arange(problem.n_features), method, whole.plan())
    crew = HereCrew(assignment)
    crew.returned = lambda seconds: []
    whole.share(crew)
    bound = whole.bound
    whole.advance(0.01)
    assert crew.sent
    assert not whole.done
    assert whole.bound == bound
    assert len(whole.checkpoint()["bounds"]) == before
    whole.dismiss()
    assert whole.waiting == before


def test_a_higher_target_ends_what_cannot_reach_it(alone):
    problem, _ = alone
    whole = BoxSearch(problem.arrays())
    crew = HereCrew(errands.Assignment("u", problem, np.arange(4), "boxes", whole.plan()))
    crew.returned = lambda seconds: []
    whole.share(crew)
    whole.advance(0.0)
    whole.advance(0.0, target=problem.trivial_bound + 1.0)
    assert whole.done
    assert crew.dismissed


class Pool:
    """Open nodes that are numbers."""

    def __init__(self, nodes):
        self.nodes, self.whole_target, self.got = list(nodes), 5, []
        self.should_stop = lambda: False

    @property
    def waiting(self):
        return len(self.nodes)

    def hand_out(self, number):
        given, self.nodes = self.nodes[:number], self.nodes[number:]
        return given

    def take_back(self, nodes):
        self.nodes += nodes

    def welcome(self, findings):
        self.got.append(findings)

    def pack(self, nodes):
        return {"nodes": nodes}


class Listed:
    """A crew that writes down what it is asked for."""

    def __init__(self, hands):
        self.number, self.sent, self.told, self.back = hands, [], [], []

    def hands(self):
        return self.number

    def send(self, errand):
        self.sent.append(errand)

    def returned(self, seconds):
        back, self.back = self.back, []
        return back

    def tell(self, target, recalled):
        self.told.append((target, recalled))

    def dismiss(self):
        pass


def test_half_of_what_waits_is_kept_for_those_who_are_done_sooner():
    crew, pool = Listed(2), Pool(range(16))
    sharing.Sharing(crew).explore(pool, time.perf_counter())
    assert [errand.nodes["nodes"] for errand in crew.sent] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert crew.told == [(5, 0)]


def test_workers_that_come_later_get_their_share():
    crew, pool = Listed(0), Pool(range(16))
    one = sharing.Sharing(crew)
    one.explore(pool, time.perf_counter())
    assert crew.sent == []
    crew.number = 4
    one.explore(pool, time.perf_counter())
    assert len(crew.sent) == 5


def test_those_who_have_work_are_asked_to_share_it(monkeypatch):
    crew, pool = Listed(4), Pool(range(2))
    now = [100.0]
    monkeypatch.setattr(sharing.time, "perf_counter", lambda: now[0])
    one = sharing.Sharing(crew)
    one.explore(pool, 0.0)
    assert len(crew.sent) == 2
    assert crew.told == [(5, 0)]
    now[0] += 1.0
    one.explore(pool, 0.0)
    assert crew.told == [(5, 0), (5, 2)]


def test_errands_get_longer_with_the_search(monkeypatch):
    monkeypatch.setattr(sharing, "SHORTEST_ERRAND", 0.25)
    monkeypatch.setattr(sharing, "LONGEST_ERRAND", 5.0)
    now = [100.0]
    monkeypatch.setattr(sharing.time, "perf_counter", lambda: now[0])
    crew, pool = Listed(1), Pool(range(100))
    one = sharing.Sharing(crew)
    for seconds in (0.0, 40.0, 1000.0):
        now[0] = 100.0 + seconds
        crew.back = [(errand.serial, None) for errand in crew.sent]
        one.explore(pool, now[0] + 0.0)
        one._away.clear()
        one._deal(pool)
    assert [crew.sent[k].seconds for k in (0, -1)] == [0.25, 5.0]
    assert 2.0 in [errand.seconds for errand in crew.sent]


def test_errands_of_many_hands_are_longer(monkeypatch):
    monkeypatch.setattr(sharing, "SECONDS_PER_HAND", 0.01)
    crew, pool = Listed(512), Pool(range(4))
    sharing.Sharing(crew).explore(pool, 0.0)
    assert {errand.seconds for errand in crew.sent} == {5.12}


def test_news_reach_an_errand_under_way(alone):
    problem, _ = alone
    whole = BoxSearch(problem.arrays())
    assignment = errands.Assignment("news", problem, np.arange(4), "boxes", whole.plan())
    nodes = whole.hand_out(100)
    errand = sharing.Errand(1, whole.pack(nodes), whole.whole_target, 1e9)
    far = 2**62
    errands.hear("news", far, 0, False)
    nothing = errands.run_errand(assignment, errand)  # a target that nothing reaches
    assert nothing.nodes <= 64
    assert len(nothing.opened["bounds"]) == 0
    errands.hear("news", far, 0, True)
    assert "news" not in errands._posts
