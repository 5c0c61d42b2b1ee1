"""The report page without a browser: what is in it, what is not, and that its figures are those of --json."""

import base64
import dataclasses
import hashlib
import json
import signal
from html.parser import HTMLParser

import numpy as np
import pytest

from made_up_reports import COMMAND, HOSTILE_CELL, HOSTILE_NAME, comparison, frame, report_of
from toprank.cli.main import main
from toprank.control import Outcome, Status
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.errors import InputError
from toprank.report.page import embedded_json
from toprank.workflow.ranking import in_memory as rank_module
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source
from toprank.workflow.writing.deliver import Delivery
from toprank.workflow.writing.page import MOST_DATA_COLUMNS, comparison_page_of, page_summary, ranking_page_of
from toprank.workflow.writing.summary import ranking_summary


class Reader(HTMLParser):
    """Elements with their text, as a browser's parser takes them apart."""

    def __init__(self, content):
        super().__init__()
        self.elements, self._open = [], []
        self.feed(content.decode())

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, **dict(attributes), "text": ""}
        self.elements.append(element)
        if tag not in ("meta", "input", "br", "img", "line", "rect", "circle"):
            self._open.append(element)

    def handle_endtag(self, tag):
        if tag in ("p", "dt", "dd", "li"):
            self.handle_data(" ")
        if self._open and self._open[-1]["tag"] == tag:
            self._open.pop()

    def handle_data(self, text):
        for element in self._open:
            element["text"] += text

    def all(self, tag):
        return [one for one in self.elements if one["tag"] == tag]

    @property
    def data(self):
        [found] = [one for one in self.all("script") if one.get("id") == "data"]
        return json.loads(found["text"])

    @property
    def headings(self):
        return [one["text"] for one in self.all("h2")]

    @property
    def words(self):
        return " ".join(self.all("main")[0]["text"].split())


@pytest.fixture(scope="module")
def report():
    return report_of(frame(hostile=True), group=True)


@pytest.fixture(scope="module")
def page(report):
    return Reader(ranking_page_of(report, COMMAND))


def test_the_figures_are_those_of_json(report, page):
    said = json.loads(json.dumps(ranking_summary(report, {}, head=25, command=COMMAND)))
    shown = page.data
    listed, contributions = shown.pop("list"), shown.pop("contributions")
    rows, parts = said.pop("list"), said.pop("contributions")
    assert shown == said
    assert contributions[:25] == parts
    assert len(listed["cells"][0]) == 300
    for name, cells in zip(listed["columns"], listed["cells"], strict=True):
        assert cells[:25] == [row[name] for row in rows]


def test_one_run_gives_the_same_figures_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame(120).to_csv("items.csv", index=False)
    columns = ["-t", "y", "--id", "code"]
    quick = ["--ranker", "logistic", "--splits", "3", "-k", "10"]
    arguments = ["rank", "items.csv", *columns, *quick, "--json", "--report", "r.html"]
    assert main(arguments) == 0
    said = json.loads(capsys.readouterr().out)
    shown = Reader((tmp_path / "r.html").read_bytes()).data
    for key in set(said) - {"list", "contributions", "files"}:
        assert shown[key] == said[key], key
    assert said["files"] == ["r.html"]
    assert said["command"] == "toprank " + " ".join(arguments)


def test_tables_show_the_figures_of_json(page):
    data = page.data
    cells = [one["text"] for one in page.all("td")] + [one["text"] for one in page.all("th")]
    for line in data["held_out"]["hits"]:
        for name in ("rerank", "logistic"):
            low, high = line["interval"][name]
            assert f"{line['mean'][name]:.1f} ({low}–{high})" in cells
    for group in data["groups"]["rows"]:
        assert str(group["hits"]) in cells
        assert group["name"] in cells
    for one in data["columns_worth"]:
        assert one["name"] in cells
        assert f"{one['value']:+.3g}" in cells


def test_strings_of_the_user_stay_text(report, page):
    raw = ranking_page_of(report, f"toprank rank {HOSTILE_CELL}").decode()
    assert "<script>alert" not in raw
    assert "<img" not in raw
    assert "\u2028" not in raw
    assert len(page.all("script")) == 3
    assert not page.all("img")
    names = [one["text"] for one in page.all("th")]
    assert HOSTILE_NAME in names
    assert HOSTILE_CELL in names


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "\ud800", "\0", "'\"`"])
def test_embedded_json_is_the_same_value_and_harmless(text):
    embedded = embedded_json({text: text})
    assert json.loads(embedded) == {text: text}
    assert not set("<>&\u2028\u2029") & set(embedded)
    embedded.encode("ascii")


