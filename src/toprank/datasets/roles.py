"""Which column is what: the label, the identifier, the query, and what is left to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.datasets.cells import fold
from toprank.datasets.placeholders import means_unknown
from toprank.datasets.table import Table
from toprank.errors import InputError
from toprank.labels import LabelKind, kind_of, plain_top

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.int64]

__all__ = ["Labelled", "Roles", "binary_labels", "kind_of_labels", "label_text", "number_labels"]


@dataclass(frozen=True, slots=True)
class Roles:
    """Names of the columns that are not features.

    Parameters
    ----------
    target : str
        The label.
    id : str or None
        Names each row; must be different in every row; never a feature.
    qid : str or None
        Rows are only compared with rows of the same value; never a feature.
    group : str or None
        Rows of the same value (one patient, one household) are held out together; never a feature.
    ignore : tuple of str
        Columns to leave out.

    Examples
    --------
    >>> Roles("ill", id="patient").target
    'ill'
    """

    target: str
    id: str | None = None
    qid: str | None = None
    group: str | None = None
    ignore: tuple[str, ...] = ()

    def check(self, table: Table) -> None:
        """Refuse names the table lacks and columns with two roles."""
        given = [("target", self.target), ("id", self.id), ("qid", self.qid), ("group", self.group)]
        given += [("ignore", name) for name in self.ignore]
        seen: dict[str, str] = {}
        for role, name in given:
            if name is None:
                continue
            table.column(name, argument=role)
            if name in seen and seen[name] != role:
                raise InputError(f"Column {name!r} is given both as {seen[name]} and as {role}.")
            seen[name] = role

    def features(self, table: Table) -> Table:
        """The columns left to learn from, whichever of the named ones the table has."""
        roles = {self.target, self.id, self.qid, self.group, *self.ignore}
        kept = [name for name in table.frame.columns if name not in roles]
        return replace(table, frame=table.frame[kept])

    def identifiers(self, table: Table) -> pd.Series[Any] | None:
        """The identifiers, each one checked to be there and to be the only one of its kind."""
        if self.id is None:
            return None
        ids = table.column(self.id, argument="id")
        if ids.isna().any():
            row = table.row_numbers[np.argmax(ids.isna().to_numpy())]
            raise InputError(f"id {self.id!r}: row {row} of {table.source} has none.")
        if ids.duplicated().any():
            value = ids[ids.duplicated()].iloc[0]
            rows = table.row_numbers[(ids == value).to_numpy()][:2]
            raise InputError(
                f"id {self.id!r}: '{label_text(value)}' is in rows {rows[0]} and {rows[1]} of {table.source};"
                f" identifiers must differ. For rows that belong together say `split_by={self.id}` instead."
            )
        return ids

    def queries(self, table: Table) -> Codes | None:
        """Query numbers 0..q-1, or None without a query column."""
        return None if self.qid is None else _codes(table, self.qid, "qid")

    def groups(self, table: Table) -> Codes | None:
        """Group numbers 0..g-1, or None without a group column."""
        return None if self.group is None else _codes(table, self.group, "group")


@dataclass(frozen=True)
class Labelled:
    """A table taken apart: features, labels, and what names the rows.

    Parameters
    ----------
    features : Table
    y : ndarray of int8, or of float64
        1 where the row belongs at the top; of ordinal and continuous labels the numbers themselves.
    positive : tuple of str
        The label values that count as 1; none where labels are numbers.
    ids, qid, groups
        Identifiers, query numbers and group numbers, where there are any.
    kind : {"binary", "ordinal", "continuous"}

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank.datasets import Roles, Table
    >>> table = Table(pd.DataFrame({"age": [30, 40, 50], "ill": ["no", "yes", "no"]}))
    >>> Labelled.of(table, Roles("ill")).y
    array([0, 1, 0], dtype=int8)
    """

    features: Table
    y: NDArray[Any]
    positive: tuple[str, ...]
    ids: pd.Series[Any] | None
    qid: Codes | None
    groups: Codes | None
    kind: LabelKind = "binary"

    @classmethod
    def of(
        cls, table: Table, roles: Roles, *, positive: Sequence[str] = (), labels: LabelKind | None = None
    ) -> Labelled:
        """Take a table apart, with every check on the way; `labels`: what they are, if values do not tell."""
        roles.check(table)
        column = table.column(roles.target, argument="target")
        kind = kind_of_labels(column, positive) if labels is None else labels
        y: NDArray[Any]
        chosen: tuple[str, ...] = ()
        if kind == "binary":
            y, chosen = binary_labels(column, positive=positive)
        else:
            y = number_labels(column, positive=positive)
        features = roles.features(table)
        if not features.columns and features.sparse is None:
            raise InputError(f"{table.source}: there are no columns left to learn from.")
        names = roles.identifiers(table), roles.queries(table), roles.groups(table)
        return cls(features, y, chosen, *names, kind)


def kind_of_labels(column: pd.Series[Any], positive: Sequence[str] = ()) -> LabelKind:
    """What the labels of a column are, told from its cells: two classes, grades, or any numbers.

    Values that are said to belong at the top make two classes of them, whatever they are.

    >>> import pandas as pd
    >>> kind_of_labels(pd.Series([0, 2, 1], name="grade"))
    'ordinal'
    >>> kind_of_labels(pd.Series(["$1,200", "$300", "$90.5"], name="price"))
    'continuous'
    >>> kind_of_labels(pd.Series([0, 2, 1], name="grade"), positive=["2"])
    'binary'
    """
    if positive or column.isna().any() or len(set(_one_spelling(column.map(label_text)))) <= 2:
        return "binary"
    values = _read_numbers(column)
    if values is None:
        return "binary"
    return kind_of(values) if np.isfinite(values).all() else "continuous"


def number_labels(column: pd.Series[Any], *, positive: Sequence[str] = ()) -> NDArray[np.float64]:
    """Labels with an order as numbers, the larger the nearer to the top.

    >>> import pandas as pd
    >>> number_labels(pd.Series(["$1,200", "$300", "$90"], name="loss"))
    array([1200.,  300.,   90.])
    """
    name = column.name
    if positive:
        raise InputError(f"`positive` makes two classes of {name!r}: leave it out, or say `labels=binary`.")
    _refuse_missing(column)
    values = _read_numbers(column)
    if values is None:
        raise InputError(
            f"target {name!r} holds words ({column.iloc[0]!r} in row 1), which have no order: give numbers,"
            " the larger the nearer to the top, or say which words belong there with `positive`."
        )
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values))) + 1
        raise InputError(f"target {name!r}: {values[row - 1]:g} in row {row} is no finite number.")
    if values.min() == values.max():
        raise InputError(f"target {name!r} is {values[0]:g} in every row; ranking needs different values.")
    return values


def _read_numbers(column: pd.Series[Any]) -> NDArray[np.float64] | None:
    """The cells of a column as numbers, however they are written; None where they are words or dates."""
    from toprank.datasets.decide import described
    from toprank.datasets.readings import NumberReading

    table = described(Table(column.to_frame()))
    assert table.description is not None  # described gives one
    if not isinstance(table.description.readings[str(column.name)], NumberReading):
        return None
    return table.frame[column.name].to_numpy(dtype=np.float64)


def binary_labels(
    column: pd.Series[Any], *, positive: Sequence[str] = ()
) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Labels as 0 and 1, and the values that became 1.

    Without `positive` the column must hold two numbers (the larger is positive) or a pair of words such
    as yes and no; see `toprank.labels`. A threshold (``>=3``) or a share (``top10%``) makes labels of a
    column of numbers.

    >>> import pandas as pd
    >>> binary_labels(pd.Series(["no", "yes", "no"], name="failed"))
    (array([0, 1, 0], dtype=int8), ('yes',))
    >>> binary_labels(pd.Series([0, 2, 1], name="grade"), positive=["1", "2"])[0]
    array([0, 1, 1], dtype=int8)
    """
    name = column.name
    _refuse_missing(column)
    text = _one_spelling(column.map(label_text))
    values = sorted(set(text), key=_label_order)
    if len(values) < 2:
        raise InputError(f"target {name!r} has one class only ({values[0]!r}); ranking needs two.")
    from toprank.datasets.thresholds import is_rule, labels_by_rule

    if is_rule(positive, values):
        return labels_by_rule(column, positive[0])
    chosen = _given(positive, values, name) if positive else _obvious(values, name)
    return text.isin(chosen).to_numpy().astype(np.int8), chosen


