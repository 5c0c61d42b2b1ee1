"""Views of a problem for the climb: values, and the best point of a line, against trying every step."""

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact.climb import arena
from toprank.exact.climb.arena import best_on_line, view_of


def problem_of(kind, rng, n=20, d=3):
    X, y = rng.normal(size=(n, d)), rng.permutation(np.arange(n) % 3 == 0).astype(int)
    if kind == "pairs":
        return RankingProblem.multipartite(X, rng.integers(0, 3, n))
    if kind == "queries":
        return RankingProblem.from_labels(X, y, "dcg", qid=np.arange(n) % 2)
    return RankingProblem.from_labels(X, y, "precision@2" if kind == "head" else "dcg")


KINDS = ["list", "head", "queries", "pairs"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_view_counts_as_the_problem_does(kind, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(kind, rng)
    view = view_of(problem)
    for coef in rng.normal(size=(10, 3)):
        scores = problem.centred @ coef
        assert view.value(scores, 1e-12) == pytest.approx(problem.evaluate(problem.unscale(coef)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_best_point_of_a_line_is_as_good_as_any_between_two_crossings(kind, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(kind, rng)
    view, rows = view_of(problem), problem.centred
    origin, direction = rng.normal(size=(2, 3))
    t = best_on_line(view.pick(None, rng), rows, origin, direction, 1e-12, 2.0)
    assert -2.0 <= t <= 2.0
    lead, slope = (np.subtract.outer(rows @ w, rows @ w) for w in (origin, direction))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = -lead / slope
    inside = np.unique(np.concatenate(([-2.0, 2.0], crossings[np.abs(crossings) < 2.0])))
    best = max(view.value(rows @ (origin + s * direction), 1e-12) for s in (inside[1:] + inside[:-1]) / 2)
    found = view.value(rows @ (origin + t * direction), 1e-12)
    assert found >= best - 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_pairs_are_looked_at_near_the_top(kind, monkeypatch):
    monkeypatch.setattr(arena, "MOST_PAIRS", 10)
    monkeypatch.setattr(arena, "FOCUS_PAIRS", 8)
    rng = np.random.default_rng(0)
    problem = problem_of(kind, rng)
    view = view_of(problem)
    assert not view.whole
    scores = problem.centred @ np.ones(3)
    picked = view.pick(scores, rng)
    assert len(picked.up) <= len(view.pick(None, rng).up)
    if kind != "pairs":
        upper, lower = (
            set(np.concatenate(side).tolist()) for side in list(zip(*problem.queries, strict=True))[:2]
        )
        assert set(picked.rows[picked.up].tolist()) <= upper
        assert set(picked.rows[picked.low].tolist()) <= lower