def test_half_a_surrogate_pair_does_not_end_the_run():
    """As a file name has one whose bytes are not UTF-8."""
    report = dataclasses.replace(report_of(frame(60), budget=5, splits=2), listed="\udcff.csv")
    assert b"&#56575;.csv, ranked" in ranking_page_of(report)


def test_nothing_is_loaded_and_only_the_pages_own_scripts_run(page):
    [policy] = [one["content"] for one in page.all("meta") if "http-equiv" in one]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy

    def digests(tag):
        texts = [one["text"] for one in page.all(tag) if one.get("type") != "application/json"]
        return [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]

    assert rules["script-src"].split() == [f"'sha256-{one}'" for one in digests("script")]
    assert rules["style-src"].split() == [f"'sha256-{one}'" for one in digests("style")]
    assert not [one for one in page.elements if "style" in one or "src" in one or "onclick" in one]
    assert {one["href"] for one in page.elements if "href" in one} == {"#main"}
    assert "@import" not in page.all("style")[0]["text"]
    assert "url(" not in page.all("style")[0]["text"]


def test_the_licence_of_the_charting_library_travels_with_it(page):
    assert "Permission is hereby granted, free of charge" in page.all("script")[1]["text"]


def test_everything_a_sceptic_asks_for_is_there(page):
    for words in (COMMAND, "ab" * 32, "cd" * 32, "Seed 3", "To cite:", "at most 5 % below the best possible"):
        assert words in page.words
    for words in ("2 labelled rows repeat earlier ones", "alone tells the classes apart", "3 missing"):
        assert words in page.words


# -- other kinds of runs ---------------------------------------------------------------------------


def test_without_reranking():
    page = Reader(ranking_page_of(report_of(frame(), delivered="logistic")))
    assert "By logistic regression" not in page.words
    assert "How far from the best possible order?" not in page.headings
    assert page.data["certificate"] is None
    assert "baseline_rank" not in page.data["list"]["parts"]
    assert "How good is the order?" in page.headings


def test_a_proof_claims_what_it_proves_and_nothing_else():
    report = report_of(frame(60), budget=5, splits=2)
    exact = report.model.ranker.reranker_
    for margin, words in (
        (0.0, "no linear score orders these items better"),
        (0.25, "among scores that win"),
    ):
        exact.certificate_ = dataclasses.replace(exact.certificate_, status=Status.OPTIMAL, margin=margin)
        words = f"Order of the first 100 proved best {words}"
        assert words in Reader(ranking_page_of(report)).words
    # Where the base's own order was kept, the proof is about another one.
    report.model.ranker.reranked_ = False
    report = dataclasses.replace(report, outcome=Outcome(1.0, notes=("the base's order was kept",)))
    page = Reader(ranking_page_of(report))
    assert "proved best" not in page.words
    assert page.data["certificate"] is None


def test_without_held_out_figures():
    page = Reader(ranking_page_of(report_of(frame(), splits=0)))
    assert "Nothing was held out" in page.words
    assert "How good is the order?" not in page.headings
    assert "What if you do fewer, or more?" in page.headings  # the labelled list has hits to count
    assert f"Hits in the first 50 listed {page.data['found']['ours']}" in page.words


def test_new_items_without_held_out_figures():
    page = Reader(ranking_page_of(report_of(frame(), splits=0, unseen=True)))
    assert "What if you do fewer, or more?" not in page.headings
    assert page.data["found"] is None
    assert "target" not in page.data["list"]["parts"]


def test_interrupted_half_way():
    page = Reader(ranking_page_of(report_of(frame(), splits=2, interrupted=True)))
    assert "Interrupted. This is what was found by then. 2 of 5 held-out splits were finished." in page.words
    # Two splits are too few for an interval: a plain mean is shown.
    mean = next(line for line in page.data["held_out"]["hits"] if line["k"] == 50)["mean"]["rerank"]
    assert f"Hits to expect in the first 50 {mean:.1f}" in page.words


def test_a_run_that_was_interrupted_leaves_its_page(tmp_path, monkeypatch, capsys):
    original, calls = rank_module.judge, []

    def third_is_interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments, **options)

    monkeypatch.setattr(rank_module, "judge", third_is_interrupted)
    monkeypatch.chdir(tmp_path)
    frame(120).to_csv("items.csv", index=False)
    quick = ["--ranker", "logistic", "--splits", "5", "-k", "10", "--report", "r.html", "-q"]
    assert main(["rank", "items.csv", "-t", "y", "--id", "code", *quick]) == 130
    page = Reader((tmp_path / "r.html").read_bytes())
    assert "This is what was found by then. 2 of 5 held-out splits were finished." in page.words
    assert len(page.data["list"]["cells"][0]) == 120
    assert page.data["held_out"]["splits"] == 2


