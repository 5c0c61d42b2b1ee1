"""`toprank rank` of files that do not fit into memory: everything in passes, the top alone as a table.

The base is logistic regression by Newton's method, a pass a step; labels and scores of all rows are in memory
(9 bytes a row), of the rows themselves those at the top. Held out is one random part of the rows.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import ranking_scores
from toprank.control import Outcome
from toprank.datasets import Declared, InputError, Labelled, Note, Roles, Table, warning_sentences
from toprank.datasets.encode import ColumnEncoder
from toprank.ensemble.rank_then_rerank import BaseOrderKeptWarning, RankThenRerank, TopWidenedWarning
from toprank.lineup import RERANK, Settings, make_reranker
from toprank.model import RankingModel
from toprank.rankers.direct import DirectRanker
from toprank.scale.files.addresses import called, list_files
from toprank.scale.files.parts import Part, open_parts
from toprank.scale.files.scoring import check_columns, score_parts
from toprank.scale.in_passes.encoded import EncodedRows, logistic_models
from toprank.scale.in_passes.labels import StreamLabels, read_labels
from toprank.scale.in_passes.learn_columns import learn_columns
from toprank.scale.partitions.reranking import FetchedRows, placed_scores, reranked_top
from toprank.scale.partitions.statistics import value_in_blocks
from toprank.statistics import LinearRankStatistic, RankStatistic
from toprank.statistics.groups import TieGroups
from toprank.workflow.asking.aims import Aim
from toprank.workflow.asking.options import RankOptions, in_passes
from toprank.workflow.asking.preparing import asked_for
from toprank.workflow.flags import in_flags, notes_in_flags
from toprank.workflow.judging.held_out import HeldOut, Judged, chance_value
from toprank.workflow.judging.importance import linear_coefficients
from toprank.workflow.learning.candidates import LOGISTIC, Choice, label_of
from toprank.workflow.learning.fitting import warm_up
from toprank.workflow.listing.places import UNSEEN, USED, reasons_for
from toprank.workflow.listing.report import RankReport, column_worths
from toprank.workflow.ranking.stream import Speed, best_listing
from toprank.workflow.reading.source import Columns, Source, provenance
from toprank.workflow.watch import Silent, Watch

__all__ = ["rank_parts"]

Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_] | None
MOST_JUDGED = 1_000_000
"""Rows that are held out: beyond that figures get no firmer."""
OFTEN = 0.2
"""Seconds between two words about how far it is."""
LISTED = 1000
"""Items in the list, unless the budget or the depth is more."""


def rank_parts(
    data: Sequence[str],
    columns: Columns,
    options: RankOptions,
    *,
    new: Sequence[str] = (),
    watch: Watch | None = None,
) -> RankReport:
    """Learn from labelled items in files of any size, and rank the best of them, or of others.

    Parameters
    ----------
    data : sequence of str
        Parquet and CSV files, folders, patterns, addresses (`toprank.scale.files.addresses.list_files`).
    columns : Columns
    options : RankOptions
        Of the rankers, logistic and rerank.
    new : sequence of str
        Files of unseen items to rank instead.
    watch : Watch, optional
        Told about the progress.
    """
    began = time.perf_counter()
    job = _Job.of(data, columns, in_passes(options), watch or Silent())
    report = job.report(new, interrupted=False)
    return replace(report, seconds=time.perf_counter() - began)


@dataclass
class _Job:
    """One ranking on its way."""

    source: Source
    options: RankOptions
    watch: Watch
    parts: Sequence[Part]
    encoder: ColumnEncoder
    notes: list[Note]
    rows: EncodedRows
    budget: int
    aim: Aim
    settings: Settings
    remarks: list[str]

    @classmethod
    def of(cls, data: Sequence[str], columns: Columns, options: RankOptions, watch: Watch) -> _Job:
        """Labels and columns, each from a pass or two, and what can be wrong with what was asked."""
        parts = open_parts(list_files(data), encoding=columns.encoding, separator=columns.separator)
        roles = _roles(parts, columns)
        told = _Read(watch, "Reading the labels")
        labels = read_labels(parts, roles.target, positive=columns.positive, told=told)
        source = _source(parts, roles, labels, tuple(columns.categorical))
        budget, aim, settings, _ = asked_for(source, options)
        names = source.roles.features(_header(parts)).columns
        declared = Declared.of(
            names, categorical=columns.categorical, missing=columns.missing, read=columns.read
        )
        told = _Read(watch, "Reading the columns")
        encoder, notes = learn_columns(parts, names, declared, rows=source.rows, told=told)
        rows = EncodedRows(parts, encoder, labels.sizes, told=_Read(watch, f"Fitting: {label_of(LOGISTIC)}"))
        remarks = [*warning_sentences(notes), *aim.remarks]
        if options.ranker == RERANK:
            warm_up(DirectRanker(max_iter=2), np.eye(12), None)
        return cls(source, options, watch, parts, encoder, notes, rows, budget, aim, settings, remarks)

    @property
    def name(self) -> str:
        """Who ranks."""
        assert self.options.ranker is not None  # see in_passes
        return self.options.ranker

    # -- learning ---------------------------------------------------------------------------------

    def learned(self) -> tuple[Any, float, HeldOut | None]:
        """The ranker of all rows, its statistic, and what one that learned from some made of the others."""
        held = self._held_out_rows()
        y, statistic = self.source.labelled.y, self.aim.measured
        models = logistic_models(self.rows, y == 1, [None] if held is None else [None, ~held])
        final, training = self._final(models[0])
        if held is None:
            return final, training, None
        test = np.flatnonzero(held)
        ranker, ours, plain = self._fitted(models[1], ~held, held, final=False)
        judged = self._judged(ranker, models[1], test, ours, plain)
        return final, training, HeldOut((judged,), len(test) / self.source.rows, self.budget, statistic)

    def _final(self, base: Any) -> tuple[Any, float]:
        """The ranker of all rows, and its statistic; their scores, 8 bytes a row, are gone after it."""
        ranker, scores, _ = self._fitted(base, None, None, final=True)
        return ranker, value_in_blocks(self.aim.measured, self.source.labelled.y, scores)

    def _held_out_rows(self) -> NDArray[np.bool_] | None:
        if not self.options.splits or not self.source.can_be_held_out:
            return None
        share = min(self.options.held_out, MOST_JUDGED / self.source.rows)
        held = self.rows.chosen(share, self.options.seed + 1)
        positives = self.source.labelled.y[held].sum(), self.source.labelled.y[~held].sum()
        if not (0 < positives[0] < held.sum() and 0 < positives[1] < (~held).sum()):
            self.remarks.append("There are too few items of a class: there is nothing to hold out.")
            return None
        self.remarks.append(
            f"Files of this size are learned from in passes: held out is one random part, {int(held.sum())}"
            " items, and medians and deviations of the columns are those of all."
        )
        return held

    def _fitted(self, base: Any, train: Chosen, judge: Chosen, *, final: bool) -> tuple[Any, Floats, Floats]:
        """The ranker that some of the rows give, and scores of some: its own, and the base's."""
        scores = self.rows.scores(lambda X: ranking_scores(base, X))
        judged = self._some(scores, judge)
        if self.name == LOGISTIC:
            return base, judged.scores, judged.scores
        limit = None if self.options.time_limit is None else self.options.time_limit / 2
        self.watch.stage(f"Fitting: {label_of(self.name)}", seconds=limit)
        told: Any = {"callback": self.watch.search, "keep_proof": self.options.keep_proof} if final else {}
        learn = self._some(scores, train)
        top = max(2, round(self.settings.top * learn.shape[0] / self.source.rows))
        unfitted = make_reranker(replace(self.settings, time_limit=limit, top=top, **told), base=base)
        y = self.source.labelled.y[slice(None) if train is None else train]
        ranker = self._reranked(unfitted, base, learn, y, final=final)
        return ranker.set_params(callback=None), placed_scores(ranker, judged), judged.scores

    def _some(self, scores: Floats, rows: Chosen) -> FetchedRows:
        """Some rows, or all, with their base scores."""
        if rows is None:
            return FetchedRows(self.rows.shape[1], scores, self.rows.fetch)
        numbers = np.flatnonzero(rows)
        return FetchedRows(self.rows.shape[1], scores[rows], lambda wanted: self.rows.fetch(numbers[wanted]))

    def _reranked(
        self, unfitted: RankThenRerank, base: Any, rows: FetchedRows, y: NDArray[np.int8], *, final: bool
    ) -> RankThenRerank:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranker = reranked_top(unfitted, base, rows, y)
        said = [one for one in caught if issubclass(one.category, (BaseOrderKeptWarning, TopWidenedWarning))]
        if final:
            self.remarks += [f"{str(one.message)[0].upper()}{str(one.message)[1:]}." for one in said]
        return ranker

    def _judged(
        self, ranker: Any, base: Any, test: NDArray[np.intp], scores: Floats, plain: Floats
    ) -> Judged:
        y, statistic = self.source.labelled.y[test], self.aim.measured
        both, fitted = {self.name: scores, LOGISTIC: plain}, {self.name: ranker, LOGISTIC: base}
        values = {name: value_in_blocks(statistic, y, one) for name, one in both.items()}
        coefficients = {name: self._coefficients(one) or {} for name, one in fitted.items()}
        return Judged(test, y, None, both, values, coefficients=coefficients)

    def _coefficients(self, ranker: Any) -> dict[str, float] | None:
        coef = linear_coefficients(ranker, self.rows.shape[1])
        return None if coef is None else dict(zip(self.encoder.feature_names, coef.tolist(), strict=True))

    # -- the answer -------------------------------------------------------------------------------

    def report(self, new: Sequence[str], *, interrupted: bool) -> RankReport:
        """The list and all there is to say about it."""
        unseen = self._to_rank(new)
        ranker, training, held_out = self.learned()
        model = self._model(ranker)
        depth = int(ranker.n_top_) if self.name == RERANK else None
        longest = max(LISTED, self.budget, depth or 0)
        found = score_parts(model, unseen, top=longest, told=Speed(unseen, self.watch))
        right = UNSEEN if new else USED
        listing, table, X, order = best_listing(model, found, unseen, {"order": right})
        named = self._coefficients(ranker)
        outcome = getattr(ranker, "outcome_", None)
        statistic = self.aim.measured
        return RankReport(
            model=model,
            listing=listing,
            listed=_called(unseen),
            order=right,
            statistic=str(statistic),
            rows=self.source.rows,
            positives=self.source.positives,
            budget=self.budget,
            depth=depth,
            delivered=self.name,
            why=Choice(self.name).why,
            training=training,
            chance=_chance(statistic, self.source.labelled.y),
            found=None,
            held_out=held_out,
            held_out_by="random",
            columns=column_worths(self.name, named, held_out),
            linear=named is not None,
            outcome=outcome if isinstance(outcome, Outcome) else None,
            reasons=reasons_for(model, table, X, order),
            groups=None,
            duplicates=0,
            notes=notes_in_flags(self.notes),
            new_notes=notes_in_flags(found.notes) if new else [],
            remarks=list(dict.fromkeys(map(in_flags, self.remarks))),
            interrupted=interrupted or found.interrupted,
            seconds=math.nan,
        )

    def _to_rank(self, new: Sequence[str]) -> Sequence[Part]:
        """The files that are ranked; a column they lack comes to light before anything is learned."""
        parts = open_parts(list_files(new)) if new else self.parts
        check_columns(parts, [column.name for column in self.encoder.columns])
        return parts

    def _model(self, ranker: Any) -> RankingModel:
        origin = provenance(self.source, self.budget, self.options.seed) | {
            "ranker": self.name,
            "base": self.options.base,
            "depth": self.settings.top if self.name == RERANK else None,
        }
        labelled, statistic = self.source.labelled, str(self.aim.measured)
        return RankingModel(self.encoder, ranker, self.source.roles, labelled.positive, statistic, origin)


