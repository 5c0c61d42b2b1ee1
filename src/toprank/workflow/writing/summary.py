"""Reports as plain values, for `--json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from toprank.control import Outcome
from toprank.datasets import Note, warning_sentences
from toprank.exact import Certificate
from toprank.statistics import get
from toprank.workflow.compare import CompareReport
from toprank.workflow.explain import Explanation
from toprank.workflow.judging.advice import SIGNIFICANT, Figures
from toprank.workflow.judging.cut_offs import figures_by_cut_off, mean_roc
from toprank.workflow.judging.held_out import HeldOut
from toprank.workflow.learning.candidates import label_of
from toprank.workflow.listing.places import Reasons
from toprank.workflow.listing.report import RankReport, ScoreReport
from toprank.workflow.verify import VerifyReport

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "column_cells",
    "comparison_summary",
    "explanation_summary",
    "ranking_summary",
    "scores_summary",
    "verification_summary",
]


MOST_EVENTS = 300
"""Events of a search that are handed on."""


def ranking_summary(
    report: RankReport, files: Mapping[str, str], *, head: int, command: str = ""
) -> dict[str, Any]:
    """All of a ranking but the list below its head: what `--json` prints and the report page shows."""
    held_out, roles, certificate = report.held_out, report.model.roles, report.certificate
    return _finite(
        {
            "statistic": report.statistic,
            "rows": report.rows,
            "positives": report.positives,
            "positive": list(report.model.positive),
            "label_kind": report.kind,
            "span": report.span,
            "baseline": report.baseline,
            **{role: getattr(roles, role) for role in ("target", "id", "qid", "group")},
            "budget": report.budget,
            "depth": report.depth,
            "delivered": report.delivered,
            "labels": _labels(report),
            "why": report.why,
            "seed": report.model.provenance["seed"],
            "training": report.training,
            "chance": report.chance,
            "found": None if report.found is None else asdict(report.found),
            "held_out": None if held_out is None else _held_out(held_out, report.delivered),
            "held_out_by": report.held_out_by,
            "columns_worth": [asdict(worth) for worth in report.columns],
            "linear": report.linear,
            "outcome": None if report.outcome is None else _outcome(report.outcome),
            "certainty": report.certainty,
            "certificate": None if certificate is None else _certificate(certificate),
            "interrupted": report.interrupted,
            "listed": report.listed,
            "listed_rows": len(report.listing),
            "order": report.order,
            "list": _records(report.listing, head),
            "contributions": _contributions(report.reasons, head),
            "groups": None if report.groups is None else asdict(report.groups),
            "encoding": report.encoding,
            "columns": _notes(report.notes),
            "new_columns": _notes(report.new_notes),
            "duplicates": report.duplicates,
            "remarks": [*report.remarks, *warning_sentences(report.new_notes)],
            "files": list(files),
            "provenance": dict(report.model.provenance),
            "command": command,
            "seconds": report.seconds,
        }
    )


def comparison_summary(report: CompareReport, *, command: str = "") -> dict[str, Any]:
    """All figures of a comparison, split by split."""
    rankers = [
        {
            **asdict(one),
            "mark": _mark(one, report),
            "train_mean": one.train_mean,
            "train_deviation": one.train_deviation,
            "test_mean": one.test_mean,
            "test_deviation": one.test_deviation,
        }
        for one in report.figures
    ]
    return _finite(
        {
            "statistic": report.statistic,
            "rows": report.rows,
            "positives": report.positives,
            "splits": report.splits,
            "rankers": rankers,
            "not_run": report.not_run,
            "baseline": report.baseline,
            "chance": report.chance,
            "tested": report.tested,
            "advice": report.advice,
            "remarks": report.remarks,
            "interrupted": report.interrupted,
            "provenance": report.provenance,
            "command": command,
            "seconds": report.seconds,
        }
    )


def scores_summary(report: ScoreReport, files: Mapping[str, str], *, head: int) -> dict[str, Any]:
    """All of a scored list but what is below its head."""
    return _finite(
        {
            "statistic": report.model.statistic,
            "value": report.value,
            "chance": report.chance,
            "rows": len(report.listing) if report.rows is None else report.rows,
            "listed": report.listed,
            "list": _records(report.listing, head),
            "columns": _notes(report.notes),
            "remarks": report.remarks,
            "interrupted": report.interrupted,
            "files": list(files),
        }
    )


def explanation_summary(one: Explanation) -> dict[str, Any]:
    """Where an item stands and what each column adds."""
    return _finite(asdict(one))


def verification_summary(report: VerifyReport) -> dict[str, Any]:
    """The claim of a certificate and what came of checking it."""
    claim, checked = report.certificate, report.checked
    return _finite(
        {
            "passed": checked.passed,
            "complete": checked.complete,
            "held": checked.held,
            "failed": checked.failed,
            "unchecked": checked.unchecked,
            "rows": report.rows,
            "statistic": claim.statistic,
            "value": claim.value,
            "bound": claim.bound,
            "gap": claim.gap,
            "status": str(claim.status),
            "method": claim.method,
            "fingerprint": claim.fingerprint,
        }
    )


def _held_out(held_out: HeldOut, delivered: str) -> dict[str, Any]:
    rankers = held_out.rankers
    return {
        "splits": len(held_out.splits),
        "fraction": held_out.fraction,
        "rows": held_out.rows,
        "statistic": {name: held_out.values(name) for name in rankers},
        "chance": held_out.chance,
        "found": f"mean {held_out.numbers}" if held_out.numbers else "hits",
        "concordance": {name: held_out.concordance(name) for name in rankers} if held_out.numbers else None,
        "hits": [
            {
                "k": line.k,
                "chance": line.chance,
                "best": line.best,
                "found": {name: list(line.found[name]) for name in rankers},
                "mean": {name: line.mean(name) for name in rankers},
                "interval": {name: line.interval(name) for name in rankers},
            }
            for line in held_out.hits
        ],
        "cut_offs": figures_by_cut_off(held_out),
        "roc": mean_roc(held_out),
        "p_value": held_out.p_value(delivered),
        "tested": held_out.tested(delivered),
        "sentence": held_out.sentence(delivered),
        "expectation": held_out.expectation(delivered),
    }


def _mark(one: Figures, report: CompareReport) -> str:
    """Whether a ranker differs from logistic regression by more than luck, and to which side."""
    if not one.p_value < SIGNIFICANT:
        return ""
    baseline = next(other for other in report.figures if other.name == report.baseline)
    greater = one.test_mean > baseline.test_mean
    return "better" if greater == get(report.statistic).greater_is_better else "worse"


def _labels(report: RankReport) -> dict[str, str]:
    """What the tables call the rankers."""
    judged = [] if report.held_out is None else report.held_out.rankers
    return {name: label_of(name) for name in dict.fromkeys([report.delivered, report.baseline, *judged])}


def _certificate(certificate: Certificate) -> dict[str, Any]:
    """The claim, and how value and bound met; of a long search some of the events."""
    every = max(1, math.ceil(len(certificate.history) / MOST_EVENTS))
    history = [*certificate.history[:-1][::every], *certificate.history[-1:]]
    return {
        "summary": certificate.summary(),
        "claim": certificate.claim,
        "statistic": certificate.statistic,
        "value": certificate.value,
        "bound": certificate.bound,
        "gap": certificate.gap,
        "status": str(certificate.status),
        "method": certificate.method,
        "nodes": certificate.nodes,
        "seconds": certificate.seconds,
        "fingerprint": certificate.fingerprint,
        "history": [list(event) for event in history],
    }


def _contributions(reasons: Reasons, head: int) -> list[list[dict[str, Any]]]:
    """For the first rows of the list, what the columns add to the score."""
    return [
        [{"column": column, "value": cell, "adds": adds} for column, cell, adds in parts]
        for parts in reasons.parts[:head]
    ]


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "value": outcome.value,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "status": str(outcome.status),
        "seconds": outcome.seconds,
        "iterations": outcome.iterations,
        "notes": list(outcome.notes),
    }


def _notes(notes: list[Note]) -> list[dict[str, str]]:
    return [asdict(note) for note in notes]


def _records(listing: pd.DataFrame, head: int) -> list[dict[str, Any]]:
    names = [str(name) for name in listing.columns]
    columns = [column_cells(listing.iloc[:head, k]) for k in range(len(names))]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def column_cells(column: pd.Series[Any]) -> list[Any]:
    """The cells of a column of the list as JSON has them."""
    return [_finite(_scalar(cell)) for cell in column.astype(object)]


def _scalar(value: Any) -> Any:
    """A cell as JSON has it: numbers and words as they are, missing as null, dates as text."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value
    return None if str(value) in ("<NA>", "NaT") else str(value)


def _finite(value: Any) -> Any:
    """NaN and infinity, which JSON lacks, as null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
