"""Rankers judged on rows they never saw: the statistic, the hits, and whether a difference may be luck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.control import Outcome, Status
from toprank.datasets import Encoder, Table, learn_encoder
from toprank.ensemble.top_ensemble import TopEnsemble
from toprank.lineup import Settings
from toprank.markup import html_table
from toprank.statistics import LinearRankStatistic, RankStatistic, TopGain, get
from toprank.statistics.inference import holm
from toprank.workflow.judging.advice import FEWEST_SPLITS, SIGNIFICANT, corrected_p_value, relative_gain
from toprank.workflow.judging.hits import Hits, SplitScores, hits_table
from toprank.workflow.judging.importance import features_of, importance_at, linear_coefficients
from toprank.workflow.learning.candidates import LOGISTIC, label_of, made_for
from toprank.workflow.learning.fitting import Items, fit_quietly, value_of, without_order
from toprank.workflow.reading.demands import Demands
from toprank.workflow.reading.source import Source

__all__ = ["HeldOut", "Judged", "Task", "chance_by_lot", "chance_value", "figure_of", "judge"]

Floats = NDArray[np.float64]
DRAWS = 50
"""Random orders whose mean is what chance is worth, where no formula gives it."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is judged: by which statistic, for which budget, for which list.

    Parameters
    ----------
    source : Source
    items : Items
        All labelled rows.
    statistic : RankStatistic
    budget : int
    listed : Table or None
        The items to be ranked where they are not the labelled ones: features only.
    members : tuple of str or None
        Members of an ensemble; None for all.
    demands : Demands or None
        On the exact ranker.
    """

    source: Source
    items: Items
    statistic: RankStatistic
    budget: int
    listed: Table | None = None
    members: tuple[str, ...] | None = None
    demands: Demands | None = None

    def made(self, name: str, items: Items, settings: Settings, features: Sequence[str], **how: Any) -> Any:
        """An unfitted ranker for these items, whose columns became these features; see `made_for`."""
        return made_for(
            name,
            items,
            settings,
            self.budget,
            members=self.members,
            demands=self.demands,
            features=features,
            **how,
        )

    def encoder_for(self, features: Table) -> Encoder:
        """How columns become features, learned from these rows alone."""
        nominal = [name for name in self.source.categorical if name in features.columns]
        return learn_encoder(features, categorical=nominal)[0]


@dataclass(frozen=True)
class Judged:
    """What the rankers learned from one part of the rows made of the other.

    Parameters
    ----------
    rows : array
        The held-out rows.
    y, qid : arrays
        Their labels and queries.
    scores : mapping of ranker to array
        Of these rows.
    values : mapping of ranker to float
        The statistic.
    listed : mapping of ranker to array
        Scores of the items to be ranked, where they are not the labelled ones.
    coefficients : mapping of ranker to mapping of feature to float
        Of those that are linear.
    importance : mapping of ranker to mapping of column to float
        Hits lost when the column is shuffled; of those that are not linear.
    stopped : bool
        Whether the clock cut a fit short.
    without_order : bool
        Whether it did so before there was any order.
    """

    rows: NDArray[np.intp]
    y: NDArray[Any]
    qid: NDArray[np.int64] | None
    scores: Mapping[str, Floats]
    values: Mapping[str, float]
    listed: Mapping[str, Floats] = field(default_factory=dict)
    coefficients: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    importance: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    stopped: bool = False
    without_order: bool = False


@dataclass(frozen=True)
class HeldOut:
    """The rankers on rows no fit has seen, split by split.

    Parameters
    ----------
    splits : tuple of Judged
    fraction : float
        Share of the rows held out; of a split by time, share of the held-out rows that two splits share.
    budget : int
    statistic : RankStatistic
    baseline : str
        The ranker that every other one has to beat.
    numbers : str
        The target, where labels are numbers and their mean is what counts; empty where hits are counted.
    """

    splits: tuple[Judged, ...]
    fraction: float
    budget: int
    statistic: RankStatistic
    baseline: str = LOGISTIC
    numbers: str = ""

    @property
    def rankers(self) -> list[str]:
        """Who was judged."""
        return list(self.splits[0].values)

    def values(self, ranker: str) -> list[float]:
        """The statistic on each split."""
        return [split.values[ranker] for split in self.splits]

    @property
    def chance(self) -> float:
        """The statistic of a random order, on average."""
        return float(np.mean([chance_value(self.statistic, split.y, split.qid) for split in self.splits]))

    @cached_property
    def hits(self) -> list[Hits]:
        """Hits among the first 10, 20, 50, 100 and the budget."""
        return hits_table(self.budget, self.judged, self.fraction, means=bool(self.numbers))

    @property
    def judged(self) -> list[SplitScores]:
        """Labels, queries and scores of the held-out rows of each split."""
        return [(split.y, split.qid, split.scores) for split in self.splits]

    @property
    def rows(self) -> int:
        """Held-out rows of a split, on average."""
        return round(float(np.mean([len(split.y) for split in self.splits])))

    def p_value(self, ranker: str) -> float:
        """Of the statistic against logistic regression's, corrected for overlap and number of candidates."""
        others, base = [name for name in self.rankers if name != self.baseline], self.values(self.baseline)
        plain = [corrected_p_value(self.values(one), base, self.fraction) for one in others]
        adjusted = dict(zip(others, holm(plain).tolist(), strict=True))
        return adjusted.get(ranker, math.nan)

    def tested(self, ranker: str) -> str:
        """The p-value and what it is, or why there is none, in words."""
        if len(self.splits) < FEWEST_SPLITS:
            return f"no p-value from fewer than {FEWEST_SPLITS} splits"
        if math.isnan(self.p_value(ranker)):
            return "no p-value: every split has the same difference"
        return f"p = {self.p_value(ranker):.2g}, corrected for the overlap of the splits"

    def sentence(self, ranker: str) -> str:
        """What the figures say about a ranker beside logistic regression, in words."""
        plain, name = label_of(self.baseline), label_of(ranker)
        ours, theirs = (float(np.mean(self.values(one))) for one in (ranker, self.baseline))
        gain = f"{self.statistic} {relative_gain(ours, theirs)}"
        if ranker == self.baseline:
            return ""
        if not self.p_value(ranker) < SIGNIFICANT:
            return (
                f"Between {name} and {plain} there is no clear difference on held-out items"
                f" ({gain}; {self.tested(ranker)})."
            )
        if ours > theirs:
            return f"On held-out items the {name} pays: {gain} against {plain} ({self.tested(ranker)})."
        return f"On held-out items the {name} does harm: {gain} against {plain} ({self.tested(ranker)})."

    def expectation(self, ranker: str) -> str:
        """How many hits to expect within the budget, or which mean label, in one sentence."""
        line = next((one for one in self.hits if one.k == self.budget), None)
        if line is None:
            return (
                f"The budget, {self.budget}, is more than the {self.rows} held-out items of a split: how many"
                " hits to expect cannot be told."
            )
        each = "" if self.splits[0].qid is None else " of each query"
        found = f"Of the first {line.k}{each} you would find {_range(line, ranker)}"
        chance, best = f"{line.chance:.1f}", ""
        if self.numbers:
            found = f"The first {line.k}{each} would have a mean {self.numbers} of {_range(line, ranker)}"
            chance, best = f"{line.chance:.3g}", f", at best {line.best:.3g}"
        theirs = f", by {label_of(self.baseline)} {_range(line, self.baseline)}"
        return f"{found}; by chance {chance}{best}{'' if ranker == self.baseline else theirs}."

    def concordance(self, ranker: str) -> float:
        """How often the item with the larger label scores higher, on average over the splits."""
        index = get("c_index")
        return float(np.mean([index(one.y, one.scores[ranker], qid=one.qid) for one in self.splits]))

    def _repr_html_(self) -> str:
        """The hits table as a notebook shows it."""
        rows = [
            [str(line.k), figure_of(line, line.chance), *(_cell(line, name) for name in self.rankers)]
            for line in self.hits
        ]
        what = f"Mean {self.numbers} of" if self.numbers else "Hits among"
        caption = f"{what} the first of {self.rows} held-out items, means over {len(self.splits)} splits"
        heads = ["first", "chance", *map(label_of, self.rankers)]
        return html_table(caption, heads, rows, below="In brackets: where four of five such lists lie.")


