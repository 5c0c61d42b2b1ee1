"""Is one ranker better than another, or is it chance? Tests over splits, intervals on one test set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Seed, generator
from toprank.statistics.base import RankStatistic, Ties
from toprank.statistics.groups import check_ties
from toprank.statistics.inputs import as_vector, read_scores
from toprank.statistics.registry import get

__all__ = ["BootstrapInterval", "MatchedPairsTest", "bootstrap_difference", "holm", "matched_pairs_test"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Method = Literal["bca", "percentile"]

# Labels with at most so many values are strata; more are taken for real numbers and resampled freely.
_MOST_STRATA = 20
# The acceleration of BCa is a ratio of moments: some hundred leave-some-out values tell it well enough.
_MOST_BLOCKS = 200


@dataclass(frozen=True, slots=True)
class MatchedPairsTest:
    """What a matched-pairs t-test found.

    Parameters
    ----------
    difference : float
        Mean of first minus second.
    standard_error : float
        Of the mean difference; larger than the textbook one where the correction was asked for.
    t : float
        Difference over standard error; infinite when all differences are the same number other than zero.
    degrees_of_freedom : int
    p_value : float
        Two-sided; NaN when all differences are the same number other than zero.

    Examples
    --------
    >>> round(matched_pairs_test([0.8, 0.9, 0.85], [0.75, 0.75, 0.75]).p_value, 3)  # three splits say little
    0.074
    """

    difference: float
    standard_error: float
    t: float
    degrees_of_freedom: int
    p_value: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Interval for the mean difference."""
        from scipy.special import stdtrit

        _check_confidence(confidence)
        reach = float(stdtrit(self.degrees_of_freedom, 0.5 + confidence / 2.0)) * self.standard_error
        return self.difference - reach, self.difference + reach


def matched_pairs_test(
    first: ArrayLike, second: ArrayLike, *, test_fraction: float | None = None
) -> MatchedPairsTest:
    """Paired t-test of two rankers over the same repeated splits, two-sided.

    t = mean(d) / sqrt(var(d) / J), d the J differences: the matched pairs t-test behind Table 1 of Rudin &
    Wang (2018). Splits of one data set overlap, so it calls differences significant too easily; with
    `test_fraction` the variance is multiplied by 1/J + n_test/n_train instead of 1/J (Nadeau & Bengio
    2003). When all differences are equal there is no spread to judge them by: no difference at all gives
    p = 1, the same one each time no p-value (NaN).

    Parameters
    ----------
    first, second : array-likes of shape (n_splits,)
        A statistic of each ranker on each split.
    test_fraction : float, optional
        Share of the rows in the test part of each split; turns on the correction.

    Returns
    -------
    MatchedPairsTest

    Examples
    --------
    >>> ours, theirs = [0.81, 0.84, 0.79, 0.86], [0.78, 0.80, 0.78, 0.81]
    >>> test = matched_pairs_test(ours, theirs)
    >>> round(test.difference, 4), round(test.t, 3), round(test.p_value, 4)
    (0.0325, 3.806, 0.0319)
    >>> round(matched_pairs_test(ours, theirs, test_fraction=1 / 3).p_value, 4)
    0.1155
    """
    left = _read_values(first, "first")
    right = _read_values(second, "second")
    if left.size != right.size:
        raise ValueError(f"first has {left.size} values but second has {right.size}; pair them by split")
    if left.size < 2:
        raise ValueError("first has one value only; a test needs at least two splits")
    if test_fraction is not None and not 0.0 < test_fraction < 1.0:
        raise ValueError(f"test_fraction must be between 0 and 1, got {test_fraction}")
    differences = left - right
    count = differences.size
    factor = 1.0 / count + (0.0 if test_fraction is None else test_fraction / (1.0 - test_fraction))
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1))
    # 0.3 - 0.2 and 0.2 - 0.1 differ by rounding only: below that, differences are the same, or none.
    rounding = 4.0 * float(np.finfo(float).eps * max(np.abs(left).max(), np.abs(right).max()))
    spread = 0.0 if spread <= rounding else spread
    mean = 0.0 if spread == 0.0 and abs(mean) <= rounding else mean
    error = spread * math.sqrt(factor)
    t = mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0
    p_value = math.nan if math.isinf(t) else _two_sided(t, count - 1)
    return MatchedPairsTest(mean, error, t, count - 1, p_value)


