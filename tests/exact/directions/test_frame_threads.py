"""Axes are found by one BLAS thread: the matrices are small."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from toprank.exact import RankingProblem
from toprank.exact.directions import frame


def threads():
    return {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_axes_are_found_by_one_thread(monkeypatch):
    seen, found = [], frame.minimize
    monkeypatch.setattr(frame, "minimize", lambda *a, **k: seen.append(threads()) or found(*a, **k))
    X = np.random.default_rng(0).normal(size=(40, 4))
    arrays = RankingProblem.from_labels(X, np.arange(40) % 3 == 0, "dcg").arrays()
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        frame.build_frame(arrays, np.ones(4))
        assert threads() == before
    assert [set(counts.values()) for counts in seen] == [{1}]


def test_axes_of_few_pairs_are_not_shaped(monkeypatch):
    """Their search is over before the axes are found."""
    monkeypatch.setattr(frame, "minimize", None)
    X = np.random.default_rng(0).normal(size=(20, 4))
    arrays = RankingProblem.from_labels(X, np.arange(20) % 3 == 0, "dcg").arrays()
    assert np.linalg.matrix_rank(frame.build_frame(arrays, np.ones(4)).basis) == 4
