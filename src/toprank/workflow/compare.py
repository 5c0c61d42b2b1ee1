"""Every ranker on the same random splits, and one sentence of advice."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from toprank.base import BaseRanker, ranking_scores
from toprank.control import Outcome, Run, Status
from toprank.datasets import InputError, learn_encoder
from toprank.ensemble.top_ensemble import TopEnsemble
from toprank.lineup import BASELINE, ENSEMBLE, Contender, Settings, lineup
from toprank.markup import html_table, shown_number
from toprank.statistics import RankStatistic
from toprank.workflow.asking.options import checked_settings
from toprank.workflow.flags import each_once, said_by
from toprank.workflow.judging.advice import Figures, advice, p_values, what_is_tested
from toprank.workflow.judging.held_out import chance_value
from toprank.workflow.learning.afford import affordable_contenders, affordable_members
from toprank.workflow.learning.candidates import INNER_FOLDS, lighter_ensemble
from toprank.workflow.learning.fitting import Items, fit_quietly, left_out, value_of, warm_up, without_order
from toprank.workflow.learning.regression import blend, contenders_for_numbers
from toprank.workflow.learning.splits import held_out_splits
from toprank.workflow.reading.source import FEWEST_NUMBERS, Source, provenance
from toprank.workflow.watch import Silent, Watch

__all__ = ["NOT_RUN", "CompareOptions", "CompareReport", "compare_rankers"]

ENSEMBLE_SHARE = 8.0
"""Time of an ensemble, which fits several rankers several times, as a multiple of another ranker's."""
SHORTEST = 0.05
NOT_RUN = "not run"
"""What stands in the place of figures where the clock left no time for a ranker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How to compare.

    Parameters
    ----------
    budget : int or None
        How many items can be acted on; None for 50, or a tenth of a shorter list.
    statistic : str or None
        What is optimised and measured; None for the DCG of the items within the budget.
    depth : int or None
        The smallest number of items to rerank; twice and three times as many take part too.
    base : str
        Who makes the list that is reranked.
    splits : int
        Random splits, the same for every ranker.
    held_out : float
        Share of the rows in the test part.
    time_limit : float or None
        Seconds for everything: shared by the fits, an ensemble's share being larger.
    cluster : distributed.Client, str or None
        Workers of a Dask cluster fit, a split each: see `toprank.scale.cluster.connected`.
    seed : int
    """

    budget: int | None = None
    statistic: str | None = None
    depth: int | None = None
    base: str = "logistic"
    splits: int = 10
    held_out: float = 0.5
    time_limit: float | None = 150.0
    cluster: Any = None
    seed: int = 0


@dataclass(frozen=True)
class CompareReport:
    """The table, best on test first, and the advice.

    Parameters
    ----------
    statistic : str
    rows, splits : int
    positives : int or None
        None where labels are numbers.
    figures : list of Figures
    not_run : list of str
        Rankers whose time was over before they had any order: they have no figures and are in no test.
    tested : str
        What the p-values are, in words.
    advice : str
    remarks : list of str
    interrupted : bool
        Whether Ctrl-C ended it before the last split.
    provenance : dict
        Where the figures come from: file, its fingerprint, budget, seed, versions.
    seconds : float
    baseline : str
        The ranker that every other one has to beat.
    chance : float
        The statistic of a random order of a held-out part.
    """

    statistic: str
    rows: int
    positives: int | None
    splits: int
    figures: list[Figures]
    not_run: list[str]
    tested: str
    advice: str
    remarks: list[str]
    interrupted: bool
    provenance: dict[str, Any]
    seconds: float
    baseline: str = BASELINE
    chance: float = np.nan

    def _repr_html_(self) -> str:
        """The table and the advice as a notebook shows them."""
        rows = [
            [
                one.name,
                f"{shown_number(one.test_mean)} ± {one.test_deviation:.2g}",
                "" if np.isnan(one.p_value) else f"{one.p_value:.2g}",
                f"{shown_number(one.train_mean)} ± {one.train_deviation:.2g}",
                f"{one.seconds:.2f}",
            ]
            for one in self.figures
        ]
        rows += [[name, NOT_RUN, "", "", ""] for name in self.not_run]
        caption = f"{self.statistic} of {self.rows} items over {self.splits} splits: mean ± deviation"
        heads = ["ranker", "held-out", "p", "training", "seconds a fit"]
        return html_table(
            caption, heads, rows, below=f"{self.advice} {self.tested} By chance: {shown_number(self.chance)}."
        )


