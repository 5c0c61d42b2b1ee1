"""The rows of an experiment: from its source, split as declared."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank import datasets
from toprank.datasets.load import FOLDER_VARIABLE, data_file
from toprank.errors import InputError
from toprank.reproduce.experiment import Source
from toprank.reproduce.protocol import (
    ConsecutiveParts,
    GivenFolds,
    RandomSplits,
    Splits,
    StratifiedSplits,
    WholeSet,
)

__all__ = ["Rows", "load_rows", "missing_data", "split"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Rows:
    """Features, labels (0 and 1) and the part of the source that each row came from."""

    X: Floats
    y: NDArray[np.int8]
    part: Numbers

    def few(self, count: int) -> Rows:
        """About so many rows, spread evenly over each class and so over all parts."""
        if count >= len(self.y):
            return self
        chosen = [_spread(np.flatnonzero(self.y == label), max(2, count // 2)) for label in (0, 1)]
        keep = np.sort(np.concatenate(chosen))
        return Rows(self.X[keep], self.y[keep], self.part[keep])


def missing_data(source: Source) -> str:
    """Why the rows cannot be had here and what would help, in a sentence; empty when they can.

    >>> missing_data(Source(title="Gaussians", maker="gaussians"))
    ''
    """
    if source.file:
        if _user_file(source) is not None:
            return ""
        return (
            f"{source.title} cannot be had; it runs when the folder {FOLDER_VARIABLE} holds {source.file}:"
            f" {source.file_format}"
        )
    absent = [
        name for name in source.catalog if data_file(name) is None and datasets.entry(name).openml is None
    ]
    if not absent:
        return ""
    files = ", ".join(datasets.entry(name).file for name in absent)
    return f"{source.title} is not at hand; set {FOLDER_VARIABLE} to a folder that holds {files}."


@lru_cache(maxsize=4)
def _load(name: str, all_columns: bool) -> datasets.Dataset:
    return datasets.load(name, all_columns=all_columns)


def load_rows(source: Source) -> Rows:
    """Read or make the rows of a source.

    >>> load_rows(Source(title="Gaussians", maker="gaussians", options={"n": 100})).X.shape
    (100, 2)
    """
    rows = _all_rows(source)
    return rows if source.most_rows is None else rows.few(source.most_rows)


def _all_rows(source: Source) -> Rows:
    if source.items:
        labels, scores = zip(*source.items, strict=True)
        return _rows(np.array(scores, dtype=np.float64)[:, None], np.array(labels))
    if source.maker:
        return _rows(*getattr(datasets, source.maker)(**source.options))
    if source.file:
        return _from_user(source)
    parts = [_from_catalog(name, source) for name in source.catalog]
    X, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    part = np.repeat(np.arange(len(parts)), [len(labels) for _, labels in parts])
    return _rows(X, y, part)


def _rows(X: Floats, y: NDArray[Any], part: Numbers | None = None) -> Rows:
    return Rows(X, y.astype(np.int8), np.zeros(len(y), dtype=np.intp) if part is None else part)


def _from_catalog(name: str, source: Source) -> tuple[Floats, NDArray[Any]]:
    found = _load(name, source.all_columns)
    dense = np.asarray(found.X.toarray() if hasattr(found.X, "toarray") else found.X)
    unknown = set(source.drop) - set(found.feature_names)
    if unknown:
        raise InputError(f"The data set {name!r} has no columns {', '.join(sorted(unknown))}.")
    keep = [number for number, column in enumerate(found.feature_names) if column not in source.drop]
    labels = found.y if source.relevant_from is None else found.y >= source.relevant_from
    return dense[:, keep], labels


def _user_file(source: Source) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    file = Path(folder) / source.file if folder else None
    return file if file is not None and file.is_file() else None


def _from_user(source: Source) -> Rows:
    file = _user_file(source)
    if file is None:
        raise InputError(missing_data(source))
    table = datasets.read_table(str(file))
    frame = table.frame
    if "y" not in frame.columns:
        raise InputError(f"{str(file)!r} has no column y with the labels; expected: {source.file_format}")
    y = frame["y"].to_numpy()
    if source.relevant_from is not None:
        y = y >= source.relevant_from
    if table.sparse is not None:
        return _rows(np.asarray(table.sparse.toarray(), dtype=np.float64), y)
    features = frame.drop(columns=["y", *source.drop])
    return _rows(np.ascontiguousarray(features.to_numpy(dtype=np.float64)), y)


# -- splits ------------------------------------------------------------------------------------------


def split(splits: Splits, rows: Rows, number: int) -> tuple[Numbers, Numbers]:
    """Row numbers of the training and the test part of one split; the same for everybody, always.

    >>> rows = load_rows(Source(title="Gaussians", maker="gaussians", options={"n": 10}))
    >>> train, test = split(RandomSplits(count=10), rows, 3)
    >>> sorted([*train, *test]) == list(range(10)), len(train)
    (True, 5)
    """
    n = len(rows.y)
    everything = np.arange(n)
    if isinstance(splits, WholeSet):
        return everything, everything
    if isinstance(splits, RandomSplits):
        order = np.random.default_rng(number).permutation(n)
        return _cut(order, int(n * splits.train))
    if isinstance(splits, StratifiedSplits):
        return _stratified(splits, rows.y, number)
    if isinstance(splits, ConsecutiveParts):
        return _consecutive(splits, n, number)
    return _given(splits, rows.part, number)


def _cut(order: Numbers, size: int) -> tuple[Numbers, Numbers]:
    return np.sort(order[:size]), np.sort(order[size:])


def _stratified(splits: StratifiedSplits, y: NDArray[np.int8], number: int) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(number)
    halves = []
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        halves.append(_cut(rows, max(1, round(len(rows) * splits.train))))
    train, test = (np.sort(np.concatenate(parts)) for parts in zip(*halves, strict=True))
    return train, test


def _consecutive(splits: ConsecutiveParts, n: int, number: int) -> tuple[Numbers, Numbers]:
    order = np.arange(n) if splits.seed is None else np.random.default_rng(splits.seed).permutation(n)
    parts = np.array_split(order, splits.parts)
    chosen = [(number + step) % splits.parts for step in range(splits.train)]
    train = np.sort(np.concatenate([parts[which] for which in chosen]))
    return train, np.setdiff1d(np.arange(n), train)


def _given(splits: GivenFolds, part: Numbers, number: int) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(number)
    sides = []
    wanted = (splits.train[number], splits.train_rows), (splits.test[number], splits.test_rows)
    for parts, limit in wanted:
        rows = rng.permutation(np.flatnonzero(np.isin(part, parts)))
        sides.append(np.sort(rows[:limit]))
    return sides[0], sides[1]


def _spread(rows: Numbers, count: int) -> Numbers:
    return rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(np.intp))]
