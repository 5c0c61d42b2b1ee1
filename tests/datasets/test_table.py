import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from toprank.datasets import InputError, Table, read_table


def _write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("ending", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", ",")]
)
def test_delimiters(tmp_path, ending, delimiter):
    text = "name,age,y\nanna,3,1\nbert,,0\n".replace(",", delimiter)
    table = read_table(_write(tmp_path / f"people{ending}", text))
    assert table.columns == ["name", "age", "y"]
    assert table.frame["age"].isna().tolist() == [False, True]
    assert table.source == f"people{ending}"


def test_byte_order_mark_and_accents(tmp_path):
    table = read_table(_write(tmp_path / "a.csv", "\ufeffcafé,y\n1,0\n2,1\n"))
    assert table.columns == ["café", "y"]


def test_packed_csv(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write("a,y\n1,0\n")
    assert len(read_table(tmp_path / "a.csv.gz")) == 1


def test_text_columns_keep_their_zeros(tmp_path):
    file = _write(tmp_path / "a.csv", "code,y\n007,0\n010,1\n")
    assert read_table(file, text_columns=["code", "absent"]).frame["code"].tolist() == ["007", "010"]
    assert read_table(file).frame["code"].tolist() == ["007", "010"]
    assert read_table(_write(tmp_path / "b.csv", "code,y\n7,0\n10,1\n")).frame["code"].tolist() == [7, 10]


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]}, index=[7, 9])
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.columns == ["a", "b"]
    assert table.frame.index.tolist() == [0, 1]


def test_svmlight_with_queries(tmp_path):
    X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.5, 0.0]])
    dump_svmlight_file(X, [0, 2, 1], str(tmp_path / "a.svm"), zero_based=False, query_id=[4, 4, 9])
    table = read_table(tmp_path / "a.svm")
    np.testing.assert_array_equal(table.sparse.toarray(), X)
    assert table.frame["y"].tolist() == [0, 2, 1]
    assert table.frame["qid"].tolist() == [4, 4, 9]
    part = table.take(np.array([2, 0]))
    np.testing.assert_array_equal(part.sparse.toarray(), X[[2, 0]])
    assert part.frame["y"].tolist() == [1, 0]