class _Read:
    """A new stage, and how many rows were read for it; nobody knows how many passes it takes."""

    def __init__(self, watch: Watch, stage: str) -> None:
        watch.stage(stage)
        self._watch, self._rows, self._lock = watch, 0, threading.Lock()
        self._began = self._said = time.perf_counter()

    def __call__(self, rows: int) -> None:
        with self._lock:
            self._rows += rows
            now = time.perf_counter()
            if now - self._said >= OFTEN:
                self._said = now
                self._watch.note(f"{self._rows:,} rows read, {self._rows / (now - self._began):,.0f} rows/s")


def _chance(statistic: RankStatistic, y: NDArray[np.int8]) -> float:
    """The statistic of a random order, on average: that of one tie, without the weights of all places."""
    n_pos, n_neg = float(y.sum()), float(len(y) - y.sum())
    if not isinstance(statistic, LinearRankStatistic):
        return chance_value(statistic, y, None)
    tie = TieGroups(np.array([n_pos]), np.array([n_neg]), n_pos, n_neg, True)
    return float(statistic._expected(tie))


def _header(parts: Sequence[Part]) -> Table:
    """The columns without rows."""
    import pandas as pd

    return Table(pd.DataFrame(columns=parts[0].columns), source=_called(parts))


def _called(parts: Sequence[Part]) -> str:
    return called([part.file for part in parts])


