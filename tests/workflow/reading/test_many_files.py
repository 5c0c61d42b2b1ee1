"""What is wrong with several files is said of several, and of one file of one."""

import pandas as pd
import pytest

from toprank.cli.main import main

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

WRONG = {
    "no such column": (["--target", "nope"], "target 'nope': no such column in {}; there are a, b, y."),
    "nothing left": (
        ["--target", "y", "--ignore", "a", "--ignore", "b"],
        "{}: there are no columns left to learn from.",
    ),
    "constant": (
        ["--target", "y", "--ignore", "a"],
        "{}: there is no column to learn from ('b' constant).",
    ),
}


@pytest.mark.parametrize("files, called", [(["a.csv"], "a.csv"), (["a.csv", "b.csv"], "2 files")])
@pytest.mark.parametrize("wrong", WRONG)
def test_messages_fit_one_file_and_several(wrong, files, called, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in files:
        pd.DataFrame({"a": range(9), "b": 1, "y": [0, 1, 0] * 3}).to_csv(name, index=False)
    arguments, message = WRONG[wrong]
    assert main(["rank", *files, *arguments]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"toprank: {message.format(called)}"
