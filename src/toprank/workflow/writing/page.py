"""From a command's report to its page: the summary that `--json` prints, and the whole list by columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toprank.report.page import comparison_page, ranking_page
from toprank.workflow.compare import CompareReport
from toprank.workflow.judging.importance import features_of
from toprank.workflow.listing.places import MOST_REASONS
from toprank.workflow.listing.report import RankReport
from toprank.workflow.writing.summary import column_cells, comparison_summary, ranking_summary

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["comparison_page_of", "page_of", "page_summary", "ranking_page_of"]

MOST_DATA_COLUMNS = 20
"""Columns of the user's table that go into the page, those that count most first; --out has them all."""
OURS = ("rank", "score", "why")


def page_of(report: RankReport | CompareReport, command: str = "") -> bytes:
    """The page about a report of either kind."""
    if isinstance(report, CompareReport):
        return comparison_page_of(report, command)
    return ranking_page_of(report, command)


def ranking_page_of(report: RankReport, command: str = "") -> bytes:
    """The page about a ranked list."""
    return ranking_page(page_summary(report, command))


def comparison_page_of(report: CompareReport, command: str = "") -> bytes:
    """The page about a comparison."""
    return comparison_page(comparison_summary(report, command=command))


def page_summary(report: RankReport, command: str = "") -> dict[str, Any]:
    """What `--json` prints, with the whole list by columns: a name is then said once, not in every row."""
    summary = ranking_summary(report, {}, head=MOST_REASONS, command=command)
    return {**summary, "list": _by_columns(report)}


def _by_columns(report: RankReport) -> dict[str, Any]:
    """The list, which column of it is what, and how many of the user's columns are left out."""
    listing = report.listing
    theirs_too = ("row", "order", f"in_first_{report.budget}", f"{report.baseline}_rank")
    ours = {name: _own(name, listing) for name in (*OURS, *theirs_too)}
    roles = report.model.roles
    parts = {
        "rank": ours["rank"],
        "item": roles.id if roles.id in listing.columns else ours["row"],
        "query": roles.qid if roles.qid in listing.columns else None,
        "score": ours["score"],
        "baseline_rank": ours[f"{report.baseline}_rank"],
        "firm": ours[f"in_first_{report.budget}"],
        "target": roles.target if roles.target in listing.columns and report.order != "unseen" else None,
        "why": ours["why"],
    }
    taken = [name for name in parts.values() if name is not None and name in listing.columns]
    theirs = _most_telling(report, {*taken, *ours.values(), roles.target})
    shown = [*taken, *theirs[:MOST_DATA_COLUMNS]]
    return {
        "parts": {part: name for part, name in parts.items() if name in taken},
        "columns": shown,
        "cells": [column_cells(listing[name]) for name in shown],
        "left_out": len(theirs) - len(theirs[:MOST_DATA_COLUMNS]),
    }


def _own(name: str, listing: pd.DataFrame) -> str:
    """What a column of ours is called in the list: a user's own of that name keeps it."""
    return f"toprank_{name}" if f"toprank_{name}" in listing.columns else name


def _most_telling(report: RankReport, taken: set[str]) -> list[str]:
    """The user's columns, those that count most first, those nothing was learned from last."""
    of_feature = {
        feature: one.name
        for one in features_of(report.model.encoder)
        for feature in report.model.encoder.feature_names[one.where]
    }
    worth = [of_feature.get(one.name, one.name) for one in report.columns]
    names = [str(name) for name in report.listing.columns]
    ordered = dict.fromkeys([*(name for name in worth if name in names), *names])
    return [name for name in ordered if name not in taken]