def _cell(line: Hits, ranker: str) -> str:
    interval = line.interval(ranker)
    shown = () if interval is None else tuple(figure_of(line, edge, whole=True) for edge in interval)
    return figure_of(line, line.mean(ranker)) + (f" ({shown[0]}–{shown[1]})" if shown else "")


def figure_of(line: Hits, value: float, *, whole: bool = False) -> str:
    """Hits with one digit, or none of an interval; a mean label with three that count."""
    if line.least is not None:
        return f"{value:.3g}"
    return f"{value:.0f}" if whole else f"{value:.1f}"


def _range(line: Hits, ranker: str) -> str:
    low_high = line.interval(ranker)
    if low_high is None:
        return f"{line.mean(ranker):.3g}"
    low, high = (figure_of(line, edge, whole=True) for edge in low_high)
    return f"{low} to {high}" if low != high else low


def chance_value(statistic: RankStatistic, y: NDArray[Any], qid: NDArray[np.int64] | None = None) -> float:
    """The statistic of a random order, on average: every position is as likely to hold a positive.

    >>> from toprank.statistics import get
    >>> chance_value(get("precision@1"), np.array([1, 0, 0, 0], dtype=np.int8))
    0.25
    """
    if isinstance(statistic, TopGain):
        return 0.0
    if not isinstance(statistic, LinearRankStatistic) or y.dtype.kind == "f":
        return chance_by_lot(statistic, y, qid)
    lists = np.zeros(len(y), dtype=np.int64) if qid is None else qid
    sizes, positives = np.bincount(lists), np.bincount(lists, y).astype(np.int64)
    mixed = np.flatnonzero((positives > 0) & (positives < sizes))
    if not len(mixed):
        return math.nan
    expected = [
        float(statistic.weights(int(sizes[q]), int(positives[q])).mean() * positives[q]) for q in mixed
    ]
    return float(np.mean(expected))


