import gzip
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from scale_items import items, model_of
from toprank import RankSVM, RankThenRerank
from toprank.datasets import InputError
from toprank.model import save_model
from toprank.workflow.ranking.stream import score_stream
from toprank.workflow.score import score_file

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from toprank.scale.files import parts as parts_module  # noqa: E402
from toprank.scale.files.addresses import list_files  # noqa: E402
from toprank.scale.files.parts import open_parts  # noqa: E402
from toprank.scale.files.score_files import ScoreFiles  # noqa: E402
from toprank.scale.files.scoring import score_parts  # noqa: E402

RANKERS = {
    "logistic": LogisticRegression,
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "svm": RankSVM,
    "rerank": lambda: RankThenRerank(LogisticRegression(), RankSVM(), top=60, random_state=0),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts_module, "BATCH_ROWS", 64)
    return tmp_path


def write_parts(folder, n=700, row_group_size=150):
    """Three Parquet files with row groups and a CSV file; all of it as one table, in the order of names."""
    folder.mkdir()
    frames = [items(n, seed) for seed in range(4)]
    for seed in range(3):
        frames[seed].to_parquet(folder / f"a{seed}.parquet", row_group_size=row_group_size)
    frames[3].to_csv(folder / "b3.csv", index=False)
    return pd.concat(frames, ignore_index=True)


def place_of(code):
    seed, row = code.split("-")
    return f"{'b3.csv' if seed == '3' else f'a{seed}.parquet'}:{int(row) + 1}"


# -- the same list as in memory --------------------------------------------------------------------


@pytest.mark.parametrize("name", RANKERS)
def test_the_best_of_a_stream_are_those_of_the_whole_table(name, here):
    whole = write_parts(here / "items")
    model = model_of(RANKERS[name]())
    listed, _ = model.ranked(whole)
    stream = open_parts(list_files(["items"]))
    for top in (1, 37, 400):
        found = score_parts(model, stream, top=top)
        assert found.rows == len(whole)
        again, _ = model.ranked(found.table)
        assert again["code"].tolist() == listed["code"].head(top).tolist()
        np.testing.assert_allclose(again["score"], listed["score"].head(top), rtol=1e-12, atol=1e-12)
        places = [f"{file}:{row}" for file, row in zip(found.file, found.row, strict=True)]
        assert places == [place_of(code) for code in found.table.frame["code"]]


def test_more_than_there_are(here):
    whole = write_parts(here / "items", n=100)
    found = score_parts(model_of(LogisticRegression()), open_parts(list_files(["items"])), top=10_000)
    assert len(found.table) == len(whole)


def test_all_rows_equal(here):
    """Ties go by the order of the files, whichever thread comes first; and nothing piles up."""
    frame = items(1, 5)
    pd.concat([frame] * 3000).assign(code=range(3000)).to_parquet("same.parquet", row_group_size=500)
    model = model_of(LogisticRegression())
    found = score_parts(model, open_parts(list_files(["same.parquet"])), top=20)
    assert found.row.tolist() == list(range(1, 21))


def test_only_what_can_still_be_in_the_top_is_encoded(here, monkeypatch):
    from toprank.datasets.encode import ColumnEncoder

    write_parts(here / "items", n=2000)
    model, encoded = model_of(LogisticRegression()), []
    encode = ColumnEncoder.encode
    monkeypatch.setattr(
        ColumnEncoder, "encode", lambda self, table: (encoded.append(len(table)), encode(self, table))[1]
    )
    found = score_parts(model, open_parts(list_files(["items"])), top=10, n_jobs=1)
    assert found.rows == 8000
    assert sum(encoded) < 1500


# -- kinds of files --------------------------------------------------------------------------------


def scored_as_whole(path, **how):
    """The stream's list of a file beside that of `score_file`."""
    save_model(model_of(LogisticRegression()), "m.json")
    stream, whole = score_stream("m.json", [path], top=25, **how), score_file("m.json", path, top=25, **how)
    assert stream.listing["code"].tolist() == whole.listing["code"].tolist()
    assert stream.listing["why"].tolist() == whole.listing["why"].tolist()
    assert stream.listing.columns.tolist() == whole.listing.columns.tolist()
    return stream


def test_a_list_with_its_reasons_is_that_of_the_whole_file(here):
    items(900).to_parquet("items.parquet", row_group_size=200)
    stream = scored_as_whole("items.parquet")
    assert stream.rows == 900
    (note,) = [note for note in stream.notes if note.column == "a"]
    assert "missing, set to the median" in note.text
    assert "row group 0, and in" in note.text


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
def test_text_files(ending, here):
    text = items(300).to_csv(index=False, sep="\t" if ending == ".tsv" else ",").encode()
    path = here / f"items{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    scored_as_whole(path.name)


def test_lines_before_the_header(here):
    for before in ("\n\n", "sep=;\n", "\n\nsep=;\n", "sep=;\n\n"):
        (here / "items.csv").write_text(before + items(300).to_csv(index=False, sep=";"))
        scored_as_whole("items.csv")


def test_encodings_and_separators(here):
    frame = items(300).assign(kind=lambda some: some["kind"].replace("u", "ü"))
    for encoding in ("latin-1", "utf-8-sig", "utf-16"):
        (here / "items.csv").write_bytes(frame.to_csv(index=False, sep=";").encode(encoding))
        scored_as_whole("items.csv")


def test_folders_that_say_the_value_of_a_column(here):
    frame = items(600)
    for kind, some in frame.groupby("kind"):
        (here / "items" / f"kind={kind}").mkdir(parents=True)
        some.drop(columns="kind").to_parquet(here / "items" / f"kind={kind}" / "part.parquet")
    model = model_of(LogisticRegression())
    found = score_parts(model, open_parts(list_files(["items"])), top=30)
    listed, _ = model.ranked(frame.sort_values("kind", kind="stable").reset_index(drop=True))
    assert model.ranked(found.table)[0]["code"].tolist() == listed["code"].head(30).tolist()


