"""A list learned from comparisons: which of two items is the better one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import toprank
from toprank import datasets
from toprank.control import Outcome, SearchStoppedWarning, Status, keep_best_on_interrupt
from toprank.datasets import Declared, InputError, Note, Roles, Table
from toprank.datasets.pair_file import read_pair_file
from toprank.lineup import RERANKER
from toprank.model import RankingModel
from toprank.preferences import pair_folds
from toprank.workflow.asking.exact_options import ExactOptions
from toprank.workflow.flags import in_flags, notes_in_flags
from toprank.workflow.listing.places import plain_list
from toprank.workflow.reading.source import Columns, read_items
from toprank.workflow.watch import Silent, Watch

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PAIR_RANKERS", "PairOptions", "PairsReport", "Share", "pairs_summary", "rank_by_pairs"]

Floats = NDArray[np.float64]
PRICES = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Values of C that a RankSVM is chosen from, on folds."""
FOLDS = 5
STATISTIC = "share of the comparisons in order"
PAIR_RANKERS = ("svm", "exact", "direct", "boosting")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """How to learn from comparisons.

    Parameters
    ----------
    ranker : {"svm", "exact", "direct", "boosting"}
    time_limit : float
        Seconds for the final fit; folds share as much again.
    seed : int
    keep_proof : bool
        Whether the model keeps the proof, for ``ranker="exact"``.
    exact : ExactOptions
        What is asked of ``ranker="exact"``: penalty, margin, solver, backend.
    """

    ranker: str = "svm"
    time_limit: float = 60.0
    seed: int = 0
    keep_proof: bool = False
    exact: ExactOptions = field(default_factory=ExactOptions)


@dataclass(frozen=True, slots=True)
class Share:
    """Share of held-out comparisons in the order given: the mean over folds, and its standard error."""

    unseen: str
    mean: float
    error: float
    folds: int


@dataclass(frozen=True)
class PairsReport:
    """Items in the order learned from comparisons.

    Parameters
    ----------
    model : RankingModel
    listing : pandas.DataFrame
        The items, best first.
    listed : str
        Name of their file.
    comparisons, contradicted : int
        How many there were, and how many of them the other way round as well.
    training : float
        Share of them that the list puts in order.
    held_out : list of Share
    ranker : str
        Who ranks, in words.
    outcome : Outcome
    notes : list of Note
    remarks : list of str
    interrupted : bool
    """

    model: RankingModel
    listing: pd.DataFrame
    listed: str
    comparisons: int
    contradicted: int
    training: float
    held_out: list[Share]
    ranker: str
    outcome: Outcome
    notes: list[Note]
    remarks: list[str]
    interrupted: bool


def rank_by_pairs(
    data: str | None,
    pairs_file: str,
    columns: Columns,
    options: PairOptions,
    *,
    watch: Watch | None = None,
) -> PairsReport:
    """Learn from comparisons of items and list the items, best first.

    Parameters
    ----------
    data : str or None
        The items: a file, a data set by name, or (None) the example.
    pairs_file : str
        The comparisons, by the identifiers of the items.
    columns : Columns
        `id` says which column of the items has the identifiers.
    options : PairOptions
    watch : Watch, optional
    """
    watch = watch or Silent()
    if options.ranker not in PAIR_RANKERS:
        raise InputError(f"--ranker {options.ranker!r}: with comparisons one of {', '.join(PAIR_RANKERS)}.")
    options.exact.check(RERANKER if options.ranker == "exact" else options.ranker, depth=None)
    table, roles, features = _items(data, columns)
    ids = roles.identifiers(table)
    assert ids is not None  # `_items` asks for them
    pairs, weight = read_pair_file(pairs_file, ids, encoding=columns.encoding, separator=columns.separator)
    encoder, notes = datasets.learn_encoder(features, categorical=tuple(columns.categorical))
    X, _ = encoder.encode(features)
    with keep_best_on_interrupt() as kept:
        watch.stage("Learning from the comparisons", seconds=options.time_limit)
        ranker = _fitted(_chosen(X, pairs, weight, options), X, pairs, weight)
        held_out = _held_out(X, pairs, weight, options, watch, kept)
    watch.stage("Writing the list")
    provenance = {
        "data": table.source,
        "pairs": pairs_file,
        "rows": len(table),
        "comparisons": len(pairs),
        "seed": options.seed,
        "toprank": toprank.__version__,
    }
    model = RankingModel(encoder, ranker, roles, (), STATISTIC, provenance)
    return PairsReport(
        model=model,
        listing=plain_list(model, table, X),
        listed=table.source,
        comparisons=len(pairs),
        contradicted=_contradicted(pairs),
        training=ranker.score_pairs(X, pairs, weight),
        held_out=held_out,
        ranker=_words(ranker),
        outcome=ranker.outcome_,
        notes=notes_in_flags(notes),
        remarks=list(map(in_flags, [*table.remarks, *datasets.warning_sentences(notes)])),
        interrupted=kept.interrupted,
    )