def compare_rankers(source: Source, options: CompareOptions, *, watch: Watch | None = None) -> CompareReport:
    """Fit every ranker on the same random splits and judge it on the rows held out."""
    began = time.perf_counter()
    watch = watch or Silent()
    _check(source, options)
    budget, aim, settings = checked_settings(source, options)
    items, statistic = Items.of(source.labelled, source.times), aim.measured
    training_rows = int(source.rows * (1 - options.held_out))
    able = _contenders(items, settings, training_rows, options)
    baseline = able[0].name
    limit = options.time_limit
    affordable, dear = affordable_contenders(able, items, training_rows, limit, options.splits)
    contenders, remarks = _ready(affordable, items, watch)
    clock = Run(time_limit=options.time_limit)
    task = _Task(items, source, statistic, settings, budget, contenders)
    results, more, interrupted = _all_splits(task, options, clock, watch)
    run = {name: row for name, row in results.items() if not any(one.empty for one in row)}
    figures = _figures(run, statistic, options.held_out, baseline)
    return CompareReport(
        statistic=str(statistic),
        rows=source.rows,
        positives=source.positives,
        splits=len(figures[0].test),
        figures=figures,
        not_run=[name for name in results if name not in run],
        tested=what_is_tested(len(figures) - 1, len(figures[0].test), baseline),
        advice=advice(figures, greater_is_better=statistic.greater_is_better, baseline=baseline),
        remarks=each_once([*source.remarks, *aim.remarks, *dear, *remarks, *more], list(results)),
        interrupted=interrupted,
        provenance=provenance(source, budget, options.seed) | {"base": options.base},
        seconds=time.perf_counter() - began,
        baseline=baseline,
        chance=_chance(items, statistic, options),
    )


def _chance(items: Items, statistic: RankStatistic, options: CompareOptions) -> float:
    """Of a random order of the first split's held-out part; those of the others are as long."""
    _, test = next(held_out_splits(items, repeats=1, held_out=options.held_out, seed=options.seed))
    return chance_value(statistic, items.y[test], None if items.qid is None else items.qid[test])


def _check(source: Source, options: CompareOptions) -> None:
    """Refuse what leaves nothing to compare."""
    if options.splits < 2:
        raise InputError(f"--splits {options.splits}: a comparison needs at least 2.")
    if not source.can_be_held_out:
        few = "two items of either class" if source.kind == "binary" else f"{FEWEST_NUMBERS} items"
        raise InputError(f"A comparison needs {few} at least: some to learn from, some to judge.")


def _contenders(items: Items, settings: Settings, rows: int, options: CompareOptions) -> list[Contender]:
    """Everyone who takes part, the baseline first."""
    if items.kind == "binary":
        return lineup(settings, rows, queries=items.qid is not None)
    members = affordable_members(items, options.time_limit, options.splits * (1 + INNER_FOLDS))
    mixed = partial(blend, items, settings, folds=INNER_FOLDS, members=members)
    return [*contenders_for_numbers(items, settings, rows), Contender(ENSEMBLE, mixed)]


