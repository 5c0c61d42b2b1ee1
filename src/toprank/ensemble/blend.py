"""How much each member of a blend counts: between the usual weights and those best for the statistic.

Weights that are best on the training list follow the items at its top, noise included, the more closely the
fewer these are. So the blend lies between: ``(1 - trust) * usual + trust * best``, both
of unit length, the members' out-of-fold scores having unit spread. That one number, `trust`, is a rule of
the positives that count; where these are enough, it is chosen on rows that the weights never saw.

Of grades or a response every row tells how good a weight is, not the few at the top: the best weights are
those of least squares, none below zero, and are trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from toprank import statistics
from toprank.base import best_first
from toprank.exact.certificate import Certificate
from toprank.statistics import LinearRankStatistic

__all__ = [
    "FEWEST_TO_CHOOSE",
    "Blend",
    "at_top",
    "chosen_trust",
    "fitting_weights",
    "mixed",
    "to_response",
    "trust_in",
    "usual_weights",
]

Floats = NDArray[np.float64]
HALF_TRUSTED_AT = 300.0
"""Positives that count, at which usual and best weights count alike: a choice, unless the data say more."""
FEWEST_TO_CHOOSE = 50
"""Positives that count, below which the rule stands: fewer tell levels of trust apart by luck alone."""
LEVELS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Trust that is tried beside the rule's."""


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights of the members' standardised scores, and where they come from.

    Parameters
    ----------
    weights : (m,) array
        Of unit length.
    trust : float
        0 for equal weights, 1 for those best on the training list.
    certificate : Certificate or None
        Of the best weights: no other weights are better on the out-of-fold scores than its bound says.
    """

    weights: Floats
    trust: float
    certificate: Certificate | None


def usual_weights(names: Sequence[str], weights: Mapping[str, float] | None = None) -> Floats:
    """What members count before their scores say anything: alike, or as told; unit length.

    >>> usual_weights(["logistic", "forest", "boosting", "catboost"])
    array([0.5, 0.5, 0.5, 0.5])
    >>> usual_weights(["forest", "catboost"], {"catboost": 0.75, "forest": 1.0})
    array([0.8, 0.6])
    """
    told = np.array([1.0 if weights is None else float(weights.get(name, 1.0)) for name in names])
    return np.asarray(told / np.linalg.norm(told))


def mixed(best: Floats, trust: float, usual: Floats) -> Floats:
    """Between the usual weights (trust 0) and the best ones (trust 1), all of unit length."""
    size = float(np.linalg.norm(best))
    if trust == 0.0 or size == 0.0:
        return usual
    blend = (1.0 - trust) * usual + trust * best / size
    length = float(np.linalg.norm(blend))
    # Opposite vectors cancel out; then neither can be trusted and the usual weights are the safer half.
    return blend / length if length > 1e-6 else usual


def fitting_weights(
    stack: Floats, y: Floats, *, qid: NDArray[np.int64] | None = None, weight: Floats | None = None
) -> Floats:
    """Weights, none below zero, with which the scores come nearest to a response, in least squares.

    Within queries, where there are some: what queries differ by is not what rows are ranked by.

    >>> stack = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])
    >>> fitting_weights(stack, np.array([3.0, 2.0, 1.0])).round(9)
    array([1., 0.])
    """
    group = np.zeros(len(y), dtype=np.int64) if qid is None else qid
    each = np.ones(len(y)) if weight is None else weight
    columns = [_centred(column, group, each) for column in (*stack.T, np.asarray(y, dtype=np.float64))]
    root = np.sqrt(each)[:, np.newaxis] * np.column_stack(columns)
    found = nnls(root[:, :-1], root[:, -1])[0]
    return np.asarray(found, dtype=np.float64) if found.any() else np.full(len(found), len(found) ** -0.5)


def to_response(scores: Floats, y: Floats, weight: Floats | None = None) -> tuple[float, float]:
    """Intercept and slope of the rising line that takes scores nearest to a response; (0, 1) if none rises.

    >>> to_response(np.array([0.0, 1.0, 2.0]), np.array([5.0, 7.0, 9.0]))
    (5.0, 2.0)
    """
    middle, level = np.average(scores, weights=weight), np.average(y, weights=weight)
    spread = float(np.average((scores - middle) ** 2, weights=weight))
    along = float(np.average((scores - middle) * (y - level), weights=weight))
    if not (spread > 0.0 and along > 0.0):
        return 0.0, 1.0
    return float(level - along / spread * middle), along / spread


def _centred(column: Floats, group: NDArray[np.int64], weight: Floats) -> Floats:
    sums, sizes = np.bincount(group, weights=weight * column), np.bincount(group, weights=weight)
    return np.asarray(column - (sums / np.where(sizes > 0.0, sizes, 1.0))[group])


def trust_in(statistic: Any, y: NDArray[np.int8], scores: Floats) -> float:
    """How far weights that are best on these rows can be trusted: the more positives count, the further.

    ``t / (t + 300)`` with t the positives among the positions whose weights are not all alike.

    >>> y = np.repeat([1, 0], [300, 700])
    >>> trust_in("dcg", y, -np.arange(1000.0))
    0.5
    """
    found = at_top(statistic, y, scores)
    return found / (found + HALF_TRUSTED_AT)


def at_top(statistic: Any, y: NDArray[np.int8], scores: Floats) -> int:
    """Positives among the positions whose weights are not all alike: those the statistic looks at.

    >>> at_top("dcg@2", np.array([1, 0, 1, 0], dtype=np.int8), np.array([4.0, 3.0, 2.0, 1.0]))
    1
    """
    weights = _linear(statistic).weights(len(y), int(y.sum()))
    changes = np.flatnonzero(np.diff(weights))
    reach = int(changes[-1]) + 1 if len(changes) else 0
    return int(y[best_first(scores)[:reach]].sum())


def chosen_trust(
    statistic: Any,
    stack: Floats,
    y: NDArray[np.int8],
    held: Sequence[tuple[NDArray[np.int64], Floats]],
    rule: float,
    usual: Floats,
) -> float:
    """The trust that is best on rows the best weights never saw; the rule's unless it is clearly beaten.

    Each level of trust orders all rows, those of a fold by weights found without them. What a level gains on
    the rule is a sum over the places that hold a positive in one order and not in the other; a gain within
    one standard error of that sum is luck, and the rule stands.

    Parameters
    ----------
    statistic : str or LinearRankStatistic
    stack : (n, m) array
        Standardised out-of-fold scores of the members.
    y : (n,) array of 0 and 1
    held : sequence of (rows, best weights without these rows)
        Every row once.
    rule : float
        What `trust_in` says.
    usual : (m,) array
        What members count where nothing is trusted.

    Examples
    --------
    The first member knows, the second is noise, and the weights found without a fold say so:

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.array([1, 0], dtype=np.int8), 200)
    >>> stack = np.column_stack([y + 0.5 * rng.normal(size=400), rng.normal(size=400)])
    >>> halves = [(np.arange(start, 400, 2), np.array([1.0, 0.0])) for start in (0, 1)]
    >>> chosen_trust("dcg@100", stack, y, halves, rule=0.4, usual=usual_weights(["knows", "noise"]))
    1.0
    """
    weights = _linear(statistic).weights(len(y), int(y.sum()))

    def worth_of_places(trust: float) -> Floats:
        scores = np.empty(len(y))
        for rows, best in held:
            scores[rows] = stack[rows] @ mixed(best, trust, usual)
        return np.asarray(weights * y[best_first(scores)])

    by_rule = worth_of_places(rule)
    # The nearest to the rule among equals.
    levels = sorted(LEVELS, key=lambda level: abs(level - rule))
    gains = [worth_of_places(level) - by_rule for level in levels]
    best = int(np.argmax([gain.sum() for gain in gains]))
    error = float(np.sqrt(np.sum(gains[best] ** 2)))
    return levels[best] if gains[best].sum() > error else rule


def _linear(statistic: Any) -> LinearRankStatistic:
    linear = statistics.get(statistic)
    if not isinstance(linear, LinearRankStatistic):
        raise ValueError(
            f"statistic={str(linear)!r}: the best weights are those of a linear statistic (dcg, auc, ...);"
            " set trust=0 to count all members alike."
        )
    return linear
