"""Data in: tables from files, named data sets, synthetic ones, and how to split them."""

from toprank.datasets.catalog import Entry, catalog, entry, names
from toprank.datasets.decide import Description, described
from toprank.datasets.declared import Declared
from toprank.datasets.encode import (
    ColumnEncoder,
    Encoder,
    SparseEncoder,
    encoder_from_dict,
    learn_encoder,
)
from toprank.datasets.load import Dataset, load
from toprank.datasets.notes import Note, warning_sentences
from toprank.datasets.roles import Labelled, Roles
from toprank.datasets.split import Split, half_splits, split_rows
from toprank.datasets.synthetic import gaussians, inspections, theorem_one
from toprank.datasets.table import Table, read_table
from toprank.datasets.transformer import TableEncoder
from toprank.errors import InputError

__all__ = [
    "ColumnEncoder",
    "Dataset",
    "Declared",
    "Description",
    "Encoder",
    "Entry",
    "InputError",
    "Labelled",
    "Note",
    "Roles",
    "SparseEncoder",
    "Split",
    "Table",
    "TableEncoder",
    "catalog",
    "described",
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
    "warning_sentences",
]
