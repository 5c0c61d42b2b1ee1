"""Reports as plain values, for `--json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from toprank.control import Outcome
from toprank.datasets import Note, warning_sentences
from toprank.workflow.compare import CompareReport
from toprank.workflow.rank import HeldOut, RankReport
from toprank.workflow.score import ScoreReport
from toprank.workflow.verify import VerifyReport

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["comparison_summary", "ranking_summary", "scores_summary", "verification_summary"]


def ranking_summary(report: RankReport, files: Mapping[str, str], *, head: int) -> dict[str, Any]:
    """All of a ranking but the list below its head."""
    return _finite(
        {
            "statistic": report.statistic,
            "rows": report.rows,
            "positives": report.positives,
            "positive": list(report.model.positive),
            "top": report.top,
            "base": report.model.provenance["base"],
            "seed": report.model.provenance["seed"],
            "optimised": asdict(report.optimised),
            "training": asdict(report.training),
            "held_out": None if report.held_out is None else _held_out(report.held_out),
            "outcome": _outcome(report.outcome),
            "certainty": report.certainty,
            "interrupted": report.interrupted,
            "listed": report.listed,
            "list": _records(report.listing, head),
            "encoding": report.encoding,
            "columns": _notes(report.notes),
            "new_columns": _notes(report.new_notes),
            "remarks": [*report.remarks, *warning_sentences(report.new_notes)],
            "files": list(files),
            "seconds": report.seconds,
        }
    )


def comparison_summary(report: CompareReport) -> dict[str, Any]:
    """All figures of a comparison, split by split."""
    rankers = [
        {
            **asdict(one),
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
            "tested": report.tested,
            "advice": report.advice,
            "remarks": report.remarks,
            "interrupted": report.interrupted,
            "seconds": report.seconds,
        }
    )


def scores_summary(report: ScoreReport, files: Mapping[str, str], *, head: int) -> dict[str, Any]:
    """All of a scored list but what is below its head."""
    return _finite(
        {
            "statistic": report.model.statistic,
            "value": report.value,
            "rows": len(report.listing),
            "listed": report.listed,
            "list": _records(report.listing, head),
            "columns": _notes(report.notes),
            "remarks": report.remarks,
            "files": list(files),
        }
    )


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


def _held_out(held_out: HeldOut) -> dict[str, Any]:
    names = ("base", "reranked", "difference")
    figures = {name: dict(zip(("mean", "deviation"), getattr(held_out, name), strict=True)) for name in names}
    return {
        "fraction": held_out.fraction,
        "splits": [asdict(pair) for pair in held_out.pairs],
        **figures,
        "p_value": held_out.p_value,
        "tested": held_out.tested,
    }


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
    shown = listing.head(head).astype(object)
    return [
        {str(name): _scalar(value) for name, value in row.items()} for row in shown.to_dict(orient="records")
    ]


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