def test_queries():
    page = Reader(ranking_page_of(report_of(frame(), budget=10, qid=True)))
    assert "Of the first 10 of each query, how many will be hits?" in page.headings
    assert page.data["list"]["parts"]["query"] == "site"
    assert page.data["found"] is None


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("time", "Held out were the latest items by site: what came later"),
        ("group", "Held out were whole groups of site:"),
        ("query", "Held out were whole queries"),
        ("random", "Held out were random items"),
    ],
)
def test_what_was_held_out_is_said(by, words):
    report = dataclasses.replace(report_of(frame(60), budget=5, splits=2, group=True), held_out_by=by)
    assert words in Reader(ranking_page_of(report)).words


def test_a_budget_beyond_the_held_out_lists():
    page = Reader(ranking_page_of(report_of(frame(60), budget=40, splits=3)))
    assert "is more than the 30 held-out items of a split" in page.words


def test_one_class_at_the_top(tmp_path):
    """The head holds positives only: nothing is reranked, and the page says what was done instead."""
    items = frame(80, seed=2)
    items["a"] = np.where(items["y"] == 1, 5.0, 0.0) + items["b"]
    items.to_csv(tmp_path / "items.csv", index=False)
    source = open_source(str(tmp_path / "items.csv"), Columns(target="y", id="code"))
    found = rank_items(source, RankOptions(ranker="rerank", budget=4, depth=4, splits=1, time_limit=None))
    assert isinstance(found.model.ranker, RankThenRerank)
    assert found.certificate is None
    page = Reader(ranking_page_of(found))
    assert page.data["certificate"] is None
    assert found.certainty in page.words
    assert "How far from the best possible order?" not in page.headings
    assert len(page.data["list"]["cells"][0]) == 80


def test_wide_tables_are_cut_to_what_counts_most():
    items = frame(60)
    for k in range(40):
        items[f"x{k}"] = np.random.default_rng(k).normal(size=60)
    report = report_of(items, budget=5, splits=2)
    listed = page_summary(report)["list"]
    assert listed["left_out"] == 40 + 3 - MOST_DATA_COLUMNS
    best = report.columns[0].name
    assert listed["columns"][len(listed["parts"])] == best


def test_missing_cells_and_dates_are_shown():
    items = frame(60).assign(when=np.datetime64("2024-02-03"))
    items.loc[3, ["a", "when"]] = np.nan, None
    listed = page_summary(report_of(items, budget=5, splits=2))["list"]
    embedded_json(listed)
    assert listed["cells"][listed["columns"].index("a")].count(None) == 1
    assert set(listed["cells"][listed["columns"].index("when")]) == {None, "2024-02-03 00:00:00"}


def test_a_column_called_like_ours_keeps_its_name():
    items = frame(60).assign(rank=7.5, why="because")
    listed = page_summary(report_of(items, budget=5, splits=2))["list"]
    assert listed["parts"]["rank"] == "toprank_rank"
    assert listed["cells"][listed["columns"].index("toprank_rank")] == list(range(1, 61))


def test_comparison_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame(80).to_csv("it&ms.csv", index=False)
    from toprank import lineup
    from toprank.workflow import compare

    few = lambda *args, **options: lineup.lineup(*args, **options)[:2]  # noqa: E731
    monkeypatch.setattr(compare, "lineup", few)
    arguments = ["compare", "it&ms.csv", "-t", "y", "--splits", "5", "--json", "--report", "c.html"]
    assert main(arguments) == 0
    said = json.loads(capsys.readouterr().out)
    page = Reader((tmp_path / "c.html").read_bytes())
    assert page.data == said
    assert said["advice"] in page.words
    assert "it&ms.csv, rankers compared" in page.all("h1")[0]["text"]
    assert [one["text"] for one in page.all("tbody")[0:1]]
    for one in said["rankers"]:
        assert one["name"] in [cell["text"] for cell in page.all("th")]


def test_marks_of_a_comparison():
    page = Reader(comparison_page_of(comparison()))
    rows = [" ".join(one["text"].split()) for one in page.all("tr")[1:]]
    assert "▲ better" in rows[0]
    assert "better" not in rows[1]
    assert "no clear difference" in rows[2]
    assert "(2 cut)" in rows[2]
    assert "▼ worse" in rows[3]
    assert "Interrupted." in page.words


# -- where it is written ---------------------------------------------------------------------------


def test_the_file_is_checked_before_any_work(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.html"):
        Delivery(report=tmp_path / "report.pdf").check([])
    with pytest.raises(InputError, match="there is no folder"):
        Delivery(report=tmp_path / "no" / "report.html").check([])
    with pytest.raises(InputError, match="would write over an input"):
        Delivery(report=tmp_path / "a.html").check([str(tmp_path / "a.html")])
    with pytest.raises(InputError, match="would write over --out"):
        Delivery(out=tmp_path / "a.csv", report=tmp_path / "a.csv").check([])
