"""Soft ranks against hard ones, and losses of ranks against their definitions."""

import itertools

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from scipy.stats import rankdata, spearmanr

from toprank.networks.soft_ranks import list_loss, make_sorter, projected_ranks

CLOSED = ["sigmoid", "neural_sort", "projection"]


@pytest.mark.parametrize("name", CLOSED)
def test_cold_ranks_are_hard(name):
    scores = torch.as_tensor(np.random.default_rng(0).permutation(20) * 1.0)
    ranks = make_sorter(name, 1e-3)(scores)
    np.testing.assert_allclose(ranks.numpy(), rankdata(-scores.numpy()), atol=1e-6)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("loss", ["spearman", "average_precision", "recall", "mean_rank"])
def test_gradients_are_finite_differences(name, loss):
    rng = np.random.default_rng(1)
    scores = torch.as_tensor(rng.normal(size=12), dtype=torch.float64).requires_grad_()
    y = (np.arange(12) % 3 == 0).astype(float)
    wanted = rankdata(-rng.normal(size=12)) if loss == "spearman" else y
    parts, labels = [np.arange(7), np.arange(7, 12)], [wanted[:7], wanted[7:]]
    if loss == "spearman":
        labels = [rankdata(one) for one in labels]
    function = list_loss(loss, make_sorter(name, 0.5), parts, labels, 3)
    assert torch.autograd.gradcheck(function, (scores,), eps=1e-6, atol=1e-5)


def test_the_projection_is_the_nearest_point_to_all_rankings():
    """Nearest: no ranking, that is no corner, lies further in the direction of what is left."""
    z = np.array([0.3, -0.2, 0.25, 0.9])
    found = projected_ranks(torch.as_tensor(-z), 1.0).numpy()
    corners = np.array(list(itertools.permutations(range(1, 5))), dtype=float)
    assert ((corners - found) @ (z - found) <= 1e-9).all()
    inside = linprog(
        np.zeros(len(corners)),
        A_eq=np.vstack([corners.T, np.ones(len(corners))]),
        b_eq=[*found, 1.0],
    )
    assert inside.status == 0


def test_losses_of_hard_ranks_are_what_they_are_called():
    rng = np.random.default_rng(2)
    scores, response = rng.normal(size=30), rng.normal(size=30)
    y, tensor = (np.arange(30) % 4 == 0).astype(float), torch.as_tensor(scores)
    order = np.argsort(-scores)
    hits = y[order]
    precision = np.cumsum(hits) / np.arange(1, 31)

    def value(name, wanted, k=8):
        return float(list_loss(name, make_sorter("sigmoid", 1e-4), [np.arange(30)], [wanted], k)(tensor))

    assert value("spearman", rankdata(-response)) == pytest.approx(
        1 - spearmanr(scores, response)[0], abs=1e-3
    )
    assert value("average_precision", y) == pytest.approx(1 - (precision * hits).sum() / hits.sum(), abs=1e-3)
    assert value("mean_rank", y) == pytest.approx(np.mean(np.flatnonzero(hits) + 1) / 30, abs=1e-3)
    assert value("recall", y) == pytest.approx(1 - hits[:8].sum() / hits.sum(), abs=0.2)


def test_equal_scores_have_a_gradient():
    scores = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    for name in CLOSED:
        list_loss(
            "average_precision", make_sorter(name, 0.1), [np.arange(5)], [np.array([1.0, 0, 0, 1, 0])], 2
        )(scores).backward()
        assert torch.isfinite(scores.grad).all()
