"""The losses that boosting lowers: gradients by differences, pairs one by one, the highest negatives."""

import numpy as np
import pytest

from toprank.losses.objectives import Labels, make_objective

CASES = [
    ("squared_hinge", None),
    ("logistic", None),
    ("p_norm", None),
    ("top_push", None),
    ("top_push", 0.3),
    ("at_top", None),
    ("squared_hinge", 0.25),
    ("logistic", 0.25),
]


def labels(n=40, queries=1, seed=0):
    rng = np.random.default_rng(seed)
    grade = (rng.random(n) < 0.3).astype(float)
    grade[:2] = 0, 1
    qid = None if queries == 1 else np.arange(n) % queries
    return Labels(grade, qid, rng.uniform(0.5, 2, n)), rng.normal(size=n)


@pytest.mark.parametrize("loss, share", CASES)
def test_gradients_are_differences(loss, share):
    rows, scores = labels(queries=2)
    objective = make_objective(rows, loss, p=3.0, negative_share=share)
    point, step = objective(scores), 1e-6
    for row in range(0, len(scores), 3):
        moved = [objective(scores + sign * step * (np.arange(len(scores)) == row)).value for sign in (1, -1)]
        assert (moved[0] - moved[1]) / (2 * step) == pytest.approx(point.gradient[row], abs=2e-6)
    # A common shift changes nothing.
    assert point.gradient.sum() == pytest.approx(0, abs=1e-9)
    assert (point.curvature >= 0).all()


@pytest.mark.parametrize("loss, share", [one for one in CASES if one[0] not in ("top_push", "at_top")])
def test_curvatures_are_second_differences(loss, share):
    rows, scores = labels()
    objective = make_objective(rows, loss, p=3.0, negative_share=share)
    point, step = objective(scores), 1e-5
    for row in range(0, len(scores), 3):
        unit = step * (np.arange(len(scores)) == row)
        ahead, behind = objective(scores + unit).gradient[row], objective(scores - unit).gradient[row]
        assert (ahead - behind) / (2 * step) == pytest.approx(point.curvature[row], abs=1e-4)


def test_the_curvature_of_the_threshold_is_an_upper_bound():
    rows, scores = labels()
    objective = make_objective(rows, "top_push", negative_share=0.3)
    point, step = objective(scores), 1e-5
    for row in range(len(scores)):
        unit = step * (np.arange(len(scores)) == row)
        second = (objective(scores + unit).gradient[row] - objective(scores - unit).gradient[row]) / (
            2 * step
        )
        assert second <= point.curvature[row] + 1e-4


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_highest_negatives_one_pair_after_the_other(loss):
    """Two lists; of each the 2 highest of 5, the 2 highest of 6 negatives (a third, rounded up)."""
    rng = np.random.default_rng(3)
    grade = np.array([1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0], dtype=float)
    qid = np.repeat([0, 1], [6, 8])
    scores = rng.normal(size=14)
    point = make_objective(Labels(grade, qid), loss, negative_share=1 / 3)(scores)
    means = []
    for query in (0, 1):
        up = scores[(qid == query) & (grade == 1)]
        down = np.sort(scores[(qid == query) & (grade == 0)])[::-1][:2]
        t = down[None, :] - up[:, None]
        cost = np.logaddexp(0, t) if loss == "logistic" else np.maximum(0, 1 + t) ** 2
        means.append(cost.mean())
    assert point.value == pytest.approx(np.mean(means))
    assert np.count_nonzero(point.gradient[grade == 0]) <= 4


@pytest.mark.parametrize("loss", ["top_push", "at_top"])
def test_each_query_has_its_own_threshold_and_counts_the_same(loss):
    """The mean of what each query's rows cost alone; a query of one label has no part in it."""
    rows, scores = labels(n=60, queries=4, seed=5)
    grade = np.where(rows.qid == 3, 0.0, rows.grade)
    together = make_objective(Labels(grade, rows.qid, rows.weight), loss, negative_share=0.3)(scores)
    alone = []
    for query in range(3):
        own = rows.qid == query
        point = make_objective(Labels(grade[own], None, rows.weight[own]), loss, negative_share=0.3)(
            scores[own]
        )
        assert together.gradient[own] == pytest.approx(point.gradient / 3, rel=1e-12)
        alone.append(point.value)
    assert together.value == pytest.approx(np.mean(alone), rel=1e-12)
    assert not together.gradient[rows.qid == 3].any()
