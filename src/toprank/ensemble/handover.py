"""What an outer ranker hands to the estimators inside it: queries, and the statistic to maximise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from toprank.base import BaseRanker
from toprank.ensemble.heads import Heads, linear_statistic
from toprank.exact.weights import PositionWeights
from toprank.rankers.direct import DirectRanker
from toprank.rankers.exact import ExactRanker

__all__ = ["aimed", "last_step", "maximises", "query_option"]

DIRECT_RANKERS = (ExactRanker, DirectRanker)
"""Those that maximise a linear rank statistic itself, and take position weights in its place."""


@contextmanager
def aimed(reranker: Any, heads: Heads, y: NDArray[np.int8]) -> Iterator[None]:
    """Have a reranker that can do so maximise the statistic of the whole list; afterwards its name stands."""
    statistic = linear_statistic(reranker.statistic) if isinstance(reranker, DIRECT_RANKERS) else None
    if statistic is None:
        yield
        return
    named, aim = reranker.statistic, heads.objective(statistic, y)
    if isinstance(aim, PositionWeights):
        reranker.set_params(statistic=aim)
    try:
        yield
    finally:
        reranker.set_params(statistic=named)


def maximises(reranker: Any) -> bool:
    """Whether a reranker seeks the best value of the statistic and nothing else, such as few coefficients."""
    alone = not getattr(reranker, "penalty", 0.0) and getattr(reranker, "constraints", None) is None
    return isinstance(reranker, DIRECT_RANKERS) and alone and linear_statistic(reranker.statistic) is not None


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def query_option(estimator: Any, qid: Any, *, needed: bool) -> str | None:
    """The name under which an estimator's `fit` takes queries; None where it gets none.

    A ranker that takes none would compare rows of different queries, so it is refused, as is any estimator
    that needs them.
    """
    last = last_step(estimator)
    if qid is None:
        return None
    if has_fit_parameter(last, "qid"):
        return "qid" if last is estimator else f"{estimator.steps[-1][0]}__qid"
    if needed or isinstance(last, BaseRanker):
        raise ValueError(
            f"qid: {type(last).__name__} learns from one list and takes no queries; fit without qid or"
            f" choose another {'reranker' if needed else 'base'}."
        )
    return None
