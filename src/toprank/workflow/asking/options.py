"""What every command asks first: which statistic, how many can be acted on, how deep to rerank, who ranks."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from toprank.contenders import LINEAR_SVM, others
from toprank.datasets import InputError
from toprank.ensemble.heads import heads_of
from toprank.labels import LabelKind
from toprank.lineup import BASES, ENSEMBLE, LINEAR_BASES, RERANK, SHORT_NAMES, Settings, named_rankers
from toprank.rankers.tuning.folds import can_be_ranked
from toprank.statistics import LinearRankStatistic
from toprank.workflow.asking.aims import Aim, aim_of
from toprank.workflow.asking.exact_options import ExactOptions
from toprank.workflow.learning.fitting import value_of
from toprank.workflow.learning.regression import REGRESSORS, RIDGE, names_for_numbers
from toprank.workflow.reading.source import Source

__all__ = [
    "PREFERENCES",
    "RankOptions",
    "check_base",
    "check_kind",
    "checked_ranker",
    "checked_settings",
    "in_passes",
    "list_length",
]

PREFERENCES = ("best", "simple")
USUAL_BUDGET = 50
SHARE_OF_A_SHORT_LIST = 10
"""Where nobody says how many items can be acted on: 50, or a tenth of a shorter list."""
LONG = 1_000_000
"""Items of a list that is long enough to show whether a statistic looks at the order of its top."""
DEPTH_FACTOR = 4
"""Reranking looks at so many times the budget, until the data say better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """What to do with the items.

    Parameters
    ----------
    budget : int or None
        How many items (of each query) can be acted on; None for 50, or a tenth of a shorter list.
    statistic : str or None
        What to optimise and to report; None for the DCG of the items within the budget.
    depth : int or None
        How many items a reranker orders anew; None to find out on held-out items.
    ranker : str or None
        One of `toprank.lineup.named_rankers`; None for the ensemble.
    prefer : {"best", "simple"}
        Whether a simpler ranker is delivered where it is within one standard error of the best.
    base : str
        Who makes the list that a reranker orders anew: one of `toprank.lineup.BASES`.
    time_limit : float or None
        Seconds for all fitting: half for the final model at most, the rest shared by the held-out fits.
    seed : int
    splits : int
        Splits for the held-out figures; 0 for none.
    held_out : float
        Share of the items held out in each.
    keep_proof : bool
        Whether the model should carry the proof, for `toprank verify` to replay.
    exact : ExactOptions
        What is asked of the exact ranker.
    """

    budget: int | None = None
    statistic: str | None = None
    depth: int | None = None
    ranker: str | None = None
    prefer: str = "best"
    base: str = "logistic"
    time_limit: float | None = 60.0
    seed: int = 0
    splits: int = 5
    held_out: float = 0.5
    keep_proof: bool = False
    exact: ExactOptions = field(default_factory=ExactOptions)

    @property
    def surely_linear(self) -> bool:
        """Whether the model will be a list of numbers, whatever the held-out figures say."""
        linear = self.wanted == "logistic" or (self.wanted == RERANK and self.base in LINEAR_BASES)
        # Our own rankers are; those with kernels or trees are found out when they are written.
        own = self.wanted not in (ENSEMBLE, RERANK, *BASES, *(set(others(0, 1)) - {LINEAR_SVM}))
        return (linear or own) and not (self.prefer == "simple" and self.wanted == ENSEMBLE)

    @property
    def wanted(self) -> str:
        """The ranker to deliver if it is worth it: what is said about reranking asks for a reranker."""
        if self.ranker is not None:
            return checked_ranker(self.ranker)
        if self.exact.ranker is not None:
            return self.exact.ranker
        about_reranking = self.depth is not None or self.base != "logistic" or self.keep_proof
        return RERANK if about_reranking and self.prefer == "best" else ENSEMBLE


def in_passes(options: RankOptions) -> RankOptions:
    """The options for files that are learned from in passes: a linear reranker instead of an ensemble."""
    wanted = options.wanted
    if wanted == ENSEMBLE:
        return replace(options, ranker=RERANK)
    if wanted not in ("logistic", RERANK) or options.base != "logistic":
        other = f"--ranker {wanted}" if options.base == "logistic" else f"--base {options.base}"
        raise InputError(
            f"{other} does not learn in passes, and these files are too large to be read as a whole: say"
            " --ranker rerank or --ranker logistic, or give fewer rows."
        )
    return replace(options, ranker=wanted)


class FitOptions(Protocol):
    """What all commands that fit are told."""

    @property
    def budget(self) -> int | None: ...
    @property
    def statistic(self) -> str | None: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def base(self) -> str: ...
    @property
    def time_limit(self) -> float | None: ...
    @property
    def held_out(self) -> float: ...
    @property
    def seed(self) -> int: ...


