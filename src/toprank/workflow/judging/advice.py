"""What the figures of a comparison say, in one plain sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toprank.lineup import BASELINE
from toprank.statistics.inference import holm, matched_pairs_test

__all__ = [
    "FEWEST_SPLITS",
    "SIGNIFICANT",
    "Figures",
    "advice",
    "corrected_p_value",
    "p_values",
    "relative_gain",
    "what_is_tested",
]

SIGNIFICANT = 0.05
"""Differences with a larger p-value may be luck."""

FEWEST_SPLITS = 5
"""Fewer do not tell how much a difference varies: no p-value then."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one ranker reached on each split, and how that compares with logistic regression.

    Parameters
    ----------
    name : str
    train, test : tuples of float
        The statistic on each split.
    p_value : float
        Of the test figures against logistic regression's, corrected: see `p_values`.
    seconds : float
        Mean time of a fit.
    stopped : int
        Fits that the clock stopped.
    """

    name: str
    train: tuple[float, ...]
    test: tuple[float, ...]
    p_value: float
    seconds: float
    stopped: int

    @property
    def train_mean(self) -> float:
        """Mean over the splits."""
        return float(np.mean(self.train))

    @property
    def test_mean(self) -> float:
        """Mean over the splits."""
        return float(np.mean(self.test))

    @property
    def train_deviation(self) -> float:
        """Sample standard deviation over the splits."""
        return float(np.std(self.train, ddof=1))

    @property
    def test_deviation(self) -> float:
        """Sample standard deviation over the splits."""
        return float(np.std(self.test, ddof=1))


def corrected_p_value(first: Sequence[float], second: Sequence[float], held_out: float) -> float:
    """P-value of the matched-pairs t-test over the splits, corrected for their overlap; NaN if there is none.

    Every two random splits of one data set share rows, so that their figures vary less than those of new data
    would; the correction is that of Nadeau & Bengio (2003). Of fewer splits than `FEWEST_SPLITS`, or where
    all have the same difference, the spread cannot be told.
    """
    if len(first) < FEWEST_SPLITS:
        return math.nan
    return matched_pairs_test(first, second, test_fraction=held_out).p_value


def p_values(
    tests: Mapping[str, Sequence[float]], held_out: float, baseline: str = BASELINE
) -> dict[str, float]:
    """Corrected p-value of each ranker against logistic regression; NaN where there is none.

    Whoever comes out best was not chosen beforehand: the best of many looks good by luck alone. So each of
    the rankers is tested against logistic regression, and the p-values are adjusted for their number (Holm
    1979): on items with nothing to learn, any of them is below 0.05 in 5 % of comparisons at most.

    Parameters
    ----------
    tests : mapping of name to figures
        The statistic of each ranker on the test part of each split; `toprank.lineup.BASELINE` among them.
    held_out : float
        Share of the rows in the test part.
    baseline : str
        Logistic regression, or whoever stands in its place.
    """
    others = [name for name in tests if name != baseline]
    plain = [corrected_p_value(tests[name], tests[baseline], held_out) for name in others]
    return {baseline: math.nan, **dict(zip(others, holm(plain).tolist(), strict=True))}


def what_is_tested(tests: int, splits: int, baseline: str = BASELINE) -> str:
    """What the p-values of a comparison are, in one sentence."""
    if splits < FEWEST_SPLITS:
        return f"No p-values: {splits} splits are too few for a test; use --splits {FEWEST_SPLITS} or more."
    return (
        f"p: two-sided matched-pairs t-test against {baseline} over the splits, corrected for their"
        f" overlap (Nadeau & Bengio 2003) and for the number of tests, {tests} (Holm 1979)."
    )


def advice(figures: list[Figures], *, greater_is_better: bool = True, baseline: str = BASELINE) -> str:
    """One plain sentence, after Rudin & Wang (2018), section 5.

    Reranking can help (observation 1). Where the differences drown in the variance between splits, or a gain
    in training does not carry over to new items because there are too few of them, logistic regression
    will do (2 and 3). An answer need not be proved best to be used (5), so searches the clock stopped take
    part like any other.

    Parameters
    ----------
    figures : list of Figures
        Best on test first; one is called `toprank.lineup.BASELINE`.
    greater_is_better : bool
    baseline : str
        Logistic regression, or whoever stands in its place.
    """
    base = next(one for one in figures if one.name == baseline)
    ahead = figures[: figures.index(base)]
    chosen = next((one for one in ahead if one.p_value < SIGNIFICANT), None)
    if chosen is None:
        lead = (1 if greater_is_better else -1) * (figures[0].test_mean - base.test_mean)
        may_be_luck = lead > base.test_deviation
        few = may_be_luck or len(base.test) < FEWEST_SPLITS
        doubt = f" as far as {len(base.test)} splits tell" if few else ""
        why = _ahead_by_luck(figures, base) if may_be_luck else _why_not(figures, base, greater_is_better)
        return f"{baseline.capitalize()} will do{doubt}: {why}."
    gain = relative_gain(chosen.test_mean, base.test_mean)
    return (
        f"Use {_quoted(chosen)}: {gain} against {baseline} on held-out items, more than chance"
        f" explains (p = {chosen.p_value:.2g}, corrected for the overlap of the splits and for the choice"
        f" among {len(figures)} rankers)."
    )


def _ahead_by_luck(figures: list[Figures], baseline: Figures) -> str:
    gain = relative_gain(figures[0].test_mean, baseline.test_mean)
    return (
        f"{_quoted(figures[0])} is ahead of it on held-out items ({gain}), but as the first of"
        f" {len(figures)} rankers it may be so by luck; --splits sets more"
    )


def _why_not(figures: list[Figures], baseline: Figures, greater_is_better: bool) -> str:
    sign = 1.0 if greater_is_better else -1.0
    learned = max(figures, key=lambda one: sign * one.train_mean)
    if sign * (learned.train_mean - baseline.train_mean) > baseline.train_deviation:
        gain = relative_gain(learned.train_mean, baseline.train_mean)
        return (
            f"what {_quoted(learned)} gains in training ({gain}) does not carry over reliably to held-out"
            " items"
        )
    return "the differences drown in the variance between splits"


def relative_gain(value: float, reference: float) -> str:
    """How much more a value is, in words.

    >>> relative_gain(11.0, 10.0), relative_gain(9.999, 10.0)
    ('+10.0 %', '-0.01 %')
    """
    if not reference:
        return f"{value - reference:+.3g}"
    percent = 100 * (value - reference) / abs(reference)
    return f"{percent:+.1f} %" if abs(percent) >= 1 else f"{percent:+.2g} %"


def _quoted(figures: Figures) -> str:
    return repr(figures.name)
