"""`TopPush` and its family: positives above the highest negatives, by a smooth or a plain margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toprank.control import Callback, Seed
from toprank.losses.top_push import SURROGATES, Highest, MeanOfHighest, QuantileMean
from toprank.rankers.parts.parameters import check_choice
from toprank.rankers.parts.top_push import TopPushRanker

__all__ = ["TauFPL", "TopPush", "TopPushK"]


class _WithLoss(TopPushRanker):
    """A `TopPushRanker` whose surrogate is its parameter `loss`."""

    loss: str

    def _loss(self) -> str:
        return self.loss

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, list(SURROGATES))
        self._rule()


class TopPush(_WithLoss):
    """Puts positives above the highest negative.

    Minimises ``1/2 |w|^2 + C mean_i loss(max_j f(x_j) - f(x_i))``, positives i and negatives j (Li, Jin and
    Zhou 2014), to a relative duality gap of `tol`. Time and memory grow linearly with the rows. With the
    hinge it is `InfinitePush`. With `qid` every query q has its own highest negative, and all count the same:
    ``1/2 |w|^2 + C mean_q mean_(i in q) loss(max_(j in q) f(x_j) - f(x_i))``.

    Parameters
    ----------
    C : float
        How much the mean loss weighs against the penalty.
    loss : {"squared_hinge", "logistic", "hinge"}
        (1 + z)_+^2, log(1 + e^z) or (1 + z)_+ at z = threshold - score.
    kernel : str, callable or None
        None is linear; "rbf", "poly", ..., a callable of two rows, or "precomputed".
    gamma, degree, coef0 : floats
        Of the kernel, as in scikit-learn.
    kernel_params : dict or None
        Further parameters of the kernel, such as those of a callable.
    approximation : {None, "nystroem", "fourier"}
        Stands in for an exact kernel when there are many rows.
    n_components : int
        Features of the approximation.
    n_landmarks : int or None
        Rows that Nystroem's features are made of, the best `n_components` directions of them; None: as many.
    tol : float
        Relative gap between value and bound.
    max_iter : int
        Most rounds of column generation.
    warm_start : bool
        Whether to start from the last coefficients.
    time_limit : float or None
        Seconds; None for no limit.
    random_state : int, Generator, RandomState or None
        Sketches of the curvature with very many features.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature (linear only); when `zero_is_optimal_`, the difference of the class means.
    dual_coef_ : ndarray of shape (n_samples,)
        Weight of each training row in f(x) = sum_k beta_k K(x_k, x) (exact kernels only).
    zero_is_optimal_ : bool
        Whether w = 0 minimises the objective (`outcome_.notes` says why and what helps).
    outcome_ : Outcome
        Value, bound, gap, status and seconds.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> ranker = TopPush(C=10).fit(X, [0, 1, 0, 1])
    >>> sorted(ranker.first(X, 2).tolist()), str(ranker.outcome_.status)
    ([1, 3], 'optimal')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _rule(self) -> Highest:
        return Highest()


class TopPushK(_WithLoss):
    """Puts positives above the mean of the k highest negatives: one odd negative does not decide.

    Minimises ``1/2 |w|^2 + C mean_i loss(t - f(x_i))``, t the mean of the k highest scores of negatives;
    k = 1 is `TopPush`. With `qid` every query has its own t, of all its negatives where they are fewer than
    k.

    Parameters
    ----------
    k : int
        How many negatives make the threshold.
    C : float
        How much the mean loss weighs against the penalty.
    loss : {"squared_hinge", "logistic", "hinge"}
    tol, max_iter, warm_start, time_limit, random_state, pos_label, callback, verbose
        As in `TopPush`.

    Attributes
    ----------
    coef_, zero_is_optimal_, outcome_
        As in `TopPush`.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> sorted(TopPushK(k=2).fit(X, [0, 1, 0, 1]).first(X, 2).tolist())
    [1, 3]
    """

    def __init__(
        self,
        k: int = 10,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _rule(self) -> MeanOfHighest:
        return MeanOfHighest(self.k)


class TauFPL(_WithLoss):
    """Puts positives above the mean of the highest share of the negatives: few false alarms are allowed.

    Minimises ``1/2 |w|^2 + C mean_i loss(t - f(x_i))``, t the mean of the highest scores of negatives, a
    share `negative_share` of them (tau-FPL; Zhang, Li, Li and others 2018). With `qid` every query has its
    own t, and all count the same.

    Parameters
    ----------
    negative_share : float
        Share of the negatives, above 0 and at most 1.
    C : float
        How much the mean loss weighs against the penalty.
    loss : {"squared_hinge", "logistic", "hinge"}
    tol, max_iter, warm_start, time_limit, random_state, pos_label, callback, verbose
        As in `TopPush`.

    Attributes
    ----------
    coef_, zero_is_optimal_, outcome_
        As in `TopPush`.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> sorted(TauFPL(negative_share=0.5).fit(X, [0, 1, 0, 1]).first(X, 2).tolist())
    [1, 3]
    """

    def __init__(
        self,
        negative_share: float = 0.05,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.negative_share = negative_share
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _rule(self) -> QuantileMean:
        return QuantileMean(self.negative_share)