def checked_settings(source: Source, options: FitOptions) -> tuple[int, Aim, Settings]:
    """Budget, statistics and the settings of a fit, or one line about the option that cannot be."""
    budget, depth, base, seed = options.budget, options.depth, options.base, options.seed
    time_limit, held_out = options.time_limit, options.held_out
    longest = list_length(source)
    number = max(1, min(USUAL_BUDGET, longest // SHARE_OF_A_SHORT_LIST)) if budget is None else budget
    if not 1 <= number <= longest:
        raise InputError(f"--budget {number}: give a number from 1 to {longest}, {_what_counts(source)}.")
    deep = min(max(DEPTH_FACTOR * number, 2), longest) if depth is None else depth
    if not 2 <= deep <= longest:
        raise InputError(f"--depth {deep}: give a number from 2 to {longest}, {_what_counts(source)}.")
    aim = aim_of(options.statistic, number, source.kind)
    _check_queries(source)
    _check_cutoff(aim, deep, source)
    check_base(base)
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"--time-limit {time_limit:g}: give a number of seconds above 0.")
    if not 0 < held_out < 1:
        raise InputError(f"--held-out {held_out:g}: give a share between 0 and 1.")
    if seed < 0:
        raise InputError(f"--seed {seed}: give a whole number from 0.")
    exact = {"statistic": str(aim.measured)} if aim.by_search else {}
    return number, aim, Settings(str(aim.optimised), deep, base, time_limit, seed, budget=number, exact=exact)


def list_length(source: Source) -> int:
    """How many items compete with each other: all of them, or those of the longest query."""
    qid = source.labelled.qid
    return source.rows if qid is None else int(np.bincount(qid).max())


def _what_counts(source: Source) -> str:
    """What `list_length` counts, in words."""
    return "the labelled items" + (" of the longest query" if source.labelled.qid is not None else "")


def check_base(name: str) -> None:
    """Refuse a base ranker nobody knows."""
    if name not in BASES:
        raise InputError(f"--base {name!r} is not one of {', '.join(BASES)}.")


def check_kind(ranker: str, kind: LabelKind) -> None:
    """Refuse a ranker that cannot learn from labels of this kind."""
    if kind == "binary" and ranker == RIDGE:
        raise InputError("--ranker ridge is for numbers as labels; of two classes logistic is its like.")
    known = names_for_numbers(kind) if kind != "binary" else [ranker]
    if ranker not in known:
        raise InputError(
            f"--ranker {ranker} learns from two classes, and labels are {kind}: choose one of"
            f" {', '.join(known)}, or make two classes of them with --positive."
        )


def checked_ranker(name: str) -> str:
    """The name of a ranker as `toprank.lineup.named_rankers` writes it, however the user did.

    >>> checked_ranker("toppush")
    'TopPush'
    >>> checked_ranker("exact")
    'ExactRanker'
    """
    known = {**named_rankers(), **REGRESSORS}
    spelled = {key.lower().removesuffix("ranker"): key for key in known}
    spelled |= {key.lower(): name for key, name in SHORT_NAMES.items()}
    spelled |= {key.lower(): key for key in known} | {label.lower(): key for key, label in known.items()}
    if name.lower() not in spelled:
        near = difflib.get_close_matches(name.lower(), spelled, n=1)
        hint = f"; did you mean {spelled[near[0]]!r}?" if near else "."
        raise InputError(f"--ranker {name!r} is not one of {', '.join(known)}{hint}")
    return spelled[name.lower()]


def _check_queries(source: Source) -> None:
    which = "of both classes" if source.kind == "binary" else "with different labels"
    if not can_be_ranked(source.labelled.y, source.labelled.qid):
        raise InputError(
            f"--qid {source.roles.qid!r}: no query has items {which}, so that no order within a query is"
            " better than another; leave --qid out to rank all items as one list."
        )


def _check_cutoff(aim: Aim, depth: int, source: Source) -> None:
    """Refuse a statistic that is the same for every order of the top: there is nothing to optimise."""
    y, qid, statistic = source.labelled.y, source.labelled.qid, aim.optimised
    if not isinstance(statistic, LinearRankStatistic) or source.kind != "binary":
        value_of(aim.measured, y, np.arange(len(y), dtype=np.float64), qid)  # it may want two classes
        return
    if qid is None and len(y) > max(LONG, 4 * depth):
        # A list this long shows what a longer one would, and weights of all places take memory.
        y = np.append(y[: max(LONG, 4 * depth) - 2], np.array([0, 1], dtype=y.dtype))
    try:
        # Which rows are at the top does not matter here, only how many.
        weights = heads_of(np.arange(len(y), dtype=np.float64), qid, top=depth).weights(statistic, y)
    except ValueError as error:
        raise InputError(f"--statistic '{statistic}' does not fit these items: {error}.") from None
    if all(worth[0] == worth[-1] for worth in weights.values()):
        raise InputError(
            f"--statistic '{statistic}' is the same for every order of the first {depth}: give a larger"
            " --depth or a statistic that looks at the order, such as dcg."
        )