BAD_FILES = {
    "no header": ("a.csv", b"", "is empty"),
    "blank lines only": ("a.csv", b"\n\n\n", "is empty"),
    "header only": ("a.csv", b"a,y\n", "no rows"),
    "more cells than names": ("a.csv", b"a,y\n1,0\n1,2,3\n", "line 3"),
    "every row longer": ("a.csv", b"a,y\n1,0,5\n1,2,3\n", "more cells than the 2"),
    "repeated name": ("a.csv", b"a,a,y\n1,2,0\n", "'a'"),
    "repeated empty name": ("a.csv", b",,y\n1,2,0\n", "an empty name"),
    "zero bytes": ("a.csv", b"a,\0y\n1,0\n", "zero bytes"),
    "a program": ("a.csv", bytes(range(1, 256)) * 9, "is not text: its bytes are those of a picture, a pro"),
    "open quote": ("a.csv", b'a,y\n"1,0\n2,1\n', "mark opened in row 1 is never closed"),
    "a title": ("a.csv", b"Visits\n\na,b,y\n1,2,0\n", "several cells, and its first line, 'Visits', has one"),
    "two titles": ("a.csv", b"Visits\nof 2024\na,b,y\n1,2,0\n", "line 3 has 3 cells, and its first"),
    "a separator in a cell": ("a.csv", b"a;y\n1;0\n1;2;3\n", "line 3 .* a cell that holds a semicolon"),
    "JSON": ("a.csv", b'[{"a": 1, "y": 0}]', "holds JSON"),
    "a web page": ("a.csv", b"\n<!DOCTYPE html><html><table></table></html>", "holds a web page"),
    "PDF": ("a.csv", b"%PDF-1.7\n1 0 obj", "is a PDF document"),
    "a workbook called CSV": ("a.csv", b"PK\x03\x04\x14\x00", "if it is a workbook, call it .xlsx"),
    "an old workbook": ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "save it as .xlsx or CSV"),
    "not packed": ("a.csv.gz", b"a,y\n1,0\n", "Cannot read"),
    "cut short": ("a.csv.gz", gzip.compress(b"a,y\n" + b"1,0\n" * 1000)[:30], "Cannot read"),
    "no parquet": ("a.parquet", b"a,y\n1,0\n", "Parquet"),
    "no svmlight": ("a.svm", b"a,y\n1,0\n", "svmlight"),
    "svmlight from zero": ("a.svm", b"1 0:1 1:2\n", "svmlight"),
    "svmlight not finite": ("a.svm", b"1 1:1 2:inf\n", "infinite"),
    "svmlight without rows": ("a.svm", b"", "empty"),
    "no Excel": ("a.xlsx", b"a,y\n1,0\n", "Excel"),
    "unknown ending": ("a.doc", b"a,y\n1,0\n", "ending"),
    "a model": ("m.skops", b"PK", "is a model by its ending, not a table; a model comes before items"),
    "no ending": ("a", b"a,y\n1,0\n", "ending"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_get_one_line_that_names_them(tmp_path, case):
    name, content, message = BAD_FILES[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match="no file"):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "visits.csv").touch()
    with pytest.raises(InputError, match=r"no file '.*visit\.csv'; did you mean '.*visits\.csv'\?$"):
        read_table(tmp_path / "visit.csv")
    with pytest.raises(InputError, match=r"no file '.*visits\.csv'\.$"):
        read_table(tmp_path / "nowhere" / "visits.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="not a file"):
        read_table(tmp_path / "folder.csv")


def test_encodings(tmp_path):
    file = _write(tmp_path / "b.csv", "слово,y\nда,1\nнет,0\n", encoding="cp1251")
    assert read_table(file, encoding="cp1251").columns == ["слово", "y"]
    with pytest.raises(InputError, match="encoding 'klingon' is not known"):
        read_table(file, encoding="klingon")
    with pytest.raises(InputError, match="is not utf-8 text"):
        read_table(file, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_encodings_found_out(tmp_path, encoding):
    text = "caf\u00e9,y\n" + "cr\u00e8me br\u00fbl\u00e9e,1\nfig,0\n" * 3
    table = read_table(_write(tmp_path / "a.csv", text, encoding=encoding))
    assert table.columns == ["caf\u00e9", "y"]
    assert table.frame.iloc[0, 0] == "cr\u00e8me br\u00fbl\u00e9e"
    assert bool(table.remarks) == (encoding in ("utf-16-le", "cp1252"))


def test_bytes_windows_does_not_know(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,y\n\x81\xe9,1\n")
    assert "latin-1" in read_table(tmp_path / "a.csv").remarks[0]


def test_separators(tmp_path):
    file = _write(tmp_path / "a.csv", "a:b:y\n1:2:0\n3:4:1\n")
    assert read_table(file, separator=":").columns == ["a", "b", "y"]
    with pytest.raises(InputError, match="separator '::': give a single character"):
        read_table(file, separator="::")
    # Commas inside the cells of a semicolon file do not count, nor does a header with one.
    file = _write(tmp_path / "b.csv", '"load, kN";seal;y\n1,5;a;0\n2,5;b;1\n3;a;0\n')
    assert read_table(file).columns == ["load, kN", "seal", "y"]


def test_excel_without_openpyxl(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"needs openpyxl: install it with `pip install toprank\[excel\]`"):
        read_table(tmp_path / "a.xlsx")


def test_names_in_brackets_are_no_json(tmp_path):
    assert read_table(_write(tmp_path / "a.csv", "[a],[y]\n1,0\n")).columns == ["[a]", "[y]"]


def test_what_spreadsheets_leave_below_a_table_is_no_item(tmp_path):
    table = read_table(_write(tmp_path / "a.csv", "a,b,y\n1,x,0\n,,\n3,z,1\n,,\n , ,\n"))
    assert table.frame["a"].tolist() == [1, 3]
    assert table.row_numbers.tolist() == [1, 3]
    assert table.remarks == ("a.csv: 3 rows, the first row 2, are empty and were left out.",)
    one = read_table(_write(tmp_path / "b.csv", "a,y\n1,0\n,\n"))
    assert one.remarks == ("b.csv: row 2 is empty and was left out.",)


def test_rows_keep_their_numbers_when_some_are_taken():
    table = Table(pd.DataFrame({"a": [5, 6, 7, 8]}))
    assert table.row_numbers.tolist() == [1, 2, 3, 4]
    assert table.take(np.array([3, 1])).take(np.array([1])).row_numbers.tolist() == [2]


def test_a_column_that_is_not_there():
    frame = pd.DataFrame([[1, 2]], columns=["failed", "age"])
    with pytest.raises(
        InputError, match=r"target 'failedd': .*; did you mean 'failed'\? there are failed, age"
    ):
        Table(frame).column("failedd", argument="target")
    with pytest.raises(InputError, match=r"id 'AGE': .*; did you mean 'age'\? there are failed, age"):
        Table(frame).column("AGE", argument="id")
    with pytest.raises(InputError, match=r"there are 0\.1, 3; the first line has to be the names"):
        Table(frame.set_axis(["0.1", "3"], axis=1)).column("y", argument="target")