def _ready(contenders: list[Contender], items: Items, watch: Watch) -> tuple[list[Contender], list[str]]:
    """Those who can do this kind of task, their kernels compiled, and what to say about the others."""
    able, remarks = [], []
    watch.stage("Preparing the kernels", steps=len(contenders))
    for contender in contenders:
        watch.note(contender.name)
        ranker = contender.make()
        try:
            # The kernels of an ensemble are those of others; other packages have none.
            if isinstance(ranker, BaseRanker) and not isinstance(ranker, TopEnsemble):
                warm_up(ranker, items.features.sparse, items.qid)
            able.append(contender)
        except ValueError as error:
            remarks.append(left_out(contender.name, error))
        watch.step()
    return able, remarks


@dataclass(frozen=True, slots=True)
class _Result:
    train: float
    test: float
    seconds: float
    stopped: bool
    empty: bool
    """Whether the clock stopped the fit before it had any order: all scores are the same."""


@dataclass(frozen=True, slots=True)
class _Task:
    """What is compared, and by when."""

    items: Items
    source: Source
    statistic: RankStatistic
    settings: Settings
    budget: int
    contenders: list[Contender]

    def shares(self) -> list[float]:
        """How much of the time of a split each contender may take."""
        plain = [ENSEMBLE_SHARE if one.name == ENSEMBLE else 1.0 for one in self.contenders]
        return [one / sum(plain) for one in plain]


def _all_splits(
    task: _Task, options: CompareOptions, clock: Run, watch: Watch
) -> tuple[dict[str, list[_Result]], list[str], bool]:
    """Results by ranker, remarks, and whether Ctrl-C ended it early."""
    results: dict[str, list[_Result]] = {contender.name: [] for contender in task.contenders}
    remarks: list[str] = []
    watch.stage("Comparing", steps=options.splits)
    splits = held_out_splits(task.items, repeats=options.splits, held_out=options.held_out, seed=options.seed)
    parts = ((task.items.take(train), task.items.take(test)) for train, test in splits)
    rows: dict[int, _Row] = {}
    interrupted = False
    try:
        if options.cluster is None:
            found = _in_turn(task, parts, options.splits, clock, watch)
        else:
            found = _side_by_side(task, parts, options, clock, watch)
        for number, row in found:
            rows[number] = row
    except KeyboardInterrupt:
        interrupted = True
    for _, (row_of_all, said) in sorted(rows.items()):
        remarks += said
        for name, result in row_of_all.items():
            results[name].append(result)
    if interrupted:
        remarks.append(
            f"Interrupted: the figures are of the {len(rows)} of {options.splits} splits finished by then."
        )
    return results, remarks, interrupted


_Row = tuple[Mapping[str, _Result], list[str]]
_Parts = Iterable[tuple[Items, Items]]


def _in_turn(task: _Task, parts: _Parts, splits: int, clock: Run, watch: Watch) -> Iterator[tuple[int, _Row]]:
    """One split after the other, what quick ones leave going to those after them."""
    costs = task.shares()
    for number, (train, test) in enumerate(parts):
        seconds = max(clock.remaining() / (splits - number), SHORTEST)
        row, said, costs = _one_split(task, train, test, seconds, costs, watch)
        yield number, (row, said)


