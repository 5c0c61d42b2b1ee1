"""Labels from numbers: everything at or above a threshold belongs at the top, or the highest tenth does."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.decide import described
from toprank.datasets.readings import NumberReading
from toprank.datasets.table import Table
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_rule", "labels_by_rule"]

_COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_RULE = re.compile(r"(>=|<=|>|<)\s*(\S.*)")
_SHARE = re.compile(r"(top|bottom)\s*(\d+(?:\.\d+)?)\s*%", re.IGNORECASE)


def is_rule(positive: Sequence[str], values: Collection[str]) -> bool:
    """Whether the user gave a threshold rather than labels; a label may itself look like one (``>50K``)."""
    looks = [_RULE.fullmatch(one.strip()) or _SHARE.fullmatch(one.strip()) for one in positive]
    if not any(looks) or all(one.strip() in values for one in positive):
        return False
    if len(positive) > 1:
        raise InputError(f"positive {positive[0]!r}: a threshold stands alone, without further `positive`.")
    return True


def labels_by_rule(column: pd.Series[Any], rule: str) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Labels as 0 and 1, and the threshold that gives the same labels on other rows.

    >>> import pandas as pd
    >>> labels_by_rule(pd.Series(["$1,200", "$300", "$90"], name="loss"), ">= 300")
    (array([1, 1, 0], dtype=int8), ('>=300',))
    >>> labels_by_rule(pd.Series([5, 1, 9, 7], name="loss"), "top 25%")
    (array([0, 0, 1, 0], dtype=int8), ('>=9',))
    """
    values, reading = _numbers(column, rule)
    share = _SHARE.fullmatch(rule.strip())
    if share:
        sign, cut = _cut(values, share[1].lower() == "top", float(share[2]), rule)
    else:
        found = _RULE.fullmatch(rule.strip())
        assert found is not None  # is_rule has looked
        sign, number = found[1], reading.value(found[2])
        if number is None:
            raise InputError(f"positive {rule!r}: {found[2]!r} is no number like those of {column.name!r}.")
        cut = number
    y = _COMPARISONS[sign](values, cut)
    if y.all() or not y.any():
        raise InputError(
            f"positive {rule!r} leaves one class only: the target {column.name!r} goes from {values.min():g}"
            f" to {values.max():g}."
        )
    return y.astype(np.int8), (sign + repr(cut).removesuffix(".0"),)


def _numbers(column: pd.Series[Any], rule: str) -> tuple[NDArray[np.float64], NumberReading]:
    table = described(Table(column.to_frame()))
    assert table.description is not None  # described gives one
    reading = table.description.readings[str(column.name)]
    if not isinstance(reading, NumberReading):
        raise InputError(
            f"positive {rule!r}: the target {column.name!r} holds no numbers to compare with"
            f" ({column.iloc[0]!r} in row 1); name its labels instead."
        )
    values = table.frame[column.name].to_numpy(dtype=np.float64)
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise InputError(f"target {column.name!r}: {column.iloc[row]!r} in row {row + 1} is no number.")
    return values, reading


def _cut(values: NDArray[np.float64], top: bool, percent: float, rule: str) -> tuple[str, float]:
    """The value of the last one in; others with the same value are in as well."""
    if not 0 < percent < 100:
        raise InputError(f"positive {rule!r}: give a share between 0 and 100 %.")
    count = math.ceil(len(values) * percent / 100)
    ordered = np.sort(values)
    return (">=", float(ordered[-count])) if top else ("<=", float(ordered[count - 1]))
