import numpy as np
import pytest

from toprank.losses.cross_entropy import CrossEntropy


def pair_by_pair(y, scores, unit, qid, weight):
    """-p log q - (1 - p) log(1 - q) over all pairs of each list."""
    means = []
    for one in np.unique(qid):
        rows = np.flatnonzero(qid == one)
        total = mass = 0.0
        for place, i in enumerate(rows):
            for j in rows[place + 1 :]:
                p = 1 / (1 + np.exp(-(y[i] - y[j]) / unit))
                q = 1 / (1 + np.exp(-(scores[i] - scores[j])))
                total += weight[i] * weight[j] * (-p * np.log(q) - (1 - p) * np.log(1 - q))
                mass += weight[i] * weight[j]
        means.append(total / mass)
    return np.mean(means)


@pytest.mark.parametrize("labels", ["two", "grades", "response"])
def test_it_is_the_cross_entropy_of_all_pairs(labels):
    rng = np.random.default_rng(0)
    n = 24
    y = {"two": rng.integers(0, 2, n), "grades": rng.integers(0, 4, n), "response": rng.normal(size=n)}[
        labels
    ]
    y, qid, weight = y.astype(float), rng.integers(0, 3, n), rng.uniform(0.5, 2, n)
    scores, along = rng.normal(size=n), rng.normal(size=n)
    loss = CrossEntropy.from_labels(y, unit=0.7, qid=qid, sample_weight=weight)
    point = loss.at(scores)
    assert point.value == pytest.approx(pair_by_pair(y, scores, 0.7, qid, weight), abs=1e-9)
    step = 1e-5
    ahead, behind = (pair_by_pair(y, scores + side * along, 0.7, qid, weight) for side in (step, -step))
    assert point.gradient @ along == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)
    assert np.allclose(loss.at(y / 0.7).gradient, 0)  # targets that are met leave nothing to do
