import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from toprank.datasets import InputError, Table, encoder_from_dict, learn_encoder


def _table(**columns):
    return Table(pd.DataFrame(columns), source="pumps.csv")


def _learn(**columns):
    return learn_encoder(_table(**columns))


def _actions(notes):
    return {(note.column, note.action) for note in notes}


def test_numbers_are_standardised_as_scikit_learn_does():
    values = np.random.default_rng(0).normal(5, 3, size=(30, 2))
    encoder, notes = _learn(a=values[:, 0], b=values[:, 1])
    X, _ = encoder.encode(_table(a=values[:, 0], b=values[:, 1]))
    np.testing.assert_allclose(X, StandardScaler().fit_transform(values), atol=1e-12)
    assert notes == []


def test_words_become_zeros_and_ones_but_for_the_most_frequent():
    encoder, notes = _learn(seal=["steel", "rubber", "steel", None, "felt", "felt "])
    assert encoder.feature_names == ("seal=rubber", "seal=steel")
    X, _ = encoder.encode(_table(seal=["steel", "rubber", "felt", None, "cork"]))
    assert X.tolist() == [[0, 1], [1, 0], [0, 0], [0, 0], [0, 0]]
    assert _actions(notes) == {("seal", "one-hot"), ("seal", "imputed")}


def test_what_new_rows_needed_is_reported():
    encoder, _ = _learn(seal=["steel", "rubber", "steel"], age=[1.0, 2.0, 4.0])
    X, notes = encoder.encode(_table(seal=["cork", None, "steel"], age=[None, 2.0, 2.0]))
    assert _actions(notes) == {("seal", "unknown"), ("seal", "imputed"), ("age", "imputed")}
    assert np.isfinite(X).all()
    assert X[0, 1] == X[1, 1]  # the median, 2, fills the gap
    assert any("'cork'" in note.text for note in notes)


def test_constant_and_empty_columns_are_dropped_and_reported():
    encoder, notes = _learn(a=[1.0, 2.0], one=[5, 5], none=[None, None], word=["x", "x"], gap=[3.0, None])
    assert encoder.feature_names == ("a",)
    dropped = {note.column: note.text for note in notes if note.action == "dropped"}
    assert dropped == {"one": "constant", "none": "empty", "word": "constant", "gap": "constant"}


def test_names_of_rows_are_dropped():
    words = [f"pump {i}" for i in range(100)]
    encoder, notes = _learn(name=words, a=range(100))
    assert encoder.feature_names == ("a",)
    assert ("name", "dropped") in _actions(notes)


def test_many_categories_are_pooled():
    words = [f"w{i:03d}" for i in range(60)] * 3 + ["w000"] * 5
    encoder, notes = _learn(word=words)
    assert len(encoder.feature_names) == 49
    X, about = encoder.encode(_table(word=["w059", "w001", "w000"]))
    assert X.sum(axis=1).tolist() == [0, 1, 0]
    assert about == []  # pooled is not unknown
    assert "10 rarest" in notes[0].text


def test_a_few_words_among_numbers_are_gaps():
    cells = [str(i) for i in range(20)] + ["n.d."]
    encoder, notes = _learn(age=cells)
    assert encoder.feature_names == ("age",)
    assert _actions(notes) == {("age", "converted"), ("age", "imputed")}
    X, _ = encoder.encode(_table(age=["9", "n.d.", "unknown"]))
    assert X[1] == X[2]


def test_numbers_as_categories():
    table = _table(mode=[1, 2, 2, 3], a=[1.0, 2.0, 3.0, 4.0])
    encoder, _ = learn_encoder(table, categorical=["mode"])
    assert encoder.feature_names == ("mode=1", "mode=3", "a")
    assert encoder.text_columns == ("mode",)
    # The same codes as text, as a CSV reader told about text columns hands them over, or as floats.
    for codes in (["3", "2"], [3, 2], [3.0, 2.0]):
        X, _ = encoder.encode(_table(mode=codes, a=[1.0, 2.0]))
        assert X[:, :2].tolist() == [[0, 1], [0, 0]]
    with pytest.raises(InputError, match="categorical 'colour'"):
        learn_encoder(table, categorical=["colour"])


