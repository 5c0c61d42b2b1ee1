"""Ways to weigh the members of the ensemble that `toprank rank` fits, on the halves of `bench_heldout.py`.

    python benchmarks/bench_heldout_blends.py ../blends --only pima,uis --splits 6

Members' out-of-fold scores of the training half and their scores of the unseen half are kept in the folder,
one file a half; the table is of all that lie there. Shown is the mean share of hits within the budget, and
the mean difference to equal weights over the data sets with its standard error over the halves.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from bench_heldout_contenders import DATA, Data, Half, by_scores
from toprank.base import RankingData, fit_copy
from toprank.control import Run
from toprank.datasets import Table
from toprank.ensemble.members import cross_fitted, logit_scores
from toprank.lineup import ENSEMBLE, Settings
from toprank.workflow.learning.candidates import made_for
from toprank.workflow.learning.fitting import Items

RESAMPLES = 60


def scored(half: Half) -> dict[str, np.ndarray]:
    """Standardised scores of the members: out of fold for the training half, and of the unseen half."""
    X, unseen = half.arrays
    y = half.y.astype(np.int8)
    groups = None if half.groups is None else np.unique(half.groups, return_inverse=True)[1]
    settings = Settings(statistic=f"dcg@{half.budget}")
    ensemble = made_for(
        ENSEMBLE, Items(Table(half.train), y, None, groups), settings, half.budget, final=True
    )
    data = RankingData(X, y)
    names, out_of_fold, new = [], [], []
    for name, member in ensemble.members:
        run = Run(rng=0)
        ours = cross_fitted(member, data, ensemble.cv, run)
        theirs = logit_scores(fit_copy(member, data, run), unseen)
        names.append(name)
        out_of_fold.append((ours - ours.mean()) / (ours.std() or 1.0))
        new.append((theirs - ours.mean()) / (ours.std() or 1.0))
    return {
        "names": np.array(names),
        "out_of_fold": np.column_stack(out_of_fold),
        "unseen": np.column_stack(new),
    }


def weightings(stack: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Weights of the members, by what their out-of-fold scores of the training half say."""
    m = stack.shape[1]
    yield "equal", np.ones(m)
    gain = np.array([average_precision_score(y, one) for one in stack.T]) - y.mean()
    for power in (1, 2, 3, 4, 6):
        yield f"precision above chance ^ {power}", np.clip(gain, 1e-9, None) ** power
    yield "best by average precision", np.eye(m)[int(np.argmax(gain))]
    chosen = greedy(stack, y)
    yield "greedy selection", chosen
    yield "greedy selection and equal", chosen / chosen.sum() + 1 / m
    again = resampled(stack, y)
    first = np.bincount(again.argmax(axis=1), minlength=m) / RESAMPLES
    yield "probability of being best, and equal", first + 1 / m
    behind = again[:, [int(np.argmax(again.mean(axis=0)))]] - again
    for errors in (1, 2, 3):
        yield (
            f"within {errors} standard errors of the best",
            behind.mean(axis=0) <= errors * behind.std(axis=0),
        )


def greedy(stack: np.ndarray, y: np.ndarray, steps: int = 20) -> np.ndarray:
    """How often each member is added to the blend as the one that helps it most (Caruana et al. 2004)."""
    counts, blend = np.zeros(stack.shape[1]), np.zeros(len(y))
    for _ in range(steps):
        best = int(np.argmax([average_precision_score(y, blend + one) for one in stack.T]))
        counts[best] += 1
        blend += stack[:, best]
    return counts


def resampled(stack: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Average precision of each member on bootstrap samples of the rows."""
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(y == label) for label in (0, 1)]
    draws = [np.concatenate([rng.choice(rows, len(rows)) for rows in classes]) for _ in range(RESAMPLES)]
    return np.array([[average_precision_score(y[rows], one[rows]) for one in stack.T] for rows in draws])


def table(folder: Path) -> str:
    """The weightings over all halves in the folder."""
    found: dict[str, dict[str, list[float]]] = {}
    loaded: dict[str, Data] = {}
    for path in sorted(folder.glob("*.npz")):
        name, split = path.stem.rsplit("-", 1)
        if name not in loaded:
            loaded[name] = Data(name)
        half, kept = loaded[name].half(int(split)), np.load(path)
        for how, weights in weightings(kept["out_of_fold"], half.y):
            share = by_scores(half, kept["unseen"] @ weights)["hits"] / half.budget
            found.setdefault(how, {}).setdefault(name, []).append(share)
    lines = [("weights", *loaded, "mean", "difference to equal"), ("---",) * (len(loaded) + 3)]
    for how, by in found.items():
        means = [float(np.mean(by[name])) for name in loaded]
        gains = [np.subtract(by[name], found["equal"][name]) for name in loaded]
        spread = sum(gain.var(ddof=1) / len(gain) for gain in gains if len(gain) > 1)
        gain = f"{np.mean([one.mean() for one in gains]):+.4f} ± {spread**0.5 / len(gains):.4f}"
        lines.append((how, *(f"{mean:.3f}" for mean in means), f"{np.mean(means):.4f}", gain))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(DATA))
    parser.add_argument("--splits", type=int, default=5, help="0: only the table")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for name in options.only.split(",") if options.splits else ():
        data = Data(name)
        for split in range(options.splits):
            path = options.folder / f"{name}-{split}.npz"
            if not path.exists():
                np.savez_compressed(path, **scored(data.half(split)))
                print(path.stem, flush=True)
    print(table(options.folder))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
