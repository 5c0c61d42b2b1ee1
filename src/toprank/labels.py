"""Which of two labels belongs at the top: said by the user, plain from the labels, or guessed aloud."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import warn_user

__all__ = ["UnclearLabelsWarning", "plain_top", "positives", "told_label", "told_labels", "top_label"]

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
    """The labels that an estimator and those inside it were told to put on top, by parameter."""
    if not hasattr(estimator, "get_params"):
        return {}
    return {
        name: label
        for name, label in estimator.get_params().items()
        if name.rpartition("__")[2] == "pos_label" and label is not None
    }


def told_label(estimator: Any) -> Any:
    """The one label that an estimator and those inside it were told to put on top, or None."""
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
