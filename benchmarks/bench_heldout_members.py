"""Other members for the ensemble that `toprank rank` fits, on halves that no table of docs/heldout.md is of.

    python benchmarks/bench_heldout_members.py ../members --only pima,uis --splits 14 --seed 2

Out-of-fold scores of each member and candidate, and their scores of the unseen half, by a fit to all rows and
by the mean of the copies that the folds left, are kept in the folder, one file a half; the table is of all
that lie there. Shown is the difference to six members with equal weights (the present ones without
networks), mean over the data sets with its standard error over the halves: hits within the budget, and the
mean over seven budgets around it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from bench_heldout_contenders import DATA, SPLITS, Data, Half
from toprank.base import RankingData, fit_copy, take
from toprank.control import Run
from toprank.datasets import Table, half_splits
from toprank.ensemble.members import LIGHTGBM, logit_scores
from toprank.lineup import ENSEMBLE, Settings
from toprank.statistics import get
from toprank.workflow.learning.candidates import made_for
from toprank.workflow.learning.fitting import Items

Kept = Mapping[str, np.ndarray]
SIX = ("logistic", "boosting", "forest", "direct", "lightgbm", "catboost")
TREES = frozenset({"boosting", "forest", "lightgbm", "catboost"})
BUDGETS = (0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0)
FEW_VALUES = 8
"""Columns with no more values than this stay linear in the additive member."""


class Splines(TransformerMixin, BaseEstimator):
    """Every column, and splines of those that take many values; all of unit spread."""

    def fit(self, X: np.ndarray, y: Any = None) -> Splines:
        self.many_ = np.array([len(np.unique(column)) > FEW_VALUES for column in X.T])
        self.columns_ = StandardScaler().fit(X)
        self.splines_ = SplineTransformer(
            n_knots=5, knots="quantile", extrapolation="linear", include_bias=False
        )
        if self.many_.any():
            self.splines_.fit(self.columns_.transform(X)[:, self.many_])
        self.spread_ = StandardScaler().fit(self._parts(X))
        return self

    def _parts(self, X: np.ndarray) -> np.ndarray:
        scaled = self.columns_.transform(X)
        if not self.many_.any():
            return scaled
        return np.hstack([scaled, self.splines_.transform(scaled[:, self.many_])])

    def transform(self, X: np.ndarray) -> np.ndarray:
        return self.spread_.transform(self._parts(X))


def candidates(rows: int) -> dict[str, Any]:
    """Members that might be added or exchanged."""
    from lightgbm import LGBMClassifier

    linear = [StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)]
    landmarks = Nystroem(n_components=min(200, int(0.7 * rows)))
    return {
        **{f"splines, C = {C}": make_pipeline(Splines(), LogisticRegression(C=C, max_iter=1000))
           for C in (0.01, 0.03, 0.1, 1.0)},
        "logistic, C = 0.1": make_pipeline(*linear),
        "extra trees": ExtraTreesClassifier(100, min_samples_leaf=2),
        "extra trees, all features": ExtraTreesClassifier(100, min_samples_leaf=2, max_features=None),
        "kernel": make_pipeline(StandardScaler(), landmarks, LogisticRegression(max_iter=1000)),
        "stumps": LGBMClassifier(**LIGHTGBM | {"num_leaves": 2, "n_estimators": 300, "learning_rate": 0.05}),
        "small trees": LGBMClassifier(**LIGHTGBM | {"num_leaves": 6}),
    }  # fmt: skip


def scored(half: Half) -> dict[str, np.ndarray]:
    """Standardised scores of the unseen half by every member and candidate: `NAME|full`, `NAME|copies`."""
    X, unseen = half.arrays
    y = half.y.astype(np.int8)
    groups = None if half.groups is None else np.unique(half.groups, return_inverse=True)[1]
    items, settings = Items(Table(half.train), y, None, groups), Settings(statistic=f"dcg@{half.budget}")
    ensemble = made_for(ENSEMBLE, items, settings, half.budget, final=True)
    data, found = RankingData(X, y), {"y": half.y_unseen, "budget": np.array(half.budget)}
    for name, member in {**dict(ensemble.members), **candidates(len(y))}.items():
        run, ours, copies = Run(rng=0), np.zeros(len(y)), []
        for learn, judge in ensemble.cv:
            copy = fit_copy(member, take(data, learn), run)
            ours[judge] = logit_scores(copy, X[judge])
            copies.append(logit_scores(copy, unseen))
        middle, spread = ours.mean(), ours.std() or 1.0
        found[f"{name}|full"] = (logit_scores(fit_copy(member, data, run), unseen) - middle) / spread
        found[f"{name}|copies"] = (np.mean(copies, axis=0) - middle) / spread
    return found


def by_copies(kept: Kept, name: str) -> np.ndarray:
    """The mean of the five copies and the fit to all rows."""
    return (kept[f"{name}|full"] + 5 * kept[f"{name}|copies"]) / 6


def ways() -> dict[str, Callable[[Kept], np.ndarray]]:
    """Blends by name, from what is kept of a half to scores of its unseen rows."""

    def of(names: list[str]) -> Callable[[Kept], np.ndarray]:
        return lambda kept: sum(kept[f"{name}|full"] for name in names)

    def instead(old: str, *new: str) -> Callable[[Kept], np.ndarray]:
        return of([*(name for name in SIX if name != old), *new])

    splines = "splines, C = 0.1"
    made = {"the six members": of([*SIX]), **{f"{name} alone": of([name]) for name in (*SIX, "nets")}}
    for name in candidates(100):
        if not name.startswith("logistic"):
            made[f"{name} as well"] = of([*SIX, name])
    return made | {
        "networks as well": of([*SIX, "nets"]),
        "the same, CatBoost twice: the present ones": of([*SIX, "nets", "catboost"]),
        "networks for logistic regression": instead("logistic", "nets"),
        "networks twice for it": instead("logistic", "nets", "nets"),
        "networks, direct, LightGBM, CatBoost": of(["nets", "direct", "lightgbm", "catboost"]),
        f"{splines} for logistic regression": instead("logistic", splines),
        f"{splines} for boosting": instead("boosting", splines),
        "copies of the folds": lambda kept: sum(kept[f"{name}|copies"] for name in SIX),
        "copies and the full fit": lambda kept: sum(by_copies(kept, name) for name in SIX),
        "the same, of trees only": lambda kept: sum(
            by_copies(kept, name) if name in TREES else kept[f"{name}|full"] for name in SIX
        ),
        "logistic regression with C = 0.1": instead("logistic", "logistic, C = 0.1"),
        "without boosting": instead("boosting"),
        "small trees for boosting": instead("boosting", "small trees"),
        "extra trees and splines for boosting": instead("boosting", "extra trees", splines),
    }


def hits(kept: Kept, scores: np.ndarray) -> float:
    """Share of positives within the budget."""
    return float(get(f"precision@{int(kept['budget'])}")(kept["y"], scores, ties="mean"))


def around(kept: Kept, scores: np.ndarray) -> float:
    """Mean share of positives over budgets from half to twice ours."""
    best_first = kept["y"][np.argsort(-scores, kind="stable")]
    shares = [best_first[: max(3, round(float(kept["budget"]) * part))].mean() for part in BUDGETS]
    return float(np.mean(shares))


def compared(halves: dict[str, list[Kept]], way: Callable, measure: Callable) -> str:
    """Difference to the six members, mean over the data sets, and its standard error over the halves."""
    base, gains = ways()["the six members"], []
    for found in halves.values():
        gains.append(np.array([measure(kept, way(kept)) - measure(kept, base(kept)) for kept in found]))
    errors = [gain.var(ddof=1) / len(gain) for gain in gains if len(gain) > 1]
    return f"{np.mean([gain.mean() for gain in gains]):+.4f} ± {np.sqrt(sum(errors)) / len(gains):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(DATA), help="data sets")
    parser.add_argument("--splits", type=int, default=6, help=f"at most {SPLITS}; 0: only the table")
    parser.add_argument("--seed", type=int, default=1, help="of the halves; 0 are those of the tables")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only.split(",") if options.splits else ():
        data = Data(name)
        data.splits = list(half_splits(data.y, repeats=SPLITS, groups=data.groups, random_state=options.seed))
        for split in range(min(options.splits, SPLITS)):
            file = options.folder / f"{name}-{options.seed}-{split}.npz"
            if not file.exists():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    np.savez(file, **scored(data.half(split)))
                print(f"{name}, half {split}", flush=True)
    halves: dict[str, list[Kept]] = {}
    for file in sorted(options.folder.glob("*.npz")):
        halves.setdefault(file.stem.split("-")[0], []).append(dict(np.load(file)))
    for title, way in ways().items():
        print(f"{title:40} {compared(halves, way, hits):20} {compared(halves, way, around)}")


if __name__ == "__main__":
    main()
