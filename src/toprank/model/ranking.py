"""A fitted ranker together with everything needed to use it on a new table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from toprank.base import best_first, ranking_scores
from toprank.datasets import Encoder, Labelled, Note, Roles, Table, described, learn_encoder

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "RankingModel",
    "check_is_model",
    "frame_in_order",
    "listing_order",
    "ordered_by",
    "ranked_frame",
    "ranks_of",
]


@dataclass(frozen=True)
class RankingModel:
    """From a table of items to their scores.

    Parameters
    ----------
    encoder : Encoder
        How columns become features.
    ranker : estimator
        Fitted on those features.
    roles : Roles
        Which columns were label, identifier, query, ignored.
    positive : tuple of str
        The label values that belong at the top.
    statistic : str
        What was optimised.
    provenance : mapping
        Where the model comes from: file, rows, seed, versions. Plain values only.

    Examples
    --------
    >>> import pandas as pd
    >>> from toprank import TopPush
    >>> from toprank.datasets import Roles
    >>> visits = pd.DataFrame({"age": ["3 y", "9 y", "8 y", "1 y"], "failed": ["no", "yes", "yes", "no"]})
    >>> model = RankingModel.learned(TopPush(), visits, Roles("failed"))
    >>> model.ranked(pd.DataFrame({"age": ["2 y", "7 y"]}))[0]["age"].tolist()
    ['7 y', '2 y']
    """

    encoder: Encoder
    ranker: Any
    roles: Roles
    positive: tuple[str, ...]
    statistic: str
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def learned(
        cls,
        ranker: Any,
        rows: pd.DataFrame | Table,
        roles: Roles,
        *,
        positive: Sequence[str] = (),
        sample_weight: ArrayLike | None = None,
    ) -> RankingModel:
        """Learn from a table as it comes: how to read its columns, then a ranker over them.

        Parameters
        ----------
        ranker : estimator
            Any ranker or classifier; it is fitted in place.
        rows : pandas.DataFrame or Table
            Labelled items.
        roles : Roles
            Which columns are label, identifier, query, ignored; the others are features.
        positive : sequence of str
            The labels that belong at the top, where two labels do not say it themselves.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts to a ranker that takes weights; how columns are read does not depend on
            it. A column of the table that holds them is a feature like any other unless `roles` ignores it.
        """
        data = Labelled.of(_as_table(rows), roles, positive=positive)
        features = described(data.features) if data.features.description is None else data.features
        encoder, _ = learn_encoder(features)
        X, _ = encoder.encode(features)
        # A pipeline hands options to the step they are named after.
        step = f"{ranker.steps[-1][0]}__" if isinstance(ranker, Pipeline) else ""
        options = {"qid": data.qid, "sample_weight": sample_weight}
        ranker.fit(X, data.y, **{f"{step}{key}": one for key, one in options.items() if one is not None})
        return cls(encoder, ranker, roles, data.positive, str(getattr(ranker, "statistic", "auc")))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns a CSV reader should leave as text, identifiers included."""
        return self.encoder.text_columns + (() if self.roles.id is None else (self.roles.id,))

    def scores(self, rows: pd.DataFrame | Table) -> tuple[NDArray[np.float64], list[Note]]:
        """Scores of the rows, the higher the nearer to the top, and what had to be done to the columns."""
        table = _as_table(rows)
        X, notes = self.encoder.encode(self.roles.features(table))
        return ranking_scores(self.ranker, X, self._queries(table)), notes

    def _queries(self, table: Table) -> NDArray[np.int64] | None:
        """Query of each row, where the model was learned within queries and the table has them."""
        return self.roles.queries(table) if self.roles.qid in table.columns else None

    def ranked(self, rows: pd.DataFrame | Table) -> tuple[pd.DataFrame, list[Note]]:
        """The rows of a table best first, with rank and score.

        Ranks start at 1 and, where the model was learned within queries, anew in each query.
        """
        table = _as_table(rows)
        X, notes = self.encoder.encode(self.roles.features(table))
        ids = self.roles.identifiers(table) if self.roles.id in table.columns else None
        return ranked_frame(self.ranker, X, table, ids=ids, qid=self._queries(table)), notes


def check_is_model(model: Any) -> None:
    """Refuse what is no model, such as a ranker alone, and say how to come by one.

    >>> from toprank import TopPush
    >>> check_is_model(TopPush())
    Traceback (most recent call last):
    TypeError: a RankingModel is saved, not a TopPush: RankingModel.learned(...) makes one from a table; ...
    """
    if not isinstance(model, RankingModel):
        raise TypeError(
            f"a RankingModel is saved, not a {type(model).__name__}: RankingModel.learned(ranker, table,"
            " Roles(target)) makes one from a table; skops.io.dump(ranker, path) saves a ranker alone."
        )


def _as_table(rows: pd.DataFrame | Table) -> Table:
    return rows if isinstance(rows, Table) else Table(rows)


def ranked_frame(
    ranker: Any, X: Any, table: Table, *, ids: pd.Series[Any] | None, qid: NDArray[np.int64] | None
) -> pd.DataFrame:
    """A table in the order of a ranker: ours first, then the columns as they came."""
    return frame_in_order(table, ordered_by(ranker, X, qid), ranking_scores(ranker, X, qid), ids=ids, qid=qid)


def frame_in_order(
    table: Table,
    order: NDArray[np.intp],
    scores: NDArray[np.float64],
    *,
    ids: pd.Series[Any] | None,
    qid: NDArray[np.int64] | None,
    more: Mapping[str, Any] | None = None,
    row: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """A table in a given order: rank, score and `more` columns of ours first, then those that came.

    Rows without identifiers go by their number, or by `row` where it is given.
    """
    import pandas as pd

    columns: dict[str, Any] = {"rank": ranks_of(order, qid)}
    if ids is None:
        columns["row"] = table.row_numbers if row is None else row
    columns |= {"score": scores, **(more or {})}

    # A user's own column called rank or score keeps its name; ours gives way.
    ours = {f"toprank_{name}" if name in table.columns else name: cells for name, cells in columns.items()}
    theirs = table.frame
    if ids is not None:
        first = [ids.name, *(name for name in theirs.columns if name != ids.name)]
        theirs = theirs[first]
    frame = pd.concat([pd.DataFrame(ours), theirs.reset_index(drop=True)], axis=1)
    return frame.iloc[listing_order(order, qid)].reset_index(drop=True)


def ordered_by(ranker: Any, X: Any, qid: NDArray[np.int64] | None) -> NDArray[np.intp]:
    """Rows best first, as the ranker decides it where it does so before any rounding."""
    if not hasattr(ranker, "rank"):
        return best_first(ranking_scores(ranker, X))
    by_query = qid is not None and getattr(ranker, "by_query_", False)
    order: NDArray[np.intp] = ranker.rank(X, qid=qid) if by_query else ranker.rank(X)
    return order


def listing_order(order: NDArray[np.intp], qid: NDArray[np.int64] | None) -> NDArray[np.intp]:
    """Rows best first, query after query."""
    return order if qid is None else order[np.argsort(qid[order], kind="stable")]


def ranks_of(order: NDArray[np.intp], qid: NDArray[np.int64] | None) -> NDArray[np.intp]:
    """Position of each row in its list, from 1."""
    listing = listing_order(order, qid)
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[listing] = np.arange(1, len(order) + 1)
    if qid is not None:
        _, starts, counts = np.unique(qid[listing], return_index=True, return_counts=True)
        ranks[listing] -= np.repeat(starts, counts)
    return ranks
