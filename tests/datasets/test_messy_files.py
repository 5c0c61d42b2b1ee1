import re

import numpy as np
import pandas as pd
import pytest

from messy_files import FILES, workbook
from toprank.datasets import learn_encoder
from toprank.workflow.reading.source import Columns, open_source, read_new


def _written(tmp_path, case):
    messy = FILES[case]
    content = messy.content
    if messy.name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
        content = workbook()
    path = tmp_path / messy.name
    path.write_bytes(content)
    return str(path)


def _open(tmp_path, case):
    return open_source(_written(tmp_path, case), Columns(target="y", **FILES[case].options))


def _words(column, encoder):
    """Categories as the encoder sees them: under one spelling each."""
    known = [encoder.fill, *encoder.categories, *encoder.pooled]
    return [next((word for word in known if word.casefold() == cell.casefold()), cell) for cell in column]


def test_there_are_thirty_of_them():
    assert len(FILES) >= 30


@pytest.mark.parametrize("case", FILES)
def test_every_file_is_read_as_a_person_would(tmp_path, case):
    messy, source = FILES[case], _open(tmp_path, case)
    features = source.labelled.features
    assert source.labelled.y.tolist() == [k % 2 for k in range(source.rows)] or case == "blanks after commas"
    assert features.columns == list(messy.values)
    encoder, _ = learn_encoder(features)
    encoders = {column.name: column for column in encoder.columns}
    for name, expected in messy.values.items():
        kind, cells = messy.kinds[name], features.frame[name]
        reading = features.description.readings[name]
        assert reading.kind == kind, name
        if kind == "number":
            np.testing.assert_array_equal(cells.to_numpy(dtype=float), np.array(expected, dtype=float))
        elif kind == "date":
            np.testing.assert_array_equal(cells.to_numpy(), np.array(expected, dtype="datetime64[us]"))
        else:
            read = reading.read(cells).tolist()
            present = [cell for cell in read if not pd.isna(cell)]
            if name in encoders and not reading.exact:
                present = _words(present, encoders[name])
            assert present == [cell for cell in expected if cell is not None], name
            assert [bool(pd.isna(cell)) for cell in read] == [cell is None for cell in expected]


@pytest.mark.parametrize("case", FILES)
def test_what_is_assumed_is_said_at_the_top_and_nothing_else_is(tmp_path, case):
    messy, source = FILES[case], _open(tmp_path, case)
    assert len(source.remarks) == len(messy.warnings), source.remarks
    for pattern, sentence in zip(messy.warnings, source.remarks, strict=True):
        assert re.search(pattern, sentence), sentence
        assert "\n" not in sentence
    _, notes = learn_encoder(source.labelled.features)
    quiet = [f"{note.column} {note.text}" for note in notes if not note.warning]
    for pattern in messy.notes:
        assert any(re.search(pattern, note) for note in quiet), quiet


@pytest.mark.parametrize("case", FILES)
def test_new_rows_give_the_same_features_with_a_model_that_was_saved(tmp_path, case):
    """The same rows again, read as a new file by what the encoder's JSON remembers."""
    import json

    from toprank.datasets import encoder_from_dict, read_table

    source = _open(tmp_path, case)
    options = {key: value for key, value in FILES[case].options.items() if key in ("encoding", "separator")}
    encoder, _ = learn_encoder(source.labelled.features)
    X, _ = encoder.encode(source.labelled.features)
    again = encoder_from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again == encoder
    path = str(tmp_path / FILES[case].name)
    for table in (
        read_table(path, text_columns=again.text_columns, **options),
        read_new(path, source, Columns(**options)),
    ):
        np.testing.assert_array_equal(again.encode(source.roles.features(table))[0], X)


@pytest.mark.parametrize(
    "case", ["decimal commas", "thousands with points beside decimal commas", "day first"]
)
def test_some_rows_of_the_file_are_read_like_the_whole(tmp_path, case):
    """A new file may hold nothing but cells in doubt; the model is not."""
    source = _open(tmp_path, case)
    messy = FILES[case]
    encoder, _ = learn_encoder(source.labelled.features)
    X, _ = encoder.encode(source.labelled.features)
    lines = messy.content.decode().splitlines()
    for row in range(source.rows):
        path = tmp_path / f"row{row}.csv"
        path.write_text("\n".join([lines[0], lines[1 + row]]) + "\n")
        table = read_new(str(path), source)
        np.testing.assert_array_equal(encoder.encode(source.roles.features(table))[0], X[[row]])


def test_halves_of_the_rows_are_read_like_the_whole(tmp_path):
    source = _open(tmp_path, "day first")
    part = source.labelled.features.take(np.array([2, 3]))
    encoder, _ = learn_encoder(part)
    assert encoder.columns[0].reading.day_first
    assert encoder.columns[0].show(encoder.columns[0].fill) == "2024-07-28"


def test_money_in_a_table_of_pandas_is_read_too():
    from toprank.datasets import Table

    encoder, notes = learn_encoder(Table(pd.DataFrame({"price": ["$1,200", None, "$80.5"]})))
    assert encoder.columns[0].reading.unit == "$"
    assert any("median $640.2" in note.text for note in notes), notes


def test_plain_columns_keep_their_type(tmp_path):
    (tmp_path / "a.csv").write_text("pump_id,flag,y\n7,True,0\n8,False,1\n9,True,0\n")
    frame = open_source(str(tmp_path / "a.csv"), Columns(target="y")).labelled.features.frame
    assert frame["pump_id"].dtype == np.int64
    assert frame["flag"].dtype == bool
