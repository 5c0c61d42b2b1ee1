"""How close Accuracy at the Top comes to what it stands for: the best possible precision in the first fifth.

    python examples/accuracy_at_top.py

Four small samples with two features. The exact ranker proves the optimum of precision@20%; the three
solvers of Accuracy at the Top minimise a surrogate with the quantile of the scores in it.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from toprank.rankers.accuracy_at_top import AccuracyAtTop
from toprank.rankers.exact import ExactRanker

TAU, ROWS = 0.2, 60
SOLVERS = ("exhaustive", "screened", "local")


def sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Relevant items lie in one corner, mostly; a straight line does not find all of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 2))
    score = np.minimum(X[:, 0], X[:, 1]) + 0.4 * rng.normal(size=ROWS)
    return X, (score > np.quantile(score, 0.7)).astype(int)


def main() -> None:
    """One line a sample: precision of each ranker, and the proved optimum."""
    print("sample  " + "  ".join(f"{name:>10}" for name in (*SOLVERS, "logistic", "optimum")))
    for seed in range(4):
        X, y = sample(seed)
        rankers = [AccuracyAtTop(TAU, 0.01, solver=solver, random_state=0).fit(X, y) for solver in SOLVERS]
        values = [ranker.score(X, y) for ranker in rankers]
        order = np.argsort(-LogisticRegression().fit(X, y).decision_function(X), kind="stable")
        values.append(float(y[order[: round(TAU * ROWS)]].mean()))
        exact = ExactRanker("precision@20%", time_limit=30, random_state=0).fit(X, y)
        values.append(exact.outcome_.value)
        print(
            f"{seed:>6}  " + "  ".join(f"{value:>10.3f}" for value in values), f" ({exact.outcome_.status})"
        )


if __name__ == "__main__":
    main()
