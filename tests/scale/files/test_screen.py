"""Estimates of linear scores against the same sums in rational numbers."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from toprank.datasets import Roles
from toprank.model import RankingModel

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from toprank.scale.files.screen import linear_screen  # noqa: E402

NAMES = ["a", "b", "c"]
KINDS = {"a": np.float64, "b": np.float32, "c": np.int64}
numbers = st.floats(-1e30, 1e30) | st.sampled_from([0.0, -0.0, np.nan, 5e-324, 1e-40])


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)) * [1.0, 1e3, 20.0] + [0.0, 5.0, 1e4], columns=NAMES)
    frame["y"] = (frame["a"] + rng.normal(size=200) > 0).astype(int)
    return RankingModel.learned(LogisticRegression(), frame, Roles("y"))


def screen_of(model):
    return linear_screen(model.ranker, model.encoder)


def batch_of(columns):
    arrays = [np.asarray(columns[name]).astype(KINDS[name]) for name in NAMES]
    return pa.RecordBatch.from_arrays([pa.array(values) for values in arrays], NAMES)


def exact_scores(model, batch):
    """The sum of the model, nothing rounded but its own coefficients."""
    coefficients, intercept = model.ranker.coef_.ravel(), float(model.ranker.intercept_[0])
    totals = [Fraction(intercept)] * len(batch)
    for column, coefficient in zip(model.encoder.columns, coefficients, strict=True):
        for row, value in enumerate(batch.column(column.name).to_pylist()):
            number = Fraction(column.fill if np.isnan(value) else value)
            step = (number - Fraction(column.mean)) / Fraction(column.scale)
            totals[row] += Fraction(float(coefficient)) * step
    return totals


@given(
    st.integers(1, 40).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "a": st.lists(numbers, min_size=n, max_size=n),
                "b": st.lists(numbers, min_size=n, max_size=n),
                "c": st.lists(st.integers(-(2**62), 2**62), min_size=n, max_size=n),
            }
        )
    )
)
def test_estimates_are_as_near_as_they_say(model, columns):
    batch = batch_of(columns)
    found = screen_of(model).estimate(batch)
    for estimate, exact in zip(found.scores.tolist(), exact_scores(model, batch), strict=True):
        assert abs(Fraction(estimate) - exact) <= Fraction(found.error)
    empty = {name for name in "ab" if np.isnan(columns[name]).any()}
    assert found.noted == {(name, "imputed") for name in empty}


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("others", [[1.0, 2.0], [np.nan, 2.0]])
def test_what_is_not_finite_is_left_to_the_model(model, name, others):
    columns = {"a": [0.0] * 3, "b": [0.0] * 3, "c": [0] * 3} | {name: [*others, -np.inf]}
    assert screen_of(model).estimate(batch_of(columns)) is None


def test_nulls_are_missing(model):
    arrays = [pa.array([1.0, None]), pa.array([2.0, 3.0], pa.float32()), pa.array([None, 4], pa.int32())]
    found = screen_of(model).estimate(pa.RecordBatch.from_arrays(arrays, NAMES))
    assert found.noted == {("a", "imputed"), ("c", "imputed")}
    assert np.isfinite(found.scores).all()
