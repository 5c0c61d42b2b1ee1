"""Proofs on long lists: the best stack of five learners' scores over 10^5 rows, the first places counting.

    python benchmarks/bench_long_lists.py [--sets census ijcnn1] [--scores 0 1 3 4] [--seconds 60]

Five learners are fitted on the other rows of each set and score 100,000: logistic regression, boosting, a
random forest and extra trees by their probabilities, naive Bayes by its log odds, since its probabilities are
all but 0 or 1. `--stacks FOLDER` keeps these scores, which take minutes to make. Prints what the search has
shown after some seconds of the clock, the processor's seconds by then, and the peak of its memory. Data sets
are read from TOPRANK_DATA.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.preprocessing import StandardScaler

from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.search.choice import compile_for
from toprank.exact.search.driver import search

SCORED = 100_000
FILES = {"census": ["census_kdd_half"], "ijcnn1": ["ijcnn1_train", "ijcnn1_test"]}
COLUMNS = {"census": None, "ijcnn1": 22}
MOMENTS = (5, 10, 20, 30, 45, 60, 120, 300)


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, shuffled."""
    folder = Path(os.environ["TOPRANK_DATA"])
    parts = [
        load_svmlight_file(str(folder / f"{file}.svm.gz"), n_features=COLUMNS[name]) for file in FILES[name]
    ]
    X, y = sp.vstack([rows for rows, _ in parts]).tocsr(), np.concatenate([labels for _, labels in parts])
    order = np.random.default_rng(0).permutation(len(y))
    return X[order].toarray().astype(np.float32), (y[order] > 0).astype(int)


def stack_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores of five learners on rows they have not seen, and the labels of these."""
    X, y = rows_of(name)
    seen, labels, new = X[SCORED:], y[SCORED:], X[:SCORED]
    scaler = StandardScaler().fit(seen)
    linear = LogisticRegression(max_iter=200).fit(scaler.transform(seen), labels)
    boosted = HistGradientBoostingClassifier(random_state=0).fit(seen, labels)
    bayes = (BernoulliNB() if name == "census" else GaussianNB()).fit(seen, labels)
    odds = bayes.predict_log_proba(new)
    scores = [
        linear.predict_proba(scaler.transform(new))[:, 1],
        boosted.predict_proba(new)[:, 1],
        odds[:, 1] - odds[:, 0],
    ]
    for trees in (RandomForestClassifier, ExtraTreesClassifier):
        forest = trees(100, min_samples_leaf=3, random_state=0, n_jobs=-1).fit(seen, labels)
        scores.append(forest.predict_proba(new)[:, 1])
    return np.column_stack(scores).astype(np.float64), y[:SCORED]


def kept_stack(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """The stack, from the folder where it is there already."""
    file = None if folder is None else folder / f"{name}.npz"
    if file is not None and file.exists():
        kept = np.load(file)
        return kept["scores"], kept["y"]
    scores, y = stack_of(name)
    if file is not None:
        np.savez(file, scores=scores, y=y)
    return scores, y


class Watch:
    """Prints a line at some moments."""

    def __init__(self) -> None:
        self.left = list(MOMENTS)
        self.began = time.process_time()

    def __call__(self, progress) -> bool:
        if self.left and progress.seconds >= self.left[0]:
            self.left.pop(0)
            self.line(progress.seconds, progress.value, progress.bound, progress.iterations)
        return True

    def line(self, seconds: float, value: float, bound: float, nodes: int) -> None:
        """Value, bound and gap, and what they cost."""
        spent, peak = time.process_time() - self.began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"  {seconds:6.1f} s  processor {spent:6.1f} s  value {value:.4f}  bound {bound:.4f}"
            f"  gap {100 * (bound - value) / abs(value):.3f} %  boxes {nodes}  memory {peak / 1024:.0f} MB",
            flush=True,
        )


def measure(name: str, options: argparse.Namespace) -> None:
    """One proof, watched."""
    scores, y = kept_stack(name, options.stacks)
    scores, statistic = scores[:, options.scores], options.statistic
    problem = RankingProblem.from_labels(scores, y, statistic)
    compile_for(problem)
    spread = scores.std(axis=0)
    start = LogisticRegression().fit(scores / spread, y).coef_[0] / spread
    print(
        f"{name}: {len(y)} rows, {y.sum()} positives, {scores.shape[1]} scores, {statistic};"
        f" perfect {problem.trivial_bound:.4f}, logistic regression {problem.evaluate(start):.4f}"
    )
    watch = Watch()
    with Run(time_limit=options.seconds, rng=0, callback=watch) as run:
        found = search(problem, run, starts=[start, 1 / spread], n_jobs=options.jobs)
    watch.line(found.seconds, found.value, found.bound, found.nodes)
    print(f"  {found.summary()} ({found.method})")


def main() -> None:
    """The sets asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(FILES), choices=list(FILES))
    parser.add_argument("--statistic", default="dcg@1000")
    parser.add_argument("--scores", nargs="+", type=int, default=[0, 1, 2, 3, 4], help="which of the five")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--stacks", type=Path)
    options = parser.parse_args()
    for name in options.sets:
        measure(name, options)


if __name__ == "__main__":
    main()
