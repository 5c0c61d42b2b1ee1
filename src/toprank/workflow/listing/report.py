"""All there is to say about one ranking, or about new items in the order of a saved model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.control import Outcome
from toprank.datasets import Note
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.exact import Certificate
from toprank.exact.certificate import UNDER_CONSTRAINTS
from toprank.labels import LabelKind
from toprank.model import RankingModel
from toprank.rankers.exact import ExactRanker
from toprank.workflow.judging.held_out import HeldOut
from toprank.workflow.learning.candidates import LOGISTIC, label_of
from toprank.workflow.learning.fitting import outcome_sentence
from toprank.workflow.listing.found import Found
from toprank.workflow.listing.groups import Groups
from toprank.workflow.listing.places import Reasons

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ColumnWorth", "RankReport", "ScoreReport", "column_worths"]


@dataclass(frozen=True, slots=True)
class ColumnWorth:
    """What a feature or column counts for.

    Parameters
    ----------
    name : str
    value : float
        A linear ranker's coefficient, of the standardised feature; else the hits lost within the budget when
        the column is shuffled on held-out items.
    agreeing, resamples : int
        How many of the resamples give it the same sign.
    low, high : float
        The smallest and the largest value in the resamples; NaN without any.
    """

    name: str
    value: float
    agreeing: int
    resamples: int
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class RankReport:
    """All there is to say about one ranking.

    Parameters
    ----------
    model : RankingModel
    listing : pandas.DataFrame
        The ranked items: new ones, those without a label, or else the labelled ones.
    listed : str
        What is in the list: the name of the file.
    order : str
        Whether the items' own labels took part: OUT_OF_FOLD, UNSEEN or USED, of
        `toprank.workflow.listing.places`.
    statistic : str
    rows, budget : int
    positives : int or None
        None where labels are numbers.
    depth : int or None
        How many items were reranked; None where nothing was.
    delivered : str
        Which ranker made the list, one of `toprank.lineup.named_rankers`.
    why : str
        Why it is this one, where that needs saying.
    training : float
        The statistic of the labelled items in the order of the model that learned from them.
    chance : float
        The same of a random order, on average.
    found : Found or None
        Hits within the budget, where the list is of labelled items out of fold.
    held_out : HeldOut or None
    held_out_by : str
        Which rows were held out together: "random" ones, those of a "group" or "query", the latest in "time".
    columns : list of ColumnWorth
        What the columns count for, the most important first.
    linear : bool
        Whether these are coefficients.
    outcome : Outcome or None
        How the search for the final model ended.
    reasons : Reasons
        What the columns add to the scores of the first items.
    groups : Groups or None
        Who gets the places within the budget, where a column of groups was named.
    duplicates : int
        Labelled rows that repeat an earlier one in every column that is learned from, and in the label.
    notes, new_notes : lists of Note
        What was done to the columns, of the labelled and of the new items.
    remarks : list of str
        What else a user should know.
    interrupted : bool
    seconds : float
    kind : {"binary", "ordinal", "continuous"}
        What the labels are.
    baseline : str
        The ranker that every other one has to beat.
    span : (float, float) or None
        The smallest and the largest label, where they are numbers.
    """

    model: RankingModel
    listing: pd.DataFrame
    listed: str
    order: str
    statistic: str
    rows: int
    positives: int | None
    budget: int
    depth: int | None
    delivered: str
    why: str
    training: float
    chance: float
    found: Found | None
    held_out: HeldOut | None
    held_out_by: str
    columns: list[ColumnWorth]
    linear: bool
    outcome: Outcome | None
    reasons: Reasons
    groups: Groups | None
    duplicates: int
    notes: list[Note]
    new_notes: list[Note]
    remarks: list[str]
    interrupted: bool
    seconds: float
    kind: LabelKind = "binary"
    baseline: str = LOGISTIC
    span: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        """What to call the ranker that is delivered."""
        return label_of(self.delivered)

    @property
    def certainty(self) -> str:
        """How sure the search's answer is, in words; where a base's order was kept, why; else empty."""
        ranker = self.model.ranker
        if self.outcome is None or (self.depth is None and not isinstance(ranker, ExactRanker)):
            return ""
        kept = isinstance(ranker, RankThenRerank) and not ranker.reranked_
        demanded = [note for note in self.outcome.notes if note.startswith(UNDER_CONSTRAINTS)]
        return self.outcome.notes[-1] if kept else "; ".join([outcome_sentence(self.outcome), *demanded])

    @property
    def certificate(self) -> Certificate | None:
        """What the exact search claims about the order delivered; None without one, or where a base's is."""
        ranker = self.model.ranker
        if isinstance(ranker, RankThenRerank) and not ranker.reranked_:
            return None
        exact = ranker.reranker_ if isinstance(ranker, RankThenRerank) else ranker
        return exact.certificate_ if isinstance(exact, ExactRanker) else None

    @property
    def encoding(self) -> str:
        """What became of the columns, in one sentence."""
        roles, count = self.model.roles, len(self.model.encoder.feature_names)
        parts = [f"{count} feature{'' if count == 1 else 's'}, numbers standardised"]
        named = {"id": roles.id, "query": roles.qid, "held out by": roles.group}
        parts += [f"{role} {name!r}" for role, name in named.items() if name is not None]
        if roles.ignore:
            parts.append("ignored " + ", ".join(map(repr, roles.ignore)))
        return "; ".join(parts)


@dataclass(frozen=True)
class ScoreReport:
    """New items in the order of a saved model.

    Parameters
    ----------
    model : RankingModel
    listing : pandas.DataFrame
        The items, best first.
    listed : str
        Name of their file.
    value : float or None
        The model's statistic, where the file has labels of both classes.
    chance : float
        The same of a random order, on average.
    notes : list of Note
        What was done to the columns.
    remarks : list of str
    rows : int or None
        How many items were scored, where the listing holds the best of them only.
    interrupted : bool
        Ctrl-C came before all of them were.
    """

    model: RankingModel
    listing: pd.DataFrame
    listed: str
    value: float | None
    chance: float
    notes: list[Note]
    remarks: list[str]
    rows: int | None = None
    interrupted: bool = False


def column_worths(
    name: str, coefficients: dict[str, float] | None, held_out: HeldOut | None
) -> list[ColumnWorth]:
    """What the columns count for, from the final coefficients and from what the resamples found.

    Parameters
    ----------
    name : str
        The ranker.
    coefficients : dict of feature to float, or None
        Of the final model where it is linear.
    held_out : HeldOut or None
    """
    splits = () if held_out is None else held_out.splits
    if coefficients is not None:
        resampled: Any = [split.coefficients.get(name, {}) for split in splits]
        worths = [
            _worth(feature, value, [one.get(feature, 0.0) for one in resampled], value)
            for feature, value in coefficients.items()
        ]
    else:
        lost: dict[str, list[float]] = {}
        for split in splits:
            for column, value in split.importance.get(name, {}).items():
                if not np.isnan(value):
                    lost.setdefault(column, []).append(value)
        worths = [_worth(column, float(np.mean(some)), some, 1.0) for column, some in lost.items()]
    return sorted(worths, key=lambda worth: -abs(worth.value))


def _worth(name: str, value: float, resampled: Sequence[float], sign: float) -> ColumnWorth:
    """What a column counts for; a resample agrees that gives it this sign."""
    low, high = (min(resampled), max(resampled)) if resampled else (math.nan, math.nan)
    return ColumnWorth(name, value, sum(sign * one > 0 for one in resampled), len(resampled), low, high)