def test_column_types_pandas_knows():
    dates = pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-05"])
    table = Table(
        pd.DataFrame(
            {
                "when": dates,
                "flag": [True, False, True, True],
                "whole": pd.array([1, None, 3, 5], dtype="Int64"),
                "kind": pd.Categorical([1, 2, 2, 2]),
                "mixed": [True, None, False, True],
            }
        )
    )
    encoder, notes = learn_encoder(table)
    assert encoder.feature_names == ("when", "flag", "whole", "kind=1", "mixed")
    X, _ = encoder.encode(table)
    assert np.isfinite(X).all()
    gaps = np.diff(X[[0, 1, 3], 0])
    assert gaps[1] / gaps[0] == pytest.approx(3)
    assert ("when", "converted") in _actions(notes)


def test_dates_in_text():
    encoder, notes = _learn(when=["2020-01-31", None, "2020-02-01", "2020-02-04 12:00"])
    assert ("when", "converted") in _actions(notes)
    X, _ = encoder.encode(_table(when=["2020-01-31", "2020-02-01", "2020-02-04 12:00:00"]))
    assert np.diff(X[:, 0])[1] / np.diff(X[:, 0])[0] == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1.0, np.inf, 2.0], "'a' holds an infinite value in row 2"),
        ([1e308, -1e308, 2.0], "'a' holds values too large"),
        ([1 + 2j, 3.0, 2.0], "'a' is of type complex"),
        (pd.to_timedelta([1, 2, 3], unit="s"), "'a' is of type timedelta"),
    ],
)
def test_columns_that_cannot_be_learned(cells, message):
    with pytest.raises(InputError, match=message):
        _learn(a=cells)


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        ("age", ["old", "3"], "'age' holds 'old' in row 1 where the model expects numbers"),
        ("age", [3.0, np.inf], "infinite value in row 2"),
        ("age", [1e308, 1.0], "row 1 is too large"),
        ("age", pd.to_datetime(["2020-01-01", None]), "'age' holds dates"),
        ("seal", [3, 4], r"'seal' holds numbers \(3\) where the model expects words such as 'steel'"),
        ("when", ["soon", "2020-01-01"], "'soon' in row 1 where the model expects a date"),
    ],
)
def test_new_rows_of_another_type(column, cells, message):
    when = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-02-02"])
    encoder, _ = _learn(seal=["steel", "rubber", "steel"], age=[0.001, 0.0012, 0.0011], when=when)
    new = {"seal": ["steel", "steel"], "age": [1.0, 2.0], "when": when[:2], column: cells}
    with pytest.raises(InputError, match=message):
        encoder.encode(_table(**new))


def test_new_rows_without_a_column():
    encoder, _ = _learn(a=[1.0, 2.0], b=[1.0, 3.0])
    with pytest.raises(InputError, match=r"pumps.csv lacks columns the model wants: 'b'"):
        encoder.encode(_table(a=[1.0], c=[2.0]))


def test_nothing_to_learn_from():
    with pytest.raises(
        InputError, match=r"pumps\.csv: there is no column to learn from \('a' constant; 'b' empty"
    ):
        _learn(a=[1, 1], b=[None, None])


cells = st.one_of(st.none(), st.floats(allow_infinity=False), st.integers(-3, 3))
words = st.one_of(st.none(), st.text(max_size=4))


@given(st.lists(st.tuples(cells, words), min_size=1, max_size=25))
def test_any_table_gives_finite_features_and_survives_json(rows):
    table = _table(number=[row[0] for row in rows], word=[row[1] for row in rows], row=range(len(rows)))
    try:
        encoder, _ = learn_encoder(table)
    except InputError:
        return
    X, _ = encoder.encode(table)
    assert X.shape == (len(rows), len(encoder.feature_names))
    assert np.isfinite(X).all()
    again = encoder_from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again == encoder
    np.testing.assert_array_equal(again.encode(table)[0], X)


# -- svmlight --------------------------------------------------------------------------------------


def _sparse_table(dense):
    matrix = sp.csr_matrix(np.asarray(dense, dtype=float))
    return Table(pd.DataFrame({"y": np.zeros(matrix.shape[0])}), matrix, source="a.svm")


