"""Learning from pairs beside enumeration, a general-purpose solver, and fits on labels."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

from toprank import DirectRanker, ExactRanker, RankBoost, RankSVM
from toprank.exact import verify
from toprank.preferences import kendall_pairs


def best_in_the_plane(X, pairs, weight):
    """The most that any direction of the plane wins: signs between the directions where some pair ties."""
    apart = X[pairs[:, 0]] - X[pairs[:, 1]]
    ties = np.arctan2(apart[:, 0], -apart[:, 1])
    angles = np.sort(np.concatenate([ties, ties + np.pi]) % (2 * np.pi))
    middles = (angles + np.append(angles[1:], angles[0] + 2 * np.pi)) / 2
    directions = np.column_stack([np.cos(middles), np.sin(middles)])
    return max(float(weight[apart @ direction > 0].sum()) for direction in directions)


@pytest.mark.parametrize("seed", range(4))
def test_exact_and_direct_win_as_much_as_any_direction(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    pairs = np.array([pair for pair in itertools.permutations(range(12), 2) if rng.random() < 0.25])
    weight = rng.integers(1, 5, len(pairs)) / 4
    best = best_in_the_plane(X, pairs, weight)
    exact = ExactRanker(random_state=0, keep_proof=True).fit_pairs(X, pairs, weight)
    assert exact.certificate_.proved
    assert exact.outcome_.value == pytest.approx(best)
    assert exact.score_pairs(X, pairs, weight) == pytest.approx(best / weight.sum())
    assert verify(exact.problem_of_pairs(X, pairs, weight), exact.certificate_).complete
    direct = DirectRanker(random_state=0).fit_pairs(X, pairs, weight)
    assert direct.outcome_.value == pytest.approx(best)


def test_a_circle_of_three_wins_two():
    X, circle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [(0, 1), (1, 2), (2, 0)]
    ranker = ExactRanker(random_state=0).fit_pairs(X, circle)
    assert (ranker.outcome_.value, ranker.certificate_.proved) == (2.0, True)


def by_clarabel(X, pairs, weight, C, loss):
    w = cp.Variable(X.shape[1])
    hinge = cp.pos(1 - (X[pairs[:, 0]] - X[pairs[:, 1]]) @ w)
    mean = (weight / weight.sum()) @ (hinge if loss == "hinge" else cp.square(hinge))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * mean))
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_rank_svm_on_pairs_is_the_optimum_a_general_solver_finds(loss, C):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    pairs = np.array([pair for pair in rng.integers(0, 40, (300, 2)).tolist() if pair[0] != pair[1]])
    weight = rng.integers(1, 4, len(pairs)).astype(float)
    ranker = RankSVM(C, loss=loss, tol=1e-8).fit_pairs(X, pairs, weight)
    assert ranker.outcome_.value == pytest.approx(by_clarabel(X, pairs, weight, C, loss), rel=1e-5)
    assert ranker.outcome_.gap <= 1e-8


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_pairs_of_labels_are_the_labels(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + rng.normal(size=60) > 0.5).astype(int)
    pairs = kendall_pairs(y)
    for ranker in (RankSVM(5.0, loss=loss, tol=1e-9), RankBoost(n_estimators=30)):
        labels = ranker.fit(X, y).outcome_.value
        assert ranker.fit_pairs(X, pairs).outcome_.value == pytest.approx(labels, rel=1e-6)
    auc = ExactRanker("auc", random_state=0).fit(X[:, :2], y).outcome_.value
    won = ExactRanker(random_state=0).fit_pairs(X[:, :2], pairs).outcome_.value
    assert won / len(pairs) == pytest.approx(auc)


def test_boosting_follows_the_original_algorithm_for_one_round():
    """Freund et al. (2003): one binary weak ranker on a uniform distribution, alpha = 1/2 ln((1+r)/(1-r))."""
    X = np.array([[1.0], [1.0], [0.0], [0.0]])
    pairs = np.array([(0, 2), (0, 3), (1, 2), (3, 1)])
    r = (3 - 1) / 4
    ranker = RankBoost(n_estimators=1).fit_pairs(X, pairs)
    assert ranker.coef_[0] == pytest.approx(0.5 * np.log((1 + r) / (1 - r)))


def test_labels_after_pairs_and_pairs_after_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] > 0, "high", "low")
    ranker = RankSVM(pos_label="high").fit(X, y)
    before = ranker.decision_function(X)
    ranker.fit_pairs(X, [(0, 1), (2, 1)])
    assert set(ranker.predict(X)) <= {0, 1}
    assert np.array_equal(ranker.fit(X, y).decision_function(X), before)
    assert set(ranker.predict(X)) <= {"high", "low"}
