"""`InfinitePush`: as many positives as possible above the highest negative."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toprank.control import Callback, Run, Seed
from toprank.convex.top_push.by_query import QueryPushProblem
from toprank.convex.top_push.column_generation import TopPushSolution
from toprank.convex.top_push.gradient_projection import gradient_projection
from toprank.convex.top_push.linear_program import sparse_push
from toprank.convex.top_push.problem import TopPushProblem
from toprank.losses.top_push import Highest
from toprank.rankers.parts.parameters import check_choice
from toprank.rankers.parts.top_push import TopPushRanker

__all__ = ["InfinitePush"]


class InfinitePush(TopPushRanker):
    """Puts as many positives as possible above the highest negative, each by a margin.

    Minimises ``1/2 |f|^2 + C max_j mean_i (1 - f(x_i) + f(x_j))_+``, positives i and negatives j (Agarwal
    2011, Eq. (3.4) with C = 1/lambda). The maximum is attained by the highest negative, so this is::

        1/2 |f|^2 + C mean_i (1 - f(x_i) + max_j f(x_j))_+ ,

    whose dual has one variable per row instead of one per pair. Column generation around an interior-point
    method solves it to a relative duality gap of `tol`, in time and memory linear in the rows.

    With `qid` every query q has its own highest negative, and all count the same::

        1/2 |f|^2 + C mean_q mean_(i in q) (1 - f(x_i) + max_(j in q) f(x_j))_+ ,

    over the queries that have rows of both classes; solved by Newton's method on ever less rounded losses.

    Parameters
    ----------
    C : float
        How much the mean loss weighs against the penalty.
    norm : {"l2", "l1"}
        ``1/2 |w|^2``, or ``sum |w_k|`` for few features, which is a linear program (Rakotomamonjy 2012);
        linear scores only.
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
    solver : {"column_generation", "gradient_projection"}
        The second is Agarwal's algorithm (her Figure 2), slow: one variable a pair.
    step_size : float or None
        eta_0 of the gradient projection; None for accelerated steps of a safe length.
    tol : float
        Relative gap between value and bound.
    max_iter : int
        Most rounds of column generation, or t_max of the gradient projection.
    warm_start : bool
        Whether to start from the last coefficients.
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
        Weight of each feature (linear only); when `zero_is_optimal_`, the difference of the class means.
    dual_coef_ : ndarray of shape (n_samples,)
        Weight of each training row in f(x) = sum_k beta_k K(x_k, x), Agarwal's Eq. (3.14) with the sums over
        pairs carried out (exact kernels only).
    zero_is_optimal_ : bool
        Whether w = 0 minimises the objective (`outcome_.notes` says why and what helps).
    outcome_ : Outcome
        Value, bound, gap, status and seconds.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> ranker = InfinitePush(C=10).fit(X, [0, 1, 0, 1])
    >>> ranker.coef_.round(3), sorted(ranker.first(X, 2).tolist()), str(ranker.outcome_.status)
    (array([0.2, 0.4]), [1, 3], 'optimal')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        norm: str = "l2",
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        solver: str = "column_generation",
        step_size: float | None = None,
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
        self.norm = norm
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.solver = solver
        self.step_size = step_size
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def _loss(self) -> str:
        return "hinge"

    def _rule(self) -> Highest:
        return Highest()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, ["column_generation", "gradient_projection"])
        check_choice("norm", self.norm, ["l2", "l1"])
        if self.norm == "l1" and self.kernel is not None:
            raise ValueError("norm='l1' selects features; it has no meaning with a kernel.")
        if self.norm == "l1" and self.solver == "gradient_projection":
            raise ValueError("solver='gradient_projection' is for norm='l2'.")

    def _solve(self, problem: TopPushProblem | QueryPushProblem, run: Run) -> TopPushSolution:
        if self.norm == "l1":
            return sparse_push(problem, tol=self.tol, run=run)
        if self.solver == "gradient_projection" and isinstance(problem, TopPushProblem):
            limits: dict[str, Any] = {"tol": self.tol, "max_iter": int(self.max_iter)}
            return gradient_projection(problem, step=self.step_size, run=run, **limits)
        return super()._solve(problem, run)

    def _why_zero(self, problem: TopPushProblem | QueryPushProblem) -> str:
        if self.norm == "l2":
            return super()._why_zero(problem)
        return (
            f"w = 0 is optimal at C={self.C:g}: with norm='l1' no feature is worth its price; coef_ is the"
            " difference of the class means instead. What helps: a larger C, or norm='l2', which says whether"
            " any C would."
        )

    def _why_no_queries(self) -> str:
        return f"with solver={self.solver!r} takes no queries (solver='column_generation' takes them)"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Agarwal's algorithm has one matrix of pairs and one constraint on it.
        tags.ranker_tags.queries = self.solver != "gradient_projection"
        return tags
