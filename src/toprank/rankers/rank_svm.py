"""`RankSVM`: order as many pairs as possible, each with a margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import PairData, PairRanker, RankingData
from toprank.control import Callback, Outcome, Run, Seed
from toprank.convex.algebra.design import Design
from toprank.convex.algebra.merge import merge_rows
from toprank.convex.pairwise.concave_penalty import CONCAVE, ConcavePenalty, Lq, concave_rank_svm
from toprank.convex.pairwise.gradient_projection import gradient_projection
from toprank.convex.pairwise.rank_svm import PairLoss, rank_svm
from toprank.convex.pairwise.sparse_penalty import weighted_l1
from toprank.labels import KINDS, LabelKind
from toprank.losses.label_weights import swap_costs
from toprank.losses.pairs import Pairs
from toprank.rankers.parts.kernels import KernelRanker
from toprank.rankers.parts.parameters import check_choice, check_penalty_weight
from toprank.rankers.parts.partitioned import PartitionedFit
from toprank.rankers.parts.threads import in_few_threads

__all__ = ["RankSVM"]

Floats = NDArray[np.float64]


class RankSVM(PartitionedFit, KernelRanker, PairRanker):
    """Puts positives above negatives, as many pairs as possible and each by a margin.

    Minimises ``1/2 |w|^2 + C mean over pairs of max(0, 1 - (f(x_i) - f(x_j)))``, i above j (Agarwal 2011,
    Eq. (4.18); Joachims 2002), or the same with the hinge squared (Chapelle & Keerthi 2010), to a relative
    duality gap of `tol`. The pairs are never listed: time grows like n log n, memory like n. Pairs are
    positive and negative rows, or where labels are grades or a response all rows of different labels; with
    `qid` only rows of the same query.

    With sample weights a pair weighs the product of its rows' weights.

    Parameters
    ----------
    C : float
        How much the mean loss weighs against the penalty.
    loss : {"hinge", "squared_hinge", "graded_hinge"}
        The last is ``max(0, 1 - (y_i - y_j) (f(x_i) - f(x_j)))`` (Werner 2020, Section 3.1, after Clémençon
        et al. 2013): a pair counts the more, and is to be won by the less, the further apart its labels are,
        so that the unit of `y` matters. For at most 1,000 different labels.
    norm : {"l2", "l1", "lq", "log", "mcp", "scad"}
        ``1/2 |w|^2``; ``sum |w_k|``, for few features (Lai et al. 2013, squared hinge); or, for fewer still,
        penalties that leave large coefficients alone, which are not convex (a local minimum, without a
        bound): ``sum |w_k|^q`` (Tian et al. 2011) and the others of Laporte et al. (2014), all of slope one
        at zero: ``b log(1 + |w| / b)``, MCP (``|w| - w^2 / 2b`` up to b) and SCAD (``|w|`` up to 1, flat from
        b).
    q : float
        Between 0 and 1, for ``norm="lq"``.
    bend : float or None
        The b of the last three; None is 0.1 for "log", 3 for "mcp", 3.7 for "scad" (which needs more than 1).
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
    weighting : {"pairs", "queries", "top", "top@k"} or mapping
        Whether every pair or every query counts the same; "top" weighs pairs of grades by what swapping
        them costs in NDCG@10 (or @k), with every query counting the same (Cao et al. 2006); a mapping from
        (upper label, lower label) gives those weights (with binary labels there is one kind of pair only).
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top; "auto" tells it
        from `y`.
    solver : {"newton", "gradient_projection"}
        The second is Agarwal's reference algorithm (her Figure 3), slow and for the plain hinge only.
    step_size : float or None
        eta_0 of the gradient projection; None for accelerated steps of a safe length.
    tol : float
        Relative gap between value and bound.
    max_iter : int
        Newton steps, or t_max of the gradient projection.
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
        Weight of each feature (linear only).
    dual_coef_ : ndarray of shape (n_samples,)
        Weight of each training row in f(x) = sum_k beta_k K(x_k, x) (exact kernels only).
    outcome_ : Outcome
        Value, bound, gap, status and seconds.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 2.0]]
    >>> ranker = RankSVM(C=10).fit(X, [0, 1, 0, 1])
    >>> ranker.decision_function(X).round(6).tolist(), str(ranker.outcome_.status)
    ([-0.5, 0.5, -0.5, 0.5], 'optimal')
    """

    n_iter_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        norm: str = "l2",
        q: float = 0.5,
        bend: float | None = None,
        kernel: str | Callable[..., Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        approximation: str | None = None,
        n_components: int = 500,
        n_landmarks: int | None = None,
        weighting: str | Mapping[tuple[Any, Any], float] = "pairs",
        levels: str = "auto",
        solver: str = "newton",
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
        self.loss = loss
        self.norm = norm
        self.q = q
        self.bend = bend
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.weighting = weighting
        self.levels = levels
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

    @in_few_threads
    def _fit(self, data: RankingData, run: Run) -> Outcome:
        self._check_parameters()
        X = self._features(data.X)
        coef, outcome = self._solve(self._problem(X, data), run, self._last_weights(X.shape[1]))
        self._keep(coef)
        self.n_iter_ = max(1, outcome.iterations)
        return outcome

    @in_few_threads
    def _fit_pairs(self, data: PairData, run: Run) -> Outcome:
        self._check_parameters()
        if self.weighting != "pairs":
            raise ValueError(f"weighting={self.weighting!r}: pairs have weights of their own, sample_weight.")
        if self.loss == "graded_hinge":
            raise ValueError("loss='graded_hinge' needs labels, whose differences count; pairs have none.")
        X = self._features(data.X)
        X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        pairs = Pairs.from_pairs(X.shape[0], data.pairs, data.weight)
        problem = PairLoss(Design(X), pairs, float(self.C), self.loss)
        coef, outcome = self._solve(problem, run, self._last_weights(X.shape[1]))
        self._keep(coef)
        self.n_iter_ = max(1, outcome.iterations)
        return outcome

    # -- parts of the fit ---------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_penalty_weight(self.C)
        check_choice("loss", self.loss, ["hinge", "squared_hinge", "graded_hinge"])
        check_choice("norm", self.norm, ["l2", "l1", "lq", *CONCAVE])
        check_choice("solver", self.solver, ["newton", "gradient_projection"])
        if self.norm == "lq" and not 0 < self.q < 1:
            raise ValueError(f"q={self.q!r} must lie between 0 and 1; norm='l1' is the case q = 1.")
        least = 1.0 if self.norm == "scad" else 0.0
        if self.bend is not None and not self.bend > least:
            raise ValueError(f"bend={self.bend!r} must be above {least:g} for norm={self.norm!r}.")
        if self.norm != "l2" and self.kernel is not None:
            raise ValueError(f"norm={self.norm!r} selects features; it has no meaning with a kernel.")
        if self.solver != "newton" and (self.loss, self.norm) != ("hinge", "l2"):
            raise ValueError("solver='gradient_projection' is for loss='hinge' and norm='l2'.")
        if self.loss == "graded_hinge" and self.norm != "l2":
            raise ValueError(f"loss='graded_hinge' is for norm='l2', not {self.norm!r}.")

    def _problem(self, X: Any, data: RankingData) -> PairLoss:
        """The rows that count, their pairs and the loss."""
        X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        levels = np.unique(data.grade, return_inverse=True)[1].astype(np.int64)
        stratum = levels if data.qid is None else levels + (levels.max() + 1) * data.qid
        merged = merge_rows(X, stratum, data.sample_weight)
        rows = merged.rows
        qid = None if data.qid is None else data.qid[rows]
        graded = self.loss == "graded_hinge"
        pairs = Pairs.from_labels(
            data.grade[rows],
            qid=qid,
            sample_weight=merged.weight,
            weighting=self._weighting(data),
            graded=graded,
        )
        # Weights are relative: those of graded pairs have the mean difference of labels in them.
        C = float(self.C) / pairs.mean_margin
        return PairLoss(Design(X[rows], qid), pairs, C, "hinge" if graded else self.loss)

    def _weighting(self, data: RankingData) -> str | Mapping[tuple[Any, Any], float]:
        if isinstance(self.weighting, Mapping):
            return {(self._grade_of(a), self._grade_of(b)): w for (a, b), w in self.weighting.items()}
        name, _, cut = str(self.weighting).partition("@")
        if name == "top" and (cut == "" or (cut.isdigit() and int(cut) > 0)):
            return swap_costs(data.grade, data.qid, top=int(cut or 10))
        check_choice("weighting", self.weighting, ["pairs", "queries", "top", "top@k"])
        return self.weighting

    def _grade_of(self, label: Any) -> Any:
        """The number that stands for a label in the training data."""
        if self.kind_ != "binary":
            return label
        return {value: float(number) for number, value in enumerate(self.classes_.tolist())}.get(label, label)

    def _solve(self, problem: PairLoss, run: Run, start: Floats | None) -> tuple[Floats, Outcome]:
        limits: dict[str, Any] = {"tol": self.tol, "max_iter": int(self.max_iter)}
        if self.solver == "gradient_projection":
            return gradient_projection(problem, run, step=self.step_size, **limits)
        if self.norm == "l1":
            return weighted_l1(problem, np.ones(problem.design.n_features), run, start=start, **limits)
        if self.norm != "l2":
            return concave_rank_svm(problem, self._concave(), run, start=start, **limits)
        return rank_svm(problem, run, start=start, **limits)

    def _concave(self) -> ConcavePenalty:
        if self.norm == "lq":
            return Lq(self.q)
        return CONCAVE[self.norm]() if self.bend is None else CONCAVE[self.norm](float(self.bend))

    def _label_kinds(self) -> frozenset[LabelKind]:
        by_grades = isinstance(self.weighting, Mapping) or str(self.weighting).startswith("top")
        return KINDS - {"continuous"} if by_grades else KINDS

    def _why_not(self, kind: LabelKind) -> str:
        return f"weighting={self.weighting!r} weighs every pair of grades; weighting='pairs' takes a response"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = tags.ranker_tags.queries = True
        tags.ranker_tags.pairs = self.weighting == "pairs" and self.loss != "graded_hinge"
        tags.ranker_tags.at_top = str(self.weighting).startswith("top")
        return tags