def _refuse_missing(column: pd.Series[Any]) -> None:
    if column.isna().any():
        row = int(np.argmax(column.isna().to_numpy())) + 1
        count = int(column.isna().sum())
        raise InputError(
            f"target {column.name!r}: {count} of {len(column)} labels are missing, the first in row {row};"
            " give the labels of some rows at least."
        )


def _one_spelling(text: pd.Series[Any]) -> pd.Series[Any]:
    """Yes, YES and yes as the most frequent of them, where at least two labels are left."""
    counts = text.value_counts()
    spellings: dict[str, str] = {}
    for value in sorted(counts.index, key=lambda value: (-counts[value], value)):
        spellings.setdefault(fold(value), value)
    if len(counts) == 2 or len(spellings) < 2:
        return text
    return text.map(lambda value: spellings[fold(value)])


def label_text(value: object) -> str:
    """A label as a user writes it: 1 for 1.0, no blanks around it.

    >>> label_text(1.0), label_text(" yes "), label_text(0.5)
    ('1', 'yes', '0.5')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value).strip()


def _codes(table: Table, name: str, argument: str) -> Codes:
    """A column as numbers from 0, whatever it holds; every row must hold something."""
    column = table.column(name, argument=argument)
    if column.isna().any():
        row = int(np.argmax(column.isna().to_numpy())) + 1
        raise InputError(f"{argument} {name!r}: row {row} of {table.source} has none.")
    return np.unique(column.astype(str), return_inverse=True)[1].astype(np.int64)


def _given(positive: Sequence[str], values: list[str], name: object) -> tuple[str, ...]:
    spelled = {fold(value): value for value in values} if len({*map(fold, values)}) == len(values) else {}
    given = [label_text(_number_or_text(value)) for value in positive]
    wanted = tuple(dict.fromkeys(spelled.get(fold(value), value) for value in given))
    for value in wanted:
        if value not in values:
            raise InputError(f"positive {value!r} is not a value of the target {name!r}: {_few(values)}.")
    if len(wanted) == len(values):
        raise InputError(f"positive names all values of the target {name!r}; one class only is left.")
    return wanted


def _obvious(values: list[str], name: object) -> tuple[str, ...]:
    """The positive value nobody needs to name: the larger of two numbers, or the yes of yes and no."""
    if len(values) > 2:
        raise InputError(
            f"target {name!r} has {len(values)} different values ({_few(values)}):"
            f" say which belong at the top with `positive`{_where_not_known(values)}."
        )
    top = plain_top(values)
    if top is None:
        raise InputError(
            f"target {name!r} has the labels {values[0]!r} and {values[1]!r}, and nothing says which belongs"
            f" at the top; say so with `positive={values[0]}` or `positive={values[1]}`."
        )
    return (values[top],)


def _where_not_known(values: list[str]) -> str:
    """What to do about labels that are no labels, such as 'unknown'."""
    nothing = [value for value in values if means_unknown(value)]
    return f"; leave cells empty where {nothing[0]!r} means that nobody knows" if nothing else ""


def _number_or_text(value: str) -> object:
    try:
        return float(value)
    except ValueError:
        return value


def _label_order(value: str) -> tuple[int, float, str]:
    number = _number_or_text(value)
    return (0, number, value) if isinstance(number, float) else (1, 0.0, value)


def _few(values: list[str], most: int = 8) -> str:
    shown = ", ".join(values[:most])
    return shown if len(values) <= most else f"{shown}, ..."
