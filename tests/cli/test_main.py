import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import toprank
from toprank.cli.main import main
from toprank.datasets import inspections
from toprank.lineup import lineup
from toprank.workflow import compare as comparing

QUICK = ["--splits", "1", "--ranker", "rerank", "--depth", "40", "--budget", "10"]


def _items(n=120, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    frame = pd.DataFrame(
        {
            "code": [f"{i:04d}" for i in range(n)],
            "a": np.where(rng.random(n) < 0.05, np.nan, a),
            "b": b,
            "kind": rng.choice(["u", "v", "w"], n),
            "same": 3,
            "y": (a + 0.4 * b + rng.normal(size=n) > 0.9).astype(int),
        }
    )
    frame["grade"] = frame["y"] + (frame["b"] > 1)
    frame["one"] = 1
    frame["gaps"] = frame["y"].where(frame["b"] < 1.5)
    frame["twice"] = frame["code"].where(frame.index != 5, "0004")
    return frame


ROLES = ["--id", "code", "--ignore", "grade", "--ignore", "one", "--ignore", "gaps", "--ignore", "twice"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _items().to_csv("items.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def model_text(tmp_path_factory):
    """A model of the items, as text."""
    folder = tmp_path_factory.mktemp("model")
    _items().to_csv(folder / "items.csv", index=False)
    path = folder / "m.json"
    arguments = [
        "rank",
        str(folder / "items.csv"),
        "-t",
        "y",
        "--model",
        str(path),
        "--quiet",
        *ROLES,
        *QUICK,
    ]
    assert main(arguments) == 0
    return path.read_text()


def _files(folder):
    return sorted(path.name for path in folder.iterdir())


# -- what works ------------------------------------------------------------------------------------


def test_rank_prints_and_writes(here, capsys):
    options = ["--out", "ranked.csv", "--model", "model.json", "--statistic", "dcg", "--time-limit", "30"]
    assert main(["rank", "items.csv", "--target", "y", *ROLES, *QUICK, *options]) == 0
    shown, errors = capsys.readouterr()
    assert errors == "" or errors.startswith("Compiling kernels")
    for words in (
        "120 labelled items",
        "Budget: the first 10",
        "had not seen its own label",
        "Hits on held-out items",
        "delivered: linear reranker",
        "Of the first 10 you would find",
        "by chance",
        "Search over all linear orders of the 40 items that were reranked, the first by scores that",
    ):
        assert words in shown
    assert "4 features, numbers standardised; id 'code'; ignored 'grade', 'one'" in shown
    for words in ("a     imputed", "kind  one-hot", "same  dropped: constant", "ranked.csv", "model.json"):
        assert words in shown
    ranked = pd.read_csv("ranked.csv", dtype={"code": str})
    assert ranked["rank"].tolist() == list(range(1, 121))
    assert sorted(ranked["code"]) == sorted(_items()["code"])
    assert list(ranked.columns[:4]) == ["rank", "score", "order", "logistic_rank"]
    assert f"{ranked['code'][0]}" in shown
    assert json.loads(Path("model.json").read_text())["statistic"] == "dcg"
    assert _files(here) == ["items.csv", "model.json", "ranked.csv"]


def test_the_list_names_the_query_of_each_item(here, capsys):
    items = _items().assign(search=np.where(np.arange(120) % 3 == 0, "boots", "coats"))
    items.to_csv("searches.csv", index=False)
    options = ["--ranker", "RankRLS", "--splits", "0", "--budget", "5", "--head", "3", "--qid", "search"]
    assert main(["rank", "searches.csv", "-t", "y", *ROLES, *options]) == 0
    shown = capsys.readouterr().out
    assert "Budget: the first 5 of each query." in shown
    lines = [line.split() for line in shown.splitlines()]
    heads = next(line for line in lines if line[:1] == ["rank"])
    assert heads[:4] == ["rank", "code", "search", "y"]
    places = [line[:3:2] for line in lines if line[:1] in (["1"], ["2"], ["3"]) and len(line) > 3]
    assert places == [["1", "boots"], ["2", "boots"], ["3", "boots"]]


def test_json_is_all_there_is_on_standard_output(here, capsys):
    assert main(["rank", "items.csv", "-t", "y", *ROLES, *QUICK, "--json", "--head", "3"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == 120
    assert summary["budget"] == 10
    assert summary["depth"] == 40
    assert summary["delivered"] == "rerank"
    assert len(summary["list"]) == 3
    assert summary["list"][0]["rank"] == 1
    assert {line["k"] for line in summary["held_out"]["hits"]} == {10, 20, 50}
    assert summary["outcome"]["status"] in {"optimal", "finished"}
    assert {note["column"] for note in summary["columns"]} == {"a", "kind", "same"}
    assert summary["held_out"]["p_value"] is None  # one split: no test


def test_quiet_means_quiet(here, capsys):
    assert main(["rank", "items.csv", "-t", "y", *ROLES, *QUICK, "-q", "-o", "r.parquet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert len(pd.read_parquet("r.parquet")) == 120


def test_new_items_and_score_agree(here, capsys):
    _items(30, seed=5).drop(columns="y").to_csv("new.csv", index=False)
    options = ["--new", "new.csv", "--out", "one.csv", "--model", "m.json"]
    assert main(["rank", "items.csv", "-t", "y", *ROLES, *QUICK, *options]) == 0
    assert "... and 20 more rows" in capsys.readouterr().out
    assert main(["score", "m.json", "new.csv", "--out", "other.csv"]) == 0
    one, other = pd.read_csv("one.csv"), pd.read_csv("other.csv")
    pd.testing.assert_frame_equal(one[other.columns], other)
    assert set(one.columns) - set(other.columns) == {"order", "logistic_rank", "in_first_10"}
    assert "has labels" not in capsys.readouterr().out


def test_score_says_how_good_the_list_is_where_there_are_labels(here, model_text, capsys):
    Path("m.json").write_text(model_text)
    assert main(["score", "m.json", "items.csv", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    best_first = [row["y"] for row in summary["list"]]
    assert len(best_first) == 10
    assert main(["score", "m.json", "items.csv", "--json", "--head", "500"]) == 0
    summary = json.loads(capsys.readouterr().out)
    labels = [row["y"] for row in summary["list"]]
    expected = sum(label / np.log2(position + 2) for position, label in enumerate(labels[:10]))
    assert summary["value"] == pytest.approx(expected)
    assert main(["score", "m.json", "items.csv"]) == 0
    assert "The file has labels: dcg@10 = " in capsys.readouterr().out


def test_score_goes_by_row_number_where_the_identifier_is_missing(here, model_text, capsys):
    Path("m.json").write_text(model_text)
    _items(12).drop(columns="code").to_csv("new.csv", index=False)
    assert main(["score", "m.json", "new.csv"]) == 0
    assert "no column 'code': its rows go by their number" in capsys.readouterr().out


def test_compare_shows_a_table(here, capsys, monkeypatch):
    def two(*arguments, **options):
        return [one for one in lineup(*arguments, **options) if one.name.startswith(("logistic", "rerank"))]

    monkeypatch.setattr(comparing, "lineup", two)
    options = ["--splits", "3", "--depth", "20", "--budget", "10", "--time-limit", "10"]
    assert main(["compare", "items.csv", "-t", "y", *ROLES, *options]) == 0
    shown = capsys.readouterr().out
    for words in ("logistic regression", "rerank the top 20", "No p-values: 3 splits are too few"):
        assert words in shown


def test_compare(here, capsys):
    options = ["--splits", "2", "--depth", "20", "--budget", "10", "--time-limit", "10"]
    assert main(["compare", "items.csv", "-t", "y", *ROLES, *options, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["splits"] == 2
    means = [ranker["test_mean"] for ranker in summary["rankers"]]
    assert means == sorted(means, reverse=True)
    for ranker in summary["rankers"]:
        assert ranker["test_mean"] == pytest.approx(np.mean(ranker["test"]))
        assert ranker["test_deviation"] == pytest.approx(np.std(ranker["test"], ddof=1))
    assert summary["advice"].endswith(".")


def test_svmlight(here, capsys):
    frame = _items()
    X = frame[["a", "b"]].fillna(0.0).to_numpy()
    dump_svmlight_file(X, 2 * frame["y"] - 1, "items.svm", zero_based=False)
    assert main(["rank", "items.svm", *QUICK, "--model", "m.json"]) == 0
    assert "with y = 1" in capsys.readouterr().out
    assert main(["score", "m.json", "items.svm"]) == 0
    dump_svmlight_file(np.column_stack([X, X]), frame["y"], "wide.svm", zero_based=False)
    assert main(["score", "m.json", "wide.svm"]) == 2
    assert "feature 4; the model knows features 1 to 2" in capsys.readouterr().err


def test_embedded_example(here, capsys):
    assert main(["rank", "--ranker", "logistic", "--splits", "1", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == len(inspections())
    assert summary["list"][0]["pump"].startswith("P")
    assert "embedded example" in summary["remarks"][0]
    assert summary["budget"] == 50


def test_data_sets_are_listed(capsys):
    assert main(["data"]) == 0
    assert "travelmode" in capsys.readouterr().out
    assert main(["data", "abalone19"]) == 0
    assert "licence:" in capsys.readouterr().out
    assert main(["data", "pima", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pima"]["rows"] == 768


def test_the_example_as_a_file(here, capsys):
    assert main(["data", "--example", "visits.csv"]) == 0
    assert "1600 pumps" in capsys.readouterr().out
    frame = pd.read_csv("visits.csv")
    assert frame["failed"].sum() == 231
    assert (frame["pump"] == "P0017").sum() == 1  # the one the README explains
    assert main(["data", "--example", "visits.txt"]) == 2
    capsys.readouterr()
    assert main(["data", "--example", "absent/visits.csv"]) == 2
    assert "--example 'absent/visits.csv': there is no folder 'absent'" in capsys.readouterr().err


def test_forest_models(here, capsys):
    pytest.importorskip("skops")
    _items(9, seed=3).drop(columns="y").to_csv("new.csv", index=False)
    forest = ["--ranker", "forest", "--splits", "0", "--new", "new.csv"]
    assert main(["rank", "items.csv", "-t", "y", *ROLES, *forest, "-m", "m.skops", "-o", "a.csv"]) == 0
    capsys.readouterr()
    assert main(["score", "m.skops", "new.csv", "-o", "b.csv"]) == 0
    one, other = pd.read_csv("a.csv"), pd.read_csv("b.csv")
    pd.testing.assert_frame_equal(one[other.columns], other)


@pytest.mark.skipif(
    "TOPRANK_DATA" not in os.environ, reason="TOPRANK_DATA names no folder with the data files"
)
def test_data_sets_by_name(here, capsys):
    assert main(["rank", "travelmode", "--ranker", "logistic", "--splits", "0", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert ("mode", "one-hot") in {(note["column"], note["action"]) for note in summary["columns"]}
    assert "every four rows" in summary["remarks"][0]


# -- what does not ---------------------------------------------------------------------------------

RANK = ["rank", "items.csv", "-t", "y", *ROLES, *QUICK]
BAD_ARGUMENTS = {
    "missing file": (["rank", "absent.csv", "-t", "y"], "'absent.csv'"),
    "no target": (["rank", "items.csv"], "--target"),
    "missing target": (["rank", "items.csv", "-t", "label"], "target 'label'"),
    "one class": (["rank", "items.csv", "-t", "one"], "target 'one' has one class only"),
    "three words": (["rank", "items.csv", "-t", "kind"], "'kind' has 3 different values"),
    "empty table": (["rank", "empty.csv", "-t", "y"], "'empty.csv' is empty"),
    "budget too large": (
        [*RANK, "--budget", "121"],
        "--budget 121: give a number from 1 to 120, the labelled items.",
    ),
    "budget too small": ([*RANK, "--budget", "0"], "--budget 0"),
    "budget no number": ([*RANK, "--budget", "many"], "--budget"),
    "depth too large": ([*RANK, "--depth", "121"], "--depth 121: give a number from 2 to 120"),
    "depth too small": ([*RANK, "--depth", "1"], "--depth 1"),
    "no such option any more": ([*RANK, "--top", "10"], "--top"),
    "unknown ranker": ([*RANK, "--ranker", "oracle"], "--ranker 'oracle' is not one of ensemble, logistic"),
    "misspelt ranker": ([*RANK, "--ranker", "lgistic"], "; did you mean 'logistic'?"),
    "unknown preference": ([*RANK, "--prefer", "cheap"], "--prefer 'cheap' is not one of best, simple"),
    "split by nothing": ([*RANK, "--split-by", "nr"], "--split-by 'nr': no such column in items.csv"),
    "ensemble as JSON": (
        ["rank", "items.csv", "-t", "y", *ROLES, "--model", "m2.json"],
        "--model 'm2.json': only linear models are written as JSON. Give the file the ending .skops",
    ),
    "repeated identifiers": (
        ["rank", "items.csv", "-t", "y", "--id", "twice"],
        "'twice': '0004' is in rows 5",
    ),
    "identifier not there": (["rank", "items.csv", "-t", "y", "--id", "nr"], "id 'nr'"),
    "ignored not there": (["rank", "items.csv", "-t", "y", "--ignore", "nr"], "ignore 'nr'"),
    "categorical not there": ([*RANK, "--categorical", "nr"], "categorical 'nr'"),
    "two roles": (["rank", "items.csv", "-t", "y", "--ignore", "y"], "'y' is given both"),
    "positive not there": ([*RANK, "--positive", "maybe"], "positive 'maybe'"),
    "unknown statistic": ([*RANK, "-s", "ngcd@5"], "did you mean 'ndcg'"),
    "no order in it": ([*RANK, "-s", "precision@40"], "same for every order of the first 40"),
    "unknown base": ([*RANK, "--base", "oracle"], "--base 'oracle'"),
    "no time": ([*RANK, "--time-limit", "0"], "--time-limit 0"),
    "negative seed": ([*RANK, "--seed", "-1"], "--seed -1"),
    "all held out": ([*RANK, "--held-out", "1"], "--held-out 1"),
    "negative splits": ([*RANK, "--splits", "-1"], "--splits"),
    "one split to compare": (["compare", "items.csv", "-t", "y", *ROLES, "--splits", "1"], "--splits 1"),
    "no folder": ([*RANK, "--out", "no/where.csv"], "--out 'no/where.csv'"),
    "folder as file": ([*RANK, "--out", "."], "--out '.'"),
    "no table": ([*RANK, "--out", "list.docx"], "--out 'list.docx'"),
    "no model file": ([*RANK, "--model", "m.pickle"], "'m.pickle': its name must end in .json"),
    "forest as JSON": ([*RANK, "--base", "forest", "--model", "f.json"], "--model 'f.json'"),
    "over the input": ([*RANK, "--out", "items.csv"], "--out 'items.csv' would write over an input"),
    "one file twice": ([*RANK, "--out", "a.csv", "--model", "./a.csv"], "would write over --out"),
    "new without columns": (
        [*RANK, "--new", "small.csv"],
        "small.csv lacks columns the model wants: 'a', 'kind'",
    ),
    "new of another type": ([*RANK, "--new", "words.csv"], "Column 'b' holds 'high' in row 2"),
    "new not there": ([*RANK, "--new", "absent.csv"], "'absent.csv'"),
    "infinite value": (["rank", "infinite.csv", "-t", "y"], "Column 'a' holds an infinite value in row 2"),
    "all constant": (["rank", "constant.csv", "-t", "y"], "no column to learn from"),
    "not UTF-8": (["rank", "latin.csv", "-t", "y", "--encoding", "utf-8"], "utf-8"),
    "ragged": (["rank", "ragged.csv", "-t", "y"], "line 3"),
    "repeated names": (["rank", "names.csv", "-t", "y"], "'a'"),
    "unknown format": (["rank", "items.xlsx", "-t", "y"], "'items.xlsx'"),
    "unknown option": (["rank", "--frobnicate"], "--frobnicate"),
    "unknown command": (["sort"], "'sort'"),
    "score without a model": (["score", "absent.json", "items.csv"], "'absent.json'"),
    "score with a table": (["score", "items.csv", "small.csv"], "Model file 'items.csv': its name must"),
    "score without columns": (["score", "m.json", "small.csv"], "lacks columns the model wants: 'a', 'kind'"),
    "score over the model": (
        ["score", "m.json", "items.csv", "--out", "m.json"],
        "would write over an input",
    ),
    "score repeated identifiers": (
        ["score", "m.json", "repeated.csv"],
        "id 'code': '0000' is in rows 1 and 2",
    ),
    "nothing to score": (["score"], "Missing argument"),
    "unknown data set": (["data", "pimaa"], "did you mean 'pima'"),
}


@pytest.fixture
def mistakes(here, model_text):
    """A folder full of files nobody can work with."""
    Path("m.json").write_text(model_text)
    Path("empty.csv").write_text("a,y\n")
    Path("infinite.csv").write_text("a,y\n1,0\ninf,1\n3,0\n")
    Path("constant.csv").write_text("a,b,y\n1,,0\n1,,1\n1,,0\n")
    Path("latin.csv").write_bytes("a,y\ncaf\xe9,0\nb,1\n".encode("latin-1"))
    Path("ragged.csv").write_text("a,y\n1,0\n1,2,3\n")
    Path("names.csv").write_text("a,a,y\n1,2,0\n")
    Path("items.xlsx").write_bytes(b"PK")
    _items(4)[["code", "b"]].to_csv("small.csv", index=False)
    _items(4).assign(b=["1", "high", "2", "3"]).to_csv("words.csv", index=False)
    _items(4).assign(code="0000").to_csv("repeated.csv", index=False)
    return here


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_input_gets_one_line_and_leaves_nothing(mistakes, capsys, case):
    arguments, message = BAD_ARGUMENTS[case]
    before = {path: path.read_bytes() for path in mistakes.iterdir()}
    if arguments[0] == "rank":
        for option, file in (("--out", "new.csv"), ("--model", "new.skops")):
            arguments = arguments if option in arguments else [*arguments, option, file]
    assert main(arguments) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    lines = [line for line in errors.splitlines() if not line.startswith("Compiling kernels")]
    assert len(lines) == 1
    assert message in lines[0]
    assert {path: path.read_bytes() for path in mistakes.iterdir()} == before


def test_damaged_models(mistakes, capsys):
    text = Path("m.json").read_text()
    for content in (text[: len(text) // 2], text.replace('"version": 2', '"version": 99'), "{}", ""):
        Path("bad.json").write_text(content)
        assert main(["score", "bad.json", "items.csv", "--out", "out.csv"]) == 2
        errors = capsys.readouterr().err
        assert errors.count("\n") == 1
        assert "'bad.json'" in errors
    assert not Path("out.csv").exists()


def test_ctrl_c_before_there_is_anything(here, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("toprank.workflow.rank.rank_items", interrupt)
    assert main(["rank", "items.csv", "-t", "y", "--out", "r.csv"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "toprank: interrupted"
    assert not Path("r.csv").exists()


def test_ctrl_c_later_keeps_what_there_is(here, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        """Twice: the first is only noted, the second is raised where a fit does not look up."""
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("toprank.workflow.ranking.in_memory.judge", interrupt)
    assert main(["rank", "items.csv", "-t", "y", *ROLES, *QUICK, "--out", "r.csv"]) == 130
    assert len(pd.read_csv("r.csv")) == 120


def test_statistics_are_listed_with_a_line_each(capsys):
    assert main(["statistics"]) == 0
    shown = capsys.readouterr().out
    optimised, rest = shown.split("The exact ranker (")
    exactly, measured = rest.split("Can be measured;")
    assert "precision@k" in optimised
    assert "reciprocal_rank_sum" in optimised
    assert "Also: mrr." in exactly
    assert "average_precision" in exactly
    assert "vus" in measured
    # Where it goes through a pipe, grep finds all that is said of a statistic.
    assert any(
        line.startswith("reciprocal_rank ") and line.endswith("Also: mrr.") for line in shown.splitlines()
    )
    assert main(["statistics", "--json"]) == 0
    known = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert known["dcg, dcg@k"]["optimised"]
    assert not known["positives_at_top"]["optimised"]
    assert known["positives_at_top"]["exactly"]
    assert not known["vus"]["exactly"]
    assert all(one["about"].endswith((".", "?")) or one["about"] for one in known.values())


def test_an_item_is_explained(here, model_text, capsys):
    Path("m.json").write_text(model_text)
    assert main(["score", "m.json", "items.csv", "--json", "--head", "200"]) == 0
    listed = {row["code"]: row for row in json.loads(capsys.readouterr().out)["list"]}
    assert main(["explain", "m.json", "items.csv", "--id", "0007", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["rank"] == listed["0007"]["rank"]
    assert one["score"] == pytest.approx(listed["0007"]["score"])
    assert {part["column"] for part in one["parts"]} <= {"a", "b", "kind"}
    assert [abs(part["adds"]) for part in one["parts"]] == sorted(
        (abs(part["adds"]) for part in one["parts"]), reverse=True
    )
    assert main(["explain", "m.json", "items.csv", "--row", "8"]) == 0
    assert "by the final model" in " ".join(capsys.readouterr().out.split())
    assert main(["explain", "m.json", "items.csv", "--row", "8"]) == 0
    assert f"place {listed['0007']['rank']} of 120" in capsys.readouterr().out
    for wrong, words in (
        (["--id", "nobody"], "--id 'nobody': items.csv has no such 'code'"),
        (["--row", "121"], "--row 121"),
        ([], "Say which item to explain"),
    ):
        assert main(["explain", "m.json", "items.csv", *wrong]) == 2
        assert words in capsys.readouterr().err


def test_version_and_help(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"toprank {toprank.__version__}"
    assert main([]) == 0
    without = capsys.readouterr().out
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert without.split() == shown.split()
    assert "Exit codes" in shown
    for command in ("rank", "compare", "score", "data"):
        assert main([command, "--help"]) == 0
        assert command in shown


# -- as a program ----------------------------------------------------------------------------------


def _run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
        timeout=300,
    )


def test_help_imports_nothing_heavy():
    heavy = ("numpy", "pandas", "sklearn", "scipy", "numba", "matplotlib", "rich.console")
    code = (
        "import sys; from toprank.cli.main import main; main(['--help']);"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert _run("-c", code).stdout.splitlines()[-1] == "[]"


def test_same_seed_same_bytes_in_another_process(here):
    outputs = []
    for seed in ("1", "2"):
        files = [f"ranked{seed}.csv", f"model{seed}.json"]
        arguments = ["rank", "items.csv", "-t", "y", *ROLES, *QUICK, "--out", files[0], "--model", files[1]]
        done = _run("-m", "toprank", *arguments, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        outputs.append([Path(file).read_bytes() for file in files])
    assert outputs[0] == outputs[1]


def test_exit_code_of_the_program(here):
    done = _run("-m", "toprank", "rank", "absent.csv", "-t", "y")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "toprank: There is no file 'absent.csv'.\n"


def test_a_full_disk_is_one_line(here, capfd, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("toprank.screen.tables.show_catalog", full)
    monkeypatch.setattr(sys.modules[main.__module__], "_say_no_more", lambda: None)
    assert main(["data"]) == 2
    assert capfd.readouterr().err.splitlines() == [
        "toprank: The disk is full: what should have been shown could not be written."
    ]
