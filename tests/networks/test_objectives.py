"""Losses as PyTorch sees them: values are those of the library, gradients those of finite differences."""

import numpy as np
import pytest
import torch

from toprank.losses.objectives import Labels, make_objective
from toprank.networks.objectives import as_torch, logistic_pairs, pair_by_pair

LOSSES = {
    "hinge": {"loss": "hinge"},
    "squared hinge": {"loss": "squared_hinge"},
    "logistic": {"loss": "logistic"},
    "localized": {"loss": "logistic", "negative_share": 0.4},
    "cross entropy": {"loss": "cross_entropy", "unit": 0.5},
    "p-norm push": {"loss": "p_norm", "p": 3.0},
    "top push": {"loss": "top_push"},
    "top push, a share": {"loss": "top_push", "negative_share": 0.3},
    "at the top": {"loss": "at_top", "top_share": 0.3},
    "ndcg": {"loss": "ndcg", "k": 5},
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_through_a_network_are_finite_differences(name):
    rng = np.random.default_rng(3)
    y = (rng.random(30) < 0.3).astype(float)
    X = torch.as_tensor(rng.normal(size=(30, 4)))
    options = dict(LOSSES[name])
    objective = make_objective(Labels(y), options.pop("loss"), **options)
    loss = as_torch(objective)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).double()
    found = loss(network(X)[:, 0])
    assert float(found.detach()) == pytest.approx(objective(network(X)[:, 0].detach().numpy()).value)
    found.backward()
    with torch.no_grad():
        for weights in network.parameters():
            along, step = torch.as_tensor(rng.normal(size=tuple(weights.shape))), 1e-5
            values = []
            for side in (step, -2 * step):
                weights += side * along
                values.append(float(loss(network(X)[:, 0])))
            weights += step * along
            slope = float((weights.grad * along).sum())
            assert slope == pytest.approx((values[0] - values[1]) / (2 * step), rel=2e-4, abs=1e-6)


def test_single_precision_and_factors():
    loss = as_torch(make_objective(Labels(np.array([1.0, 0.0])), "logistic"))
    scores = torch.zeros(2, requires_grad=True)
    (3 * loss(scores)).backward()
    assert scores.grad.dtype == torch.float32
    np.testing.assert_allclose(scores.grad.numpy(), [-1.5, 1.5])


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_one_by_one_are_the_sorted_ones(weighted):
    rng = np.random.default_rng(0)
    y, weight = (rng.random(40) < 0.3).astype(float), rng.uniform(0.5, 2, 40) if weighted else None
    found = []
    loss = as_torch(make_objective(Labels(y, None, weight), "logistic"))
    for function in (loss, lambda scores: pair_by_pair(scores, y > 0, weight)):
        scores = torch.as_tensor(rng.normal(size=40) if not found else found[0][0]).requires_grad_()
        value = function(scores)
        value.backward()
        found.append((scores.detach().numpy(), float(value.detach()), scores.grad.numpy()))
    assert found[0][1] == pytest.approx(found[1][1])
    np.testing.assert_allclose(found[0][2], found[1][2], atol=1e-9)
    assert logistic_pairs(Labels(y, np.arange(40) % 2, weight), loss) is loss  # queries are sorted
