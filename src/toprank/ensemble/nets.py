"""`SmallNets`: some small networks that learn for a while, averaged."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

__all__ = ["SmallNets"]

Floats = NDArray[np.float64]


class SmallNets(ClassifierMixin, BaseEstimator):
    """The mean probability of some small networks that begin from different random numbers.

    Smooth where trees have steps, bent where logistic regression is straight. Each has one hidden layer and
    learns for a fixed number of passes, not until nothing changes: that, and the mean, keep it from learning
    the rows by heart. scikit-learn's `MLPClassifier` learns them; what is kept is their numbers.

    Parameters
    ----------
    n_nets : int
    hidden : int
        Units of the hidden layer.
    alpha : float
        Weight of the squared coefficients.
    passes : int
        Over the rows.
    learning_rate : float
    time_limit : float or None
        Seconds; the first network is finished, others are not begun when they are over.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    layers_ : list of tuples of ndarrays
        Of each network: coefficients and offsets of the hidden layer, then those of the output.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> bool(SmallNets(passes=200, random_state=0).fit(X, y).score(X, y) > 0.88)  # a line gets 0.87 right
    True
    """

    def __init__(
        self,
        n_nets: int = 5,
        *,
        hidden: int = 32,
        alpha: float = 0.1,
        passes: int = 40,
        learning_rate: float = 3e-3,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_nets = n_nets
        self.hidden = hidden
        self.alpha = alpha
        self.passes = passes
        self.learning_rate = learning_rate
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SmallNets:
        """Learn from rows of two classes, features of about unit spread.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        """
        from sklearn.neural_network import MLPClassifier

        began, rng = time.perf_counter(), check_random_state(self.random_state)
        self.layers_: list[tuple[Floats, ...]] = []
        for _ in range(self.n_nets):
            if self.layers_ and self.time_limit is not None and time.perf_counter() - began > self.time_limit:
                break
            net = MLPClassifier(
                (self.hidden,),
                alpha=self.alpha,
                max_iter=self.passes,
                learning_rate_init=self.learning_rate,
                random_state=int(rng.randint(2**31 - 1)),
            )
            with warnings.catch_warnings():
                # It is not meant to converge.
                warnings.simplefilter("ignore", ConvergenceWarning)
                net.fit(X, y) if sample_weight is None else net.fit(X, y, sample_weight=sample_weight)
            (inner, outer), (shift, offset) = net.coefs_, net.intercepts_
            self.layers_.append((inner, shift, outer[:, 0], offset))
            self.classes_, self.n_features_in_ = net.classes_, net.n_features_in_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes, in the order of `classes_`."""
        check_is_fitted(self)
        upper = np.mean(
            [
                expit(np.maximum(np.asarray(X @ inner) + shift, 0.0) @ outer + offset)
                for inner, shift, outer, offset in self.layers_
            ],
            axis=0,
        )
        return np.column_stack((1.0 - upper, upper))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class of each row."""
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)])
