"""Pat&Mat: the level against its equation, the gradient against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from toprank.losses.pat_mat import PatMatLoss, surrogate_quantile


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10), st.sampled_from([0.05, 0.3, 0.9]))
def test_the_level_solves_its_equation_and_lies_at_or_above_the_quantile(values, tau):
    scores = np.array(values, dtype=float)
    level, shares = surrogate_quantile(scores, np.ones(len(scores)), share=tau, surrogate="hinge", scale=2.0)
    assert np.maximum(1 + 2 * (scores - level), 0).mean() == pytest.approx(tau, abs=1e-9)
    assert (scores >= level).mean() <= tau + 1e-9
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("surrogate", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("negatives_only", [False, True])
def test_gradient(surrogate, negatives_only):
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 2, 12), rng.uniform(0.5, 2, 12)
    loss = PatMatLoss(0.2, surrogate, 1.5, negatives_only)
    error = check_grad(
        lambda s: loss.at(s, y, weight).value,
        lambda s: loss.at(s, y, weight).gradient,
        rng.normal(size=12),
    )
    assert error < 1e-6
