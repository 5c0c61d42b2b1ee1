import numpy as np
import pandas as pd
import pytest

from made_up_reports import frame, report_of
from toprank.workflow.listing.groups import MOST_GROUPS, group_shares
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source


def test_shares_are_counted():
    listing = pd.DataFrame({"ward": ["n", "s", "n", None, "s", "n"], "y": [1, 0, 1, 1, 1, 0]})
    found = group_shares(listing, "ward", np.arange(1, 7), 4, listing["y"].to_numpy(np.int8))
    rows = {one.name: one for one in found.rows}
    assert [one.name for one in found.rows] == ["n", "s", "missing"]
    assert (rows["n"].items, rows["n"].within, rows["n"].hits, rows["n"].positives) == (3, 2, 2, 2)
    assert (rows["s"].items, rows["s"].within, rows["s"].hits, rows["s"].positives) == (2, 1, 0, 1)
    assert rows["n"].share == 0.5
    assert rows["n"].share_within == 0.5
    assert sum(one.share_within for one in found.rows) == pytest.approx(1.0)
    assert found.others == 0


def test_unlabelled_and_many_groups():
    listing = pd.DataFrame({"patient": np.repeat(np.arange(100), 2)})
    found = group_shares(listing, "patient", np.arange(1, 201), 10, None)
    assert len(found.rows) == MOST_GROUPS
    assert found.others == 100 - MOST_GROUPS
    assert found.rows[0].name == "0"
    assert found.rows[0].hits is None


def test_a_run_with_groups_has_their_shares(tmp_path):
    path = tmp_path / "items.csv"
    frame(90).to_csv(path, index=False)
    source = open_source(str(path), Columns(target="y", id="code", group="site"))
    report = rank_items(source, RankOptions(ranker="logistic", splits=0, budget=9))
    first = report.listing.head(9)
    for one in report.groups.rows:
        assert one.within == (first["site"] == one.name).sum()
        assert one.hits == first.loc[first["site"] == one.name, "y"].sum()
    assert report.duplicates == 0
    unnamed = open_source(str(path), Columns(target="y", id="code"))
    assert rank_items(unnamed, RankOptions(ranker="logistic", splits=0, budget=9)).groups is None


def test_with_queries_the_first_rows_have_reasons():
    report = report_of(frame(900), budget=5, splits=0, qid=True)
    assert (report.listing["why"].head(200) != "").all()
    assert len(report.reasons.parts) == 200
    column, cell, _ = report.reasons.parts[0][0]
    assert f"{column} {cell}: " in report.listing["why"][0]
