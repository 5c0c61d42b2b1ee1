"""The search on a graphics card, its kernel run on the CPU: against the slices, replayed, never too low."""

import numpy as np
import pytest

from exact.gpu.emulation import EmulatedCard, library, needs_compiler
from toprank import ExactRanker
from toprank.exact import RankingProblem
from toprank.exact.gpu import device
from toprank.exact.gpu.search import GpuSearch, why_not
from toprank.exact.search.choice import device_for
from toprank.exact.search.methods import resume_method
from toprank.exact.slices.replay import replay
from toprank.exact.slices.search import SliceSearch

pytestmark = needs_compiler
KINDS = ["normal", "integers", "duplicates", "outlier"]


def problem_of(kind, size, statistic="dcg", seed=0, n=18):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, size)).astype(float) if kind == "integers" else rng.normal(size=(n, size))
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "outlier":
        X[3, 0] = 1e9
    y = np.arange(n) % 3 == 0
    return RankingProblem.from_labels(X, y, statistic)


def through(search, seconds=0.3, most=400):
    for _ in range(most):
        if search.done:
            return search
        search.advance(seconds)
    raise AssertionError("the search does not come to an end")


def best_of(problem, search):
    return max(problem.evaluate(problem.unscale(w)) for w in search.candidates)


@pytest.mark.parametrize("size", [2, 5])
def test_the_kernel_and_python_agree_on_what_lies_where(size):
    told = [library(size).sizes(which) for which in range(4)]
    numbers = len(device.NUMBERS) + len(device.REALS) + len(device.ADDRESSES)
    assert told[:3] == [8 * numbers, device.box_type(size).itemsize, device.pending_bytes(size)]
    assert device.shared_bytes(size, 0, 0) == (told[3] + 15) // 16 * 16 + 32


