"""The claim an exact method makes: data, statistic, feasible set, and the value of any answer."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from toprank.exact.arithmetic import rational
from toprank.exact.arithmetic.dependence import free_margin
from toprank.exact.arithmetic.rational import is_sparse
from toprank.exact.grades import graded_forms
from toprank.exact.inputs import (
    Matrix,
    bytes_of,
    read_grades,
    read_margin,
    read_penalty,
    read_queries,
    read_rows,
    read_scales,
    read_two_classes,
)
from toprank.exact.objective import Objective, Query, count_tables, lists_of
from toprank.exact.pairs import PairArrays, class_arrays, preference_arrays
from toprank.preferences import kendall_pairs, multipartite_pairs, read_pairs
from toprank.statistics import RankStatistic

__all__ = ["DEFAULT_MARGIN", "PairArrays", "RankingProblem"]

Floats = NDArray[np.float64]
DEFAULT_MARGIN = 0.0
"""By how much of its length a pair must be won where nobody says: by anything above zero."""


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """Which linear score ranks this list best? Data, statistic and feasible set in one value.

    Maximise over all `w` ::

        sum over lists of sum_j g(j, c_(j))  -  penalty * (number of non-zero w_j)

    where c_i counts the negatives that positive i does not beat, sorted ascending within the list, g never
    increases in c (`toprank.statistics.CountTable`; position weights are g(j, c) = weight[j + c]), and i
    beats k when ``(x_i - x_k) @ w > 0`` in exact arithmetic on the numbers given: ties and duplicates are
    mistakes, and neither the columns' scales nor outliers matter (Rudin & Wang 2018, Eq. (8)). With a
    positive margin, as their constraints (12) and (21) have it, i beats k when
    ``(z_i - z_k) @ v >= margin * length * max |v_j|`` with ``z = x / scales``, ``v = w * scales`` and the
    pair's own length, the smallest power of two above ``max_j |z_ij - z_kj|``. For preferences (their
    Appendix A.2) the value is the sum of the weights of the pairs won.

    Use the constructors `from_labels`, `from_preferences`, `multipartite` and `kendall`.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        One row per item.
    scales : (d,) array
        Powers of two near the usual distance of each column's values from their median. Without a margin
        they only help the search.
    margin : float
        Smallest score difference that wins a pair, relative to the pair's own length; zero: any.
    penalty : float
        Price of each non-zero coefficient.
    statistic : str
        Name of what is maximised, for people.
    queries : tuple of (array, array, CountTable)
        Of each list its positive rows, its negative rows, and what lost pairs cost. None for preferences. A
        row may be in several lists.
    pairs, pair_weight : arrays or None
        Preferences: rows (upper, lower) and what each pair is worth.
    offset : float
        Preferences: the value when every pair is lost.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc")
    >>> problem.evaluate([1.0]), problem.evaluate([-1.0]), problem.trivial_bound
    (1.0, 0.0, 1.0)
    """

    X: Matrix
    scales: Floats
    margin: float
    penalty: float
    statistic: str
    queries: tuple[Query, ...]
    pairs: NDArray[np.int64] | None
    pair_weight: Floats | None
    offset: float = 0.0

    # -- constructors -------------------------------------------------------------------------

    @classmethod
    def from_labels(
        cls,
        X: Any,
        y: ArrayLike,
        statistic: str | RankStatistic | Floats = "dcg",
        *,
        qid: ArrayLike | None = None,
        margin: float = DEFAULT_MARGIN,
        penalty: float = 0.0,
        scales: ArrayLike | None = None,
        queries: Literal["sum", "mean"] = "sum",
    ) -> Self:
        """Two classes and a statistic, over one list or a sum (or mean) over queries.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Two labels; the larger (the yes of yes and no) marks the items that belong at the top.
        statistic : str, RankStatistic or array
            Any that has a table of what lost pairs cost (`RankStatistic.count_table`): position weights,
            average precision, positives at the top, ... A loss is maximised with its sign changed. Or the
            position weights themselves, best position first, never increasing.
        qid : array-like of shape (n,), optional
            Query of each row; queries with one class only do not count.
        margin, penalty, scales
            See the class.
        queries : {"sum", "mean"}
            What to make of several queries.
        """
        rows = read_rows(X)
        labels = read_two_classes(y, rows.shape[0])
        codes = read_queries(qid, labels)
        tables, name = count_tables(statistic, labels, codes, queries)
        lists = lists_of(labels, codes, tables)
        return cls._of_lists(rows, name, lists, margin=margin, penalty=penalty, scales=scales)

    @classmethod
    def _of_lists(
        cls,
        rows: Matrix,
        name: str,
        lists: tuple[Query, ...],
        *,
        margin: float = DEFAULT_MARGIN,
        penalty: float = 0.0,
        scales: ArrayLike | None = None,
    ) -> Self:
        feasible = read_scales(scales, rows), read_margin(margin), read_penalty(penalty)
        return cls(rows, *feasible, name, lists, None, None)

    @classmethod
    def from_preferences(
        cls,
        X: Any,
        pairs: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        margin: float = DEFAULT_MARGIN,
        penalty: float = 0.0,
        scales: ArrayLike | None = None,
        statistic: str = "weighted pairs",
        offset: float = 0.0,
    ) -> Self:
        """Any weighted set of pairs "row i belongs above row k" (Rudin & Wang 2018, Appendix A.2).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        pairs : array-like of int, shape (P, 2)
            Rows (i, k): i belongs above k.
        weights : array-like of shape (P,), optional
            What winning each pair is worth, positive; 1 each by default.
        margin, penalty, scales
            See the class.
        statistic : str
            A name for what is maximised.
        offset : float
            The value when every pair is lost.

        Examples
        --------
        >>> problem = RankingProblem.from_preferences([[0.0], [1.0]], [(1, 0)])
        >>> problem.evaluate([2.0])
        1.0
        """
        rows = read_rows(X)
        chosen = read_pairs(pairs, weights, rows.shape[0])
        feasible = read_scales(scales, rows), read_margin(margin), read_penalty(penalty)
        return cls(rows, *feasible, statistic, (), *chosen, float(offset))

    @classmethod
    def from_grades(
        cls,
        X: Any,
        y: ArrayLike,
        statistic: str | RankStatistic = "dcg",
        *,
        qid: ArrayLike | None = None,
        queries: Literal["sum", "mean"] = "sum",
        **options: Any,
    ) -> Self:
        """Labels of more than two values, the higher the nearer to the top, and a statistic of such labels.

        Graded DCG and NDCG are sums over grades of lists of two classes, "from this grade on" and the rest;
        Kendall's tau, the C-index, the hard loss, Spearman's rho and others are sums over pairs; the weak
        loss is a list of the K best and the rest (`RankStatistic.graded_form`). Queries and options as
        in `from_labels`.

        >>> problem = RankingProblem.from_grades([[0.0], [1.0], [2.0], [3.0]], [0, 2, 1, 3], "kendall_tau")
        >>> round(problem.evaluate([1.0]), 4)
        0.6667
        """
        rows = read_rows(X)
        grades = read_grades(y, rows.shape[0])
        form = graded_forms(statistic, grades, read_queries(qid, grades), queries)
        if form.pairs is None:
            return cls._of_lists(rows, form.name, form.lists, **options)
        return cls.from_preferences(
            rows, form.pairs, form.worth, statistic=form.name, offset=form.offset, **options
        )

    @classmethod
    def multipartite(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        by_difference: bool = False,
        **options: Any,
    ) -> Self:
        """Ordinal labels: every item above every item of a lower label.

        Each pair is worth 1, or the difference of its labels with ``by_difference=True``. Options as in
        `from_preferences`.

        >>> RankingProblem.multipartite([[0.0], [1.0], [2.0]], [0, 1, 2]).trivial_bound
        3.0
        """
        pairs, weights = multipartite_pairs(y, qid=qid, by_difference=by_difference)
        name = "label differences" if by_difference else "ordered pairs"
        return cls.from_preferences(X, pairs, weights, statistic=name, **options)

    @classmethod
    def kendall(cls, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, **options: Any) -> Self:
        """Continuous y: the number of concordant pairs, as in Kendall's tau (maximum rank correlation).

        With P pairs of different y and no ties in the scores, tau is ``2 * value / P - 1``. Options as in
        `from_preferences`.

        >>> RankingProblem.kendall([[0.0], [1.0], [2.0]], [0.1, 0.5, 0.3]).evaluate([1.0])
        2.0
        """
        return cls.from_preferences(X, kendall_pairs(y, qid=qid), statistic="concordant pairs", **options)

    # -- shape --------------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of coefficients."""
        return int(self.X.shape[1])

    @cached_property
    def scaled(self) -> Matrix:
        """The features divided by their scales: exact but for underflow, since these are powers of two."""
        if is_sparse(self.X):
            return sp.csr_matrix(self.X @ sp.diags(1.0 / self.scales))
        return np.asarray(self.X / self.scales)

    @cached_property
    def objective(self) -> Objective:
        """What lost pairs cost: the one place that tells lists from weighted pairs."""
        if self.pair_weight is not None:
            return Objective.of_pairs(self.pair_weight, self.offset)
        return Objective.of_lists(self.queries)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs that matter."""
        return self.objective.n_pairs

    # -- values -------------------------------------------------------------------------------

    @cached_property
    def centred(self) -> Matrix:
        """Scaled rows less a row of medians: scores of these differ by as much, and are rounded less."""
        rows: Any = self.scaled
        return rows if is_sparse(rows) else rows - np.sort(rows, axis=0)[(len(rows) - 1) // 2]

    def scale(self, coef: ArrayLike) -> Floats:
        """Coefficients of the scaled features from those of the original ones, largest one 1."""
        scaled = np.asarray(coef, dtype=np.float64) * self.scales
        largest = np.abs(scaled).max(initial=0.0)
        return scaled if largest == 0 else scaled / largest

    def unscale(self, scaled_coef: ArrayLike) -> Floats:
        """Coefficients of the original features from those of the scaled ones."""
        return np.asarray(np.asarray(scaled_coef, dtype=np.float64) / self.scales)

    def evaluate(self, coef: ArrayLike) -> float:
        """Value of coefficients of the original features; their length does not matter.

        Scores are compared in floats where the rounding error cannot matter and in whole numbers where it
        can, so the result is the exact value rounded once.
        """
        return math.fsum(self._terms(coef, exact=False))

    def evaluate_exact(self, coef: ArrayLike) -> Fraction:
        """The same value in rational arithmetic throughout."""
        return sum(map(Fraction, self._terms(coef, exact=True)), start=Fraction(0))

    def won(self, coef: ArrayLike, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs of rows (upper, lower) coefficients of the original features win, exactly."""
        return rational.won_pairs(self._scores(self._read_coef(coef)), pairs)

    def _scores(self, coef: Floats) -> rational.Scores:
        return rational.Scores(self.X, coef, self.scales, self.centred, self.margin)

    def _terms(self, coef: ArrayLike, *, exact: bool) -> list[float]:
        """Summands of the value: one weight for each positive or won pair, one penalty per coefficient."""
        values = self._read_coef(coef)
        scores = self._scores(values)
        priced = [-self.penalty] * int(np.count_nonzero(values)) if self.penalty else []
        return [*self.objective.terms(self._lost(scores, exact)).tolist(), *priced]

    def _lost(self, scores: rational.Scores, exact: bool) -> NDArray[Any]:
        """Pairs that each positive, or each preference, loses."""
        if self.pairs is not None:
            return ~rational.won_pairs(scores, self.pairs, exact=exact)
        return np.concatenate(rational.lost_counts(scores, self.queries, exact=exact))

    def _read_coef(self, coef: ArrayLike) -> Floats:
        values = np.asarray(coef, dtype=np.float64)
        if values.shape != (self.n_features,) or not np.isfinite(values).all():
            raise ValueError(
                f"coef must be {self.n_features} finite numbers, one for each feature, not {values.shape}."
            )
        return values

    @cached_property
    def floor(self) -> float:
        """Value of no coefficients at all: every pair lost, nothing paid."""
        return self.evaluate(np.zeros(self.n_features))

    @cached_property
    def trivial_bound(self) -> float:
        """No answer is better than all positives first (or all pairs won) at one coefficient's price."""
        terms = self.objective.terms(self.objective.nothing_lost())
        best = math.fsum([*terms.tolist(), -self.penalty])
        return max(best, self.floor)

    # -- hand-over ----------------------------------------------------------------------------

    def arrays(self, columns: ArrayLike | None = None) -> PairArrays:
        """The problem over its pairs, restricted to some columns when asked; those on all are made once.

        Where all numbers are whole and small the arrays have a margin though the problem has none: it
        changes nothing about which pairs can be won together (`toprank.exact.arithmetic.dependence`).
        """
        kept = np.arange(self.n_features) if columns is None else np.asarray(columns, dtype=np.int64)
        everything = np.array_equal(kept, np.arange(self.n_features))
        return self._whole if everything else self._arrays(kept)

    @cached_property
    def _whole(self) -> PairArrays:
        return self._arrays(slice(None))

    def _arrays(self, kept: NDArray[np.int64] | slice) -> PairArrays:
        rows: Any = self.scaled
        rows = rows[:, kept]
        rows = np.asarray(rows.toarray() if is_sparse(rows) else rows)
        margin = self.margin or free_margin(rows)
        if self.pairs is not None:
            return preference_arrays(rows, self.pairs, self.objective, margin)
        return class_arrays(rows, self.queries, self.objective, margin)

    def restricted(self, columns: ArrayLike) -> Self:
        """The same problem on some columns only, without a price on coefficients."""
        kept = np.asarray(columns, dtype=np.int64)
        rows: Any = self.X
        return replace(self, X=rows[:, kept], scales=self.scales[kept], penalty=0.0)

    def fingerprint(self) -> str:
        """SHA-256 of everything the optimum depends on: data, statistic, feasible set."""
        digest = hashlib.sha256(b"toprank ranking problem 3")
        numbers = (float(self.margin), float(self.penalty), float(self.offset))
        digest.update(repr((self.X.shape, *numbers)).encode())
        data: Any = self.X
        entries = [data]
        if is_sparse(data):
            entries = [data.indptr.astype(np.int64), data.indices.astype(np.int64), data.data]
        for upper, lower, table in self.queries:
            entries += [upper, lower, table.values, np.array(table.stride), table.factor]
        for array in [*entries, self.scales, self.pairs, self.pair_weight]:
            digest.update(b"-" if array is None else bytes_of(array))
        return digest.hexdigest()
