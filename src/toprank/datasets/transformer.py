"""A table's columns as features, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from toprank.datasets.decide import described
from toprank.datasets.declared import Declared
from toprank.datasets.encode import learn_encoder
from toprank.datasets.notes import warning_sentences
from toprank.datasets.table import Table
from toprank.errors import InputError

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Columns as they come in, standardised numbers out; what `toprank rank` does to a file.

    Money, percentages, thousands separators, decimal commas and dates are read as numbers; words are one-hot
    encoded, gaps filled, constants left out.

    Parameters
    ----------
    categorical : sequence of str
        Columns whose numbers are categories.
    missing : sequence of str
        Values that stand for a missing one: ``"age=-999"``, or ``"-999"`` for every column.
    read : sequence of str
        How to read a column where that should not be found out: ``"when=day first"``, ``"zip=text"``, ...;
        the ways are in `toprank.datasets.declared.WAYS`.

    Attributes
    ----------
    encoder_ : Encoder
        How each column is encoded, as plain values (`to_dict`).
    notes_ : list of Note
        What was done to the columns.
    warnings_ : list of str
        What deserves a look: assumptions, possible codes for missing values, columns left out.
    feature_names_in_ : ndarray of str
        Where the columns had names.
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"price": ["$1,200", "$950", "$80"], "seal": ["Rubber", "steel", "STEEL"]})
    >>> encoder = TableEncoder().fit(table)
    >>> list(encoder.get_feature_names_out())
    ['price', 'seal=Rubber']
    >>> encoder.transform(pd.DataFrame({"price": ["$1,200"], "seal": ["rubber"]})).round(2).tolist()
    [[0.95, 1.0]]
    """

    def __init__(
        self, *, categorical: Sequence[str] = (), missing: Sequence[str] = (), read: Sequence[str] = ()
    ) -> None:
        self.categorical = categorical
        self.missing = missing
        self.read = read

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns are and how to encode them.

        Parameters
        ----------
        X : pandas.DataFrame or array-like
        y : ignored
        """
        table = self._table(X, reset=True)
        if len(table) < 2:
            raise InputError("X has one sample only (n_samples=1): there is nothing to tell apart.")
        declared = Declared.of(
            table.columns, categorical=self.categorical, missing=self.missing, read=self.read
        )
        self.encoder_, self.notes_ = learn_encoder(described(table, declared))
        self.warnings_ = warning_sentences(self.notes_)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The features of rows with the same columns."""
        check_is_fitted(self)
        features: NDArray[np.float64] = self.encoder_.encode(self._table(X, reset=False))[0]
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features: the column, or ``column=word``."""
        check_is_fitted(self)
        return np.asarray(self.encoder_.feature_names, dtype=object)

    def _table(self, X: Any, *, reset: bool) -> Table:
        import pandas as pd
        from sklearn.utils.validation import validate_data

        if isinstance(X, pd.DataFrame):
            # Names and their number are checked, the cells are left alone.
            validate_data(self, X, reset=reset, skip_check_array=True)
            return Table(
                X.set_axis([str(name) for name in X.columns], axis=1).reset_index(drop=True), source="X"
            )
        array = np.asarray(X)
        checked = validate_data(
            self,
            X,
            reset=reset,
            dtype=None if array.dtype.kind in "OUS" else "numeric",
            ensure_all_finite="allow-nan",
        )
        return Table(pd.DataFrame(checked, columns=[f"x{k}" for k in range(checked.shape[1])]), source="X")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