def test_sparse_features_are_scaled_and_constants_dropped():
    dense = np.array([[0, 2, 1, 0], [4, 2, 0, 0], [0, 2, 0, 0]], dtype=float)
    encoder, notes = learn_encoder(_sparse_table(dense))
    X, _ = encoder.encode(_sparse_table(dense))
    np.testing.assert_allclose(X.toarray(), dense[:, [0, 2]] / dense[:, [0, 2]].std(axis=0))
    assert encoder.feature_names == ("1", "3")
    assert _actions(notes) == {("2 features", "dropped")}
    assert encoder_from_dict(json.loads(json.dumps(encoder.to_dict()))) == encoder


def test_sparse_files_of_other_widths():
    encoder, _ = learn_encoder(_sparse_table([[1, 0, 2], [0, 1, 0]]))
    X, _ = encoder.encode(_sparse_table([[1.0], [0.0]]))
    assert X.shape == (2, 3)
    with pytest.raises(InputError, match=r"a.svm has a feature 4; the model knows features 1 to 3"):
        encoder.encode(_sparse_table([[1, 0, 0, 1]]))
    with pytest.raises(InputError, match="svmlight"):
        encoder.encode(_table(a=[1.0]))
    with pytest.raises(InputError, match="constant"):
        learn_encoder(_sparse_table([[1, 0], [1, 0]]))


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "trees"},
        {"kind": "columns", "columns": [{"kind": "sound", "name": "a"}]},
        {"kind": "columns", "columns": [{"kind": "number", "name": "a", "fill": "x", "mean": 0, "scale": 1}]},
        {"kind": "columns", "columns": [{"kind": "number", "name": "a"}]},
        {"kind": "svmlight", "n_features": 2, "kept": [1, 2], "scale": [1.0]},
        {"columns": []},
    ],
)
def test_other_dictionaries_are_refused(fields):
    with pytest.raises((TypeError, KeyError, ValueError)):
        encoder_from_dict(fields)


def test_encoders_of_the_first_version_read_as_they_did():
    early = {
        "kind": "columns",
        "columns": [
            {
                "kind": "number",
                "name": "age",
                "fill": 2.0,
                "mean": 2.0,
                "scale": 0.5,
                "tolerant": True,
                "date": False,
            },
            {
                "kind": "number",
                "name": "when",
                "fill": 1.0,
                "mean": 1.0,
                "scale": 1.0,
                "tolerant": False,
                "date": True,
            },
            {"kind": "text", "name": "ok", "fill": "yes", "categories": ["YES"], "pooled": ["no"]},
        ],
    }
    encoder = encoder_from_dict(early)
    X, _ = encoder.encode(_table(age=["3", "old"], when=["1970-01-03", "1970-01-02"], ok=["YES", "Yes"]))
    assert X.tolist() == [[2, 1, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="version 3, a later one"):
        encoder_from_dict({**early, "version": 3})


def test_the_example_of_a_notation_has_the_sign_for_money_where_it_is_written():
    encoder, _ = _learn(price=["$1,234", "$80", "$3"])
    with pytest.raises(
        InputError, match=r"'price' holds 'much' in row 1 where .* written like \$1,234\.5\.$"
    ):
        encoder.encode(_table(price=["much"]))


def test_new_rows_in_the_wrong_notation_are_refused_by_row():
    encoder, _ = _learn(price=["1.234,50 €", "12,5 €", "3 €"])
    assert encoder.text_columns == ("price",)
    with pytest.raises(InputError, match=r"'price' holds '12\.5' in row 2 where .* written like 1\.234,5 €"):
        encoder.encode(_table(price=["3", "12.5"]))
    with pytest.raises(InputError, match="row 1"):
        encoder.encode(_table(price=["$3", "4"]))


def test_dates_are_shown_as_dates():
    encoder, notes = _learn(when=["13/02/2024", None, "15/02/2024", "14/02/2024"])
    assert "median 2024-02-14" in next(note.text for note in notes if note.action == "imputed")
    with pytest.raises(InputError, match="'when' holds '14/14/2024' in row 1"):
        encoder.encode(_table(when=["14/14/2024"]))
    # A bare number is no date, although dates are numbers inside.
    with pytest.raises(InputError, match="row 1"):
        encoder.encode(_table(when=[19766.0]))


def test_a_word_among_new_numbers_is_a_warning_that_names_the_row():
    encoder, _ = _learn(age=[*(str(i) for i in range(20)), "old"])
    _, notes = encoder.encode(_table(age=["3", "ancient"]))
    assert [note.text for note in notes if note.warning] == [
        "'ancient' in row 2 is no number; such cells are taken as missing"
    ]
