"""`RankRLS`: fit the differences of labels by least squares, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.base import RankingData
from toprank.control import Callback, Outcome, Run, Seed
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.newton import minimise
from toprank.convex.pairwise.least_squares import LeavePairOut, RankLeastSquares
from toprank.labels import KINDS, LabelKind
from toprank.losses.pairwise_squares import PairwiseSquares
from toprank.rankers.parts.kernels import KernelRanker
from toprank.rankers.parts.parameters import check_penalty_weight
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["RankRLS"]

Floats = NDArray[np.float64]


class RankRLS(KernelRanker):
    """Fits score differences to label differences by least squares: closed form, any real labels.

    Minimises ``1/2 |w|^2 + C/(2n) sum_q 1/n_q sum over pairs i < j of query q of ((y_i - y_j) - (f(x_i) -
    f(x_j)))^2`` (Pahikkala et al. 2009), which is least squares with a free intercept for each query.
    `leave_pair_out` gives exact cross-validated concordances without refitting; `RankRLSCV` chooses C by
    them.

    With sample weights a pair weighs the product of its rows' weights.

    Parameters
    ----------
    C : float
        How much the squared differences weigh against the penalty.
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
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, which are fitted as 0 and 1, grades or any numbers, the higher the nearer to
        the top; "auto" tells it from `y`.
    tol : float
        Relative gap between value and bound; above some 750 features the equations are solved by conjugate
        gradients.
    max_iter : int
        Rounds of conjugate gradients.
    time_limit : float or None
        Seconds; None for no limit.
    random_state : int, Generator, RandomState or None
        Which landmarks or frequencies an approximation draws.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature (linear only).
    dual_coef_ : ndarray of shape (n_samples,)
        Weight of each training row in f(x) = sum_k beta_k K(x_k, x) (exact kernels only).
    outcome_ : Outcome
        Value, bound, gap, status and seconds.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> RankRLS(C=10.0).fit(X, [0.1, 0.9, 0.0, 0.7]).rank(X).tolist()
    [1, 3, 0, 2]
    """

    n_iter_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        levels: str = "auto",
        tol: float = 1e-10,
        max_iter: int = 100,
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.levels = levels
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def leave_pair_out(
        self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None, Cs: ArrayLike | None = None
    ) -> Floats:
        """Cross-validated concordance for each C: every pair is scored by a ranker trained without it.

        The share of pairs with different labels, in the same query, that come out in the right order; ties
        count a half. With two labels it is the leave-pair-out AUC (Airola et al. 2011). Exact, from one
        decomposition; memory and time of some n^2 d, so for up to some ten thousand rows.

        Parameters
        ----------
        X, y, qid
            As in `fit`.
        Cs : array-like, optional
            The C to try; this ranker's own if not given.

        Returns
        -------
        ndarray
            One concordance for each C.

        Examples
        --------
        >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0], [0.0, 0.0]]
        >>> RankRLS().leave_pair_out(X, [0, 1, 0, 1, 0], Cs=[0.1, 10.0]).round(3)
        array([1.   , 0.833])
        """
        data = self._clean(X, y, qid, None)
        features = data.X if self.kernel is None else self.kernel_map().fit(data.X)
        if features.shape[0] < 4:
            raise ValueError(f"leave_pair_out needs at least 4 rows, got {features.shape[0]}.")
        held_out = LeavePairOut(features, data.grade, data.qid)
        wanted = np.atleast_1d(np.asarray(self.C if Cs is None else Cs, dtype=np.float64))
        return np.array([held_out.concordance(check_penalty_weight(float(C))) for C in wanted])

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        C = check_penalty_weight(self.C)
        X = self._features(data.X)
        squares = PairwiseSquares.from_labels(data.grade, qid=data.qid, sample_weight=data.sample_weight)
        self._check_pairs(squares)
        problem = RankLeastSquares(Design(X, data.qid), squares, C)
        found, outcome = minimise(
            problem, np.zeros(X.shape[1]), run, tol=self.tol, max_iter=int(self.max_iter)
        )
        self._keep(found.coef)
        self.n_iter_ = max(1, outcome.iterations)
        return outcome

    def _check_pairs(self, squares: PairwiseSquares) -> None:
        if not (squares.weight * np.abs(squares.centered(squares.target))).any():
            raise ValueError(
                "There is no pair to order: no query holds items of two classes with positive weight."
            )

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = tags.ranker_tags.queries = True
        return tags
