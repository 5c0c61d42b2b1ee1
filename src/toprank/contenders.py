"""Other packages' classifiers and rankers, to be compared with and to be asked for by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

__all__ = ["LINEAR_SVM", "LambdaRank", "other_regressors", "others"]

LINEAR_SVM = "linear SVM"
MORE_PAIRS = 3
"""Lambdarank looks at pairs with one of the first k + 3 items, as LightGBM recommends for NDCG at k."""
LONGEST_FOR_LIGHTGBM = 10_000
"""Items in a list, at most: LightGBM refuses longer ones."""


def others(seed: int, k: int) -> dict[str, Callable[[], Any]]:
    """How to make each of them, unfitted, by its name; those of packages that are not installed left out.

    Parameters
    ----------
    seed : int
    k : int
        How many items at the top count: lambdarank takes it.

    Examples
    --------
    >>> others(0, 10)["linear SVM"]()
    LinearSVC(random_state=0)
    """
    from sklearn.svm import LinearSVC

    found: dict[str, Callable[[], Any]] = {LINEAR_SVM: partial(LinearSVC, random_state=seed)}
    if find_spec("lightgbm") is not None:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = partial(LGBMClassifier, n_jobs=1, verbosity=-1, random_state=seed)
        found["LightGBM lambdarank"] = partial(LambdaRank, "lightgbm", k=k, random_state=seed)
    if find_spec("xgboost") is not None:
        from xgboost import XGBClassifier

        found["XGBoost"] = partial(XGBClassifier, n_jobs=1, random_state=seed)
        found["XGBoost lambdarank"] = partial(LambdaRank, "xgboost", k=k, random_state=seed)
    return found


def other_regressors(seed: int) -> dict[str, Callable[[], Any]]:
    """How to make other packages' regressors, by the names of their classifiers; those installed only."""
    found: dict[str, Callable[[], Any]] = {}
    if find_spec("lightgbm") is not None:
        from lightgbm import LGBMRegressor

        found["LightGBM"] = partial(LGBMRegressor, n_jobs=1, verbosity=-1, random_state=seed)
    if find_spec("xgboost") is not None:
        from xgboost import XGBRegressor

        found["XGBoost"] = partial(XGBRegressor, n_jobs=1, random_state=seed)
    return found


class LambdaRank(BaseEstimator):
    """LightGBM's or XGBoost's gradient boosting for NDCG at k, fitted like a ranker: all rows, or queries.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost"}
    k : int
        How many items at the top count.
    random_state : int

    Attributes
    ----------
    booster_ : LGBMRanker or XGBRanker
    """

    def __init__(self, engine: str = "lightgbm", *, k: int = 10, random_state: int = 0) -> None:
        self.engine = engine
        self.k = k
        self.random_state = random_state

    def fit(self, X: Any, y: NDArray[Any], qid: NDArray[Any] | None = None) -> LambdaRank:
        """Learn from grades, whole numbers from 0; without queries all rows are one list."""
        y = np.asarray(y, dtype=np.int64)
        codes = np.zeros(len(y), dtype=np.int64) if qid is None else np.unique(qid, return_inverse=True)[1]
        order = np.argsort(codes, kind="stable")  # both want the rows of a query together
        sizes = np.bincount(codes)
        if self.engine == "lightgbm":
            if sizes.max() > LONGEST_FOR_LIGHTGBM:
                raise ValueError(f"LightGBM's lambdarank takes {LONGEST_FOR_LIGHTGBM} items a list at most.")
            self.booster_ = self._lightgbm().fit(X[order], y[order], group=sizes)
        else:
            self.booster_ = self._xgboost().fit(X[order], y[order], qid=codes[order])
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores; the higher, the nearer to the top."""
        check_is_fitted(self)
        return np.asarray(self.booster_.predict(X), dtype=np.float64)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The booster's own."""
        return np.asarray(self.booster_.feature_importances_, dtype=np.float64)

    def _lightgbm(self) -> Any:
        from lightgbm import LGBMRanker

        return LGBMRanker(
            lambdarank_truncation_level=self.k + MORE_PAIRS,
            n_jobs=1,
            verbosity=-1,
            random_state=self.random_state,
        )

    def _xgboost(self) -> Any:
        from xgboost import XGBRanker

        return XGBRanker(
            objective="rank:ndcg",
            lambdarank_pair_method="topk",
            lambdarank_num_pair_per_sample=self.k + MORE_PAIRS,
            n_jobs=1,
            random_state=self.random_state,
        )