@pytest.mark.parametrize("statistic", ["dcg", "average_precision"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_the_slices_and_the_log_is_replayed(kind, statistic):
    problem = problem_of(kind, 3, statistic)
    arrays = problem.arrays()
    found = through(GpuSearch(arrays, device=EmulatedCard(3), keep_log=True))
    known = through(SliceSearch(arrays))
    assert best_of(problem, found) == pytest.approx(best_of(problem, known), abs=1e-12)
    assert found.bound == pytest.approx(known.bound, abs=1e-9)
    assert found.unresolved == known.unresolved
    assert replay(arrays, found.log, found.bound + 1e-9) == []
    assert replay(arrays, found.log, found.bound - 1e-3) != []


@pytest.mark.parametrize("seed", range(3))
def test_a_target_just_below_the_optimum_is_never_excluded(seed):
    """Without looking for points on the way: only what excludes too much could end this search."""
    problem = problem_of("normal" if seed else "integers", 3, seed=seed)
    arrays = problem.arrays()
    best = best_of(problem, through(SliceSearch(arrays)))
    search = GpuSearch(arrays, device=EmulatedCard(3), target=best - 1e-6)
    search._doubtful = 10**6
    for _ in range(3):
        search.advance(0.2)
    assert search.candidates or search.bound >= best - 1e-9


def test_a_better_answer_of_others_is_heard_of_before_the_next_launch():
    problem = problem_of("normal", 4, n=24)
    arrays = problem.arrays()
    best = best_of(problem, through(SliceSearch(arrays)))
    search, card = GpuSearch(arrays, device=EmulatedCard(4)), []
    search.latest = lambda: card.append(search._pool.counters.sum()) or best + 1e-9
    through(search)
    assert card[0] == 0  # nothing was searched for less
    assert not search.candidates
    assert search.bound == pytest.approx(best, abs=1e-8)


def test_of_the_points_of_a_launch_those_behind_a_good_one_are_left(monkeypatch):
    search = GpuSearch(problem_of("normal", 3).arrays(), device=EmulatedCard(3))
    seen = []
    monkeypatch.setattr(search, "_consider", lambda point: seen.append(point) or search._raise_target(point))
    search._look_at([100.0, 50.0])
    assert (seen, search._doubtful) == ([100.0], 0)
    search._look_at([50.0, 25.0])
    assert (seen[1:], search._doubtful) == ([50.0, 25.0], 1)
    search._look_at([])
    assert search._doubtful == 1


def test_there_are_no_more_threads_than_boxes_left_for_them_want(monkeypatch):
    monkeypatch.setattr("toprank.exact.gpu.search.THREADS_A_BOX", 1)
    search = GpuSearch(problem_of("normal", 4).arrays(), device=EmulatedCard(4), n_jobs=16)
    assert len(search._heap) == 8
    assert len(search._make_workers()) == 8
    search._heap = search._heap[:1]
    assert len(search._make_workers()) == 1
    assert search._n_jobs == 16


def test_buffers_are_used_again():
    problem, card = problem_of("normal", 4, n=30), EmulatedCard(4)
    search = through(GpuSearch(problem.arrays(), device=card), seconds=0.005)
    pool = search._pool
    assert pool._another(0) is pool._spare
    assert pool._spare is not pool._boxes
    larger = pool._another(pool._spare_room + 1)
    assert len(larger) == pool._spare_room * pool._type.itemsize


def test_boxes_are_dealt_out_anew_when_warps_have_nothing_to_do(monkeypatch):
    monkeypatch.setattr("toprank.exact.gpu.search.HUNGRY_FROM", -1.0)
    problem, card = problem_of("normal", 4), EmulatedCard(4, warps=2)
    found = through(GpuSearch(problem.arrays(), device=card), seconds=0.5)
    assert card.launches > 10
    assert best_of(problem, found) == pytest.approx(best_of(problem, through(SliceSearch(problem.arrays()))))


def test_a_checkpoint_is_taken_up_on_the_cpu():
    problem = problem_of("normal", 4, n=24)
    arrays = problem.arrays()
    search = GpuSearch(arrays, device=EmulatedCard(4))
    search.advance(1e-3)
    saved = search.checkpoint()
    assert not search.done
    assert len(saved["boxes"]) > 0
    again = through(resume_method("slices", arrays, saved, 1))
    known = through(SliceSearch(arrays))
    best = max(best_of(problem, one) for one in (search, again) if one.candidates)
    assert best == pytest.approx(best_of(problem, known))
    assert again.bound == pytest.approx(known.bound, abs=1e-9)


def test_a_fit_on_the_card_has_the_usual_certificate(monkeypatch):
    monkeypatch.setattr("toprank.exact.gpu.device.why_no_card", lambda: None)
    monkeypatch.setattr("toprank.exact.gpu.search.Card", EmulatedCard)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3 == 0
    on_card = ExactRanker("dcg", device="gpu", random_state=0, keep_proof=True).fit(X, y).certificate_
    on_cpu = ExactRanker("dcg", device="cpu", random_state=0).fit(X, y).certificate_
    assert on_card.status == on_cpu.status == "optimal"
    assert on_card.method == "slices"
    assert on_card.value == on_cpu.value


# -- where there is none, or it is of no use ---------------------------------------------------------------


def test_without_a_card_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr("toprank.exact.gpu.device.find_spec", lambda name: None)
    device.why_no_card.cache_clear()
    X, y = np.random.default_rng(0).normal(size=(12, 5)), np.arange(12) % 3 == 0
    try:
        with pytest.raises(ValueError, match=r"pip install toprank\[gpu\]"):
            ExactRanker(device="gpu").fit(X, y)
        assert device_for("auto", "auto", RankingProblem.from_labels(X, y)) == "cpu"
    finally:
        device.why_no_card.cache_clear()


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"device": "tpu"}, "must be one of auto, cpu, gpu"),
        ({"device": "gpu", "method": "cells"}, "runs on the CPU"),
    ],
)
def test_what_cannot_be_is_named(wrong, words):
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 3 == 0
    with pytest.raises(ValueError, match=words):
        ExactRanker(**wrong).fit(X, y)


def test_problems_that_are_not_for_a_card(monkeypatch):
    monkeypatch.setattr("toprank.exact.gpu.device.why_no_card", lambda: None)
    X, y = np.random.default_rng(0).normal(size=(24, 5)), np.arange(24) % 3 == 0
    queries = RankingProblem.from_labels(X, y, qid=np.arange(24) % 2)
    assert why_not(queries.arrays()) == "there are several queries"
    assert device_for("auto", "auto", queries) == "cpu"
    coarse = RankingProblem.from_labels(np.sign(X), y)
    assert device_for("auto", "auto", coarse) == "cpu"
    assert device_for("gpu", "auto", coarse) == "gpu"
    with_margin = RankingProblem.from_labels(np.sign(X), y, margin=1e-4)
    assert device_for("auto", "auto", with_margin) == "gpu"
    smooth = RankingProblem.from_labels(X, y)
    assert device_for("auto", "auto", smooth) == "gpu"
    assert device_for("auto", "boxes", smooth) == "cpu"


def test_the_clock_is_served_while_the_kernels_of_the_threads_are_compiled(monkeypatch):
    monkeypatch.setattr("toprank.exact.gpu.search.SMALLEST_STRICT_BOX", 0.3)  # most boxes are left to the CPU
    problem, waits = problem_of("normal", 3), []
    search = GpuSearch(problem.arrays(), device=EmulatedCard(3))
    search.threads_ready = lambda seconds: waits.append(seconds) or len(waits) > 2
    found, known = through(search), through(SliceSearch(problem.arrays()))
    assert best_of(problem, found) == pytest.approx(best_of(problem, known), abs=1e-12)
    assert len(waits) >= 3
    assert all(0 <= seconds <= 0.3 for seconds in waits)