def test_addresses(here):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    frame = items(200)
    frame.to_parquet("items.parquet")
    system = fsspec.filesystem("memory")
    with system.open("memory://shop/items/one.parquet", "wb") as file:
        file.write((here / "items.parquet").read_bytes())
    with system.open("memory://shop/items/_SUCCESS", "wb") as file:
        file.write(b"")
    model = model_of(LogisticRegression())
    for address in (
        "memory://shop/items",
        "memory://shop/items/*.parquet",
        "memory://shop/items/one.parquet",
    ):
        assert len(score_parts(model, open_parts(list_files([address])), top=5).table) == 5
    with pytest.raises(InputError, match="no file at 'memory://shop/none"):
        list_files(["memory://shop/none.parquet"])


# -- what is wrong with a file is said of that file ------------------------------------------------


def test_a_missing_column_is_named_before_anything_is_read(here):
    write_parts(here / "items")
    items(10).drop(columns=["kind", "a"]).to_parquet("items/z.parquet")
    with pytest.raises(InputError, match=r"z\.parquet, row group 0 lacks columns .* 'a', 'kind'\."):
        score_parts(model_of(LogisticRegression()), open_parts(list_files(["items"])), top=5)


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        ("a", ["much"] * 400, "Column 'a' holds 'much' in row 1"),
        ("b", [np.inf] + [0.0] * 399, "Column 'b' holds an infinite value in row 1"),
        ("count", pd.to_datetime(["2024-01-01"] * 400), "Column 'count' holds dates"),
        ("kind", range(400), "Column 'kind' holds numbers"),
    ],
)
def test_a_bad_batch_names_file_and_row_group(column, cells, words, here):
    frame = items(400)
    bad = frame.assign(**{column: cells}).iloc[::-1]
    pd.concat([frame] * 2).to_parquet("good.parquet", row_group_size=100)
    bad.to_parquet("bad.parquet", row_group_size=200)
    save_model(model_of(LogisticRegression()), "m.json")
    with pytest.raises(InputError) as raised:
        score_stream("m.json", ["good.parquet", "bad.parquet"], top=5, every=here / "scores")
    assert str(raised.value).startswith("bad.parquet, row group ")
    assert words.partition(" in row")[0] in str(raised.value)
    assert sorted(path.name for path in here.iterdir()) == ["bad.parquet", "good.parquet", "m.json"]


def test_damaged_files(here):
    items(400).to_parquet("items.parquet", row_group_size=100)
    content = bytearray((here / "items.parquet").read_bytes())
    (here / "cut.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"cut\.parquet: cannot be read"):
        open_parts(list_files(["cut.parquet"]))
    (here / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (part,) = open_parts(list_files(["ragged.csv"]))
    with pytest.raises(InputError, match=r"ragged\.csv: cannot be read: .*3"):
        list(part.batches(["a"]))


def test_names_that_lead_nowhere(here):
    (here / "empty").mkdir()
    (here / "items.xlsx").write_bytes(b"PK")
    for name, words in (
        ("none.parquet", "no file 'none.parquet'"),
        ("none/*.csv", "No file matches 'none/"),
        ("empty", "folder 'empty' holds no Parquet or CSV file"),
        ("items.xlsx", "cannot be read piece by piece"),
    ):
        with pytest.raises(InputError, match=words.replace("*", ".*")):
            list_files([name])


def test_without_the_extra(here, monkeypatch):
    import sys

    items(10).to_csv("items.csv", index=False)
    for name in [name for name in sys.modules if name.startswith("pyarrow")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"need pyarrow: install it with `pip install 'toprank\[parquet\]'`"):
        list_files(["items.csv"])


# -- every score, and Ctrl-C -----------------------------------------------------------------------


def test_every_score(here):
    whole = write_parts(here / "items")
    model = model_of(LogisticRegression())
    save_model(model, "m.json")
    report = score_stream("m.json", ["items"], every=here / "scores")
    assert len(report.listing) == 0
    written = pd.concat([pd.read_parquet(path) for path in sorted((here / "scores").iterdir())])
    assert written["code"].tolist() == whole["code"].tolist()
    np.testing.assert_allclose(written["score"], model.scores(whole)[0], rtol=1e-12, atol=1e-12)
    assert written.groupby("file", observed=True)["row"].max().tolist() == [700] * 4
    with pytest.raises(InputError, match="'scores' is not empty"):
        score_stream("m.json", ["items"], every=here.joinpath("scores").relative_to(here))


class Pressed:
    """A part during which Ctrl-C is pressed when it is first read; then it has no end of its own."""

    def __init__(self, part):
        self._part = part
        self._pressed = False

    def __getattr__(self, name):
        return getattr(self._part, name)

    def batches(self, columns):
        batches = list(self._part.batches(columns))
        yield batches[0]
        if not self._pressed:
            self._pressed = True
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                time.sleep(0.01)
                yield batches[1].slice(0, 0)
        yield from batches[1:]


def test_ctrl_c_leaves_what_was_found(here):
    items(400).to_parquet("items.parquet", row_group_size=200)
    first, second = open_parts(list_files(["items.parquet"]))
    model, every = model_of(LogisticRegression()), ScoreFiles(here / "scores", "code")
    found = score_parts(model, [first, Pressed(second)], top=5, every=every, n_jobs=1)
    every.deliver()
    assert found.interrupted
    assert found.rows == 264
    assert len(found.table) == 5
    assert [path.name for path in (here / "scores").iterdir()] == ["part-00000.parquet"]
    assert len(pd.read_parquet("scores")) == 200
