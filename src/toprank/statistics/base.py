"""What a rank statistic is: a small immutable value that turns labels and scores into one number.

Three classes, each needing less from its author than the one above: `RankStatistic` asks for the value of
an order, `BipartiteStatistic` for the expected value over groups of ties, `LinearRankStatistic` for one
weight per position.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.labels import KINDS, LabelKind, positives
from toprank.statistics.counts import CountTable, GradedForm, PairSum
from toprank.statistics.groups import TieGroups, Ties, check_ties, tie_groups, tie_orders
from toprank.statistics.inputs import WHOLE_WEIGHTS, as_vector, read_classes, read_list, read_values, repeated
from toprank.statistics.queries import Queries, QueryGroups, query_groups, short_lists

__all__ = ["BipartiteStatistic", "LinearRankStatistic", "RankStatistic", "Ties", "register", "registered"]

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]
Rows = NDArray[np.intp] | NDArray[np.bool_] | slice
_REGISTRY: dict[str, type[RankStatistic]] = {}


class RankStatistic(ABC):
    """A number that says how good a ranked list is.

    A statistic is an immutable, hashable value: ``str(statistic)`` names it with its parameters and
    `toprank.statistics.get` reads the name back. Subclasses are frozen dataclasses; they set `name` and
    define `of_order`, and may override `_value` where a faster way exists than the one given here: inside a
    tie it puts the smallest (largest) labels first for the worst (best) order, supposing that larger labels
    higher up are never worse, and for ``ties="mean"`` it tries every order of the tied labels.

    Attributes
    ----------
    name : str
        The word before ``@`` and ``(`` in the statistic's text form.
    greater_is_better : bool
        False for losses.
    labels : frozenset of {"binary", "ordinal", "continuous"}
        The kinds of labels it is meant for.
    examples : tuple of str
        Text forms that the contract checks run.

    Examples
    --------
    >>> from toprank import statistics
    >>> ndcg = statistics.get("ndcg@2")
    >>> str(ndcg), ndcg([1, 0, 1], [3.0, 2.0, 1.0], ties="mean") < 1.0
    ('ndcg@2', True)
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[str, ...]] = ()
    greater_is_better: ClassVar[bool] = True
    labels: ClassVar[frozenset[LabelKind]] = KINDS

    @abstractmethod
    def of_order(self, y_best_first: ArrayLike) -> float:
        """Value of a list without ties: the labels in order, best first. This is the definition."""

    def count_table(self, n_pos: int, n_neg: int) -> CountTable | None:
        """What each positive is worth by its place and the negatives above it, where there are two classes.

        For statistics whose value, ties the worst way, is the sum over j of g(j, c_(j)), c_i the number of
        negatives scored at or above positive i, sorted ascending: `CountTable` says what g must keep. Those
        can be maximised exactly (`toprank.ExactRanker`). Of a loss the table gives the value with its sign
        changed. None: the statistic is no such sum; by default unless its `graded_form` is one of pairs.

        Parameters
        ----------
        n_pos, n_neg : int
            Positives and negatives of the list, at least one each.
        """
        form = self.graded_form(np.repeat([1.0, 0.0], [n_pos, n_neg]))
        if not isinstance(form, PairSum):
            return None
        return CountTable.by_count(form.offset / n_pos + form.worth[1, 0] * (n_neg - np.arange(n_neg + 1.0)))

    def graded_form(self, y: Floats) -> GradedForm | None:
        """What the value is a sum of on labels of more than two values, ties the worst way.

        For the same purpose as `count_table`; of a loss with its sign changed as well. None, the default: of
        nothing that can be maximised exactly.

        Parameters
        ----------
        y : array of float64
            Labels of one list, not all the same.
        """
        return None

    def __call__(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        ties: Ties = "worst",
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> float:
        """Value of the list that the scores put in order, highest score first.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels. Two values of any kind make two classes, the larger number positive, or the yes of yes and
            no; of words that do not say it themselves the last in sorted order, with a warning.
        scores : array-like of shape (n,)
            Real numbers, higher is better; infinite is allowed. NaN, masked and complex values and text are
            errors.
        ties : {"worst", "mean", "best"}
            What equal scores mean: the worst order of the tied items (a tie between a positive and a
            negative is a mistake), the expectation over all their orders, or the best order.
        sample_weight : array-like of shape (n,), optional
            A whole-number weight counts as so many copies of the row, all with its score. Fractional weights
            extend that continuously, with one exception: a cut-off at a share of the list, ``@5%``, is
            rounded up to whole positions where all weights are whole and is not where one is fractional.
            They are refused where they mean nothing.
        qid : array-like of shape (n,), optional
            Query of each row. The result is the plain average over queries; a query whose labels are all
            equal cannot be ranked rightly or wrongly and is skipped.
        pos_label : label, optional
            The label of the positives: the same as passing ``y == pos_label``.

        Returns
        -------
        float
            Never NaN: labels of one class only (or in every query) are a ValueError.
        """
        if pos_label is not None:
            y = positives(as_vector(y, "y"), pos_label)
        if qid is not None:
            return float(self.by_query(y, scores, qid=qid, ties=ties, sample_weight=sample_weight).mean())
        check_ties(ties)
        y, values, weight, rows = read_list(y, scores, sample_weight)
        return self._checked_value(self._read_labels(y[rows]), values[rows], ties, _taken(weight, rows))

    def by_query(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        qid: ArrayLike,
        ties: Ties = "worst",
        sample_weight: ArrayLike | None = None,
    ) -> Floats:
        """Value of each query's list, queries in ascending order; those whose labels are all equal left out.

        Parameters
        ----------
        y, scores, qid, ties, sample_weight
            As for a call of the statistic, which returns the mean of these values. What a label means is
            told from all of `y`, the same for every query.

        Examples
        --------
        >>> from toprank.statistics import get
        >>> get("precision@1").by_query([1, 0, 1, 0, 0], [3, 2, 1, 2, 5], qid=[7, 7, 4, 4, 5])
        array([0., 1.])
        """
        check_ties(ties)
        y, values, weight, rows = read_list(y, scores, sample_weight)
        queries = Queries.of(qid, y.size)
        if not isinstance(rows, slice):
            y, values, weight, queries = y[rows], values[rows], _taken(weight, rows), queries.keep(rows)
        labels = queries.arranged(self._read_labels(y))
        rankable = queries.with_different(labels)
        if not rankable.any():
            raise ValueError(f"y has one class only in every query (qid); {self} needs a query with both")
        inside, starts = queries.select(rankable)
        values = queries.arranged(values)
        weight = None if weight is None else queries.arranged(weight)
        if not rankable.all():
            labels, values, weight = labels[inside], values[inside], _taken(weight, inside)
        return self._each_value(labels, values, ties, weight, starts)

    def _each_value(
        self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None, starts: Starts
    ) -> Floats:
        """Value of each of many lists, the rows of each together; one after the other unless overridden."""
        lists = [slice(begin, end) for begin, end in itertools.pairwise(starts.tolist())]
        return np.array([float(self._value(labels[r], scores[r], ties, _taken(weight, r))) for r in lists])

    def _checked_value(
        self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None
    ) -> float:
        if not _varies(labels):
            raise ValueError(f"y has one class only; {self} needs both (at least two different labels)")
        return float(self._value(labels, scores, ties, weight))

    def _read_labels(self, y: ArrayLike) -> NDArray[Any]:
        """Labels as an array that can be compared: real numbers unless a subclass says otherwise."""
        return read_values(y)

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        """Value on clean input; by definition, so slow where many labels tie under ``ties="mean"``."""
        labels, scores = repeated(labels, scores, weight, str(self))
        order = np.lexsort((-labels.astype(float) if ties == "best" else labels, -scores))
        ranked, ranked_scores = labels[order], scores[order]
        if ties != "mean":
            return self.of_order(ranked)
        groups = np.split(ranked, np.flatnonzero(ranked_scores[1:] != ranked_scores[:-1]) + 1)
        values = [self.of_order(np.concatenate(arranged)) for arranged in tie_orders(groups, str(self))]
        return math.fsum(values) / len(values)

    def __str__(self) -> str:
        """Text form, which `toprank.statistics.get` reads back: ``name@cut-off(parameter=value, ...)``."""
        if not is_dataclass(self):
            return self.name
        shown = {f.name: getattr(self, f.name) for f in fields(self) if _is_set(self, f.name, f.default)}
        text = self.name + (f"@{shown.pop('at')}" if "at" in shown else "")
        inside = ",".join(f"{key}={_format(value)}" for key, value in shown.items())
        return f"{text}({inside})" if inside else text


class BipartiteStatistic(RankStatistic):
    """A statistic of two classes: it sees only how many of each share every score.

    Subclasses define `_expected`: the value of a list of groups, averaged over the orders inside each
    group. The worst and the best order need nothing more, since they are lists of unmixed groups.

    Examples
    --------
    >>> from toprank import statistics
    >>> isinstance(statistics.get("precision@2"), BipartiteStatistic)
    True
    """

    labels: ClassVar[frozenset[LabelKind]] = frozenset({"binary"})

    def _read_labels(self, y: ArrayLike) -> NDArray[Any]:
        return read_classes(y)

    def _depth(self, n: float, whole: bool) -> float:
        """Positions from the top that matter in a list of length n, whole where the positions are."""
        return n

    @abstractmethod
    def _expected(self, groups: TieGroups) -> float:
        """Mean value over all orders inside the groups."""

    def _value(self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None) -> float:
        depth = self._depth(labels.size, True)
        return self._expected(tie_groups(labels, scores, ties=ties, sample_weight=weight, depth=depth))

    def _each_value(
        self, labels: NDArray[Any], scores: Floats, ties: Ties, weight: Floats | None, starts: Starts
    ) -> Floats:
        if weight is not None or not short_lists(starts):
            return super()._each_value(labels, scores, ties, weight, starts)
        depths = self._depths(np.diff(starts))
        return self._expected_each(query_groups(labels, scores, starts, ties=ties, depths=depths))

    def _depths(self, sizes: NDArray[Any]) -> Floats:
        """`_depth` of lists of each of the sizes, all of whole items."""
        different, which = np.unique(sizes, return_inverse=True)
        return np.array([self._depth(float(size), True) for size in different])[which]

    def _expected_each(self, groups: QueryGroups) -> Floats:
        """`_expected` of many lists; one after the other unless a subclass knows a faster way."""
        return np.array([float(self._expected(one)) for one in groups])

    def _read_order(self, y_best_first: ArrayLike) -> NDArray[np.bool_]:
        """Labels of an order, both classes present."""
        positive = read_classes(y_best_first, "y_best_first")
        if not _varies(positive):
            raise ValueError(f"y_best_first has one class only; {self} needs both")
        return positive


class LinearRankStatistic(BipartiteStatistic):
    """A sum over the positives of a weight that depends on position alone.

    The conditional linear rank statistics of Rudin & Wang (2018), Eq. (1): the value of an order is the
    sum of ``weights(n, n_pos)`` at the positions of the positives, position 0 on top. With ties counted
    against us it is the sum over j of ``weights[j + c_(j)]``, c_i the number of negatives scored at or
    above positive i, sorted ascending.

    Examples
    --------
    >>> from toprank import statistics
    >>> statistics.get("reciprocal_rank_sum").weights(4, 2)
    array([1. , 0.5 , 0.33333333, 0.25 ])
    """

    _same_everywhere: ClassVar[bool] = False
    """Whether the undivided weights depend on the position alone, so that one table serves every list."""

    @abstractmethod
    def weights(self, n: int, n_pos: int) -> Floats:
        """Weight of each position, top first, never increasing: all that exact methods need to know.

        Parameters
        ----------
        n : int
            Length of the list.
        n_pos : int
            Positives among them, at least one and fewer than n.
        """

    def count_table(self, n_pos: int, n_neg: int) -> CountTable:
        """The weights, one for each position."""
        return CountTable.by_position(self.weights(n_pos + n_neg, n_pos))

    def of_order(self, y_best_first: ArrayLike) -> float:
        """Sum of the weights at the positions of the positives."""
        positive = self._read_order(y_best_first)
        return float(self.weights(positive.size, int(np.count_nonzero(positive)))[positive].sum())

    def _weights_above(self, depth: float, n: float, n_pos: float) -> Floats:
        """Weights of the positions above the depth; real totals only where a subclass gives them meaning."""
        if n != int(n) or n_pos != int(n_pos):
            raise ValueError(f"{self} {WHOLE_WEIGHTS}")
        return self.weights(int(n), int(n_pos))[: int(depth)]

    def _undivided(self, depth: float, n: float, n_pos: float) -> Floats:
        """Weights before the division by `_divisor`: one division of the sum keeps more digits."""
        return self._weights_above(depth, n, n_pos)

    def _divisor(self, undivided: Floats, depth: Any, n: Any, n_pos: Any) -> Any:
        """What the sum of undivided weights is divided by; elementwise where `_same_everywhere`."""
        return 1.0

    def _expected(self, groups: TieGroups) -> float:
        depth = self._depth(groups.n, groups.whole)
        weights = self._undivided(depth, groups.n, groups.n_pos)
        divisor = self._divisor(weights, depth, groups.n, groups.n_pos)
        return groups.weighted_sum(weights, depth) / float(divisor)

    def _expected_each(self, groups: QueryGroups) -> Floats:
        depths = self._depths(groups.n)
        if self._same_everywhere:
            weights = self._undivided(float(depths.max()), math.nan, math.nan)
            first = np.zeros(depths.size, dtype=np.int64)
            return groups.weighted_sums(weights, first, depths) / self._divisor(
                weights, depths, groups.n, groups.n_pos
            )
        kinds, which = np.unique(np.stack((depths, groups.n, groups.n_pos)), axis=1, return_inverse=True)
        which = which.ravel()  # numpy 2.0.0 has it in two dimensions
        tables = [self._undivided(*kind) for kind in kinds.T.tolist()]
        pairs = zip(tables, kinds.T.tolist(), strict=True)
        divisors = np.array([float(self._divisor(table, *kind)) for table, kind in pairs])
        first = np.concatenate(([0], np.cumsum([table.size for table in tables[:-1]]))).astype(np.int64)
        return groups.weighted_sums(np.concatenate(tables), first[which], depths) / divisors[which]


_S = TypeVar("_S", bound=type[RankStatistic])


def register(statistic: _S) -> _S:
    """Class decorator: make a statistic known to `toprank.statistics.get` by its name and aliases.

    Examples
    --------
    >>> from toprank import statistics
    >>> register(type(statistics.get("dcg"))).name  # as the decorator of a class; known already, so no change
    'dcg'
    """
    for name in (statistic.name, *statistic.aliases):
        if _REGISTRY.setdefault(name, statistic).__qualname__ != statistic.__qualname__:
            raise ValueError(f"a statistic named {name!r} is registered already")
        _REGISTRY[name] = statistic
    return statistic


def registered() -> dict[str, type[RankStatistic]]:
    """Every known name, aliases too, and the class it stands for."""
    return dict(_REGISTRY)


def _taken(weight: Floats | None, rows: Rows) -> Floats | None:
    return None if weight is None else weight[rows]


def _varies(labels: NDArray[Any]) -> bool:
    return bool(labels.min() != labels.max())


def _is_set(statistic: RankStatistic, key: str, default: Any) -> bool:
    value = getattr(statistic, key)
    return default is MISSING or bool(value != default)


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value == math.e:
            return "e"
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
