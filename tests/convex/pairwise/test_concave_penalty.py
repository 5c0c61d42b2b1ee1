"""Penalties that leave large coefficients alone: their shapes, and minima against a grid."""

import numpy as np
import pytest

import toprank
from toprank.convex.pairwise.concave_penalty import CONCAVE, Log, Lq, Mcp, Scad

PENALTIES = [Lq(0.5), Log(0.1), Log(2.0), Mcp(3.0), Scad(3.7)]
BENDS = {"log": 0.5, "mcp": 1.5, "scad": 2.5}


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_zero_at_zero_rising_and_below_its_tangents(penalty):
    sizes = np.linspace(0.0, 6.0, 400)
    values = penalty.value(sizes)
    assert values[0] == 0.0
    assert (np.diff(values) >= -1e-12).all()
    assert (np.diff(values, 2) <= 1e-9).all()


@pytest.mark.parametrize("penalty", PENALTIES[1:], ids=str)
def test_slopes_are_finite_differences_and_one_at_zero(penalty):
    sizes = np.linspace(0.05, 5.0, 60) + 1e-3
    numeric = (penalty.value(sizes + 1e-6) - penalty.value(sizes - 1e-6)) / 2e-6
    np.testing.assert_allclose(penalty.slope(sizes), numeric, atol=1e-5)
    assert penalty.slope(np.zeros(1))[0] == 1.0


def shape(norm, size):
    """The penalties as the papers print them."""
    b = BENDS[norm]
    if norm == "log":
        return b * np.log(1 + size / b)
    if norm == "mcp":
        return size - size**2 / (2 * b) if size <= b else b / 2
    if size <= 1:
        return size
    return (2 * b * size - size**2 - 1) / (2 * (b - 1)) if size <= b else (b + 1) / 2


@pytest.mark.parametrize("norm", CONCAVE)
def test_one_feature_is_at_the_least_of_a_grid(norm):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), np.arange(30) % 3 == 0
    x = x + 1.2 * y
    ranker = toprank.RankSVM(C=20.0, loss="squared_hinge", norm=norm, bend=BENDS[norm]).fit(x[:, None], y)
    leads = np.subtract.outer(x[y], x[~y]).ravel()

    def value(w):
        return shape(norm, abs(w)) + 20.0 * np.mean(np.maximum(0, 1 - w * leads) ** 2)

    assert ranker.outcome_.value == pytest.approx(value(ranker.coef_[0]), rel=1e-6)
    assert ranker.outcome_.value <= min(value(w) for w in np.linspace(0, 5, 2001)) * (1 + 1e-4)


@pytest.mark.parametrize("norm", CONCAVE)
def test_noise_is_left_out_and_large_coefficients_stay_large(norm):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 8))
    y = (2 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=120) > 1).astype(int)
    fits = {name: toprank.RankSVM(C=10.0, loss="squared_hinge", norm=name).fit(X, y) for name in ("l1", norm)}
    used = {name: np.count_nonzero(np.abs(fit.coef_) > 1e-9) for name, fit in fits.items()}
    assert used[norm] <= used["l1"]
    assert np.abs(fits[norm].coef_[:2]).sum() >= np.abs(fits["l1"].coef_[:2]).sum()


def test_a_bend_out_of_range_is_refused():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"bend=1\.0 must be above 1"):
        toprank.RankSVM(norm="scad", bend=1.0).fit(X, y)
    with pytest.raises(ValueError, match="bend=0 must be above 0"):
        toprank.RankSVM(norm="mcp", bend=0).fit(X, y)