def _roles(parts: Sequence[Part], columns: Columns) -> Roles:
    if not parts:
        raise InputError("The files hold no rows.")
    header = _header(parts)
    for argument, given in (
        ("--qid", columns.qid),
        ("--group", columns.group),
        ("--split-by", columns.split_by),
    ):
        if given is not None:
            raise InputError(
                f"{argument} {given!r}: files of this size are learned from in passes, as one list whose rows"
                " are held out at random; leave it out, or give fewer rows."
            )
    if columns.labels not in (None, "binary"):
        raise InputError(f"--labels {columns.labels}: files of this size are learned from as two classes.")
    if columns.target is None:
        shown = ", ".join(header.columns[:12])
        raise InputError(f"--target is missing: name the column with the labels, one of {shown}.")
    roles = Roles(columns.target, columns.id, None, None, tuple(dict.fromkeys(columns.ignore)))
    roles.check(header)
    for part in parts:
        missing = [name for name in header.columns if name not in part.columns]
        if missing:
            names = ", ".join(map(repr, missing[:5]))
            raise InputError(f"{part.name} lacks columns that {parts[0].file.name} has: {names}.")
    return roles


def _source(
    parts: Sequence[Part], roles: Roles, labels: StreamLabels, categorical: tuple[str, ...]
) -> Source:
    """The labels, and a table that has no columns but as many rows."""
    import pandas as pd

    table = Table(pd.DataFrame(index=pd.RangeIndex(len(labels.y))), source=_called(parts))
    labelled = Labelled(table, labels.y, labels.positive, None, None, None)
    return Source(table, labelled, roles, categorical)
