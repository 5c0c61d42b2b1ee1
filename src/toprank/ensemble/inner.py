"""What an ensemble can take, by what the estimators inside it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils import get_tags

from toprank.base import BaseRanker, abilities
from toprank.base.tags import last_step

__all__ = ["set_tags", "takes_lists", "takes_missing", "takes_sparse"]


def set_tags(tags: Any, inner: Sequence[Any]) -> None:
    """Set the tags of an ensemble: it takes what some inside it can use, and leaves out the others."""
    tags.input_tags.sparse = any(takes_sparse(one) for one in inner)
    tags.input_tags.allow_nan = any(takes_missing(one) for one in inner)
    tags.ranker_tags.weights = any(abilities(one).weights for one in inner)
    tags.ranker_tags.queries = any(takes_lists(one) for one in inner)
    tags.ranker_tags.at_top = any(abilities(one).at_top for one in inner)


def takes_sparse(estimator: Any) -> bool:
    """Whether it can be fitted to sparse rows."""
    return not hasattr(estimator, "__sklearn_tags__") or bool(get_tags(estimator).input_tags.sparse)


def takes_missing(estimator: Any) -> bool:
    """Whether it can be fitted to rows with NaN."""
    return hasattr(estimator, "__sklearn_tags__") and bool(get_tags(estimator).input_tags.allow_nan)


def takes_lists(estimator: Any) -> bool:
    """Whether it can be fitted to rows of several queries: one that looks at single rows always can."""
    return not isinstance(last_step(estimator), BaseRanker) or abilities(estimator).queries
