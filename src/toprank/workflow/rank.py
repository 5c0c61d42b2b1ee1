"""A table goes in, a ranked list and a model come out, with what the list is worth on held-out rows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator

import toprank
from toprank.base import ranking_scores
from toprank.control import Outcome, Run, Status, keep_best_on_interrupt
from toprank.datasets import InputError, Note, Table, half_splits, learn_encoder
from toprank.ensemble.rank_then_rerank import BaseOrderKeptWarning, top_values
from toprank.lineup import BASES, Settings, make_base, make_reranker
from toprank.model import RankingModel
from toprank.statistics import LinearRankStatistic
from toprank.workflow.fitting import (
    Items,
    fit_quietly,
    outcome_sentence,
    value_of,
    warm_up,
    wide_enough,
)
from toprank.workflow.hints import column_hints
from toprank.workflow.options import checked_settings
from toprank.workflow.source import Source
from toprank.workflow.watch import Silent, Watch

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HeldOut", "RankOptions", "RankReport", "rank_items"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """What to do with the items.

    Parameters
    ----------
    statistic : str
        What to optimise and to report.
    top : int or None
        How many items at the top of the base list, or of each query's, to rerank; None for 50, or all of a
        shorter list.
    base : str
        Who makes the first list: one of `toprank.lineup.BASES`.
    time_limit : float or None
        Seconds for all fitting: half for the final model at most, the rest shared by the held-out fits.
    seed : int
    splits : int
        Random splits for the held-out figures; 0 for none.
    held_out : float
        Share of the items held out in each.
    keep_proof : bool
        Whether the model should carry the proof, for `toprank verify` to replay.
    """

    statistic: str = "dcg"
    top: int | None = None
    base: str = "logistic"
    time_limit: float | None = 30.0
    seed: int = 0
    splits: int = 5
    held_out: float = 0.5
    keep_proof: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """One statistic of one list, in the order of the base and in the final order."""

    base: float
    reranked: float


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The statistic on rows no fit has seen, a pair for each split."""

    pairs: tuple[Pair, ...]
    fraction: float

    @property
    def base(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        return _mean_deviation([pair.base for pair in self.pairs])

    @property
    def reranked(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        return _mean_deviation([pair.reranked for pair in self.pairs])

    @property
    def difference(self) -> tuple[float, float]:
        """Mean and standard deviation of reranked minus base."""
        return _mean_deviation([pair.reranked - pair.base for pair in self.pairs])

    @property
    def p_value(self) -> float:
        """Of the matched-pairs t-test, corrected for the overlap of the splits; NaN for too few of them."""
        from toprank.workflow.advice import corrected_p_value

        ours, theirs = zip(*((pair.reranked, pair.base) for pair in self.pairs), strict=True)
        return corrected_p_value(ours, theirs, self.fraction)

    @property
    def tested(self) -> str:
        """The p-value and what it is, or why there is none, in words."""
        from toprank.workflow.advice import FEWEST_SPLITS

        if len(self.pairs) < FEWEST_SPLITS:
            return f"no p-value from fewer than {FEWEST_SPLITS} splits"
        if math.isnan(self.p_value):
            return "no p-value: every split has the same difference"
        return f"p = {self.p_value:.2g}, corrected for the overlap of the splits"

    def sentence(self, base: str) -> str:
        """What the figures say, in words; `base` is what to call the first list's ranker."""
        from toprank.workflow.advice import SIGNIFICANT, relative_gain

        gain, tested = relative_gain(self.reranked[0], self.base[0]), self.tested
        if not self.p_value < SIGNIFICANT:
            return f"On held-out items reranking makes no clear difference, {gain}; {tested}: {base} will do."
        if self.difference[0] > 0:
            return f"On held-out items reranking pays: {gain} ({tested})."
        return f"On held-out items reranking does harm, {gain} ({tested}): prefer {base} or a larger --top."


@dataclass(frozen=True)
class RankReport:
    """All there is to say about one ranking.

    Parameters
    ----------
    model : RankingModel
    listing : pandas.DataFrame
        The ranked items: the new ones where there are any, else the labelled ones.
    listed : str
        What is in the list: the name of the file.
    statistic : str
    rows, positives, top : int
    optimised : Pair
        What the reranked top adds to the statistic of all labelled items: what the search worked on.
    training : Pair
        On all labelled items.
    held_out : HeldOut or None
    outcome : Outcome
        How the search for the final model ended.
    notes : list of Note
        What was done to the columns.
    new_notes : list of Note
        What was done to the columns of the new items.
    remarks : list of str
        What else a user should know.
    seconds : float
    """

    model: RankingModel
    listing: pd.DataFrame
    listed: str
    statistic: str
    rows: int
    positives: int
    top: int
    optimised: Pair
    training: Pair
    held_out: HeldOut | None
    outcome: Outcome
    notes: list[Note]
    new_notes: list[Note]
    remarks: list[str]
    interrupted: bool
    seconds: float

    @property
    def certainty(self) -> str:
        """How sure the answer is, in words; where the base's order was kept, why."""
        kept = not self.model.ranker.reranked_
        return self.outcome.notes[-1] if kept else outcome_sentence(self.outcome)

    @property
    def encoding(self) -> str:
        """What became of the columns, in one sentence."""
        roles, encoder = self.model.roles, self.model.encoder
        parts = [f"{len(encoder.feature_names)} features, numbers standardised"]
        named = {"id": roles.id, "query": roles.qid, "group": roles.group}
        parts += [f"{role} {name!r}" for role, name in named.items() if name is not None]
        if roles.ignore:
            parts.append("ignored " + ", ".join(map(repr, roles.ignore)))
        return "; ".join(parts)


def rank_items(
    source: Source, options: RankOptions, *, new: Table | None = None, watch: Watch | None = None
) -> RankReport:
    """Learn from labelled items, rank them or new ones, and say what the ranking is worth.

    Parameters
    ----------
    source : Source
        The labelled items.
    options : RankOptions
    new : Table, optional
        Unseen items to rank instead of the labelled ones.
    watch : Watch, optional
        Told about the progress.
    """
    began = time.perf_counter()
    watch = watch or Silent()
    statistic, settings = checked_settings(
        source,
        statistic=options.statistic,
        top=options.top,
        base=options.base,
        time_limit=options.time_limit,
        held_out=options.held_out,
        seed=options.seed,
    )
    items = Items.of(source.labelled)
    encoder, notes = learn_encoder(items.features, categorical=source.categorical)
    X, _ = encoder.encode(items.features)
    if new is not None:
        # Before the search: a column the new file lacks should not come to light after it.
        encoder.encode(source.roles.features(new))

    watch.stage("Preparing the kernels")
    warm_up(make_reranker(replace(settings, base="logistic")), X, items.qid)
    clock = Run(time_limit=options.time_limit)
    base, settings, remarks = _first_list(items, X, options, settings, watch)
    held_out, table = None, source.table if new is None else new
    # From here on there is a list to hand over, and Ctrl-C should not lose it.
    with keep_best_on_interrupt() as kept:
        ranker, more = _search(items, X, base, options, settings, watch)
        remarks += more
        if options.splits and not kept.interrupted:
            held_out, more = _held_out(items, source, statistic, settings, options, watch, kept, clock)
            remarks += more
        model = _model(source, encoder, ranker, statistic, options, settings)
        listing, new_notes = model.ranked(table)
    return RankReport(
        model=model,
        listing=listing,
        listed=table.source,
        statistic=str(statistic),
        rows=source.rows,
        positives=source.positives,
        top=int(ranker.n_top_),
        optimised=Pair(*top_values(ranker, statistic, X, items.y, items.qid)),
        training=_pair(statistic, ranker, X, items),
        held_out=held_out,
        outcome=ranker.outcome_,
        notes=notes,
        new_notes=[] if new is None else new_notes,
        remarks=[
            *source.remarks,
            *(() if new is None else new.remarks),
            *column_hints(items, encoder, X),
            *dict.fromkeys(remarks),
        ],
        interrupted=kept.interrupted,
        seconds=time.perf_counter() - began,
    )


def _first_list(
    items: Items, X: Any, options: RankOptions, settings: Settings, watch: Watch
) -> tuple[_Base, Settings, list[str]]:
    """Fit the base on all labelled items; hand back the settings too, for the top may have been widened."""
    limit = _limit(options)
    watch.stage(f"Fitting {BASES[options.base]}", seconds=limit)
    began = time.perf_counter()
    base, remarks = fit_quietly(make_base(settings), X, items.y, None)
    if options.top is None:
        wider = wide_enough(ranking_scores(base, X), items, settings.top)
        if wider > settings.top:
            of = "the first list" if items.qid is None else "each query's first list"
            remarks.append(
                f"The top {settings.top} of {of} hold hardly any items of one class, so the top"
                f" {wider} are reranked; --top sets another number."
            )
        settings = replace(settings, top=wider)
    left = None if limit is None else max(limit - (time.perf_counter() - began), 0.1)
    return _Base(base, left), settings, remarks


def _search(
    items: Items, X: Any, base: _Base, options: RankOptions, settings: Settings, watch: Watch
) -> tuple[Any, list[str]]:
    """The best order of the top of the first list, learned from all labelled items."""
    watch.stage(f"Searching the best order of the top {settings.top}", seconds=_limit(options))
    final = replace(
        settings, time_limit=base.seconds_left, callback=watch.search, keep_proof=options.keep_proof
    )
    reranker = make_reranker(final, base=FrozenEstimator(base.ranker))
    ranker, remarks = fit_quietly(reranker, X, items.y, items.qid, leave_out=(BaseOrderKeptWarning,))
    # The frozen copy only saved fitting the base twice; the model is the same without it.
    ranker.set_params(base=make_base(settings), callback=None)
    ranker.base_ = base.ranker
    if ranker.reranker_ is not None:
        ranker.reranker_.set_params(callback=None)
    if options.keep_proof and ranker.outcome_.status is not Status.OPTIMAL:
        remarks.append("There is no proof to keep: the search did not get to its end.")
    return ranker, remarks


@dataclass(frozen=True, slots=True)
class _Base:
    """A fitted base, and what it left of the time for the search."""

    ranker: Any
    seconds_left: float | None


def _limit(options: RankOptions) -> float | None:
    """Seconds for the final model: all, or half where there are held-out figures to come."""
    share = 1.0 if options.splits == 0 else 0.5
    return None if options.time_limit is None else options.time_limit * share


def _held_out(
    items: Items,
    source: Source,
    statistic: LinearRankStatistic,
    settings: Settings,
    options: RankOptions,
    watch: Watch,
    kept: keep_best_on_interrupt,
    clock: Run,
) -> tuple[HeldOut | None, list[str]]:
    """Figures on held-out rows, and remarks; Ctrl-C ends it early, and so does the clock."""
    if min(source.positives, source.rows - source.positives) < 2:
        return None, ["Only one item of a class: there is nothing to hold out."]
    watch.stage("Judging on held-out items", steps=options.splits)
    pairs: list[Pair] = []
    unchanged, stopped = 0, False
    try:
        for train, test in half_splits(
            items.y,
            repeats=options.splits,
            test_fraction=options.held_out,
            groups=items.groups,
            qid=items.qid,
            random_state=options.seed,
        ):
            if clock.should_stop():
                break
            if options.time_limit is not None:
                settings = replace(settings, time_limit=clock.remaining() / (options.splits - len(pairs)))
            pair, ranker = _one_split(items.take(train), items.take(test), source, statistic, settings)
            if kept.interrupted:
                break
            stopped |= ranker.outcome_.status is Status.TIME_LIMIT
            unchanged += not ranker.reranked_
            pairs.append(pair)
            watch.step()
    except KeyboardInterrupt:
        pass  # the second Ctrl-C, in a fit that does not look up: the list is there and is handed over
    except InputError as error:
        # A half can be too poor to learn from (a column constant in it, say) where the whole is not.
        return None, [f"There are no held-out figures: {error}"]
    remarks = []
    if kept.interrupted:
        remarks.append(f"Interrupted: {len(pairs)} of {options.splits} held-out splits were finished.")
    elif len(pairs) < options.splits:
        remarks.append(
            f"The clock left time for {len(pairs)} of {options.splits} held-out splits; --time-limit sets it."
        )
    if stopped:
        remarks.append("The clock stopped some held-out fits; another run may give other figures.")
    if unchanged:
        remarks.append(f"In {unchanged} of {len(pairs)} held-out splits the base's own order was kept.")
    return (HeldOut(tuple(pairs), options.held_out) if pairs else None), remarks


def _one_split(
    train: Items, test: Items, source: Source, statistic: LinearRankStatistic, settings: Settings
) -> tuple[Pair, Any]:
    """Learn everything, columns included, from one part; judge the ranker on the other."""
    categorical = [name for name in source.categorical if name in train.features.columns]
    encoder, _ = learn_encoder(train.features, categorical=categorical)
    X, _ = encoder.encode(train.features)
    ranker, _ = fit_quietly(make_reranker(settings), X, train.y, train.qid)
    X_test, _ = encoder.encode(test.features)
    return _pair(statistic, ranker, X_test, test), ranker


def _pair(statistic: LinearRankStatistic, ranker: Any, X: Any, items: Items) -> Pair:
    """The statistic of all items, in the order of the base and in the final one."""
    both = (ranking_scores(estimator, X, items.qid) for estimator in (ranker.base_, ranker))
    return Pair(*(value_of(statistic, items.y, scores, items.qid) for scores in both))


def _model(
    source: Source,
    encoder: Any,
    ranker: Any,
    statistic: LinearRankStatistic,
    options: RankOptions,
    settings: Settings,
) -> RankingModel:
    import sklearn

    provenance = {
        "data": source.table.source,
        "data_sha256": source.fingerprint,
        "rows": source.rows,
        "positives": source.positives,
        "base": options.base,
        "top": settings.top,
        "seed": options.seed,
        "scikit_learn": sklearn.__version__,
        "toprank": toprank.__version__,
    }
    return RankingModel(encoder, ranker, source.roles, source.labelled.positive, str(statistic), provenance)


def _mean_deviation(values: list[float]) -> tuple[float, float]:
    """Mean and sample standard deviation; NaN for the deviation of a single value."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