def _items(data: str | None, columns: Columns) -> tuple[Table, Roles, Table]:
    """The items, what their columns are, and the columns to learn from."""
    name = columns.id or ("pump" if data is None else None)
    if name is None:
        raise InputError("--id is missing: name the column of the items that the comparisons refer to.")
    table = read_items(
        data,
        text_columns=[name, *columns.categorical],
        encoding=columns.encoding,
        separator=columns.separator,
    )
    left_out = tuple(dict.fromkeys([*columns.ignore, *([columns.target] if columns.target else [])]))
    roles = Roles("", name, None, None, left_out)
    for column in left_out:
        table.column(column, argument="ignore")
    features = roles.features(table)
    if not features.columns and features.sparse is None:
        raise InputError(f"{table.source}: there are no columns left to learn from.")
    if features.sparse is None:
        declared = Declared.of(
            features.columns, categorical=columns.categorical, missing=columns.missing, read=columns.read
        )
        features = datasets.described(features, declared)
    return table, roles, features


def _unfitted(options: PairOptions, seconds: float) -> Any:
    shared: dict[str, Any] = {"time_limit": seconds, "random_state": options.seed}
    if options.ranker == "exact":
        return toprank.ExactRanker(keep_proof=options.keep_proof, **options.exact.parameters, **shared)
    if options.ranker == "direct":
        return toprank.DirectRanker(**shared)
    if options.ranker == "boosting":
        return toprank.RankBoost(**shared)
    return toprank.RankSVM(loss="squared_hinge", **shared)


def _chosen(X: Any, pairs: NDArray[np.int64], weight: Floats, options: PairOptions) -> Any:
    """The ranker to fit; of a RankSVM with the C that orders the most unseen comparisons."""
    ranker = _unfitted(options, options.time_limit)
    if options.ranker != "svm":
        return ranker
    folds = _folds(pairs, "pairs", options.seed)
    quick = _unfitted(options, options.time_limit / (len(PRICES) * max(len(folds), 1)))
    means = [
        float(np.mean(_shares(clone(quick).set_params(C=C), X, pairs, weight, folds))) if folds else 0.0
        for C in PRICES
    ]
    return ranker.set_params(C=PRICES[int(np.argmax(means))] if folds else 1.0)


def _held_out(
    X: Any,
    pairs: NDArray[np.int64],
    weight: Floats,
    options: PairOptions,
    watch: Watch,
    kept: keep_best_on_interrupt,
) -> list[Share]:
    """How often comparisons that were not learned from come out in the order given.

    After Ctrl-C fits are cut short: a figure not finished by then is left out.
    """
    found: list[Share] = []
    for by, unseen in (("pairs", "comparisons"), ("items", "items")):
        folds = _folds(pairs, by, options.seed)
        watch.stage(f"Judging by unseen {unseen}", steps=len(folds))
        shares = []
        for learn, judge in folds:
            part = replace(options, time_limit=options.time_limit / (2 * len(folds)), keep_proof=False)
            chosen = _chosen(X, pairs[learn], weight[learn], part)
            shares += _shares(chosen, X, pairs, weight, [(learn, judge)])
            watch.step()
            if kept.interrupted:
                return found
        if len(shares) > 1:
            error = float(np.std(shares, ddof=1) / np.sqrt(len(shares)))
            found.append(Share(unseen, float(np.mean(shares)), error, len(shares)))
    return found


def _folds(pairs: NDArray[np.int64], by: str, seed: int) -> list[tuple[Any, Any]]:
    """Folds, fewer where there is too little for five; none where there is too little for two."""
    for count in range(FOLDS, 1, -1):
        try:
            return list(pair_folds(pairs, count, by=by, random_state=seed))
        except ValueError:
            continue
    return []


def _shares(
    ranker: Any, X: Any, pairs: NDArray[np.int64], weight: Floats, folds: Iterable[tuple[Any, Any]]
) -> list[float]:
    return [
        _fitted(clone(ranker), X, pairs[learn], weight[learn]).score_pairs(X, pairs[judge], weight[judge])
        for learn, judge in folds
    ]


def _fitted(ranker: Any, X: Any, pairs: NDArray[np.int64], weight: Floats) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)  # the outcome says it
        return ranker.fit_pairs(X, pairs, weight)


def _contradicted(pairs: NDArray[np.int64]) -> int:
    """Comparisons that stand there the other way round as well."""
    given = {tuple(pair) for pair in pairs.tolist()}
    return sum((lower, upper) in given for upper, lower in pairs.tolist())


def _words(ranker: Any) -> str:
    name = type(ranker).__name__
    return f"{name}, C = {ranker.C:g}" if name == "RankSVM" else name


def pairs_summary(report: PairsReport, files: Mapping[str, str], *, head: int) -> dict[str, Any]:
    """All but the list below its head, for machines."""
    outcome = report.outcome
    return {
        "rows": len(report.listing),
        "comparisons": report.comparisons,
        "contradicted": report.contradicted,
        "ranker": report.ranker,
        "training": report.training,
        "chance": 0.5,
        "held_out": [asdict(share) for share in report.held_out],
        "outcome": {
            "status": outcome.status.value,
            "seconds": outcome.seconds,
            "proved": outcome.status is Status.OPTIMAL,
        },
        "interrupted": report.interrupted,
        "notes": [asdict(note) for note in report.notes],
        "remarks": report.remarks,
        "files": dict(files),
        "list": report.listing.head(head).to_dict(orient="records"),
    }
