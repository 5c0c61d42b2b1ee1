"""Data in: tables from files, named data sets, synthetic ones, and how to split them."""

from toprank.datasets.catalog import Entry, catalog, entry, names
from toprank.datasets.columns import Note
from toprank.datasets.encode import (
    ColumnEncoder,
    Encoder,
    SparseEncoder,
    encoder_from_dict,
    learn_encoder,
)
from toprank.datasets.errors import InputError
from toprank.datasets.load import Dataset, load
from toprank.datasets.roles import Labelled, Roles
from toprank.datasets.split import Split, half_splits, split_rows
from toprank.datasets.synthetic import gaussians, inspections, theorem_one
from toprank.datasets.table import Table, read_table

__all__ = [
    "ColumnEncoder",
    "Dataset",
    "Encoder",
    "Entry",
    "InputError",
    "Labelled",
    "Note",
    "Roles",
    "SparseEncoder",
    "Split",
    "Table",
    "catalog",
    "encoder_from_dict",
    "entry",
    "gaussians",
    "half_splits",
    "inspections",
    "learn_encoder",
    "load",
    "names",
    "read_table",
    "split_rows",
    "theorem_one",
]
