"""How many positives the highest negative can stand above on new data: the bound of the Infinite Push."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from toprank.statistics.inputs import read_classes, read_scores

__all__ = ["PushBound", "push_bound"]


@dataclass(frozen=True)
class PushBound:
    """An upper bound on R_inf on new data, and how probably it fails.

    Attributes
    ----------
    value : float
        R_inf of the distribution is at most this, but for the probability below.
    error : float
        R_inf with the margin on the sample.
    probability : float
        At most so probably some score of the set exceeds its bound; 1 says nothing.
    """

    value: float
    error: float
    probability: float


def push_bound(
    y: ArrayLike, scores: ArrayLike, *, margin: float, epsilon: float, covering_number: float, far: float
) -> PushBound:
    """The largest share of positives below some negative on new data, at most (Agarwal 2011, Theorem 5.1).

    With ``R^g = max over negatives j of 1/m sum over positives i of 1[f(x_i) - f(x_j) < g]`` (Eq. (5.23)) on
    a sample of m positives and n negatives, R_inf of the distribution is at most ``R^g + epsilon`` for all f
    in a set of scores F, except with a probability of at most
    ``N(F, epsilon g / 8) (2 n exp(-m epsilon^2 / 8) + far^n)``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two labels, as a statistic takes them.
    scores : array-like of shape (n_samples,)
    margin : float
        g, in units of the scores.
    epsilon : float
    covering_number : float
        N(F, epsilon g / 8): how many balls of that radius, in the largest difference, cover the set F.
    far : float
        The supremum over F of delta_D(f, g, epsilon / 4), between 0 and 1: how probably a negative is not
        within epsilon / 4 of the worst one. It depends on the distribution, and is for the user to know.

    Examples
    --------
    >>> y, scores = np.repeat([1, 0], 20_000), np.repeat([2.0, 0.0], 20_000)
    >>> found = push_bound(y, scores, margin=1.0, epsilon=0.1, covering_number=40.0, far=0.975)
    >>> found.value, found.probability < 1e-4
    (0.1, True)
    """
    for name, number in (("margin", margin), ("epsilon", epsilon)):
        if not number > 0:
            raise ValueError(f"{name}={number!r} must be positive.")
    if not covering_number >= 1:
        raise ValueError(f"covering_number={covering_number!r} must be at least 1.")
    if not 0 <= far <= 1:
        raise ValueError(f"far={far!r} must lie between 0 and 1.")
    positive = read_classes(y)
    values = read_scores(scores, len(positive))
    m, n = int(positive.sum()), int((~positive).sum())
    if m == 0 or n == 0:
        raise ValueError("y has one class only; the bound needs rows of both classes.")
    error = float(np.mean(values[positive] - values[~positive].max() < margin))
    failing = covering_number * (2 * n * math.exp(-m * epsilon**2 / 8) + far**n)
    return PushBound(error + epsilon, error, min(1.0, failing))
