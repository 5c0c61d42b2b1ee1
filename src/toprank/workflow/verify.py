"""Check the certificate inside a saved model against the data it was learned from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from toprank.base import ranking_scores
from toprank.datasets import InputError, read_table
from toprank.datasets.roles import binary_labels
from toprank.exact import Certificate, verify
from toprank.linear.exact import ExactRanker
from toprank.model import RankingModel, load_model
from toprank.rerank import RankThenRerank

__all__ = ["VerifyReport", "verify_file"]


@dataclass(frozen=True)
class VerifyReport:
    """What a certificate claims and what is wrong with it.

    Parameters
    ----------
    certificate : Certificate
    rows : int
        Rows of the data that the claim is about.
    complaints : list of str
        Empty when the certificate is sound.
    """

    certificate: Certificate
    rows: int
    complaints: list[str]


def verify_file(model_path: str, data_path: str, *, trusted: Collection[str] = ()) -> VerifyReport:
    """Rebuild the problem from the data and check the certificate against it; the search takes no part."""
    model = load_model(model_path, trusted=trusted)
    ranker = _certified(model, model_path)
    table = read_table(data_path, text_columns=model.text_columns)
    if model.roles.target not in table.columns:
        raise InputError(f"{table.source} has no column {model.roles.target!r}, the target of the model.")
    y, _ = binary_labels(table.frame[model.roles.target], positive=model.positive)
    X, _ = model.encoder.encode(model.roles.features(table))
    qid = model.roles.queries(table) if model.roles.qid in table.columns else None
    chosen = np.arange(len(y))
    if isinstance(model.ranker, RankThenRerank):
        chosen = np.flatnonzero(ranking_scores(model.ranker.base_, X) >= model.ranker.threshold_)
    if len(np.unique(y[chosen])) < 2:
        return VerifyReport(ranker.certificate_, len(chosen), ["these data have one class only at the top"])
    problem = ranker.problem(X[chosen], y[chosen], qid=None if qid is None else qid[chosen])
    return VerifyReport(ranker.certificate_, len(chosen), verify(problem, ranker.certificate_))


def _certified(model: RankingModel, path: str) -> ExactRanker:
    """The exact ranker of a model."""
    ranker = model.ranker.reranker_ if isinstance(model.ranker, RankThenRerank) else model.ranker
    if not isinstance(ranker, ExactRanker):
        raise InputError(f"{path} holds no certificate: it was not made by the exact ranker.")
    return ranker
