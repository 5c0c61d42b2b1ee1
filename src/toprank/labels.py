"""What labels say: which of two belongs at the top, or, being numbers, how near to it each item belongs.

Which of two is said by the user, plain from the labels, or guessed aloud.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import warn_user

__all__ = [
    "KINDS",
    "LabelKind",
    "TiedBorderWarning",
    "UnclearLabelsWarning",
    "as_numbers",
    "expected_rank",
    "kind_of",
    "localized",
    "plain_top",
    "positives",
    "told_label",
    "told_labels",
    "top_label",
    "weak",
]

LabelKind = Literal["binary", "ordinal", "continuous"]
"""Two labels; grades, of which the higher is nearer to the top; a response, any real number."""

KINDS: frozenset[LabelKind] = frozenset(get_args(LabelKind))
"""All kinds of labels."""

MOST_GRADES = 20
"""More whole numbers than these are no grades: counts, ages, amounts."""

# Pairs of words whose upper one nobody would get wrong; anything else must be said.
_UPPER_WORDS = {
    frozenset({upper, lower}): upper
    for upper, lower in (
        ("yes", "no"),
        ("y", "n"),
        ("true", "false"),
        ("t", "f"),
        ("positive", "negative"),
        ("pos", "neg"),
        ("+", "-"),
        ("relevant", "irrelevant"),
        ("relevant", "not relevant"),
    )
}


class UnclearLabelsWarning(UserWarning):
    """Nothing says which of two labels belongs at the top; the last in sorted order was taken."""


class TiedBorderWarning(UserWarning):
    """Of several items with the same label not all belong to the best K, so all or none were taken."""


def kind_of(y: ArrayLike) -> LabelKind:
    """What kind of labels these are, told from the labels alone.

    Two different values are two classes, of whatever type. More than two must be numbers (also written as
    text): up to 20 different whole ones are grades, all others a response.

    Parameters
    ----------
    y : array-like of shape (n,)

    Returns
    -------
    {"binary", "ordinal", "continuous"}
        "binary" as well where all labels are the same: whoever learns from them has to say so.

    Examples
    --------
    >>> kind_of(["spam", "ham", "ham"]), kind_of([0, 2, 1, 1]), kind_of([0.5, 2.0, 1.7])
    ('binary', 'ordinal', 'continuous')
    >>> kind_of(["good", "bad", "fair"])
    Traceback (most recent call last):
    ...
    ValueError: y has 3 different words, 'bad', 'fair', 'good', and words have no order: give numbers, the \
