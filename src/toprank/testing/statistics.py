"""What every rank statistic must keep, as checks that raise AssertionError when it does not.

`check_statistic` runs them all; `statistic_checks` lists them, for ``pytest.mark.parametrize``. They try
small random lists, seeded, with many ties, and compare with `RankStatistic.of_order` over every order that
the ties allow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.statistics import LinearRankStatistic, RankStatistic, Ties, get, names
from toprank.statistics.groups import TIES

__all__ = ["check_statistic", "statistic_checks"]

Array = NDArray[Any]


def statistic_checks() -> list[Callable[[RankStatistic], None]]:
    """Return the checks that `check_statistic` runs, each a function of one statistic.

    >>> from toprank.statistics import get
    >>> for check in statistic_checks()[:2]:
    ...     check(get("dcg"))
    """
    return [
        check_text_form,
        check_definition,
        check_tie_policies,
        check_rank_invariance,
        check_constant_scorer,
        check_position_weights,
        check_count_table,
        check_sample_weight,
        check_queries,
        check_bad_input,
    ]


def check_statistic(statistic: str | RankStatistic) -> None:
    """Run a statistic, your own or one of the library's, through every check.

    Parameters
    ----------
    statistic : str or RankStatistic

    Raises
    ------
    AssertionError
        Naming the check that failed and the list it failed on.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from toprank.statistics import LinearRankStatistic
    >>> @dataclass(frozen=True)
    ... class TopTwo(LinearRankStatistic):
    ...     name = "top_two"
    ...     def weights(self, n, n_pos):
    ...         return (np.arange(n) < 2).astype(float)
    >>> check_statistic(TopTwo())
    """
    found = get(statistic)
    for check in statistic_checks():
        check(found)


def check_text_form(statistic: RankStatistic) -> None:
    """A value object: hashable, equal to its twin, and, where registered, read back from its text."""
    assert hash(statistic) == hash(statistic), f"{statistic!r} has no stable hash"
    assert str(statistic).startswith(statistic.name), f"str is {str(statistic)!r}, name {statistic.name!r}"
    if statistic.name in names():
        twin = get(str(statistic))
        assert twin == statistic, f"get(str()) gives {twin!r} for {statistic!r}"
        assert hash(twin) == hash(statistic), f"{twin!r} and {statistic!r} are equal, their hashes are not"


def check_definition(statistic: RankStatistic) -> None:
    """Without ties, the value is that of the one order, whatever the policy."""
    for y, scores in _lists(statistic, ties=False):
        expected = statistic.of_order(y[np.argsort(-scores)])
        for ties in TIES:
            _assert_close(statistic(y, scores, ties=ties), expected, f"{statistic} {ties}", y, scores)


def check_tie_policies(statistic: RankStatistic) -> None:
    """Worst, mean and best are the extremes and the average over every order that the ties allow."""
    for y, scores in _lists(statistic, ties=True):
        values = [statistic.of_order(np.array(order)) for order in _tie_orders(y, scores)]
        expected: dict[Ties, float] = {
            "worst": min(values),
            "mean": math.fsum(values) / len(values),
            "best": max(values),
        }
        if not statistic.greater_is_better:
            expected["worst"], expected["best"] = expected["best"], expected["worst"]
        for ties, value in expected.items():
            _assert_close(statistic(y, scores, ties=ties), value, f"{statistic} {ties}", y, scores)


def check_rank_invariance(statistic: RankStatistic) -> None:
    """Neither an increasing map of the scores nor the order of the rows changes the value."""
    maps: list[Callable[[Array], Array]] = [lambda s: 3 * s - 7, np.exp, np.arctan, lambda s: s**3]
    rng = np.random.default_rng(1)
    for y, scores in _lists(statistic, ties=True):
        for ties in TIES:
            value = statistic(y, scores, ties=ties)
            for number, increasing in enumerate(maps):
                mapped = statistic(y, increasing(scores), ties=ties)
                _assert_close(mapped, value, f"{statistic} {ties}, map {number}", y, scores)
            rows = rng.permutation(y.size)
            _assert_close(statistic(y[rows], scores[rows], ties=ties), value, f"{statistic} rows", y, scores)


def check_constant_scorer(statistic: RankStatistic) -> None:
    """Giving every item the same score must not look perfect where order matters at all."""
    sign = 1 if statistic.greater_is_better else -1
    for y, _ in _lists(statistic, ties=True):
        perfect, reverse = statistic.of_order(np.sort(y)[::-1]), statistic.of_order(np.sort(y))
        constant = statistic(y, np.zeros(y.size))
        if not math.isclose(perfect, reverse):
            assert sign * constant < sign * perfect, (
                f"{statistic}: a constant scorer is perfect on y={y.tolist()}"
            )


def check_position_weights(statistic: RankStatistic) -> None:
    """Weights of a linear statistic never increase down the list, and their sum is the value."""
    if not isinstance(statistic, LinearRankStatistic):
        return
    for y, scores in _lists(statistic, ties=True, levels=2):
        n, n_pos = y.size, int(y.sum())
        weights = statistic.weights(n, n_pos)
        assert weights.shape == (n,), f"{statistic}: {weights.shape} weights for {n} positions"
        assert weights.dtype == np.float64, f"{statistic}: weights of dtype {weights.dtype}"
        assert np.isfinite(weights).all(), f"{statistic}: weights are not finite"
        assert (np.diff(weights) <= 0).all(), f"{statistic}: weights increase: {weights.tolist()}"
        # The papers' ResolvedRank value: c negatives at or above each positive, positives in order.
        above = np.sort([(scores[y == 0] >= score).sum() for score in scores[y == 1]])
        value = weights[np.arange(n_pos) + above].sum()
        _assert_close(statistic(y, scores, ties="worst"), value, f"{statistic} by weights", y, scores)


def check_count_table(statistic: RankStatistic) -> None:
    """What positives are worth never increases with the negatives above, and sums to the value."""
    sign = 1 if statistic.greater_is_better else -1
    for y, scores in _lists(statistic, ties=True, levels=2):
        n_pos, n_neg = int(y.sum()), int((1 - y).sum())
        table = statistic.count_table(n_pos, n_neg)
        if table is None:
            continue
        complaint = table.complaint(n_pos, n_neg)
        assert complaint is None, f"{statistic}: {complaint}"
        above = np.sort([(scores[y == 0] >= score).sum() for score in scores[y == 1]])
        value = sign * float(table.at(np.arange(n_pos), above).sum())
        _assert_close(statistic(y, scores, ties="worst"), value, f"{statistic} by its table", y, scores)


def check_sample_weight(statistic: RankStatistic) -> None:
    """A whole-number weight is so many copies of the row; zero is none."""
    rng = np.random.default_rng(2)
    # Where a mean is taken by trying every order of tied rows, copies make too many of them.
    every_order = type(statistic)._value is RankStatistic._value
    for y, scores in _lists(statistic, ties=True):
        weight = rng.integers(0, 4, y.size)
        weight[[np.argmin(y), np.argmax(y)]] += 1
        for ties in ("worst", "best") if every_order else TIES:
            repeated = statistic(np.repeat(y, weight), np.repeat(scores, weight), ties=ties)
            weighted = statistic(y, scores, ties=ties, sample_weight=weight)
            _assert_close(weighted, repeated, f"{statistic} {ties}, weights {weight.tolist()}", y, scores)


def check_queries(statistic: RankStatistic) -> None:
    """With queries, the plain average over those with different labels, rows in any order."""
    lists = list(itertools.islice(_lists(statistic, ties=True), 8))
    values = [statistic(y, scores) for y, scores in lists]
    single = (np.array([1, 1]), np.array([0.3, 0.7]))
    y = np.concatenate([part[0] for part in [*lists, single]])
    scores = np.concatenate([part[1] for part in [*lists, single]])
    qid = np.repeat(np.arange(len(lists) + 1), [len(part[0]) for part in [*lists, single]])
    rows = np.random.default_rng(3).permutation(y.size)
    averaged = statistic(y[rows], scores[rows], qid=qid[rows])
    _assert_close(averaged, math.fsum(values) / len(values), f"{statistic} over queries", y, scores)


def check_bad_input(statistic: RankStatistic) -> None:
    """Wrong input is a ValueError that names the argument, never a wrong number."""
    y, scores = np.array([0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("scores", {"scores": [0.1, math.nan, 0.3, 0.4]}),
        ("scores", {"scores": scores[:3]}),
        ("scores", {"scores": scores[:, None]}),
        ("y", {"y": [0.0, 1.0, math.nan, 1.0]}),
        ("y", {"y": [1, 1, 1, 1]}),
        ("y", {"y": y[:0], "scores": scores[:0]}),
        ("ties", {"ties": "random"}),
        ("sample_weight", {"sample_weight": [1, 1, 1]}),
        ("sample_weight", {"sample_weight": [1, 1, -1, 1]}),
        ("sample_weight", {"sample_weight": [1, 1, math.nan, 1]}),
        ("qid", {"qid": [0, 0, 1]}),
        ("qid", {"qid": [0, 1, 2, 3]}),
    ]
    for argument, change in wrong:
        message = _refusal(statistic, {"y": y, "scores": scores, **change})
        assert message is not None, f"{statistic} took {change}; it must raise ValueError"
        assert argument in message, f"{statistic}: the error does not name {argument}: {message}"


def _refusal(statistic: RankStatistic, arguments: dict[str, Any]) -> str | None:
    """What the ValueError says; None where there is none."""
    try:
        statistic(**arguments)
    except ValueError as error:
        return str(error)
    return None


def _lists(statistic: RankStatistic, *, ties: bool, levels: int = 3) -> Iterator[tuple[Array, Array]]:
    """Small random lists: labels of two and, where the statistic takes them, three values."""
    rng = np.random.default_rng(0)
    for most in range(2, levels + 1):
        if most > 2 and not _takes_grades(statistic):
            return
        for _ in range(30):
            n = int(rng.integers(2, 7))
            y = rng.integers(0, most, n)
            y[:2] = rng.permutation([0, 1])
            scores = rng.integers(0, 3, n) / 2 - 0.5 if ties else rng.permutation(n) / 7.0
            yield y, scores


def _takes_grades(statistic: RankStatistic) -> bool:
    try:
        statistic.of_order([2, 1, 0])
    except ValueError:
        return False
    return True


def _tie_orders(y: Array, scores: Array) -> Iterator[list[Any]]:
    groups = [y[scores == score].tolist() for score in np.unique(scores)[::-1]]
    for parts in itertools.product(*(sorted(set(itertools.permutations(group))) for group in groups)):
        yield list(itertools.chain.from_iterable(parts))


def _assert_close(value: float, expected: float, what: str, y: Array, scores: Array) -> None:
    close = math.isclose(value, expected, rel_tol=1e-10, abs_tol=1e-12)
    assert close, f"{what}: {value} instead of {expected} for y={y.tolist()}, scores={scores.tolist()}"
