"""What a ranker can do, as tags beside scikit-learn's own: the one place that says which there are."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import has_fit_parameter

from toprank.labels import KINDS, LabelKind

__all__ = ["TWO_LABELS", "RankerTags", "TagsOfRanker", "abilities", "last_step", "with_ranker_tags"]


TWO_LABELS: frozenset[LabelKind] = frozenset({"binary"})
"""The kinds of labels that every ranker takes: two different ones."""


@dataclass(slots=True)
class RankerTags:
    """What a ranker can do with the parameters it has; what is not said it cannot do.

    Parameters
    ----------
    weights : bool
        Whether `fit` takes `sample_weight`; a ValueError otherwise.
    queries : bool
        Whether `fit` takes `qid`; a ValueError otherwise.
    pairs : bool
        Whether `fit_pairs` learns from pairs of rows instead of labels.
    validation : bool
        Whether `fit` takes rows to stop by, `X_val` and `y_val`; a TypeError or a ValueError otherwise.
    labels : frozenset of {"binary", "ordinal", "continuous"}
        What `y` may be, a ValueError otherwise: two labels, which everyone takes; grades; any numbers.
    at_top : bool
        Whether what it optimises weighs the top of the list more than the rest.
    weak : bool
        Whether that is only who is among the first K, in whichever order; `at_top` is said as well then.
    linear : bool
        Whether a fitted one scores by ``X @ coef_ + intercept_``.
    exact : bool
        Whether a fitted one has a `certificate_` of how far from the best possible it is.

    Examples
    --------
    >>> from sklearn.utils import get_tags
    >>> from toprank import ExactRanker
    >>> tags = get_tags(ExactRanker()).ranker_tags
    >>> tags.exact, tags.queries, tags.weights
    (True, True, False)
    """

    weights: bool = False
    queries: bool = False
    pairs: bool = False
    validation: bool = False
    labels: frozenset[LabelKind] = TWO_LABELS
    at_top: bool = False
    weak: bool = False
    linear: bool = False
    exact: bool = False


@dataclass(slots=True)
class TagsOfRanker(Tags):
    """scikit-learn's tags and ours."""

    ranker_tags: RankerTags = field(default_factory=RankerTags)


def with_ranker_tags(tags: Any) -> TagsOfRanker:
    """scikit-learn's tags of an estimator, with room for ours."""
    return TagsOfRanker(**{one.name: getattr(tags, one.name) for one in fields(tags)})


def abilities(estimator: Any) -> RankerTags:
    """What a ranker can do by its tags; any other estimator, what its `fit` takes; a pipeline, its last step.

    A regressor takes any numbers; a classifier has one score for each row where there are two labels only.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from toprank import TreeRank
    >>> abilities(TreeRank()).queries, abilities(LogisticRegression()).weights
    (False, True)
    """
    last = last_step(estimator)
    own = getattr(get_tags(last), "ranker_tags", None) if hasattr(last, "__sklearn_tags__") else None
    if own is not None:
        return own
    if isinstance(last, FrozenEstimator):
        frozen = abilities(last.estimator)
        return RankerTags(weights=True, queries=frozen.queries, labels=frozen.labels)
    return RankerTags(
        weights=has_fit_parameter(last, "sample_weight"),
        queries=has_fit_parameter(last, "qid"),
        labels=KINDS if _regresses(last) else TWO_LABELS,
    )


def _regresses(estimator: Any) -> bool:
    return hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator)


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last one of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
