"""Who is compared on held-out halves: what `toprank rank` delivers, and the usual classifiers as they come.

A contender takes a `Half` and says which rows of the unseen half it would act on, or how it scores them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from toprank.datasets import half_splits, learn_encoder, load
from toprank.statistics import get
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source, read_new

OURS, AUTOGLUON = "toprank rank", "AutoGluon"
SPLITS = 20
ROWS_OF_A9A = 12_000
# Quick ones first: a table of some of them is of use already.
DATA = [
    *("haberman", "pima", "uis", "glow500", "ionosphere", "boston_chas"),
    *("abalone19", "polypharm", "nhanes", "mammography", "spambase", "a9a_train"),
]


@dataclass(frozen=True)
class Half:
    """One data set cut in two: learn from one half, choose `budget` rows of the other."""

    train: pd.DataFrame
    unseen: pd.DataFrame
    y: np.ndarray
    y_unseen: np.ndarray
    groups: np.ndarray | None
    nominal: tuple[str, ...]
    split: int

    @property
    def budget(self) -> int:
        """5 % of the unseen half, at least 10."""
        return max(10, round(0.05 * len(self.y_unseen)))

    @cached_property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Both halves as numbers: categories one-hot, missing values as medians, learned from the first."""
        from toprank.datasets import Declared, Table, described

        declared = Declared.of(list(self.train), categorical=self.nominal)
        table = described(Table(self.train), declared)
        encoder, _ = learn_encoder(table)
        return encoder.encode(table)[0], encoder.encode(Table(self.unseen))[0]


class Data:
    """A data set without identifiers and leaks, and its half splits."""

    def __init__(self, name: str) -> None:
        data = load(name)
        rows = np.arange(len(data.y))
        if name == "a9a_train":
            rows = np.sort(np.random.default_rng(0).permutation(len(data.y))[:ROWS_OF_A9A])
        X = data.X[rows]
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        self.frame = pd.DataFrame(dense, columns=[f"x{c}" if c.isdigit() else c for c in data.feature_names])
        self.y = np.asarray(data.y[rows])
        # Rows of one subject are held out together, as the notes on the data ask for.
        self.groups = None if data.groups is None else np.asarray(data.groups)[rows]
        self.nominal = tuple(data.entry.nominal)
        self.splits = list(half_splits(self.y, repeats=SPLITS, groups=self.groups, random_state=0))

    def half(self, split: int) -> Half:
        """The two halves of one split."""
        train, test = self.splits[split]
        groups = None if self.groups is None else self.groups[train]
        halves = self.frame.iloc[train], self.frame.iloc[test]
        return Half(*halves, self.y[train], self.y[test], groups, self.nominal, split)


Result = dict[str, Any]


def by_scores(half: Half, scores: np.ndarray) -> Result:
    """Hits among the first `budget`; rows with the same score in any order, on average."""
    share = get(f"precision@{half.budget}")(half.y_unseen, np.asarray(scores, dtype=float), ties="mean")
    return {"hits": round(float(share) * half.budget, 9)}


def toprank_rank(half: Half, seconds: float) -> Result:
    """The command line's own way: two files in, the list of the unseen items out."""
    with tempfile.TemporaryDirectory() as folder:
        known, new = Path(folder) / "known.csv", Path(folder) / "new.csv"
        labelled = half.train.assign(y=half.y)
        if half.groups is not None:
            labelled = labelled.assign(subject=half.groups)
        labelled.to_csv(known, index=False)
        half.unseen.assign(row=np.arange(len(half.unseen))).to_csv(new, index=False)
        group = None if half.groups is None else "subject"
        columns = Columns(target="y", categorical=half.nominal, id=None, group=group)
        source = open_source(str(known), columns)
        report = rank_items(
            source, RankOptions(budget=half.budget, time_limit=seconds), new=read_new(str(new), source)
        )
    first = report.listing["row"].to_numpy()[: half.budget].astype(int)
    members = getattr(report.model.ranker, "weights_", {})
    weights = {name: round(weight, 3) for name, weight in members.items()}
    return {"hits": float(half.y_unseen[first].sum()), "delivered": report.delivered, "weights": weights}


def _fitted(make: Callable[[], Any]) -> Callable[[Half, float], Result]:
    def run(half: Half, seconds: float) -> Result:
        X, unseen = half.arrays
        return by_scores(half, make().fit(X, half.y).predict_proba(unseen)[:, 1])

    return run


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(verbosity=-1, n_jobs=1, random_state=0)


def _xgboost() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=0)


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=False, allow_writing_files=False, thread_count=1, random_seed=0)


def autogluon(half: Half, seconds: float) -> Result:
    """best_quality with the wall time ours took, in an interpreter of its own: its pins are not ours."""
    with tempfile.TemporaryDirectory() as folder:
        known, new, out = (Path(folder) / name for name in ("known.csv", "new.csv", "scores.npy"))
        half.train.assign(y=half.y).to_csv(known, index=False)
        half.unseen.to_csv(new, index=False)
        call = [autogluon_python(), "-W", "ignore", "-c", AUTOGLUON_FIT, folder, f"{seconds}"]
        call.append(",".join(half.nominal))
        done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
        if not out.exists():
            raise RuntimeError(f"AutoGluon gave no scores: {done.stderr[-500:]}")
        return by_scores(half, np.load(out))


AUTOGLUON_FIT = """
import sys
import numpy as np, pandas as pd
from autogluon.tabular import TabularPredictor
folder, seconds, nominal = sys.argv[1], float(sys.argv[2]), [c for c in sys.argv[3].split(",") if c]
tables = [pd.read_csv(f"{folder}/{name}.csv") for name in ("known", "new")]
known, new = (table.astype({c: str for c in nominal}) for table in tables)
about = dict(problem_type="binary", eval_metric="average_precision", path=f"{folder}/ag", verbosity=0)
predictor = TabularPredictor("y", **about)
predictor.fit(known, presets="best_quality", time_limit=seconds, num_cpus=1, num_gpus=0)
np.save(f"{folder}/scores.npy", predictor.predict_proba(new)[1].to_numpy())
"""


def autogluon_python() -> str:
    """The interpreter that has AutoGluon: AUTOGLUON_PYTHON, or this one."""
    return os.environ.get("AUTOGLUON_PYTHON", sys.executable)


CONTENDERS: dict[str, Callable[[Half, float], Result]] = {
    "logistic regression": _fitted(_logistic),
    "LightGBM": _fitted(_lightgbm),
    "XGBoost": _fitted(_xgboost),
    "random forest": _fitted(_forest),
    "CatBoost": _fitted(_catboost),
    OURS: toprank_rank,
    AUTOGLUON: autogluon,
}
NEEDS = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}


def missing() -> dict[str, str]:
    """Contenders that cannot take part here, and what to install."""
    absent = {who: f"pip install {name}" for who, name in NEEDS.items() if find_spec(name) is None}
    look = "import importlib.util as u; raise SystemExit(not u.find_spec('autogluon'))"
    if subprocess.run([autogluon_python(), "-c", look], capture_output=True, check=False).returncode:
        absent[AUTOGLUON] = "pip install autogluon.tabular into an environment named by AUTOGLUON_PYTHON"
    return absent


def run_contender(name: str, half: Half, seconds: float) -> Result:
    """One cell of the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CONTENDERS[name](half, seconds)
