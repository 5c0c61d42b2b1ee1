import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from toprank.datasets import InputError, read_table


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
    assert read_table(file).frame["code"].tolist() == [7, 10]


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
    "latin-1": ("a.csv", "caf\xe9,y\n1,0\n".encode("latin-1"), "UTF-8"),
    "latin-1 below": ("a.csv", "a,y\nx,0\ncaf\xe9,0\n".encode("latin-1"), "UTF-8"),
    "utf-16": ("a.csv", "a,y\n1,0\n".encode("utf-16"), "UTF-8"),
    "zero bytes": ("a.csv", b"a,\0y\n1,0\n", "zero bytes"),
    "open quote": ("a.csv", b'a,y\n"1,0\n2,1\n', "not a proper table"),
    "not packed": ("a.csv.gz", b"a,y\n1,0\n", "Cannot read"),
    "cut short": ("a.csv.gz", gzip.compress(b"a,y\n" + b"1,0\n" * 1000)[:30], "Cannot read"),
    "no parquet": ("a.parquet", b"a,y\n1,0\n", "Parquet"),
    "no svmlight": ("a.svm", b"a,y\n1,0\n", "svmlight"),
    "svmlight from zero": ("a.svm", b"1 0:1 1:2\n", "svmlight"),
    "svmlight not finite": ("a.svm", b"1 1:1 2:inf\n", "infinite"),
    "svmlight without rows": ("a.svm", b"", "empty"),
    "unknown ending": ("a.xlsx", b"a,y\n1,0\n", "ending"),
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
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="not a file"):
        read_table(tmp_path / "folder.csv")