def holm(p_values: ArrayLike) -> Floats:
    """P-values adjusted for being several, so that one below 0.05 arises by chance in 5 % of cases at most.

    The step-down procedure of Holm (1979): the smallest of m is multiplied by m, the next by m - 1 and so on,
    none below the one before it. It supposes nothing about how the tests depend on each other.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        NaN where a test has none; it stays so, and counts in m.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values)  # NaN last
    steps = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    result = np.empty(values.size)
    result[order] = np.minimum(steps, 1.0)
    return result


def _two_sided(t: float, degrees: int) -> float:
    # scipy.special loads in milliseconds where scipy.stats takes half a second.
    from scipy.special import stdtr

    return float(2.0 * stdtr(degrees, -abs(t)))


def _read_values(values: ArrayLike, name: str) -> Floats:
    array = read_scores(values, name=name)
    if not bool(np.isfinite(array).all()):
        raise ValueError(f"{name} must be finite")
    return array


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A bootstrap interval for the difference of two rankers' statistic on one test set.

    Parameters
    ----------
    difference : float
        First minus second on the test set itself.
    low, high : float
    first, second : float
        The statistic of each.
    confidence : float
    method : str
        The method used: "percentile" also where BCa was asked for but is undefined, as when all resamples
        lie on one side of the difference.
    n_resamples : int

    Examples
    --------
    >>> from toprank.statistics import bootstrap_difference
    >>> y, first, second = [0, 0, 1, 1] * 5, [1, 2, 3, 4] * 5, [4, 3, 2, 1] * 5
    >>> bootstrap_difference("auc", y, first, second, random_state=0).difference
    1.0
    """

    difference: float
    low: float
    high: float
    first: float
    second: float
    confidence: float
    method: str
    n_resamples: int

    @property
    def significant(self) -> bool:
        """Whether zero lies outside the interval."""
        return not self.low <= 0.0 <= self.high