def chance_by_lot(
    statistic: RankStatistic, y: NDArray[np.generic], qid: NDArray[np.int64] | None = None
) -> float:
    """The mean of a statistic over random orders, always the same ones.

    >>> from toprank.statistics import get
    >>> abs(chance_by_lot(get("auc"), np.arange(200) % 2) - 0.5) < 0.02
    True
    """
    rng = np.random.default_rng(0)
    draws = (rng.permutation(len(y)).astype(np.float64) for _ in range(DRAWS))
    return float(np.mean([statistic(y, scores, qid=qid) for scores in draws]))


def judge(
    task: Task,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    names: list[str],
    settings: Settings,
    *,
    seed: int,
) -> Judged:
    """Learn everything, columns included, from one part; judge each ranker on the other."""
    learn, held = task.items.take(train), task.items.take(test)
    encoder = task.encoder_for(learn.features)
    X, _ = encoder.encode(learn.features)
    X_held, _ = encoder.encode(held.features)
    X_listed = None if task.listed is None else encoder.encode(task.listed)[0]
    found: dict[str, dict[str, Any]] = {part: {} for part in ("scores", "values", "listed")}
    coefficients, importance, stopped, empty = {}, {}, False, False
    for name in names:
        unfitted = task.made(name, learn, settings, encoder.feature_names, final=False)
        ranker, _ = fit_quietly(unfitted, X, learn.y, learn.qid)
        scores = ranking_scores(ranker, X_held, held.qid)
        found["scores"][name] = scores
        found["values"][name] = value_of(task.statistic, held.y, scores, held.qid)
        if X_listed is not None:
            found["listed"][name] = ranking_scores(ranker, X_listed)
        coef = linear_coefficients(ranker, X.shape[1])
        if coef is not None:
            coefficients[name] = dict(zip(encoder.feature_names, coef.tolist(), strict=True))
        else:
            lost = importance_at(
                task.budget, ranker, X_held, held.y, held.qid, encoder, np.random.default_rng(seed)
            )
            # Of hits the number counts, of other labels their mean.
            lost /= 1 if held.kind == "binary" else task.budget
            importance[name] = dict(
                zip([one.name for one in features_of(encoder)], lost.tolist(), strict=True)
            )
        stopped |= _stopped(ranker)
        empty |= without_order(ranker, scores)
    return Judged(
        test,
        held.y,
        held.qid,
        **found,
        coefficients=coefficients,
        importance=importance,
        stopped=stopped,
        without_order=empty,
    )


def _stopped(ranker: Any) -> bool:
    """Whether the clock ended a fit, or kept members from an ensemble."""
    if isinstance(ranker, TopEnsemble) and ranker.members is not None:
        return len(ranker.members_) < len(ranker.members)
    outcome = getattr(ranker, "outcome_", None)
    return isinstance(outcome, Outcome) and outcome.status is Status.TIME_LIMIT
