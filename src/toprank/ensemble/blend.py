"""How much each member of a blend counts: between equal weights and those best for the statistic.

Weights that are best on the training list follow the items at its top, noise included, the more closely the
fewer these are. So the blend lies between: ``(1 - trust) * equal + trust * best``, both
of unit length, the members' out-of-fold scores having unit spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import statistics
from toprank.exact.certificate import Certificate
from toprank.statistics import LinearRankStatistic

__all__ = ["Blend", "equal_weights", "mixed", "trust_in"]

Floats = NDArray[np.float64]
HALF_TRUSTED_AT = 300.0
"""Positives within the statistic's reach at which equal and best weights count alike: a choice, not tuned."""


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


def equal_weights(m: int) -> Floats:
    """All members count the same; unit length.

    >>> equal_weights(4)
    array([0.5, 0.5, 0.5, 0.5])
    """
    return np.full(m, 1.0 / np.sqrt(m))


def mixed(best: Floats, trust: float) -> Floats:
    """Between equal weights (trust 0) and the best ones (trust 1), all of unit length."""
    size = float(np.linalg.norm(best))
    if trust == 0.0 or size == 0.0:
        return equal_weights(len(best))
    blend = (1.0 - trust) * equal_weights(len(best)) + trust * best / size
    length = float(np.linalg.norm(blend))
    # Opposite vectors cancel out; then neither can be trusted and equal weights are the safer half.
    return blend / length if length > 1e-6 else equal_weights(len(best))


def trust_in(statistic: Any, y: NDArray[np.int8], scores: Floats) -> float:
    """How far weights that are best on these rows can be trusted: the more positives count, the further.

    ``t / (t + 300)`` with t the positives among the positions whose weights are not all alike.

    >>> y = np.repeat([1, 0], [300, 700])
    >>> trust_in("dcg", y, -np.arange(1000.0))
    0.5
    """
    linear = statistics.get(statistic)
    if not isinstance(linear, LinearRankStatistic):
        raise ValueError(
            f"statistic={str(linear)!r}: the best weights are those of a linear statistic (dcg, auc, ...);"
            " set trust=0 to count all members alike."
        )
    weights = linear.weights(len(y), int(y.sum()))
    changes = np.flatnonzero(np.diff(weights))
    reach = int(changes[-1]) + 1 if len(changes) else 0
    at_top = float(y[np.argsort(-scores, kind="stable")[:reach]].sum())
    return at_top / (at_top + HALF_TRUSTED_AT)
