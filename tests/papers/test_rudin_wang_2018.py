"""Rudin & Wang (2018): Theorem 1, on its own construction."""

import numpy as np
import pytest

from toprank.statistics import get


@pytest.fixture(scope="module")
def clumps():
    """Four clumps on a line: 10 negatives, 3000 positives, 3000 negatives, 80 positives, top to bottom."""
    rng = np.random.default_rng(0)
    sizes, centres, classes = (10, 3000, 3000, 80), (3, 1, 0, -10), (0, 1, 0, 1)
    x = np.concatenate([rng.normal(c, 0.05, size) for c, size in zip(centres, sizes, strict=True)])
    return np.repeat(classes, sizes), x


@pytest.mark.parametrize(
    "spec", ["wilcoxon_rank_sum", "auc", "partial_auc@100", "dcg", "dcg(base=e)", "reciprocal_rank_sum"]
)
def test_prefer_solution_1(spec, clumps):
    """The list from top to bottom is better than its reverse.

    Partial AUC@K keeps the ranks of the positives at the top K positions, a_l = l 1[l >= n - K + 1].
    """
    y, x = clumps
    assert get(spec)(y, x) > get(spec)(y, -x)


@pytest.mark.parametrize("spec", ["dcg@100", "partial_auc@10"])
def test_prefer_solution_2(spec, clumps):
    y, x = clumps
    assert get(spec)(y, x) < get(spec)(y, -x)


def test_partial_auc_up_to_k_false_positives_agrees(clumps):
    """The other common reading, the area left of the K-th negative, supports the theorem as well."""
    y, x = clumps
    for k, first_is_better in ((100, True), (10, False)):
        area = get(f"partial_auc_fpr(max_fpr={k / 3010!r})")
        assert (area(y, x) > area(y, -x)) == first_is_better


def test_partial_auc_with_a_threshold_from_the_bottom_does_not(clumps):
    """Reading the threshold as the K-th rank from the bottom makes partial AUC@10 prefer Solution 1."""
    y, x = clumps
    ranks = np.arange(y.size) + 1
    kept = np.where(ranks >= 10, ranks, 0)
    assert kept[y[np.argsort(x)] == 1].sum() > kept[y[np.argsort(-x)] == 1].sum()


def test_hinge_loss_prefers_solution_1(clumps):
    """Eq. (4), over all pairs."""
    y, x = clumps

    def hinge(scores):
        return np.maximum(0, 1 - np.subtract.outer(scores[y == 1], scores[y == 0])).sum()

    assert hinge(x) < hinge(-x)


def test_exponential_loss_prefers_solution_2(clumps):
    """Eq. (3); the sum over pairs is a product of two sums."""
    y, x = clumps

    def exponential(scores):
        return np.exp(-scores[y == 1]).sum() * np.exp(scores[y == 0]).sum()

    assert exponential(x) > exponential(-x)
