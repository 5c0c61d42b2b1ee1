import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairwise_oracles as oracle
from toprank.losses.p_norm_push import PNormPushItems


def at(scores, y, p, **rows):
    point = PNormPushItems.from_labels(y, **rows).at(scores, p)
    return point.value, point.gradient


@st.composite
def scored_classes(draw):
    n = draw(st.integers(2, 12))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    y[0], y[-1] = 0, 1
    qid = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    qid[-1] = qid[0]
    weight = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    weight[0] = weight[-1] = 1.0
    scores = draw(st.lists(st.floats(-5, 5), min_size=n, max_size=n))
    return np.array(y), np.array(qid), np.array(weight), np.array(scores)


@given(items=scored_classes(), p=st.sampled_from([1.0, 1.5, 4.0, 16.0]))
def test_value_and_gradient_equal_the_definition(items, p):
    y, qid, weight, scores = items
    value, gradient = at(scores, y, p, qid=qid, sample_weight=weight)
    assert value == pytest.approx(oracle.push(scores, y, p, qid, weight), abs=1e-9)
    numeric = oracle.numerical_gradient(lambda s: oracle.push(s, y, p, qid, weight), scores, 1e-5)
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("p", [1.0, 4.0, 64.0])
def test_hessian_by_finite_differences(p):
    rng = np.random.default_rng(0)
    y, qid, scores = rng.integers(0, 2, 16), rng.integers(0, 2, 16), rng.normal(size=16)
    items = PNormPushItems.from_labels(y, qid=qid, sample_weight=rng.uniform(0.5, 2, 16))
    point = items.at(scores, p)
    for k, unit in enumerate(np.eye(16)):
        column = oracle.numerical_gradient(lambda s, u=unit: items.at(s, p).gradient @ u, scores, 1e-6)
        np.testing.assert_allclose(point.curvature_product(unit), column, atol=1e-6)
        assert point.curvature[k] == pytest.approx(column[k], abs=1e-6)


@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=20), st.sampled_from([1.0, 64.0, 1e6]))
def test_no_overflow_at_any_p(values, p):
    scores = np.array(values)
    y = np.arange(len(values)) % 2
    value, gradient = at(scores, y, p)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    # log R_p lies between the two hard maxima and what the averages can take off them.
    top = scores[y == 0].max() - scores[y == 1].min()
    n_pos, n_neg = (y == 1).sum(), (y == 0).sum()
    slack = 1e-9 * (1 + abs(top))
    assert top - np.log(n_pos) - np.log(n_neg) / p - slack <= value <= top + slack


def test_large_p_approaches_the_highest_negative():
    scores, y = np.array([0.3, -0.2, 0.9, 0.1]), np.array([1, 0, 0, 1])
    value, _ = at(scores, y, 1e8)
    assert value == pytest.approx(np.log(np.mean(np.exp(-scores[y == 1]))) + 0.9, abs=1e-6)


def test_queries_without_both_classes_do_not_count():
    scores, y, qid = np.array([1.0, 0.0, 9.0, 9.0]), [1, 0, 1, 1], [0, 0, 1, 1]
    value, gradient = at(scores, y, 1.0, qid=qid)
    assert value == pytest.approx(-1.0)
    assert gradient.tolist() == [-1.0, 1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="both classes"):
        PNormPushItems.from_labels([1, 0], qid=[0, 1])
