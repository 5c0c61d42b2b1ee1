"""Projections: feasible, and no feasible point is on the far side (the variational inequality)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from toprank.convex.top_push.projections import project_capped_simplex, project_l1_inf, project_simplex

entries = st.floats(-3, 3).map(lambda v: round(v, 2))
points = st.integers(1, 6).flatmap(lambda n: arrays(float, n, elements=entries))
matrices = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda s: arrays(float, s, elements=entries)
)


def is_projection(point, projected, feasible):
    """Whether (point - projected) points away from every feasible point."""
    away = (point - projected).ravel()
    return all(away @ (other - projected).ravel() <= 1e-8 for other in feasible)


@given(points, st.floats(0.1, 4.0))
def test_simplex(point, total):
    projected = project_simplex(point, total)
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(total)
    assert is_projection(point, projected, total * np.eye(len(point)))


@given(points, st.data())
def test_capped_simplex(point, data):
    n = len(point)
    caps = np.array(data.draw(st.lists(st.floats(0.1, 2.0), min_size=n, max_size=n)))
    total = data.draw(st.floats(0.05, 1.0)) * caps.sum()
    projected = project_capped_simplex(point, caps, total)
    assert projected.sum() == pytest.approx(total)
    assert (projected >= 0).all()
    assert (projected <= caps + 1e-12).all()
    # The vertices: fill the caps in every order of the coordinates that matters, greedily.
    rng = np.random.default_rng(0)
    vertices = []
    for _ in range(30):
        order, vertex = rng.permutation(n), np.zeros(n)
        left = total
        for i in order:
            vertex[i] = min(caps[i], left)
            left -= vertex[i]
        vertices.append(vertex)
    assert is_projection(point, projected, vertices)


def test_caps_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match="more than the caps allow"):
        project_capped_simplex(np.zeros(2), np.array([0.2, 0.2]), 1.0)


@given(matrices, st.floats(0.0, 5.0))
def test_l1_inf(matrix, radius):
    projected = project_l1_inf(matrix, radius)
    assert projected.min() >= 0
    assert projected.max(axis=0).sum() <= radius * (1 + 1e-9)
    # The extreme points that matter: one column filled on any subset of its rows, and zero.
    m, n = matrix.shape
    feasible = [np.zeros_like(matrix)]
    for column in range(n):
        for subset in range(1, 2**m):
            rows = [i for i in range(m) if subset >> i & 1]
            other = np.zeros_like(matrix)
            other[rows, column] = radius
            feasible.append(other)
    assert is_projection(matrix, projected, feasible)


def test_l1_inf_keeps_what_is_feasible():
    inside = np.array([[0.2, 0.1], [0.1, 0.3]])
    assert (project_l1_inf(inside, 1.0) == inside).all()


def test_l1_inf_on_a_large_matrix_reaches_the_radius():
    matrix = np.random.default_rng(0).normal(size=(200, 300))
    assert project_l1_inf(matrix, 5.0).max(axis=0).sum() == pytest.approx(5.0, rel=1e-12)
