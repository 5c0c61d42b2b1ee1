"""What notebooks show of certificates, comparisons and hits tables."""

import dataclasses
from html.parser import HTMLParser

import pytest

from made_up_reports import HOSTILE_CELL, HOSTILE_NAME, frame, report_of
from toprank.markup import html_table
from toprank.workflow.compare import CompareReport
from toprank.workflow.judging.advice import Figures


class Cells(HTMLParser):
    """Rows of a table as a browser would show them; every other tag is counted."""

    def __init__(self, content):
        super().__init__()
        self.rows, self.tags, self._inside = [], set(), False
        self.feed(content)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not attributes
        if tag == "tr":
            self.rows.append([])
        self._inside = tag in ("td", "th")
        if self._inside:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, text):
        if self._inside:
            self.rows[-1][-1] += text


PLAIN = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


def test_everything_is_escaped():
    shown = html_table(HOSTILE_NAME, [HOSTILE_CELL], [[HOSTILE_CELL, HOSTILE_NAME]], below=HOSTILE_CELL)
    found = Cells(shown)
    assert found.tags <= PLAIN
    assert found.rows == [[HOSTILE_CELL], [HOSTILE_CELL, HOSTILE_NAME]]


def test_a_certificate():
    certificate = report_of(frame(60), budget=5, splits=0).certificate
    found = Cells(certificate._repr_html_())
    rows = dict(found.rows)
    assert rows["value"] == "9.5"
    assert rows["bound"] == "10"
    assert rows["gap"] == "5 %"
    assert rows["status"] == "time_limit"
    hostile = dataclasses.replace(certificate, statistic=HOSTILE_NAME, notes=(HOSTILE_CELL,))
    assert Cells(hostile._repr_html_()).tags <= PLAIN


def test_a_hits_table():
    held_out = report_of(frame(), splits=4).held_out
    found = Cells(held_out._repr_html_())
    assert found.rows[0] == ["first", "chance", "linear reranker", "logistic regression"]
    assert [row[0] for row in found.rows[1:]] == [str(line.k) for line in held_out.hits]
    low, high = held_out.hits[0].interval("rerank")
    assert found.rows[1][2] == f"{held_out.hits[0].mean('rerank'):.1f} ({low}–{high})"


@pytest.mark.parametrize("name", ["logistic regression", HOSTILE_NAME])
def test_a_comparison(name):
    one = Figures(name, (1.0, 2.0), (3.0, 4.0), float("nan"), 0.5, 0)
    report = CompareReport("dcg", 10, 4, 2, [one], [], "No p-values.", HOSTILE_CELL, [], False, {}, 1.0)
    found = Cells(report._repr_html_())
    assert found.tags <= PLAIN
    assert found.rows[1] == [name, "3.5 ± 0.71", "", "1.5 ± 0.71", "0.50"]
