"""How large the error at the top can be on new data: the margin bounds of Accuracy at the Top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from toprank.base import Matrix

__all__ = ["MarginBound", "margin_bound"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MarginBound:
    """An upper bound on the error at the top, with its parts.

    Attributes
    ----------
    value : float
        The bound that needs no more than the radius; it holds with probability 1 - delta. Above 1/2 it says
        less than guessing, above 1 nothing.
    by_trace : float
        The bound that uses the mean squared norm of the sample instead; it holds with probability 1 - delta
        too, but not both at once.
    empirical : float
        The margin loss on the sample.
    error : float
        The 0-1 error at the threshold on the sample: half the share of irrelevant items above it and half
        that of relevant ones below it, R of the sample itself.
    n_pairs : int
        m, the number of independent pairs.
    norm, radius : float
        Lambda and r.
    """

    value: float
    by_trace: float
    empirical: float
    error: float
    n_pairs: int
    norm: float
    radius: float


def margin_bound(
    ranker: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    rho: float,
    delta: float = 0.05,
    norm: float | None = None,
    radius: float | None = None,
    threshold: float = 0.0,
    complexity: tuple[float, float] | None = None,
    largest: float | None = None,
) -> MarginBound:
    """The share of irrelevant items above the quantile and relevant ones below it, at most, on new data.

    With L the empirical margin loss at the threshold (a relevant item pays 1 below it, nothing from rho
    above it, and a proportion between; an irrelevant one the other way round), Boyd, Cortes, Mohri and
    Radovanovic (2012), Corollary 2, give

        R <= L + 4 r Lambda / (rho sqrt(m)) + sqrt(log(1/delta) / 2m)

        R <= L + (sqrt(Tr K_1 / m) + sqrt(Tr K_2 / m) + 2 r) Lambda / (rho sqrt(m)) + 3 sqrt(log(2/delta)/2m)

    each with probability 1 - delta. r bounds the norm of an item (K(x, x) <= r^2), as their proof uses it.
    That is for scores of bounded norm. For any other set of scores between -M and M, give its Rademacher
    complexities R_1 and R_2 on irrelevant and relevant items (Theorem 1; Corollary 1 at the quantile):

        R <= L + (R_1 + R_2 + 2 M / sqrt(m)) / rho + sqrt(log(1/delta) / 2m)

        R <= L + (R_1 + R_2 + 2 M / sqrt(m)) / rho + 3 sqrt(log(2/delta) / 2m)

    the first, `value`, with their expectations, the second, `by_trace`, with those of the sample.

    What this assumes: the m pairs are independent draws; labels give no more than ``min(n_+, n_-)`` of
    them. rho, and Lambda and r if given, were fixed before looking at the data; the defaults, ``|w|`` and the
    largest norm in X, are what the formula takes for a model whose norm was bounded by that much in
    advance. L is taken at the learned threshold, in place of the true quantile. A sample that did not serve
    to fit makes none of this worse.

    Parameters
    ----------
    ranker : fitted `AccuracyAtTop`, or any fitted linear model with `coef_` and `intercept_`
    X, y : the sample, labels as in `fit`
    rho : float
        The margin, in score units; the rankers use 1.
    delta : float
        The probability with which the bound may fail.
    norm, radius : float, optional
        Lambda and r; by default ``|w|`` and the largest norm in X.
    threshold : float
        Where relevant and irrelevant items should part, in scores of `decision_function`; 0 is the learned
        quantile. The bound holds for all thresholds at once.
    complexity : (float, float), optional
        R_1 and R_2; `norm` and `radius` then say nothing.
    largest : float, optional
        M, which goes with `complexity`.

    Examples
    --------
    >>> from toprank.rankers.accuracy_at_top import AccuracyAtTop
    >>> X = np.linspace(-1, 1, 20_000)[:, np.newaxis]
    >>> y = (X[:, 0] > 0).astype(int)
    >>> ranker = AccuracyAtTop(0.5, solver="local", weighting="rows", C=0.001, random_state=0).fit(X, y)
    >>> 0 < margin_bound(ranker, X, y, rho=1.0).value < 1
    True
    """
    if not (rho > 0 and 0 < delta < 1):
        raise ValueError(f"rho={rho} must be positive and delta={delta} strictly between 0 and 1.")
    check_is_fitted(ranker)
    positive = np.asarray(y) == ranker.classes_[1]
    n_pairs = int(min(positive.sum(), (~positive).sum()))
    if n_pairs == 0:
        raise ValueError("y has one class only; the bound needs rows of both classes.")
    if (complexity is None) != (largest is None):
        raise ValueError("complexity and largest go together: R_1 and R_2, and M.")
    lead, squares, length = _geometry(ranker, X)
    lead = lead - threshold
    length = length if norm is None else norm
    reach = float(np.sqrt(squares.max())) if radius is None else radius
    paid = np.clip(1.0 - np.where(positive, lead, -lead) / rho, 0.0, 1.0)
    empirical = 0.5 * float(paid[positive].mean() + paid[~positive].mean())
    root = np.sqrt(n_pairs)
    if complexity is not None and largest is not None:
        expected = sampled = (sum(complexity) + 2.0 * largest / root) / rho
    else:
        traces = sum(float(np.sqrt(squares[part].mean())) for part in (positive, ~positive))
        expected = 4.0 * reach * length / (rho * root)
        sampled = (traces + 2.0 * reach) * length / (rho * root)
    return MarginBound(
        value=float(empirical + expected + np.sqrt(np.log(1.0 / delta) / (2 * n_pairs))),
        by_trace=float(empirical + sampled + 3.0 * np.sqrt(np.log(2.0 / delta) / (2 * n_pairs))),
        empirical=empirical,
        error=0.5 * float((lead[positive] < 0).mean() + (lead[~positive] > 0).mean()),
        n_pairs=n_pairs,
        norm=float(length),
        radius=reach,
    )


def _geometry(ranker: Any, X: Any) -> tuple[Floats, Floats, float]:
    """Scores above the threshold, squared norms of the rows, and the norm of the model."""
    lead = np.asarray(ranker.decision_function(X), dtype=np.float64)
    if hasattr(ranker, "squared_norms"):
        return lead, ranker.squared_norms(X), float(ranker.norm_)
    rows: Matrix = X if hasattr(X, "multiply") else np.asarray(X, dtype=np.float64)
    squares: Any = rows.multiply(rows).sum(axis=1) if hasattr(rows, "multiply") else (rows**2).sum(axis=1)
    return lead, np.asarray(squares, dtype=np.float64).ravel(), float(np.linalg.norm(ranker.coef_))
