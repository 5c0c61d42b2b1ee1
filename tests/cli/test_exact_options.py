"""What can be asked of the exact ranker on the command line, and the worked example of the docs."""

import json
import pathlib
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from toprank.cli.main import main
from toprank.datasets import inspections

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "first-steps.md"
QUICK = ["--splits", "0", "--time-limit", "20", "--quiet"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)).round(2)
    y = (X @ [1.0, -1.0, 0.1] + rng.normal(scale=0.5, size=30) > 0.6).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=["u", "v", "w"] * 10, y=y)
    frame.to_csv("items.csv", index=False)
    return tmp_path


def _rank(*options):
    return main(["rank", "items.csv", "-t", "y", "--ignore", "kind", "--budget", "5", *QUICK, *options])


def _learned(model):
    """Coefficients and parameters of the exact ranker in a model file."""
    text = json.loads(pathlib.Path(model).read_text())
    exact = [one for one in _walk(text) if one.get("class") == "ExactRanker" and "coef_" in one["learned"]]
    return np.array(exact[0]["learned"]["coef_"]), exact[0]["parameters"]


def _walk(value):
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _walk(one)
    elif isinstance(value, list):
        for one in value:
            yield from _walk(one)


def test_options_reach_the_exact_ranker(here):
    assert _rank("--model", "m.json", "--ranker", "exact") == 0
    free, _ = _learned("m.json")
    assert _rank("--penalty", "0.3", "--model", "m.json", "--ranker", "exact") == 0
    priced, parameters = _learned("m.json")
    assert parameters["penalty"] == 0.3
    assert 0 < np.count_nonzero(priced) < np.count_nonzero(free)
    assert _rank("--margin", "0.01", "--solver", "mip", "--backend", "highs", "--model", "m.json") == 0
    _, parameters = _learned("m.json")
    assert (parameters["margin"], parameters["solver"]) == (0.01, "mip")


def test_a_statistic_only_the_search_can_maximise(here):
    assert _rank("--statistic", "average_precision", "--ranker", "exact", "--model", "m.json") == 0
    assert _learned("m.json")[1]["statistic"] == "average_precision"


def test_threshold_says_from_where_on_to_rerank(here, capsys):
    assert _rank("--threshold", "-1000", "--json") == 0
    assert json.loads(capsys.readouterr().out)["depth"] == 30
    assert _rank("--threshold", "0.0", "--json") == 0
    assert json.loads(capsys.readouterr().out)["depth"] < 30


def test_constraints_are_met(here, capsys):
    pathlib.Path("rules.toml").write_text('points = 2\nmost_features = 2\n[signs]\nb = "+"\n')
    assert _rank("--constraints", "rules.toml", "--model", "m.json", "--json") == 0
    coefficients, _ = _learned("m.json")
    assert set(np.unique(coefficients)) <= {-2.0, -1.0, 0.0, 1.0, 2.0}
    assert np.count_nonzero(coefficients) <= 2
    assert coefficients[1] >= 0  # without the demand it is negative
    assert "under constraints: signs" in json.loads(capsys.readouterr().out)["certainty"]
    assert main(["score", "m.json", "items.csv", "--quiet"]) == 0


