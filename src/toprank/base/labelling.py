"""How a ranker reads its labels: which kind they are, whether it can use them, what stands for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from toprank.base.tags import TWO_LABELS, abilities, last_step
from toprank.labels import KINDS, LabelKind, as_numbers, kind_of, told_label, top_label

__all__ = ["LabelReader", "ReadLabels"]


@dataclass(frozen=True, slots=True)
class ReadLabels:
    """Labels as a ranker's `_fit` gets them.

    Parameters
    ----------
    kind : {"binary", "ordinal", "continuous"}
    y : array of int8, 0 and 1, where the kind is binary; else of float64
    classes : array or None
        The labels as the user has them, rising, of two labels the one at the top last; None of a response.
    """

    kind: LabelKind
    y: NDArray[Any]
    classes: NDArray[Any] | None


class LabelReader:
    """The part of `BaseRanker` that deals with labels."""

    _inside: Callable[[], list[Any]]

    def _label_kinds(self) -> frozenset[LabelKind]:
        """The kinds of labels this ranker can learn from, with the parameters it has but for `levels`."""
        return TWO_LABELS

    def _why_not(self, kind: LabelKind) -> str:
        """Why labels of a kind are of no use to this ranker."""
        return "it tells items that belong at the top from all others"

    def _told_levels(self) -> set[str]:
        """The kinds of labels the user said it is, to this ranker or to one inside it."""
        inside = [last_step(one) for one in self._inside()]
        within = [one._told_levels() for one in inside if isinstance(one, LabelReader)]
        return set().union({getattr(self, "levels", "auto")} - {"auto"}, *within)

    def _kinds_taken(self) -> frozenset[LabelKind]:
        """What `y` may be: all kinds where it was said what to take it as, if this ranker can."""
        told, can = self._told_levels(), self._label_kinds()
        if not told:
            return can
        return KINDS if "binary" not in told and told <= can else TWO_LABELS

    def _levels(self) -> str:
        """The one kind that was said, else "auto"."""
        told = sorted(self._told_levels(), key=str)
        for one in told:
            if one not in KINDS:
                raise ValueError(f"levels={one!r} must be one of 'auto', 'binary', 'ordinal', 'continuous'.")
        if len(told) > 1:
            raise ValueError(f"levels is {' here, '.join(map(repr, told))} there: say the same everywhere.")
        return told[0] if told else "auto"

    def _wanted_label(self) -> Any:
        """The label the user wants at the top, told to this ranker or to one inside it; None if to none."""
        own = getattr(self, "pos_label", None)
        if own is not None:
            return own
        return told_label(self)

    def _blamed(self, able: Callable[[Any], bool]) -> str:
        """Who cannot do it: this ranker, or one inside it."""
        own = type(self).__name__
        unable = [last_step(one) for one in self._inside() if not able(one)]
        rankers = [one for one in unable if isinstance(one, LabelReader)]
        if rankers:
            return f"{rankers[-1]._blamed(able)} in {own}"
        return f"{type(unable[-1]).__name__} in {own}" if unable else own

    def _read_labels(self, y: ArrayLike) -> ReadLabels:
        """The labels by their kind; an error where they are of no use to this ranker."""
        labels = column_or_1d(y, warn=True)
        kind = self._kind(labels)
        if kind == "binary":
            return self._two_labels(labels)
        if self._wanted_label() is not None:
            raise ValueError(
                f"pos_label={self._wanted_label()!r} has no meaning with {kind} labels: the higher the"
                " label, the nearer to the top. For one label against all others give y == pos_label."
            )
        numbers = as_numbers(labels)
        grades, first = np.unique(numbers, return_index=True)
        if len(grades) < 2:
            # scikit-learn's own checks look for "one class".
            raise ValueError(
                f"{type(self).__name__} needs two different labels, but y has one class only: it is"
                f" {grades[0]} throughout."
            )
        return ReadLabels(kind, numbers, labels[first] if kind == "ordinal" else None)

    def _kind(self, y: NDArray[Any]) -> LabelKind:
        """What the labels are to be taken as."""
        levels, can = self._levels(), self._label_kinds()
        if levels == "binary" or (levels == "auto" and can == TWO_LABELS):
            if len(_different(y)) > 2:
                raise ValueError(self._refusal(y, "binary" if levels == "binary" else _guess(y)))
            return "binary"
        kind: LabelKind = kind_of(y) if levels == "auto" else levels  # type: ignore[assignment]
        if kind not in can:
            raise ValueError(self._refusal(y, kind))
        return kind

    def _two_labels(self, y: NDArray[Any]) -> ReadLabels:
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes to rank, but y has one class only"
                f" ({classes.tolist()[0]!r})."
            )
        top = top_label(classes.tolist(), self._wanted_label())
        return ReadLabels("binary", (labels == top).astype(np.int8), classes[[1 - top, top]])

    def _refusal(self, y: NDArray[Any], kind: LabelKind) -> str:
        """What to say to labels of a kind that is of no use; "binary": too many for what the user said."""
        name = self._blamed(lambda one: kind in abilities(one).labels)
        # scikit-learn's own checks look for this sentence.
        only = (
            "Only binary classification is supported. The type of the target is"
            f" {'continuous' if _guess(y) == 'continuous' else 'multiclass'}. "
        )
        said, others = f"{name} was told to expect two labels (levels='binary')", ""
        if kind != "binary":
            said = f"{name} does not learn from {kind} labels, for {self._why_not(kind)}"
            others = ", or use a ranker that does, such as RankSVM, RankRLS or RankBoost"
        return (
            f"{only if self._kinds_taken() == TWO_LABELS else ''}{said}. y has {len(_different(y))}"
            f" different values: mark the items that belong at the top with one of two labels"
            f"{' (toprank.labels.weak does for a response)' if kind == 'continuous' else ''}{others}."
        )


def _different(y: NDArray[Any]) -> list[Any]:
    return list(dict.fromkeys(y.tolist()))


def _guess(y: NDArray[Any]) -> LabelKind:
    """The kind of more than two labels; words are grades here, for want of a name."""
    try:
        return kind_of(y)
    except ValueError:
        return "ordinal"
