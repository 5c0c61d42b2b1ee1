import numpy as np
import pytest

from toprank.datasets import gaussians, inspections, theorem_one


def test_theorem_one_has_its_four_clumps():
    X, y = theorem_one()
    x = X[:, 0]
    for centre, size, label in [(3, 10, 0), (1, 3000, 1), (0, 3000, 0), (-10, 80, 1)]:
        clump = np.abs(x - centre) < 0.4
        assert clump.sum() == size
        assert set(y[clump]) == {label}
        assert x[clump].std() == pytest.approx(0.05, rel=0.6)
    assert len(np.unique(x)) == len(x) == 6090


def test_gaussians_are_drawn_from_the_papers_population():
    X, y = gaussians(6210, random_state=3)
    far_negatives = X[:, 0] > 5
    low_positives = (np.abs(X[:, 1] + 3) < 0.3) & (np.abs(X[:, 0]) < 0.3)
    assert far_negatives.sum() == 10
    assert not y[far_negatives].any()
    assert (low_positives & (y == 1)).sum() == 200
    assert y.sum() == 3200
    cloud = X[(y == 0) & ~far_negatives]
    np.testing.assert_allclose(cloud.mean(axis=0), [0, 0], atol=0.06)
    np.testing.assert_allclose(cloud.var(axis=0), [0.5, 0.5], atol=0.05)


def test_gaussians_default_size_and_limits():
    X, y = gaussians()
    assert X.shape == (1250, 2)
    assert len(np.unique(X, axis=0)) == 1250
    assert set(y) == {0, 1}
    with pytest.raises(ValueError, match="n=7000"):
        gaussians(7000)


@pytest.mark.parametrize("make", [theorem_one, gaussians])
def test_same_seed_same_data(make):
    for one, other in zip(make(random_state=5), make(random_state=5), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(make(random_state=5)[0], make(random_state=6)[0])


def test_inspections_look_like_a_users_file():
    table = inspections()
    assert table["pump"].is_unique
    assert table["site"].isna().any()
    assert table["age_years"].isna().any()
    assert set(table["failed"]) == {0, 1}
    assert table.equals(inspections())
    assert not table.equals(inspections(random_state=1))
