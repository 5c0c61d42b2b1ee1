import numpy as np
import pytest

from toprank.losses.ndcg_pairs import NDCGPairs


def dcg(gains, k):
    return sum(gain / np.log2(2 + place) for place, gain in enumerate(gains[:k]))


def pair_by_pair(y, scores, qid, k):
    """Each pair of grades weighs by how much NDCG@k changes when the two really trade places."""
    means = []
    for one in np.unique(qid):
        rows = np.flatnonzero(qid == one)
        gain = y[rows] - y.min()
        if gain.min() == gain.max():
            continue
        order, ideal = rows[np.argsort(-scores[rows])], dcg(np.sort(gain)[::-1], k)
        total = 0.0
        for a in range(len(order)):
            for b in range(a + 1, len(order)):
                swapped = order.copy()
                swapped[[a, b]] = swapped[[b, a]]
                change = abs(dcg(y[order] - y.min(), k) - dcg(y[swapped] - y.min(), k)) / ideal
                up, down = (order[a], order[b]) if y[order[a]] > y[order[b]] else (order[b], order[a])
                total += change * np.log1p(np.exp(-(scores[up] - scores[down])))
        means.append(total)
    return np.mean(means)


@pytest.mark.parametrize("k", [1, 3, 50])
def test_pairs_weigh_what_their_swap_costs(k):
    rng = np.random.default_rng(0)
    n = 40
    y, qid, scores = rng.integers(0, 3, n).astype(float), rng.integers(0, 4, n), rng.normal(size=n)
    y[qid == 3] = 1.0
    loss, along, step = NDCGPairs.from_labels(y, qid, k=k), rng.normal(size=n), 1e-6
    point = loss.at(scores)
    assert point.value == pytest.approx(pair_by_pair(y, scores, qid, k))
    ahead, behind = (pair_by_pair(y, scores + side * along, qid, k) for side in (step, -step))
    assert point.gradient @ along == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)
    assert not point.gradient[qid == 3].any()


def test_one_grade_is_nothing_to_order():
    with pytest.raises(ValueError, match="no query holds items of two grades"):
        NDCGPairs.from_labels([1.0, 1.0], None, k=3)
