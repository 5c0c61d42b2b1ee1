import numpy as np
import pandas as pd
import pytest

from scale_items import items
from toprank.datasets import Declared, InputError, Table, described, learn_encoder, read_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from toprank.scale.files import parts as parts_module  # noqa: E402
from toprank.scale.files.addresses import list_files  # noqa: E402
from toprank.scale.files.parts import open_parts  # noqa: E402
from toprank.scale.in_passes import learn_columns as module  # noqa: E402
from toprank.scale.in_passes import numbers, words  # noqa: E402


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts_module, "BATCH_ROWS", 64)
    monkeypatch.setattr(numbers, "SMALLEST_SAMPLE", 40)  # so that medians need their second pass
    return tmp_path


def messy(n, seed=0):
    """Columns of every kind, with gaps, codes for missing values, ties, spellings and times."""
    rng = np.random.default_rng(seed)
    frame = items(n, seed).drop(columns=["code", "y"])
    when = np.datetime64("2024-01-01T00:00") + rng.integers(0, 10_000, n).astype("timedelta64[m]")
    frame["when"] = pd.Series(when).mask(rng.random(n) < 0.1)
    frame["day"] = [f"{1 + k % 28:02d}/{1 + k % 12:02d}/2023" for k in rng.integers(0, 900, n)]
    frame["income"] = np.where(rng.random(n) < 0.03, -999.0, rng.lognormal(3, 1, n))
    frame["far"] = 1e9 + rng.normal(size=n)
    frame["seal"] = rng.choice(["rubber", "Rubber", "steel", "", "brass"], n)
    frame["same"] = 7
    frame["flag"] = rng.random(n) < 0.3
    return frame


def in_passes(declared=None, data="data"):
    parts = open_parts(list_files([data]))
    names = parts[0].columns
    rows = sum(len(batch) for part in parts for batch in part.batches(names[:1]))
    return module.learn_columns(parts, names, declared or Declared(), rows=rows)


def in_memory(frame, declared=None):
    table = described(Table(frame), declared or Declared())
    return learn_encoder(table)


def assert_same(found, wanted):
    (encoder, notes), (other, others) = found, wanted
    assert [(n.column, n.action, n.text, n.warning) for n in notes] == [
        (n.column, n.action, n.text, n.warning) for n in others
    ]
    for one, two in zip(encoder.to_dict()["columns"], other.to_dict()["columns"], strict=True):
        figures = [
            {key: column.pop(key) for key in ("mean", "scale") if key in column} for column in (one, two)
        ]
        assert one == two  # medians, categories and readings to the last digit
        for key in figures[0]:
            np.testing.assert_allclose(figures[0][key], figures[1][key], rtol=1e-12, atol=1e-12)


def write(frames, row_group_size=90):
    from pathlib import Path

    Path("data").mkdir()
    for k, frame in enumerate(frames):
        frame.to_parquet(f"data/{k}.parquet", row_group_size=row_group_size)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_encoder_of_parquet_files_is_the_one_of_their_rows_in_memory(here, seed):
    frames = [messy(n, seed) for n in (333, 5, 480)]
    write(frames)
    assert_same(in_passes(), in_memory(pd.concat(frames, ignore_index=True)))


def test_what_the_user_says_about_columns_counts(here):
    frames = [messy(200, seed) for seed in (3, 4)]
    write(frames)
    declared = Declared.of(
        frames[0].columns, categorical=["count"], missing=["income=-999"], read=["day=month first"]
    )
    assert_same(in_passes(declared), in_memory(pd.concat(frames, ignore_index=True), declared))


def test_the_encoder_of_a_text_file_is_the_one_of_its_table(here):
    frame = messy(400).drop(columns="when")
    frame["zip"] = [f"{k:05d}" for k in range(100, 500)]
    frame["late"] = ["1.5"] * 390 + ["about 3"] * 10  # numbers in the first batches, words in the last
    frame.to_csv("items.csv", index=False)
    assert_same(in_passes(data="items.csv"), in_memory(read_table("items.csv").frame))


def test_a_column_that_is_stored_in_two_ways_is_read_cell_by_cell(here):
    one, two = messy(80), messy(80, 1)
    two["a"] = two["a"].map(lambda cell: None if np.isnan(cell) else f"{cell}")
    write([one, two])
    assert_same(in_passes(), in_memory(pd.concat([one, two], ignore_index=True)))


def test_what_cannot_be_learned_from_is_said(here, monkeypatch):
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0], "b": ["x", "y", "z"]})
    write([frame])
    with pytest.raises(
        InputError, match=r"0.parquet, row group 0: column 'a' holds an infinite value in row 2"
    ):
        in_passes()
    monkeypatch.setattr(words, "MOST_DIFFERENT", 2)
    pd.DataFrame({"b": ["x", "y", "z"]}).to_parquet("b.parquet")
    with pytest.raises(InputError, match="'b' holds more than 2 different texts"):
        in_passes(data="b.parquet")


@pytest.mark.parametrize("width", [1e-9, 1.0])
def test_a_median_outside_the_bracket_is_looked_for_again(here, monkeypatch, width):
    monkeypatch.setattr(numbers, "SURE", width)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=2001), "b": rng.integers(0, 3, 2001).astype(float)})
    write([frame])
    assert_same(in_passes(), in_memory(frame))
