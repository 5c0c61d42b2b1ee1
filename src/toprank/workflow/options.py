"""What every command asks first: which statistic, how many at the top, who makes the first list."""

from __future__ import annotations

import numpy as np

from toprank import statistics
from toprank.datasets import InputError
from toprank.ensemble.heads import heads_of
from toprank.lineup import BASES, Settings
from toprank.rankers.tuning.folds import can_be_ranked
from toprank.statistics import LinearRankStatistic
from toprank.workflow.source import Source

__all__ = ["check_base", "checked_settings", "optimisable"]

DEFAULT_TOP = 50


def checked_settings(
    source: Source,
    *,
    statistic: str,
    top: int | None,
    base: str,
    time_limit: float | None,
    held_out: float,
    seed: int,
) -> tuple[LinearRankStatistic, Settings]:
    """The statistic and the settings of a fit, or one line about the option that cannot be."""
    chosen = optimisable(statistic)
    number = min(DEFAULT_TOP, source.rows) if top is None else top
    if not 2 <= number <= source.rows:
        raise InputError(f"--top {number}: give a number from 2 to {source.rows}, the length of the list.")
    _check_queries(source)
    _check_cutoff(chosen, number, source)
    check_base(base)
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"--time-limit {time_limit:g}: give a number of seconds above 0.")
    if not 0 < held_out < 1:
        raise InputError(f"--held-out {held_out:g}: give a share between 0 and 1.")
    if seed < 0:
        raise InputError(f"--seed {seed}: give a whole number from 0.")
    return chosen, Settings(str(chosen), number, base, time_limit, seed)


def check_base(name: str) -> None:
    """Refuse a base ranker nobody knows."""
    if name not in BASES:
        raise InputError(f"--base {name!r} is not one of {', '.join(BASES)}.")


def optimisable(name: str) -> LinearRankStatistic:
    """The statistic a user named, if a ranker can optimise it.

    >>> str(optimisable("DCG@10"))
    'dcg@10'
    >>> optimisable("average_precision")
    Traceback (most recent call last):
    ...
    toprank.errors.InputError: --statistic 'average_precision' can be measured but not optimised; ...
    """
    try:
        statistic = statistics.get(name)
    except ValueError as error:
        raise InputError(f"--statistic {name!r}: {error}.") from None
    if isinstance(statistic, LinearRankStatistic):
        return statistic
    raise InputError(
        f"--statistic {name!r} can be measured but not optimised; these can: {', '.join(_linear_names())}."
    )


def _check_queries(source: Source) -> None:
    if not can_be_ranked(source.labelled.y, source.labelled.qid):
        raise InputError(
            f"--qid {source.roles.qid!r}: no query has items of both classes, so that no order within a query"
            " is better than another; leave --qid out to rank all items as one list."
        )


def _check_cutoff(statistic: LinearRankStatistic, top: int, source: Source) -> None:
    """Refuse a statistic that is the same for every order of the top: there is nothing to optimise."""
    y, qid = source.labelled.y, source.labelled.qid
    try:
        # Which rows are at the top does not matter here, only how many.
        weights = heads_of(np.arange(len(y), dtype=np.float64), qid, top=top).weights(statistic, y)
    except ValueError as error:
        raise InputError(f"--statistic '{statistic}' does not fit these items: {error}.") from None
    if all(worth[0] == worth[-1] for worth in weights.values()):
        raise InputError(
            f"--statistic '{statistic}' is the same for every order of the top {top}: give a larger --top or"
            " a statistic that looks at the order, such as dcg."
        )


def _linear_names() -> list[str]:
    from toprank.statistics.base import registered

    kinds = registered().values()
    return sorted({kind.name for kind in kinds if issubclass(kind, LinearRankStatistic)})
