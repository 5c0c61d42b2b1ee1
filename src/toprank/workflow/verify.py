"""Check the certificate inside a saved model against the data it was learned from."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets import InputError, Table
from toprank.datasets.roles import binary_labels
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.exact import Certificate, Verification, verify
from toprank.model import RankingModel, load_model
from toprank.rankers.exact import ExactRanker
from toprank.workflow.reading.source import read_items, with_and_without_label

__all__ = ["VerifyReport", "verify_file"]

_BASE_KEPT = Verification(
    unchecked=("the model's order, which is its base's own: the certificate is about the linear one it beat",)
)


@dataclass(frozen=True)
class VerifyReport:
    """What a certificate claims and what came of checking it.

    Parameters
    ----------
    certificate : Certificate
    rows : int
        Rows of the data that the claim is about.
    checked : Verification
        What held, what failed, what was not checked.
    """

    certificate: Certificate
    rows: int
    checked: Verification


def verify_file(
    model_path: str,
    data: str | None,
    *,
    trusted: Collection[str] = (),
    seconds: float = 5.0,
    encoding: str | None = None,
    separator: str | None = None,
) -> VerifyReport:
    """Rebuild the problem from the data and check the certificate inside the model against it.

    Parameters
    ----------
    model_path : str
    data : str or None
        The labelled items: a file, a named data set, or None for the embedded example.
    trusted : collection of str
        See `toprank.model.load_model`.
    seconds : float
        See `toprank.exact.verify`.
    encoding, separator : str or None
        Of a text file, where they should not be found out.
    """
    if not (seconds >= 0 and math.isfinite(seconds)):
        raise InputError(f"--seconds {seconds:g}: give a number from 0.")
    model = load_model(model_path, trusted=trusted)
    ranker = _certified(model, model_path)
    certificate = ranker.certificate_
    X, y, qid = _labelled(
        model, read_items(data, text_columns=model.text_columns, encoding=encoding, separator=separator)
    )
    try:
        # The model's own: reranking is about the top of the list and its part of the whole list's statistic.
        problem = model.ranker.problem(X, model.ranker.classes_[y], qid=qid)
    except ValueError as error:
        return VerifyReport(certificate, len(y), Verification(failed=(str(error),)))
    kept = isinstance(model.ranker, RankThenRerank) and not model.ranker.reranked_
    checked = (_BASE_KEPT if kept else _same_coefficients(ranker)) + verify(
        problem, certificate, seconds=seconds
    )
    return VerifyReport(certificate, int(problem.X.shape[0]), checked)


def _labelled(model: RankingModel, table: Table) -> tuple[Any, NDArray[np.int8], NDArray[np.int64] | None]:
    """Features, labels and queries as the model sees them."""
    if model.roles.target not in table.columns:
        raise InputError(f"{table.source} has no column {model.roles.target!r}, the target of the model.")
    table, _ = with_and_without_label(table, model.roles.target)
    y, _ = binary_labels(table.frame[model.roles.target], positive=model.positive)
    X, _ = model.encoder.encode(model.roles.features(table))
    return X, y, model.roles.queries(table) if model.roles.qid in table.columns else None


def _same_coefficients(ranker: ExactRanker) -> Verification:
    """Whether the model scores with what the certificate is about."""
    if np.array_equal(np.asarray(ranker.coef_), np.asarray(ranker.certificate_.coef)):
        return Verification(held=("the model scores with the coefficients of the certificate",))
    return Verification(failed=("the model scores with other coefficients than the certificate states",))


def _certified(model: RankingModel, path: str) -> ExactRanker:
    """The exact ranker of a model."""
    ranker = model.ranker.reranker_ if isinstance(model.ranker, RankThenRerank) else model.ranker
    if ranker is None:
        raise InputError(
            f"{path} holds no certificate: the top held one class only, so nothing was reranked."
        )
    if not isinstance(ranker, ExactRanker):
        raise InputError(f"{path} holds no certificate: only --ranker rerank and exact make one.")
    return ranker