def bootstrap_difference(
    statistic: str | RankStatistic,
    y: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    ties: Ties = "worst",
    qid: ArrayLike | None = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    method: Method = "bca",
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> BootstrapInterval:
    """Interval for how much better one ranker's statistic is than another's on the same test set.

    Rows are drawn with replacement, the same rows for both rankers; separately for each label where y has few
    different ones, so that all labels occur in every resample. With `qid`, whole queries are drawn instead.

    Parameters
    ----------
    statistic : str or RankStatistic
    y : array-like of shape (n,)
    first, second : array-likes of shape (n,)
        Scores of the two rankers.
    ties : {"worst", "mean", "best"}
    qid : array-like of shape (n,), optional
        Query of each row.
    n_resamples : int
    confidence : float
        Between 0 and 1.
    method : {"bca", "percentile"}
        BCa corrects the percentiles for bias and skewness (Efron 1987).
    random_state : int, numpy Generator, RandomState or None
    n_jobs : int, optional
        Threads, as in joblib.

    Returns
    -------
    BootstrapInterval

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> good, poor = y + rng.normal(size=300), y + 3 * rng.normal(size=300)
    >>> interval = bootstrap_difference("auc", y, good, poor, random_state=0)
    >>> bool(0 < interval.low < interval.difference < interval.high), interval.significant
    (True, True)
    """
    _check_options(ties, n_resamples, confidence, method)
    found, labels = get(statistic), as_vector(y, "y")
    scores = (read_scores(first, labels.size, "first"), read_scores(second, labels.size, "second"))
    rng = generator(random_state)
    if qid is None:
        pair = _OnRows.of(found, ties, labels, *scores)
        values = (pair.value(0), pair.value(1))
        draws = pair.resampled(n_resamples, rng, n_jobs)
        jackknife = pair.jackknife(rng, n_jobs) if method == "bca" else []
    else:
        table = _per_query(found, ties, labels, scores, qid)
        values = (float(table[:, 0].mean()), float(table[:, 1].mean()))
        change = table[:, 0] - table[:, 1]
        draws = _resampled_means(change, n_resamples, rng)
        jackknife = [(change.sum() - change) / (change.size - 1)] if method == "bca" else []
    difference = values[0] - values[1]
    levels, used = _levels(draws, difference, jackknife, confidence, method)
    low, high = (float(q) for q in np.quantile(draws, levels))
    return BootstrapInterval(difference, low, high, *values, confidence, used, n_resamples)


@dataclass(frozen=True, slots=True, eq=False)
class _OnRows:
    """Two rankers on one list of rows, each with the rows in the order of its scores.

    A selection of rows is given by how often each is taken. Sorting what is nearly sorted is cheap, and no
    statistic depends on the order of the rows.
    """

    statistic: RankStatistic
    ties: Ties
    labels: NDArray[np.generic]
    orders: tuple[Rows, Rows]
    sorted_labels: tuple[NDArray[np.generic], NDArray[np.generic]]
    sorted_scores: tuple[Floats, Floats]

    @classmethod
    def of(
        cls, statistic: RankStatistic, ties: Ties, labels: NDArray[np.generic], first: Floats, second: Floats
    ) -> _OnRows:
        one, two = np.argsort(first), np.argsort(second)
        return cls(statistic, ties, labels, (one, two), (labels[one], labels[two]), (first[one], second[two]))

    def value(self, which: int, counts: Rows | None = None) -> float:
        """Statistic of one ranker on all rows, or on a selection of them."""
        labels, scores = self.sorted_labels[which], self.sorted_scores[which]
        if counts is not None:
            copies = counts[self.orders[which]]
            labels, scores = np.repeat(labels, copies), np.repeat(scores, copies)
        return self.statistic(labels, scores, ties=self.ties)

    def differences(self, selections: Iterator[Rows], n_jobs: int | None) -> Floats:
        """First minus second on each selection, in threads: sorting and kernels let go of the interpreter."""
        from joblib import Parallel, delayed

        def difference(counts: Rows) -> float:
            return self.value(0, counts) - self.value(1, counts)

        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        return np.array(parallel(delayed(difference)(counts) for counts in selections))

    def resampled(self, n_resamples: int, rng: np.random.Generator, n_jobs: int | None) -> Floats:
        """Differences on rows drawn with replacement."""
        strata = _strata(self.labels)
        # Made one at a time as they are used: never more than a few selections at once.
        selections = (_draw(strata, self.labels, rng) for _ in range(n_resamples))
        return self.differences(selections, n_jobs)

    def jackknife(self, rng: np.random.Generator, n_jobs: int | None) -> list[Floats]:
        """Differences with a random block of rows left out, for each stratum of two rows or more."""
        result = []
        strata = [rows for rows in _strata(self.labels) if rows.size > 1]
        for rows in strata:
            n_blocks = min(rows.size, max(2, _MOST_BLOCKS // len(strata)))
            blocks = np.array_split(rng.permutation(rows), n_blocks)
            result.append(self.differences((_without(block, self.labels.size) for block in blocks), n_jobs))
        return result


def _without(block: Rows, n: int) -> Rows:
    counts = np.ones(n, dtype=np.intp)
    counts[block] = 0
    return counts


def _strata(labels: NDArray[np.generic]) -> list[Rows]:
    """Rows of each label where there are few labels; all rows in one where there are many."""
    levels, codes = np.unique(labels, return_inverse=True)
    if levels.size > max(2, min(_MOST_STRATA, labels.size // 2)):
        return [np.arange(labels.size)]
    return [np.flatnonzero(codes == code) for code in range(levels.size)]


def _draw(strata: list[Rows], labels: NDArray[np.generic], rng: np.random.Generator) -> Rows:
    """How often each row is taken when each stratum is resampled; again and again until the labels vary."""
    for _ in range(1000):
        rows = np.concatenate([stratum[rng.integers(0, stratum.size, stratum.size)] for stratum in strata])
        if len(strata) > 1 or _varies(labels[rows]):
            return np.bincount(rows, minlength=labels.size)
    raise ValueError("y has one class only; a resample needs at least two different labels")


def _varies(labels: NDArray[np.generic]) -> bool:
    return bool((labels != labels[0]).any())


def _per_query(
    statistic: RankStatistic,
    ties: Ties,
    labels: NDArray[np.generic],
    scores: tuple[Floats, Floats],
    qid: ArrayLike,
) -> Floats:
    """Both rankers' statistic on every query whose labels vary, one row for each query."""
    table = np.stack([statistic.by_query(labels, one, qid=qid, ties=ties) for one in scores], axis=1)
    if len(table) < 2:
        raise ValueError("qid has fewer than two queries with different labels; there is nothing to resample")
    return table


def _resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Means of values drawn with replacement, in pieces of bounded memory."""
    piece = max(1, 2_000_000 // values.size)
    sizes = [min(piece, n_resamples - start) for start in range(0, n_resamples, piece)]
    drawn = [values[rng.integers(0, values.size, (size, values.size))].mean(axis=1) for size in sizes]
    return np.concatenate(drawn)


def _levels(
    draws: Floats, difference: float, jackknife: list[Floats], confidence: float, method: Method
) -> tuple[Floats, str]:
    """Quantile levels to read off the resampled values, and the method that gave them.

    BCa: Φ(z0 + (z0 + z) / (1 - a (z0 + z))), z0 from the share of resamples below the value (ties half), a
    from the skewness of the leave-some-out values.
    """
    from scipy.special import ndtr, ndtri

    tails = np.array([0.5 - confidence / 2.0, 0.5 + confidence / 2.0])
    below = float(np.mean(draws < difference) + np.mean(draws == difference) / 2.0)
    if method == "percentile" or not 0.0 < below < 1.0:
        return tails, "percentile"
    bias = float(ndtri(below))
    shifted = bias + ndtri(tails)
    shrink = 1.0 - _acceleration(jackknife) * shifted
    if bool((shrink <= 0).any()):
        return tails, "percentile"
    return np.asarray(ndtr(bias + shifted / shrink)), "bca"


def _acceleration(jackknife: list[Floats]) -> float:
    """Efron's acceleration for independent strata: Σ u³ / (6 (Σ u²)^1.5), u the influence of a block.

    Of m blocks in a stratum, u = (mean - leave-out value)(m - 1)/m.
    """
    influence = np.concatenate([(v.mean() - v) * (v.size - 1) / v.size for v in jackknife] or [np.zeros(1)])
    spread = float((influence**2).sum())
    return float((influence**3).sum() / (6.0 * spread**1.5)) if spread > 0 else 0.0


def _check_options(ties: str, n_resamples: int, confidence: float, method: str) -> None:
    check_ties(ties)
    _check_confidence(confidence)
    if method not in ("bca", "percentile"):
        raise ValueError(f"method must be 'bca' or 'percentile', got {method!r}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be 1 or more, got {n_resamples}")


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