def _side_by_side(
    task: _Task, parts: _Parts, options: CompareOptions, clock: Run, watch: Watch
) -> Iterator[tuple[int, _Row]]:
    """Splits on the workers of a cluster, as they are done."""
    from toprank.scale.cluster import connected, spread, threads_of

    with connected(options.cluster) as client:
        rounds = -(-options.splits // threads_of(client))
        seconds = max(clock.remaining() / rounds, SHORTEST)
        for number, row in spread(_split_alone, ((task, *both, seconds) for both in parts), client):
            watch.step()
            yield number, row


def _split_alone(piece: tuple[_Task, Items, Items, float]) -> _Row:
    """One split where nobody watches."""
    task, train, test, seconds = piece
    return _one_split(task, train, test, seconds, task.shares(), Silent())[:2]


def _one_split(
    task: _Task, train: Items, test: Items, seconds: float, costs: list[float], watch: Watch
) -> tuple[Mapping[str, _Result], list[str], list[float]]:
    """All rankers on one split: whole rows only, so that every test is a matched one.

    `costs` are the shares of a split that each is taken to cost, by which the bar moves; what they did cost
    is handed back for the next split, so that the remaining time does not jump.
    """
    encoder, _ = learn_encoder(train.features, categorical=task.source.categorical)
    X, _ = encoder.encode(train.features)
    X_test, _ = encoder.encode(test.features)
    row, remarks = {}, []
    clock, left, spent = Run(time_limit=seconds), 1.0, []
    for contender, share, cost in zip(task.contenders, task.shares(), costs, strict=True):
        watch.note(contender.name)
        began = time.perf_counter()
        try:
            # What quick ones leave goes to those after them.
            ranker = _limited(contender, task, train, clock.remaining() * share / left)
            ranker, said = fit_quietly(ranker, X, train.y, train.qid)
        except ValueError as error:
            remarks.append(left_out(contender.name, error))
            continue
        finally:
            left = max(left - share, 1e-9)
            spent.append(time.perf_counter() - began)
            watch.step(cost)
        scores, stopped = ranking_scores(ranker, X, train.qid), _status(ranker) is Status.TIME_LIMIT
        row[contender.name] = _Result(
            value_of(task.statistic, train.y, scores, train.qid),
            value_of(task.statistic, test.y, ranking_scores(ranker, X_test, test.qid), test.qid),
            time.perf_counter() - began,
            stopped,
            without_order(ranker, scores),
        )
        remarks += [said_by(contender.name, text) for text in said]
    return row, remarks, [one / sum(spent) for one in spent]


def _limited(contender: Contender, task: _Task, train: Items, seconds: float) -> Any:
    """An unfitted ranker that keeps to its share of the time where it can."""
    ranker = contender.make()
    if isinstance(ranker, TopEnsemble) and train.kind != "binary":
        taken = [name for name, _ in ranker.members or ()]
        ranker = blend(train, task.settings, folds=INNER_FOLDS, members=taken)
    elif isinstance(ranker, TopEnsemble):
        limit = seconds if np.isfinite(seconds) else None
        members = affordable_members(train, limit, 1 + INNER_FOLDS)
        ranker = lighter_ensemble(
            ranker, train, task.settings, task.budget, folds=INNER_FOLDS, members=members
        )
    if np.isfinite(seconds) and "time_limit" in ranker.get_params(deep=False):
        ranker.set_params(time_limit=max(seconds, SHORTEST))
    return ranker


def _status(ranker: Any) -> Status:
    outcome = getattr(ranker, "outcome_", None)
    return outcome.status if isinstance(outcome, Outcome) else Status.FINISHED


def _figures(
    results: Mapping[str, list[_Result]], statistic: RankStatistic, held_out: float, baseline: str
) -> list[Figures]:
    """Best on test first; a ranker that refused a split has no matched pairs and no place in the table."""
    finished = max(len(row) for row in results.values())
    if finished < 2:
        raise KeyboardInterrupt("fewer than two splits were finished, so there is nothing to compare yet")
    complete = {name: row for name, row in results.items() if len(row) == finished}
    if baseline not in complete:
        raise InputError(
            f"{baseline.capitalize()} cannot be fitted to these items, so there is nothing to compare."
        )
    sign = 1.0 if statistic.greater_is_better else -1.0
    means = {name: sign * float(np.mean([one.test for one in row])) for name, row in complete.items()}
    ordered = sorted(complete, key=lambda name: -means[name])
    found = p_values({name: [one.test for one in row] for name, row in complete.items()}, held_out, baseline)
    return [_figures_of(name, complete[name], found[name]) for name in ordered]


def _figures_of(name: str, row: list[_Result], p_value: float) -> Figures:
    return Figures(
        name=name,
        train=tuple(one.train for one in row),
        test=tuple(one.test for one in row),
        p_value=p_value,
        seconds=float(np.mean([one.seconds for one in row])),
        stopped=sum(one.stopped for one in row),
    )
