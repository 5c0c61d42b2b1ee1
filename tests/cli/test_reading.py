"""How files are read, from the command line to what is printed."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from toprank.cli.main import main

QUICK = ["--splits", "0", "--ranker", "logistic"]


def _content(rows=80):
    """A file with everything in it that people write into files."""
    rng = np.random.default_rng(3)
    lines = ["pump|price|share|when|age|note|loss"]
    for k in range(rows):
        price, share = rng.integers(500, 90_000), rng.uniform(0, 100)
        loss = price / 1000 - share + rng.normal(0, 5)
        age = -999 if k % 9 == 0 else rng.integers(20, 60)
        day, month = rng.integers(1, 28), rng.integers(1, 12)
        lines.append(
            f"{k:04d}|${price:,}|{share:.1f} %|{day:02d}/{month:02d}/2024|{age}|caf\u00e9 {k}|{loss:.2f}"
        )
    return ("\n".join(lines) + "\n").encode("latin-1")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pumps.csv").write_bytes(_content())
    return tmp_path


def test_warnings_stand_above_the_list(here, capsys):
    assert main(["rank", "pumps.csv", "-t", "loss", "--positive", ">=0", "--id", "pump", *QUICK]) == 0
    shown = capsys.readouterr().out
    top, _, rest = shown.partition("\nrank ")
    assert rest
    for words in (
        "with loss >=0.",
        "not UTF-8",
        "'age': holds -999",
        "--missing 'age=-999'",
        "'note': left out",
    ):
        assert words in top
        assert words not in rest
    assert "day first" in rest


def test_answers_to_the_warnings_silence_them(here, capsys):
    told = ["--encoding", "latin-1", "--separator", "pipe", "--missing", "age=-999", "--ignore", "note"]
    arguments = [
        "rank",
        "pumps.csv",
        "-t",
        "loss",
        "--positive",
        "top25%",
        "--id",
        "pump",
        *told,
        *QUICK,
        "--json",
    ]
    assert main(arguments) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["remarks"] == []
    assert summary["positives"] == 20
    assert summary["positive"][0].startswith(">=")
    assert not any(note["warning"] for note in summary["columns"])


def test_a_saved_model_reads_standard_input_as_it_read_the_file(here, capsys, monkeypatch):
    arguments = [
        "rank",
        "pumps.csv",
        "-t",
        "loss",
        "--positive",
        ">=0",
        "--id",
        "pump",
        "-m",
        "m.json",
        *QUICK,
    ]
    # The file as new items: the same rows by the model itself, not out of fold.
    assert main([*arguments, "-q", "--new", "pumps.csv", "-o", "a.csv"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(_content())))
    assert main(["score", "m.json", "-", "-o", "b.csv"]) == 0
    assert "standard input is not UTF-8" in capsys.readouterr().out
    one, other = (pd.read_csv(here / name, dtype=str) for name in ("a.csv", "b.csv"))
    pd.testing.assert_frame_equal(one[other.columns], other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--missing", "agee=-999"], "missing 'agee=-999': there is no column 'agee'"),
        (["--read", "when=later"], "'later' is no way to read a column"),
        (["--encoding", "klingon"], "encoding 'klingon' is not known"),
        (["--separator", "||"], "separator '||'"),
        (["--positive", "top0%"], "between 0 and 100"),
    ],
)
def test_options_that_cannot_be(here, capsys, options, message):
    positive = [] if "--positive" in options else ["--positive", ">=0"]
    assert main(["rank", "pumps.csv", "-t", "loss", *positive, *options, *QUICK]) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert message in errors
    assert errors.count("\n") == 1
