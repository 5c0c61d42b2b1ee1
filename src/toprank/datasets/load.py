"""Data sets by name: from the folder TOPRANK_DATA, else from OpenML where it has the set."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.datasets.catalog import Entry, entry
from toprank.datasets.table import SVMLIGHT_QUERY, SVMLIGHT_TARGET, read_table, table_format
from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "data_file", "load"]

FOLDER_VARIABLE = "TOPRANK_DATA"


@dataclass(frozen=True)
class Dataset:
    """Arrays of one data set, and what is known about it.

    Parameters
    ----------
    X : ndarray or CSR matrix of float64
        Raw values: nothing is scaled, imputed, shuffled or split.
    y : ndarray
        1 for rows that belong at the top and 0 for the rest, or graded relevance.
    feature_names : tuple of str
    qid : ndarray or None
        Query of each row, where there are queries.
    groups : ndarray or None
        Rows that should be split together (one traveller, one subject), where there are any.
    entry : Entry
        Origin, licence, citation, cautions.

    Examples
    --------
    >>> from toprank.datasets import load
    >>> load("pima").X.shape  # doctest: +SKIP
    (768, 8)
    """

    X: Any
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    qid: NDArray[Any] | None
    groups: NDArray[Any] | None
    entry: Entry


def load(name: str, *, all_columns: bool = False) -> Dataset:
    """Load a data set of the catalog.

    The file is looked for in the folder named by the environment variable TOPRANK_DATA and checked against
    its checksum; without it, OpenML is asked where it has the set, and what comes back is checked
    against the known numbers of rows and positives.

    Parameters
    ----------
    name : str
        One of `toprank.datasets.names()`.
    all_columns : bool
        Keep identifiers and columns that give the label away, as some published experiments did.

    Raises
    ------
    InputError
        When the name is unknown, the data cannot be found, or it is not what the catalog describes.

    Examples
    --------
    >>> load("pima").y.sum()  # doctest: +SKIP
    268
    """
    known = entry(name)
    file = data_file(name)
    if file is None:
        return _from_openml(known)
    _verify(file, known)
    if table_format(file) == "svmlight":
        return _from_svmlight(file, known)
    frame = read_table(file).frame
    return _from_frame(frame.drop(columns=SVMLIGHT_TARGET), frame[SVMLIGHT_TARGET], known, all_columns)


def data_file(name: str, *, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where the file of a data set lies in TOPRANK_DATA, or None when it is not there."""
    folder = environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    file = Path(folder) / entry(name).file
    return file if file.is_file() else None


def _verify(file: Path, known: Entry) -> None:
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != known.sha256:
        raise InputError(
            f"{str(file)!r} is not the {known.name} of the catalog: its SHA-256 starts with {found[:12]},"
            f" expected {known.sha256[:12]}."
        )


def _from_frame(features: pd.DataFrame, label: pd.Series[Any], known: Entry, all_columns: bool) -> Dataset:
    groups = None
    if known.group in features.columns:
        groups = features[known.group].to_numpy()
    elif known.rows_per_group:
        groups = np.arange(len(features)) // known.rows_per_group
    if not all_columns:
        features = features.drop(columns=[name for name in known.dropped if name in features.columns])
    y = label.to_numpy().astype(np.int8)
    _check_size(known, len(y), int(y.sum()))
    X = np.ascontiguousarray(features.to_numpy(dtype=np.float64))
    return Dataset(X, y, tuple(map(str, features.columns)), None, groups, known)


def _from_svmlight(file: Path, known: Entry) -> Dataset:
    table = read_table(file)
    # Features that no row of this part has set are still features.
    sparse = table.sparse
    X = sp.csr_matrix((sparse.data, sparse.indices, sparse.indptr), (len(table), known.features))
    y = table.frame[SVMLIGHT_TARGET].to_numpy()
    y = (y if known.positives is None else y > 0).astype(np.int8)
    _check_size(known, len(y), None if known.positives is None else int(y.sum()))
    has_queries = SVMLIGHT_QUERY in table.frame.columns
    qid = table.frame[SVMLIGHT_QUERY].to_numpy() if has_queries else None
    return Dataset(X, y, tuple(str(i + 1) for i in range(known.features)), qid, None, known)


def _from_openml(known: Entry) -> Dataset:
    folder = os.environ.get(FOLDER_VARIABLE)
    where = f"set {FOLDER_VARIABLE} to a folder that holds {known.file}"
    where += f"; {folder!r}, where it points to now, does not" if folder else ""
    if known.openml is None:
        raise InputError(f"The data set {known.name!r} is not at hand, and OpenML does not have it: {where}.")
    import pandas as pd
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # It warns at each attempt; the error at the end says enough.
            warnings.simplefilter("ignore")
            answer = fetch_openml(data_id=known.openml.data_id, as_frame=True, parser="auto")
    except Exception as error:  # urllib, socket, ARFF and OpenML's own errors have no common base class
        raise InputError(
            f"The data set {known.name!r} is not at hand and OpenML did not answer ({error}): {where}."
        ) from error
    features = answer.data.apply(pd.to_numeric)
    label = (answer.target.astype(str) == known.openml.positive).astype(int)
    return _from_frame(features, label, known, all_columns=True)


def _check_size(known: Entry, rows: int, positives: int | None) -> None:
    if rows != known.rows or positives != known.positives:
        raise InputError(
            f"The {known.name} that was read has {rows} rows and {positives} positives; the catalog says"
            f" {known.rows} and {known.positives}."
        )