def test_must_haves_stand_at_the_top(here):
    pathlib.Path("rules.toml").write_text("[[top]]\nfirst = 5\ncolumn = 'kind'\nvalue = 'w'\nat_least = 4\n")
    arguments = ["rank", "items.csv", "-t", "y", "--budget", "5", *QUICK, "--constraints", "rules.toml"]
    assert main([*arguments, "--new", "items.csv", "--out", "ranked.csv"]) == 0
    assert (pd.read_csv("ranked.csv")["kind"].head(5) == "w").sum() >= 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--penalty", "-1"], "--penalty -1: give a number from 0"),
        (["--margin", "nan"], "--margin nan: give a number from 0"),
        (["--solver", "magic"], "--solver 'magic' is not one of search, mip"),
        (["--backend", "magic"], "--backend 'magic' is not one of"),
        (["--backend", "highs"], "--backend solves mixed-integer programs: add --solver mip"),
        (["--penalty", "1", "--ranker", "forest"], "--penalty is for --ranker rerank or ExactRanker"),
        (["--threshold", "1", "--depth", "9"], "--threshold and --depth both say"),
        (["--threshold", "1", "--ranker", "exact"], "it is for --ranker rerank"),
        (["--constraints", "none.toml"], "'none.toml' cannot be read: No such file"),
        (["--constraints", "items.csv"], "'items.csv' is no TOML"),
    ],
)
def test_what_does_not_fit_is_one_line(here, capsys, options, said):
    assert _rank(*options) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "demands nothing; write most_features, points, signs, top"),
        ("most = 3", "most: there is no such key; there are most_features"),
        ("points = 0", "points = 0: give a whole number from 1"),
        ("most_features = true", "most_features = True: give a whole number from 1"),
        ("signs = 3", "signs: make it a table"),
        ("[signs]\na = 1", 'signs.a = 1: write "+"'),
        ('[signs]\nq = "+"', "signs.q: there is no such feature; there are a, b, c"),
        ("top = 3", "top: make it a list of tables"),
        ("[[top]]\nfirst = 3", "top[1].column: it is missing"),
        ("[[top]]\nfirst = 3\ncolumn = 'a'\nvalue = 1", "top[1].at_least: say at_least or at_most"),
        ("[[top]]\nfirst = 3\ncolumn = 'a'\nvalue = 1\nat_least = 4", "cannot be more than first = 3"),
        ("[[top]]\nfirst = 3\ncolumn = 'q'\nvalue = 1\nat_least = 1", "top[1].column = 'q'"),
        ("[[top]]\nfirst = 3\ncolumn = 'a'\nvalue = 77\nat_least = 1", "top[1].value = '77': no row has it"),
        ("[[top]]\nfirst = 30\ncolumn = 'a'\nvalue = VALUE\nat_least = 1", "give a number below 30"),
    ],
)
def test_every_error_of_the_file_names_the_key(here, capsys, text, said):
    value = pd.read_csv("items.csv")["a"][0]
    pathlib.Path("rules.toml").write_text(text.replace("VALUE", str(value)))
    assert _rank("--constraints", "rules.toml") == 2
    shown = capsys.readouterr().err
    assert shown.startswith("toprank: --constraints 'rules.toml'")
    assert said in shown


def test_a_sign_of_words_names_their_features(here, capsys):
    pathlib.Path("rules.toml").write_text('[signs]\nkind = "+"')
    arguments = ["rank", "items.csv", "-t", "y", *QUICK, "--constraints", "rules.toml"]
    assert main(arguments) == 2
    assert "signs.kind: holds words; name one of its features: kind=v, kind=w" in capsys.readouterr().err


def test_the_worked_example(tmp_path, monkeypatch, capsys):
    """The file and the commands of the page, as they stand there."""
    monkeypatch.chdir(tmp_path)
    section = PAGE.read_text().partition("## Demands on the model")[2].partition("\n## ")[0]
    rules, commands = re.findall(r"^```(?:toml|sh)\n(.*?)^```", section, re.M | re.S)
    pathlib.Path("rules.toml").write_text(rules)
    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        if program == "head":
            assert arguments == ["-n", "41", "visits.csv", ">", "few.csv"]
            inspections().head(40).to_csv("few.csv", index=False)
        else:
            assert main(arguments) == 0
    shown = " ".join(capsys.readouterr().out.split())
    claims = [" ".join(one.split()) for one in re.findall(r'"(proved\s+optimal.*?rows)"', section, re.S)]
    assert len(claims) == 1
    for claim in claims:
        assert all(part in shown for part in claim.split(" ... "))
    coefficients, _ = _learned("card.json")
    assert sorted(coefficients[coefficients != 0]) == [1.0, 3.0]


def test_a_price_for_features_that_compare_pairs(here):
    frame = pd.read_csv("items.csv").drop(columns=["kind", "y"]).assign(code=range(30))
    frame.to_csv("things.csv", index=False)
    better = frame.sort_values("a")["code"].to_numpy()
    pairs = pd.DataFrame({"better": better[1:], "worse": better[:-1]})
    pairs.to_csv("pairs.csv", index=False)
    arguments = ["rank", "things.csv", "--pairs", "pairs.csv", "--id", "code", "--time-limit", "5", "--quiet"]
    assert main([*arguments, "--penalty", "0.05", "--model", "m.json"]) == 0
    coefficients, _ = _learned("m.json")
    assert np.flatnonzero(coefficients).tolist() == [0]
    assert main([*arguments, "--penalty", "0.05", "--ranker", "svm"]) == 2
