"""A table goes in, a ranked list and a model come out, with what the list is worth on held-out rows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

from toprank.base import best_first, ranking_scores
from toprank.control import Outcome, Run, Status, keep_best_on_interrupt
from toprank.datasets import Encoder, InputError, Table, learn_encoder
from toprank.ensemble.rank_then_rerank import BaseOrderKeptWarning, TopWidenedWarning
from toprank.lineup import BASES, ENSEMBLE, RERANK, RERANKER, Settings
from toprank.model import RankingModel
from toprank.model.ranking import listing_order, ordered_by, ranks_of
from toprank.rankers.direct import DirectRanker
from toprank.workflow.asking.options import RankOptions
from toprank.workflow.asking.preparing import able, about_labels, asked_for
from toprank.workflow.flags import in_flags, notes_in_flags
from toprank.workflow.judging.held_out import HeldOut, Judged, Task, chance_value, judge
from toprank.workflow.judging.hints import column_hints, repeated_rows, width_hint
from toprank.workflow.judging.importance import linear_coefficients
from toprank.workflow.learning.afford import affordable_members
from toprank.workflow.learning.candidates import (
    INNER_FOLDS,
    LOGISTIC,
    OUTER_FOLDS,
    Choice,
    baseline_for,
    candidates_for,
    choose,
    label_of,
    quick,
)
from toprank.workflow.learning.depth import chosen_depth
from toprank.workflow.learning.fitting import Items, fit_quietly, value_of, warm_up
from toprank.workflow.learning.regression import members_of_blend
from toprank.workflow.learning.splits import held_out_by, held_out_splits
from toprank.workflow.listing.found import found_within
from toprank.workflow.listing.groups import Groups, group_shares
from toprank.workflow.listing.places import OUT_OF_FOLD, UNSEEN, USED, Place, list_items, out_of_fold_scores
from toprank.workflow.listing.report import RankReport, column_worths
from toprank.workflow.reading.source import Source, about_unlabelled, provenance
from toprank.workflow.watch import Silent, Watch

__all__ = ["RankOptions", "rank_items"]

OVERLAP_BY_TIME = 0.5
"""Share of the held-out rows that two splits by time have in common."""


def rank_items(
    source: Source, options: RankOptions, *, new: Table | None = None, watch: Watch | None = None
) -> RankReport:
    """Learn from labelled items, rank them or others, and say what the ranking is worth.

    Parameters
    ----------
    source : Source
        The labelled items; rows of theirs without a label are ranked where there are any.
    options : RankOptions
    new : Table, optional
        Unseen items to rank instead.
    watch : Watch, optional
        Told about the progress.
    """
    began = time.perf_counter()
    job = _Job.of(source, options, new, watch or Silent())
    # From the first model on there is a list to hand over, and Ctrl-C should not lose it.
    with keep_best_on_interrupt() as kept:
        fitted = job.final_fit(job.names[0])
        held_out = job.judged(kept) if options.splits and not kept.interrupted else None
        choice = job.choice(held_out)
        if choice.name != job.names[0]:
            fitted = job.final_fit(choice.name)
        report = job.report(fitted, choice, held_out, kept)
    return replace(report, interrupted=kept.interrupted, seconds=time.perf_counter() - began)


@dataclass
class _Job:
    """One ranking on its way: what was asked, what is known so far, what there is to say about it."""

    source: Source
    options: RankOptions
    watch: Watch
    task: Task
    settings: Settings
    names: list[str]
    encoder: Encoder
    notes: list[Any]
    X: Any
    target: Table
    unseen: bool
    clock: Run
    remarks: list[str]

    @classmethod
    def of(cls, source: Source, options: RankOptions, new: Table | None, watch: Watch) -> _Job:
        """Check everything that can be wrong before any work is done; choose how deep to rerank."""
        wanted = options.wanted
        budget, aim, settings, demands = asked_for(source, options)
        items = Items.of(source.labelled, source.times)
        encoder, notes = learn_encoder(items.features, categorical=source.categorical)
        X, _ = encoder.encode(items.features)
        demands = None if demands is None else demands.checked(items.features, encoder.feature_names)
        others = new if new is not None else source.unlabelled
        if others is not None:
            # Before the search: a column the new file lacks should not come to light after it.
            encoder.encode(source.roles.features(others))
        names, remarks = able(candidates_for(wanted, options.prefer, source.kind), items)
        listed = None if others is None else source.roles.features(others)
        job = cls(
            source,
            options,
            watch,
            Task(source, items, aim.measured, budget, listed, demands=demands),
            settings,
            names,
            encoder,
            notes_in_flags(notes),
            X,
            source.table if others is None else others,
            others is not None,
            Run(time_limit=options.time_limit),
            [*about_labels(source, aim), *aim.remarks, *remarks],
        )
        job._prepare()
        return job

    def _prepare(self) -> None:
        """Kernels first, since compiling them must not count; then the depth."""
        items = self.task.items
        if ENSEMBLE in self.names:
            self._choose_members()
        if set(self.names) - {LOGISTIC, *BASES} and items.kind == "binary":
            self.watch.stage("Preparing the kernels")
            # What climbs; a proof is compiled by another process while the fit that wants it climbs.
            warm_up(DirectRanker(max_iter=2), self.X, items.qid)
        self.clock = Run(time_limit=self.options.time_limit)
        open_depth = self.options.depth is None and self.settings.threshold is None
        if RERANK in self.names and open_depth:
            self.watch.stage("Choosing how many items to rerank")
            seconds = None if self.options.time_limit is None else self.options.time_limit / 10
            depth = chosen_depth(items, self.X, self.task.budget, self.task.statistic, self.settings, seconds)
            self.settings = replace(self.settings, top=depth)

    def _choose_members(self) -> None:
        """Those that can be fitted often enough in the time: for the list, and for each split."""
        fits = 1 + OUTER_FOLDS + self.options.splits * (1 + INNER_FOLDS) * (1 - self.options.held_out)
        members = affordable_members(self.task.items, self.options.time_limit, fits)
        self.task = replace(self.task, members=members)
        if members is not None and len(members) == 1:
            self.names = [name for name in self.names if name != ENSEMBLE]
            self.remarks.append(
                f"The time limit is too short for an ensemble; {label_of(self.names[0])} is used."
            )
        elif members is not None:
            taken = members if self.source.kind == "binary" else members_of_blend(members)
            self.remarks.append(
                f"The ensemble is of {', '.join(taken)}: others would take too long or cannot read this;"
                " --time-limit sets more seconds."
            )

    def final_fit(self, name: str) -> Any:
        """A ranker that learned from all labelled items."""
        share = 1.0 if self.options.splits == 0 else 0.5
        limit = None if self.options.time_limit is None else max(self.clock.remaining() * share, 0.1)
        self.watch.stage(f"Fitting: {label_of(name)}", seconds=limit)
        keep_proof = self.options.keep_proof and name in (RERANK, RERANKER)
        final = replace(self.settings, time_limit=limit, callback=self.watch.search, keep_proof=keep_proof)
        items = self.task.items
        ranker = self.task.made(name, items, final, self.encoder.feature_names, final=True)
        said_here = (BaseOrderKeptWarning, TopWidenedWarning)
        ranker, said = fit_quietly(ranker, self.X, items.y, items.qid, leave_out=said_here)
        self.remarks += said
        if name == RERANK and ranker.top_ != self.settings.top:
            self.remarks.append(
                f"The first {self.settings.top} hold hardly any items of one class, so {ranker.top_} are"
                " reranked; --depth sets another number."
            )
        if "callback" in ranker.get_params(deep=False):
            ranker.set_params(callback=None)  # the bar it draws ends here
        outcome = getattr(ranker, "outcome_", None)
        if isinstance(outcome, Outcome):
            unmet = [note for note in outcome.notes if note.startswith("not met:")]
            self.remarks += [f"--constraints: {note}." for note in unmet]
        if keep_proof and ranker.outcome_.status is not Status.OPTIMAL:
            self.remarks.append("There is no proof to keep: the search did not get to its end.")
        return ranker

    # -- held-out figures -------------------------------------------------------------------------

    def judged(self, kept: keep_best_on_interrupt) -> HeldOut | None:
        """Figures on held-out rows; Ctrl-C ends it early, and so does the clock."""
        items, options = self.task.items, self.options
        if not self.source.can_be_held_out:
            few = "Only one item of a class" if self.source.kind == "binary" else "There are too few items"
            self.remarks.append(f"{few}: there is nothing to hold out.")
            return None
        self.watch.stage("Judging on held-out items", steps=options.splits)
        done: list[Judged] = []
        try:
            for train, test in held_out_splits(
                items, repeats=options.splits, held_out=options.held_out, seed=options.seed
            ):
                if self.clock.should_stop():
                    break
                part = self._settings_for(len(train), self._fits_left(len(done)))
                one = judge(self.task, train, test, self.names, part, seed=options.seed)
                if kept.interrupted or one.without_order:
                    break
                done.append(one)
                self.watch.step()
        except KeyboardInterrupt:
            pass  # the second Ctrl-C, in a fit that does not look up: the list is there and is handed over
        except InputError as error:
            # A part can be too poor to learn from (a column constant in it, say) where the whole is not.
            self.remarks.append(f"There are no held-out figures: {error}")
            return None
        self._say_how_far(done, kept)
        if not done:
            return None
        overlap = options.held_out if items.times is None else OVERLAP_BY_TIME
        numbers = "" if items.kind == "binary" else self.source.roles.target
        return HeldOut(tuple(done), overlap, self.task.budget, self.task.statistic, self.baseline, numbers)

    @property
    def baseline(self) -> str:
        """The ranker that every other one has to beat."""
        return baseline_for(self.source.kind)

    def _fits_left(self, done: int) -> int:
        """Fits that share the time, those that place each labelled item without its own label included."""
        placing = 0 if self.unseen or self.names[0] == ENSEMBLE else 1
        return (self.options.splits - done) * self._dear + placing

    @property
    def _dear(self) -> int:
        """How many candidates share the time of a split: logistic regression takes next to none."""
        return max(1, sum(name != self.baseline for name in self.names))

    def _settings_for(self, rows: int, fits: int) -> Settings:
        """For one fit on some of the rows: its share of the time, and of the depth."""
        limit = None if self.options.time_limit is None else max(self.clock.remaining() / fits, 0.1)
        top = max(2, round(self.settings.top * rows / self.source.rows))
        by_query = self.task.items.qid is not None
        return replace(quick(self.settings, limit), top=self.settings.top if by_query else top)

    def _say_how_far(self, done: list[Judged], kept: keep_best_on_interrupt) -> None:
        wanted = self.options.splits
        if kept.interrupted:
            self.remarks.append(f"Interrupted: {len(done)} of {wanted} held-out splits were finished.")
        elif len(done) < wanted:
            self.remarks.append(
                f"The clock left time for {len(done)} of {wanted} held-out splits; --time-limit sets it."
            )
        if any(one.stopped for one in done):
            self.remarks.append("The clock stopped some held-out fits; another run may give other figures.")

    def choice(self, held_out: HeldOut | None) -> Choice:
        """Which ranker is delivered."""
        if held_out is None:
            return Choice(self.names[0])
        values = {name: held_out.values(name) for name in held_out.rankers}
        named = self.options.ranker is not None
        return choose(self.names[0], self.options.prefer, named, values, held_out.fraction, self.baseline)

    # -- the answer -------------------------------------------------------------------------------

    def report(
        self, ranker: Any, choice: Choice, held_out: HeldOut | None, kept: keep_best_on_interrupt
    ) -> RankReport:
        """The list and all there is to say about it."""
        items, name, task = self.task.items, choice.name, self.task
        model = self._model(ranker, name)
        self.watch.stage("Writing the list")
        X, new_notes = self.encoder.encode(self.source.roles.features(self.target))
        place = self._place(ranker, name, X)
        named = self._coefficients(ranker)
        outcome = getattr(ranker, "outcome_", None)
        depth = int(ranker.n_top_) if name == RERANK else None
        listing, reasons = list_items(model, self.target, X, place, name, held_out, task.budget)
        return RankReport(
            model=model,
            listing=listing,
            listed=self.target.source,
            order=place.right,
            statistic=str(task.statistic),
            rows=self.source.rows,
            positives=self.source.positives,
            budget=task.budget,
            depth=depth,
            delivered=name,
            why=choice.why,
            training=self._training(ranker),
            chance=chance_value(task.statistic, items.y, items.qid),
            found=found_within(task.budget, items, place, name),
            held_out=held_out,
            held_out_by=held_out_by(items),
            columns=column_worths(name, named, held_out),
            linear=named is not None,
            outcome=outcome if isinstance(outcome, Outcome) else None,
            reasons=reasons,
            groups=self._groups(listing, place),
            duplicates=repeated_rows(items),
            notes=self.notes,
            new_notes=notes_in_flags(new_notes) if self.unseen else [],
            remarks=self._all_remarks(depth),
            interrupted=kept.interrupted,
            seconds=math.nan,
            kind=items.kind,
            baseline=self.baseline,
            span=self.source.span,
        )

    def _model(self, ranker: Any, name: str) -> RankingModel:
        source, statistic = self.source, str(self.task.statistic)
        positive, provenance_ = source.labelled.positive, self._provenance(name)
        return RankingModel(self.encoder, ranker, source.roles, positive, statistic, provenance_)

    def _training(self, ranker: Any) -> float:
        """The statistic of the rows that were learned from."""
        items = self.task.items
        return value_of(self.task.statistic, items.y, ranking_scores(ranker, self.X, items.qid), items.qid)

    def _coefficients(self, ranker: Any) -> dict[str, float] | None:
        """Of each feature, where the ranker is linear."""
        coef = linear_coefficients(ranker, self.X.shape[1])
        return None if coef is None else dict(zip(self.encoder.feature_names, coef.tolist(), strict=True))

    def _place(self, ranker: Any, name: str, X: Any) -> Place:
        """Where each item of the list stands: unseen ones by the model, labelled ones out of fold."""
        items, task = self.task.items, self.task
        names = self.encoder.feature_names
        plain, base = self.task.made(self.baseline, items, self.settings, names, final=True), self.baseline
        logistic, _ = fit_quietly(plain, self.X, items.y, None)
        if self.unseen:
            roles = self.source.roles
            qid = roles.queries(self.target) if roles.qid in self.target.columns else None
            scores = ranking_scores(ranker, X, qid)
            return Place(ordered_by(ranker, X, qid), scores, ranking_scores(logistic, X), UNSEEN, base)
        self.watch.stage("Ranking each labelled item without its own label")
        part = self._settings_for(self.source.rows * 4 // 5, 5)
        ours = out_of_fold_scores(name, ranker, task, self.X, part, names)
        theirs = ours if name == base else out_of_fold_scores(base, logistic, task, self.X, part, names)
        if ours is None or theirs is None:
            self.remarks.append("There are too few items, or seconds, to rank each without its own label.")
            scores = ranking_scores(ranker, self.X, items.qid)
            order = ordered_by(ranker, self.X, items.qid)
            return Place(order, scores, ranking_scores(logistic, self.X), USED, base)
        return Place(best_first(ours), ours, theirs, OUT_OF_FOLD, base)

    def _groups(self, listing: Any, place: Place) -> Groups | None:
        """Shares of the groups, where a column of them was named, is no clock, and the list has it."""
        roles = self.source.roles
        if roles.group is None or self.source.times is not None or roles.group not in self.target.columns:
            return None
        qid = roles.queries(self.target) if roles.qid in self.target.columns else None
        order = listing_order(place.order, qid)
        y = None if self.unseen or self.source.kind != "binary" else self.task.items.y[order]
        return group_shares(listing, roles.group, ranks_of(place.order, qid)[order], self.task.budget, y)

    def _all_remarks(self, depth: int | None) -> list[str]:
        source = self.source
        said = [*source.remarks]
        if self.target is not source.table and self.target is not source.unlabelled:
            said += self.target.remarks
            if source.unlabelled is not None:
                ranked = about_unlabelled(source.unlabelled, source.roles.target, source.rows)
                said = [one for one in said if one != in_flags(ranked)]
                count = len(source.unlabelled)
                said.append(f"{count} rows of {source.table.source} have no label and are left out.")
        said += column_hints(self.task.items, self.encoder, self.X)
        said += width_hint(self.X.shape[1], self.source.rows if depth is None else depth, depth is not None)
        return list(dict.fromkeys(map(in_flags, [*said, *self.remarks])))

    def _provenance(self, name: str) -> dict[str, Any]:
        return provenance(self.source, self.task.budget, self.options.seed) | {
            "ranker": name,
            "base": self.options.base,
            "depth": self.settings.top if name == RERANK else None,
        }
