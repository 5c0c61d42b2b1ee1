import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from toprank.datasets import InputError, TableEncoder


def _frame(rows=40):
    rng = np.random.default_rng(0)
    price = rng.integers(500, 90_000, rows)
    return pd.DataFrame(
        {
            "price": [f"${value:,}" for value in price],
            "share": [f"{value:.1f} %" for value in rng.uniform(0, 100, rows)],
            "when": [f"{day:02d}/02/2024" for day in rng.integers(1, 29, rows)],
            "ok": rng.choice(["Yes", "YES", "no"], rows),
            "age": np.where(rng.random(rows) < 0.2, -999, rng.integers(20, 60, rows)),
        }
    ), (price > 40_000).astype(int)


@parametrize_with_checks([TableEncoder()])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_in_a_pipeline():
    frame, y = _frame()
    pipeline = make_pipeline(clone(TableEncoder(missing=["age=-999"])), LogisticRegression())
    assert cross_val_score(pipeline, frame, y, scoring="roc_auc").mean() > 0.9
    assert pipeline.fit(frame, y)[0].get_feature_names_out().tolist() == [
        "price",
        "share",
        "when",
        "ok=Yes",
        "age",
    ]


def test_what_it_tells():
    frame, _ = _frame()
    encoder = TableEncoder().fit(frame)
    assert [sentence.split(":")[0] for sentence in encoder.warnings_] == ["Column 'age'"]
    assert encoder.feature_names_in_.tolist() == list(frame.columns)
    assert TableEncoder(missing=["-999"]).fit(frame).warnings_ == []
    assert encoder.set_output(transform="pandas").transform(frame).columns.tolist()[0] == "price"


def test_options_that_cannot_be():
    frame, _ = _frame()
    for options, message in (
        ({"missing": ["agee=-999"]}, "missing 'agee=-999': there is no column 'agee'"),
        ({"read": ["price=money"]}, "read 'price=money': 'money' is no way to read a column"),
        ({"read": ["price"]}, "write COLUMN=WAY"),
        ({"read": ["age=number"], "categorical": ["age"]}, "'age' is to be read both as text and as number"),
    ):
        with pytest.raises(InputError, match=message):
            TableEncoder(**options).fit(frame)


def test_columns_whose_names_hold_an_equals_sign():
    frame = pd.DataFrame({"a=b": [1, -999, 3], "a": [1, 2, 5]})
    encoder = TableEncoder(missing=["a=b=-999"]).fit(frame)
    assert np.isclose(encoder.transform(frame)[1, 0], 0)
