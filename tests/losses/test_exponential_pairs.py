"""The exponential loss of pairs, beside its formula and finite differences."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from toprank.losses.exponential_pairs import ExponentialPairs


@pytest.fixture
def some():
    rng = np.random.default_rng(0)
    pairs = np.array([(0, 1), (1, 2), (2, 0), (0, 1), (3, 1)])
    return ExponentialPairs(4, pairs, rng.uniform(0.5, 2.0, 5)), rng.normal(size=4)


def by_formula(loss, scores):
    upper, lower = loss.pairs.T
    return np.log((loss.weight * np.exp(scores[lower] - scores[upper])).sum() / loss.weight.sum())


def test_value_gradient_and_hessian(some):
    loss, scores = some
    point = loss.at(scores)
    assert point.value == pytest.approx(by_formula(loss, scores), rel=1e-12)
    numeric = approx_fprime(scores, lambda s: by_formula(loss, s), 1e-7)
    np.testing.assert_allclose(point.gradient, numeric, atol=1e-6)
    direction = np.array([1.0, -0.5, 0.3, 2.0])
    bent = (loss.at(scores + 1e-5 * direction).gradient - loss.at(scores - 1e-5 * direction).gradient) / 2e-5
    np.testing.assert_allclose(point.curvature_product(direction), bent, atol=1e-8)


def test_large_scores_do_not_overflow(some):
    loss, scores = some
    far = loss.at(1e6 * scores)
    assert np.isfinite(far.value)
    assert np.isfinite(far.gradient).all()
