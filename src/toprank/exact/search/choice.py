"""Which method proves a problem, which one takes turns with it, on what device, and what must be compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toprank.exact.pairs import PairArrays
from toprank.exact.problem import RankingProblem
from toprank.exact.search.methods import (
    METHODS,
    ON_A_CARD,
    check_applies,
    check_method,
    compile_kernels,
    find,
)

__all__ = [
    "advice",
    "by_rows",
    "checked",
    "choose",
    "companion",
    "compile_for",
    "device_for",
    "kernels_for",
    "within_reach",
    "without_pairs",
]

Floats = NDArray[np.float64]
DEVICES = ("auto", "cpu", "gpu")
MOST_ENTRIES = 12_000_000
"""Pairs times features beyond which no proof is tried: the differences alone would fill 100 MB."""
ROWS_UP_TO, SHORT_HEAD = 6, 0.5
"""Features up to which, and places that count, as a share of the list, up to which rows are searched where
pairs are too many."""
ANGLES_UP_TO, ANGLES_FROM = 2, 30_000
"""Features up to which, and pairs from which, a search goes by angles: there sorting pairs takes as long."""
BOXES_UP_TO = 3
"""Features up to which boxes are always the better method; from there on it is slices, where they apply."""
MANY_ZEROS, ZEROS_UP_TO = 0.05, 3000
"""Share of pairs that agree in some feature from which, without a margin, many change sides at the same
directions; up to so many pairs the cells then take a second where boxes may take minutes."""
MOSTLY_ZEROS = 0.5
"""The same share for slices, which close boxes at exact ties: at .34 (Pima) they take a twentieth of the time
of the cells, at .9 (seven of ten entries zero) ten times as long."""
MOST_WITH_A_MARGIN = 0.5
"""With a margin slices go first where no more than this share of features takes few values."""
BOXES_SMOOTH_UP_TO, SLICES_SMOOTH_UP_TO = 9, 10
"""Features up to which they are where each of them takes more than a few values."""
FEW_VALUES, MOST_LOOKED_AT = 9, 2000
"""A feature takes few values with so many or fewer differences among so many pairs: flags, small counts."""
HARD_FROM, HARD_PAIRS = 7, (1000, 50_000)
"""Features from which, and pairs between which, no method is sure to get through: two take turns."""
EQUAL_TURNS, RARE_TURNS = 0.5, 0.1
"""Share of the time of the second one: the bound of the cells falls at once, so that a tenth of the time is
enough to have it while slices search; theirs falls late, and wants time."""
CARD_FROM, CARD_UP_TO = 5, 12
"""Features from which a graphics card is worth its start, and up to which boxes get through at all."""
BOXES_HARD_UP_TO, FEW_POSITIVES = 7, 20
"""There boxes go first up to so many features, or for so few positives; otherwise the cells do."""


def within_reach(problem: RankingProblem) -> bool:
    """Whether the pairs can be listed: the differences of all of them must fit in memory."""
    return problem.n_pairs * problem.n_features <= MOST_ENTRIES


def by_rows(problem: RankingProblem, method: str = "auto") -> bool:
    """Whether the search goes by the rows of a list, not by its pairs: asked for, or all that can be done.

    >>> X, y = np.random.default_rng(0).normal(size=(9000, 3)), np.arange(9000) % 2
    >>> short, whole = (RankingProblem.from_labels(X, y, name) for name in ("dcg@50", "auc"))
    >>> by_rows(short), by_rows(whole), by_rows(short, "boxes")
    (True, False, False)
    """
    if method != "auto":
        return method == "rows"
    if within_reach(problem) or problem.n_features > ROWS_UP_TO or len(problem.queries) != 1:
        return False
    upper, lower, table = problem.queries[0]
    places = find("toprank.exact.rows.listed:places_that_count")(table, len(upper), len(lower))
    few = places <= SHORT_HEAD * (len(upper) + len(lower))
    return few and find(str(METHODS["rows"].why_not))(problem) is None


def by_angles(problem: RankingProblem) -> bool:
    """Whether the search had better go by angles: one or two features, and many pairs.

    >>> X, y = np.random.default_rng(0).normal(size=(3000, 2)), np.arange(3000) % 20 == 0
    >>> lists = (RankingProblem.from_labels(Z, y[: len(Z)], "dcg") for Z in (X, X[:, :1], X[:100]))
    >>> [by_angles(problem) for problem in lists]
    [True, True, False]
    """
    if problem.n_features > ANGLES_UP_TO or problem.n_pairs < ANGLES_FROM:
        return False
    return find(str(METHODS["angles"].why_not))(problem) is None


def without_pairs(problem: RankingProblem, method: str = "auto", *, keep_proof: bool = False) -> str | None:
    """The method to use, where it is one that lists no pairs; these keep no proof.

    >>> X, y = np.random.default_rng(0).normal(size=(3000, 2)), np.arange(3000) % 20 == 0
    >>> problem = RankingProblem.from_labels(X, y, "dcg")
    >>> without_pairs(problem), without_pairs(problem, keep_proof=True), without_pairs(problem, "rows")
    ('angles', None, 'rows')
    """
    if method != "auto":
        return method if METHODS[method].hand_over is not None else None
    if by_rows(problem):
        return "rows"
    return "angles" if by_angles(problem) and not (keep_proof and within_reach(problem)) else None


def choose(method: str, arrays: PairArrays) -> str:
    """The method to use on these pairs: boxes or slices, unless features are many, or some have few values.

    Features with few values (flags, one-hot columns) make many pairs change sides at the same directions,
    which boxes never separate; the cells between the pairs' hyperplanes do not mind. Nor do they mind pairs
    that agree in some features and not in others (mostly zeros, say). On hard problems the cells' bound falls
    at once and then slowly, that of boxes late and then fast; see `companion`.

    >>> X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    >>> smooth, coarse = (RankingProblem.from_labels(Z, y).arrays() for Z in (X, np.sign(X)))
    >>> choose("auto", smooth), choose("auto", coarse), choose("boxes", coarse)
    ('slices', 'cells', 'boxes')
    """
    if method != "auto":
        return method
    d = arrays.differences.shape[1]
    if d > BOXES_UP_TO and _sliced(arrays):
        return "slices" if d <= SLICES_SMOOTH_UP_TO and _slices_first(arrays) else "cells"
    if d > 2 and _meets_at_axes(arrays, MANY_ZEROS):
        return "cells"
    if d <= BOXES_UP_TO or (d <= BOXES_SMOOTH_UP_TO and _boxes_first(arrays)):
        return "boxes"
    return "cells"


def companion(method: str, arrays: PairArrays) -> tuple[str, float] | None:
    """The method to take turns with the one chosen, and its share of them, where one may not get through.

    >>> X, y = np.random.default_rng(0).normal(size=(200, 8)), np.arange(200) % 20 == 0
    >>> arrays = RankingProblem.from_labels(X, y).arrays()
    >>> choose("auto", arrays), companion("auto", arrays), companion("slices", arrays)
    ('slices', ('cells', 0.1), None)
    """
    if method != "auto":
        return None
    first, d = choose(method, arrays), arrays.differences.shape[1]
    if first == "cells" and BOXES_UP_TO < d <= SLICES_SMOOTH_UP_TO and _sliced(arrays):
        # Some features of few values beside others: the one or the other, and nothing tells which.
        return "slices", EQUAL_TURNS
    if not _hard(arrays):
        return None
    return "boxes" if first == "cells" else "cells", RARE_TURNS if first == "slices" else EQUAL_TURNS


TRY_A_MARGIN = (
    "some features take few values, so that many pairs tie at the same scores: with a margin (margin=1e-4,"
    " say) a proof is usually much quicker, about all scores that win their pairs by that much"
)


def advice(problem: RankingProblem) -> list[str]:
    """What may help a proof that did not come to its end."""
    moderate = BOXES_UP_TO < problem.n_features <= CARD_UP_TO and within_reach(problem)
    tied = moderate and problem.margin == 0 and not _smooth(problem.arrays().differences)
    return [TRY_A_MARGIN] if tied else []


def _sliced(arrays: PairArrays) -> bool:
    """Whether a search in slices applies."""
    return find(str(METHODS["slices"].why_not))(arrays) is None


def _slices_first(arrays: PairArrays) -> bool:
    """Whether slices are the better bet: no crowds of pairs that change sides at the same directions.

    A margin parts such pairs, unless most features take few values: then whole crowds differ in flags alone.
    """
    if _hard(arrays) and _few_positives(arrays):
        return True
    if arrays.margin > 0:
        return _share_of_few_values(arrays.differences) <= MOST_WITH_A_MARGIN
    return _smooth(arrays.differences) and not _meets_at_axes(arrays, MOSTLY_ZEROS)


def _hard(arrays: PairArrays) -> bool:
    pairs, d = arrays.differences.shape
    return HARD_FROM <= d <= BOXES_SMOOTH_UP_TO and HARD_PAIRS[0] <= pairs <= HARD_PAIRS[1]


def _meets_at_axes(arrays: PairArrays, many: float) -> bool:
    """Whether many of a few pairs are decided by some features alone, with no margin to tell them apart."""
    D = arrays.differences
    if arrays.margin > 0 or len(D) > ZEROS_UP_TO:
        return False
    partly = (D == 0).any(axis=1) & D.any(axis=1)
    return bool(partly.mean() > many)


def _boxes_first(arrays: PairArrays) -> bool:
    """Whether boxes are the better bet with a moderate number of features."""
    smooth = _smooth(arrays.differences)
    if not _hard(arrays):
        return smooth
    return _few_positives(arrays) or (smooth and arrays.differences.shape[1] <= BOXES_HARD_UP_TO)


def _few_positives(arrays: PairArrays) -> bool:
    """Whether what matters hangs on few items: the bound of boxes falls sooner then."""
    return not arrays.objective.by_pairs and arrays.objective.n_items <= FEW_POSITIVES


def _smooth(differences: Floats) -> bool:
    """Whether no column takes few values only."""
    return _share_of_few_values(differences) == 0


def _share_of_few_values(differences: Floats) -> float:
    """The share of columns that take few values only."""
    return float(np.mean([len(np.unique(one)) <= FEW_VALUES for one in differences[:MOST_LOOKED_AT].T]))


# -- where ------------------------------------------------------------------------------------------


def device_for(device: str, method: str, problem: RankingProblem) -> str:
    """Where to search, "cpu" or "gpu"; a ValueError says why the graphics card asked for cannot be used.

    >>> problem = RankingProblem.from_labels(np.eye(9, 4), np.arange(9) % 3 == 0, "dcg")
    >>> device_for("auto", "boxes", problem)
    'cpu'
    """
    if device not in DEVICES:
        raise ValueError(f"device={device!r} must be one of {', '.join(DEVICES)}.")
    if device == "cpu" or (device == "auto" and not (method == "auto" and _worth_a_card(problem))):
        return "cpu"
    reason = None if method in ("auto", "slices") else f"method={method!r} runs on the CPU"
    reason = reason or ("the list is too long" if not within_reach(problem) else None)
    reason = reason or find("toprank.exact.gpu.device:why_no_card")()
    reason = reason or find(str(ON_A_CARD.why_not))(problem.arrays())
    if reason is not None and device == "gpu":
        raise ValueError(f'device="gpu": {reason}. Use device="auto", which takes the CPU then.')
    return "cpu" if reason is not None else "gpu"


def checked(
    problem: RankingProblem, method: str, device: str, *, shared: bool = False, keep_proof: bool = False
) -> tuple[str, str]:
    """How and where to search, else a ValueError that says what cannot be; `shared`: others search."""
    check_method(method)
    unlisted = without_pairs(problem, method, keep_proof=keep_proof)
    if keep_proof and unlisted is not None:
        raise ValueError(
            f"keep_proof=True: the pairs of this list are searched by {unlisted}, of which no log is kept."
        )
    if within_reach(problem) or unlisted is not None:
        check_applies(method, problem)
    if shared and device == "gpu":
        raise ValueError('device="gpu": the workers of a cluster search on CPUs; leave out one of the two.')
    device = "cpu" if shared else device_for(device, method, problem)
    return "slices" if device == "gpu" else method, device


def _worth_a_card(problem: RankingProblem) -> bool:
    """Where a card is known to be the quicker one: some features, none of few values only, or a margin."""
    return (
        CARD_FROM <= problem.n_features <= CARD_UP_TO
        and within_reach(problem)
        and (problem.margin > 0 or _smooth(problem.arrays().differences))
    )


# -- compiling --------------------------------------------------------------------------------------


def kernels_for(problem: RankingProblem, method: str = "auto") -> tuple[list[str], list[str]]:
    """Methods that a search of this problem begins with, and those that may be called in later."""
    check_method(method)
    unlisted = without_pairs(problem, method)
    if unlisted is not None:
        return [unlisted], []
    if not within_reach(problem):
        return [], []
    arrays = problem.arrays()
    first = {choose(method, arrays)}
    if method == "auto" and problem.penalty:
        first.add("boxes")  # for the small supports
    other = companion(method, arrays)
    return sorted(first), [] if other is None or other[0] in first else [other[0]]


def compile_for(problem: RankingProblem, method: str = "auto") -> None:
    """Have all compiled, or read from disk, that a search of this problem may call."""
    for names in kernels_for(problem, method):
        for name in names:
            compile_kernels(name)