higher the nearer to the top, or two labels.
    """
    values = _different(np.asarray(y))
    if len(values) <= 2:
        return "binary"
    numbers = as_numbers(values)
    return "ordinal" if len(values) <= MOST_GRADES and not (numbers % 1).any() else "continuous"


def as_numbers(y: ArrayLike) -> NDArray[np.float64]:
    """Labels with an order as finite numbers, the higher the nearer to the top; words are an error.

    >>> as_numbers(["10", 9, 1.5])
    array([10. ,  9. ,  1.5])
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "biuf":
        numbers = labels.astype(np.float64)
    else:
        read = [_number(label) for label in labels.tolist()]
        if None in read:
            raise ValueError(_no_order(labels))
        numbers = np.array(read, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("y contains NaN or infinity; labels must be finite numbers.")
    return numbers


def _no_order(labels: NDArray[Any]) -> str:
    known = _different(labels).tolist()
    shown = ", ".join(repr(label) for label in known[:5]) + (", ..." if len(known) > 5 else "")
    return (
        f"y has {len(known)} different words, {shown}, and words have no order: give numbers, the higher the"
        " nearer to the top, or two labels."
    )


def _different(labels: NDArray[Any]) -> NDArray[Any]:
    """The different labels, in order."""
    try:
        return np.unique(labels)
    except TypeError:
        raise ValueError("y mixes words and numbers, or misses values: give labels of one type.") from None


def expected_rank(
    y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Where each row would stand, counted from the bottom, in a list of which its query is a sample: 0 to 1.

    Of m rows the r-th from the bottom is expected at the share ``r / (m + 1)`` of any longer list (Kamishima,
    Kazawa & Akaho 2005, "Supervised ordering"); equal labels share the mean of their places. A regression on
    these numbers learns the order and nothing else, and lists of different length and scale are alike.

    Parameters
    ----------
    y : array-like of numbers
    qid : array-like, optional
        The query of each row.
    sample_weight : array-like, optional
        A row of weight two counts as two rows.

    Examples
    --------
    >>> expected_rank([10.0, 30.0, 20.0])
    array([0.25, 0.75, 0.5 ])
    >>> expected_rank([0, 1, 1, 5, 9], qid=["a", "a", "a", "b", "b"])
    array([0.25      , 0.625     , 0.625     , 0.33333333, 0.66666667])
    """
    labels = np.asarray(y, dtype=np.float64)
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    query = np.zeros(len(labels), dtype=np.int64)
    if qid is not None:
        query = np.unique(np.asarray(qid), return_inverse=True)[1].astype(np.int64)
    order = np.lexsort((labels, query))
    new_list = np.diff(query[order], prepend=-1) != 0
    group = np.cumsum(new_list | (np.diff(labels[order], prepend=np.nan) != 0)) - 1
    tied = np.bincount(group, weights=weight[order])
    sizes = np.bincount(query, weights=weight)
    reached = np.cumsum(tied)
    first = np.flatnonzero(np.diff(group, prepend=-1))  # of each group
    before = np.concatenate([[0.0], np.cumsum(sizes)])[query[order][first]]
    below = reached - tied - before
    ranks = np.empty(len(labels))
    ranks[order] = ((below + (tied + 1.0) / 2.0) / (sizes[query[order][first]] + 1.0))[group]
    return ranks


def weak(y: ArrayLike, k: int, *, ties: str = "out", levels: str = "auto") -> NDArray[np.int8]:
    """The weak problem of size K: 1 for the K items with the largest response, 0 for all others.

    Whoever learns from two labels then learns who the best K are, in whichever order. A weak problem of
    grades has no meaning (Werner 2020, Section 4.1): it would boil several classes down to two, which the
    grades themselves can do better.

    Parameters
    ----------
    y : array-like of shape (n,)
        A response; grades and two labels are refused, with what to do instead.
    k : int
        From 1 to n - 1.
    ties : {"out", "in"}
        What becomes of items that share the K-th largest response with others beyond it: all of them are left
        out, as in rk(Y_i) = sum over j of 1[Y_i <= Y_j] of the review, or all are taken. A
        `TiedBorderWarning` says how many are marked then.
    levels : {"auto", "continuous"}
        The second takes few whole numbers, such as counts, for a response.

    Examples
    --------
    >>> weak([0.3, 2.5, 1.7, 0.1], 2)
    array([0, 1, 1, 0], dtype=int8)
    """
    response = _a_response(y, k, levels, "weak")
    border = np.sort(response)[len(response) - k]
    return (response >= _above_ties(response, border, k, ties)).astype(np.int8)


def localized(y: ArrayLike, k: int, *, ties: str = "out", levels: str = "auto") -> NDArray[np.float64]:
    """The localized problem of size K: the K largest labels as they are, all others alike below them.

    Whoever learns from grades or a response then learns who the best K are and in which order, and nothing
    about the order of the rest. Of grades, take for K the items above the grade that no longer counts.

    Parameters
    ----------
    y : array-like of shape (n,)
        Grades or a response; two labels are refused, with what to do instead.
    k, ties, levels
        As in `weak`; `levels` may be "ordinal" as well.

    Examples
    --------
    >>> localized([0.3, 2.5, 1.7, 0.1], 2)
    array([0.3, 2.5, 1.7, 0.3])
    """
    response = _a_response(y, k, levels, "localized")
    border = np.sort(response)[len(response) - k]
    inside = response >= _above_ties(response, border, k, ties)
    return np.where(inside, response, response[~inside].max())


def _a_response(y: ArrayLike, k: int, levels: str, problem: str) -> NDArray[np.float64]:
    """Labels that a problem of size K can be made of."""
    kind = kind_of(y) if levels == "auto" else levels
    if kind == "binary":
        statistic = "precision@K" if problem == "weak" else "dcg@K or local_auc@K"
        raise ValueError(
            f"y has two labels already: its {problem} problem of size K is to rank with a statistic such as"
            f" {statistic}."
        )
    if kind == "ordinal" and problem == "weak":
        raise ValueError(
            "y has grades, and a weak problem of grades has no meaning: it would boil them down to two labels"
            " whatever they say. Take y >= grade for two labels, localized(y, k) for the order at the top, or"
            " levels='continuous' if these whole numbers are amounts."
        )
    response = as_numbers(y)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < len(response):
        raise ValueError(
            f"k={k!r} must be a whole number from 1 to {len(response) - 1}, one less than items."
        )
    return response


def _above_ties(response: NDArray[np.float64], border: float, k: int, ties: str) -> float:
    """The lowest label taken, when all or none of those at the border are."""
    if ties not in ("out", "in"):
        raise ValueError(f"ties={ties!r} must be 'out' or 'in'.")
    tied, higher = int(np.sum(response == border)), response[response > border]
    if len(higher) + tied == k:
        return border
    taken = len(higher) if ties == "out" else len(higher) + tied
    if taken in (0, len(response)):
        other = "in" if ties == "out" else "out"
        raise ValueError(
            f"{tied} items share the label {border:g} at the border of the best {k}, so that ties={ties!r}"
            f" leaves {'none' if taken == 0 else 'nobody below'}: choose another k or ties={other!r}."
        )
    warn_user(
        f"{tied} items share the label {border:g} at the border of the best {k}: {taken} items are marked"
        f" (ties={ties!r}).",
        TiedBorderWarning,
    )
    return float(higher.min()) if ties == "out" else border


def plain_top(labels: Sequence[Any]) -> int | None:
    """Which of two labels anybody would put on top, as 0 or 1: the larger number, the yes of yes and no.

    >>> plain_top([False, True]), plain_top(["10", "9"]), plain_top(["Yes", "no"])
    (1, 0, 0)
    >>> plain_top(["fraud", "legit"]) is None
    True
    """
    numbers = [_number(label) for label in labels]
    if None not in numbers and len(set(numbers)) == 2:
        return int(np.argmax(np.array(numbers, dtype=np.float64)))
    words = [str(label).strip().casefold() for label in labels]
    upper = _UPPER_WORDS.get(frozenset(words))
    return None if upper is None else words.index(upper)


def top_label(labels: Sequence[Any], pos_label: Any = None, *, remedy: str = "set pos_label={}") -> int:
    """Which of two different labels, in sorted order, belongs at the top, as 0 or 1.

    Parameters
    ----------
    labels : sequence of two labels
    pos_label : label or None
        What the user says; it must be one of the two.
    remedy : str
        What to do where nothing says it, the braces standing for a label: the second is taken, and a
        `UnclearLabelsWarning` names both.

    Examples
    --------
    >>> top_label(["legit", "fraud"], "fraud"), top_label(["no", "yes"])
    (1, 1)
    """
    if pos_label is not None:
        return _index_of(pos_label, labels)
    plain = plain_top(labels)
    if plain is not None:
        return plain
    lower, upper = (_plain(label) for label in labels)
    warn_user(
        f"y has the labels {lower!r} and {upper!r}, and nothing says which belongs at the top; {upper!r} is"
        f" taken, the last in sorted order. To say so, {remedy.format(repr(upper))}; for the other,"
        f" {remedy.format(repr(lower))}.",
        UnclearLabelsWarning,
    )
    return 1


def positives(y: ArrayLike, pos_label: Any) -> NDArray[np.bool_]:
    """True where a label is the one the user says belongs at the top; an error if none is.

    >>> positives(["fraud", "legit", "legit"], "fraud")
    array([ True, False, False])
    """
    labels = np.asarray(y)
    known = np.unique(labels).tolist()
    return np.asarray(labels == known[_index_of(pos_label, known)], dtype=np.bool_)


def told_labels(estimator: Any) -> dict[str, Any]:
    """The labels that an estimator and those inside it were told to put on top, by parameter.

    >>> from toprank import RankSVM
    >>> told_labels(RankSVM(pos_label="fraud"))
    {'pos_label': 'fraud'}
    """
    if not hasattr(estimator, "get_params"):
        return {}
    return {
        name: label
        for name, label in estimator.get_params().items()
        if name.rpartition("__")[2] == "pos_label" and label is not None
    }


def told_label(estimator: Any) -> Any:
    """The one label that an estimator and those inside it were told to put on top, or None.

    >>> from toprank import RankSVM
    >>> told_label(RankSVM(pos_label="fraud"))
    'fraud'
    """
    told = list(told_labels(estimator).values())
    if any(label != told[0] for label in told):
        raise ValueError(f"pos_label is {' here, '.join(map(repr, told))} there: say the same everywhere.")
    return told[0] if told else None


def _index_of(pos_label: Any, labels: Sequence[Any]) -> int:
    for number, label in enumerate(labels):
        # A word is no number: numpy would compare their texts, or warn.
        if isinstance(label, str) == isinstance(pos_label, str) and label == pos_label:
            return number
    shown = ", ".join(repr(_plain(label)) for label in list(labels)[:8])
    raise ValueError(f"pos_label={pos_label!r} is not a label in y; the labels are {shown}.")


def _number(label: Any) -> float | None:
    """A number, also one that is written as text."""
    try:
        value = float(label)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(value) else value


def _plain(label: Any) -> Any:
    """A label as Python writes it, without numpy's wrapping."""
    return label.item() if isinstance(label, np.generic) else label
