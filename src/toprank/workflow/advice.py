"""What the figures of a comparison say, in one plain sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toprank.lineup import BASELINE
from toprank.statistics.inference import matched_pairs_test

__all__ = ["SIGNIFICANT", "Figures", "advice", "relative_gain"]

SIGNIFICANT = 0.05
"""Differences with a larger p-value may be luck."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one ranker reached on each split, and how that compares with the best.

    Parameters
    ----------
    name : str
    train, test : tuples of float
        The statistic on each split.
    p_value : float
        Of the matched-pairs t-test of the test figures against the best ranker's; 1 for the best itself.
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


def advice(figures: list[Figures], *, greater_is_better: bool = True, held_out: float = 0.5) -> str:
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
    held_out : float
        Share of the rows in the test part, for the correction of Nadeau & Bengio (2003).
    """
    best = figures[0]
    baseline = next(one for one in figures if one.name == BASELINE)
    test = matched_pairs_test(best.test, baseline.test)
    if best is baseline or test.p_value >= SIGNIFICANT:
        return f"Logistic regression will do: {_why_not(figures, baseline, greater_is_better)}."
    gain = relative_gain(best.test_mean, baseline.test_mean)
    corrected = matched_pairs_test(best.test, baseline.test, test_fraction=held_out)
    if corrected.p_value >= SIGNIFICANT:
        return (
            f"{_quoted(best)} looks worth it, {gain} against logistic regression on held-out items (p ="
            f" {test.p_value:.2g}), but not beyond doubt: allowing for the overlap of the splits, p ="
            f" {corrected.p_value:.2g}."
        )
    return (
        f"Use {_quoted(best)}: {gain} against logistic regression on held-out items, more than chance"
        f" explains (p = {test.p_value:.2g}, or {corrected.p_value:.2g} allowing for the splits' overlap)."
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
