"""Which method proves what, which one takes turns with it, and what is advised where none gets through."""

import numpy as np
import pytest

from toprank.control import Run, Status
from toprank.exact import RankingProblem
from toprank.exact.search.choice import TRY_A_MARGIN, advice, choose, companion
from toprank.exact.search.driver import search


def test_only_hard_problems_have_a_companion():
    rng = np.random.default_rng(0)

    def methods(n, d, positives, *, coarse=0, margin=0.0):
        X = rng.normal(size=(n, d))
        X[:, :coarse] = np.sign(X[:, :coarse])
        problem = RankingProblem.from_labels(X, np.arange(n) < positives, margin=margin)
        return choose("auto", problem.arrays()), companion("auto", problem.arrays())

    assert methods(50, 3, 20) == ("boxes", None)
    assert methods(50, 8, 20) == methods(50, 10, 20) == ("slices", None)
    assert methods(250, 6, 100) == ("slices", None)
    assert methods(250, 12, 100) == ("cells", None)
    assert methods(100, 7, 50) == methods(100, 8, 50) == ("slices", ("cells", 0.1))
    assert methods(250, 8, 12) == methods(250, 8, 12, coarse=8) == ("slices", ("cells", 0.1))
    assert methods(100, 7, 50, coarse=7) == methods(30, 5, 10, coarse=5) == ("cells", ("slices", 0.5))
    assert methods(100, 7, 50, coarse=7, margin=1e-4) == ("cells", ("slices", 0.5))
    assert methods(30, 11, 10, coarse=11) == ("cells", None)
    # With a margin slices go first where half of the features or more take many values.
    assert methods(100, 7, 50, coarse=4, margin=1e-4) == ("cells", ("slices", 0.5))
    assert methods(100, 7, 50, coarse=3, margin=1e-4) == ("slices", ("cells", 0.1))
    assert methods(100, 7, 50, coarse=3) == ("cells", ("slices", 0.5))
    assert methods(50, 8, 20, margin=1e-4) == ("slices", None)
    # Longer lists than slices can count.
    assert methods(300, 7, 20) == ("boxes", ("cells", 0.5))
    assert methods(300, 8, 30) == ("cells", ("boxes", 0.5))


def test_mostly_zeros_go_to_the_cells():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(40, 3)), np.arange(40) % 2
    zeros = np.where(X < 0.6, 0.0, X)
    names = [choose("auto", RankingProblem.from_labels(Z, y).arrays()) for Z in (X, zeros, zeros[:, :2])]
    assert names == ["boxes", "cells", "boxes"]
    wider = rng.uniform(size=(40, 6))
    some, most = (np.where(wider < share, 0.0, wider) for share in (0.15, 0.6))
    names = [choose("auto", RankingProblem.from_labels(Z, y).arrays()) for Z in (some, most)]
    assert names == ["slices", "cells"]
    with Run(rng=0) as run:
        assert search(RankingProblem.from_labels(zeros, y), run).proved


def test_a_margin_is_advised_where_it_would_help():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 2
    flags = np.column_stack([X[:, :4], X[:, 4:] > 0])
    assert advice(RankingProblem.from_labels(X, y)) == []
    assert advice(RankingProblem.from_labels(flags, y)) == [TRY_A_MARGIN]
    assert advice(RankingProblem.from_labels(flags, y, margin=1e-4)) == []


@pytest.mark.parametrize("limit", [None, 1e-9])
def test_advice_is_given_to_those_whose_time_was_up(limit, monkeypatch):
    monkeypatch.setattr("toprank.exact.search.driver.advice", lambda problem: ["have patience"])
    X, y = np.random.default_rng(1).normal(size=(20, 4)), np.arange(20) % 2
    with Run(rng=0, time_limit=limit) as run:
        found = search(RankingProblem.from_labels(X, y), run)
    assert (found.status is Status.TIME_LIMIT) == ("have patience" in found.notes) == (limit is not None)
