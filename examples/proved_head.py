"""A proved head on a learned representation.

A network learns two features from many; the linear score of these two features that puts the top of the list
in the best order is then found and proved. The network's own last layer is one such score, so the head is
never worse on the rows it was proved for; whether it is better on others, the last lines say.

    python examples/proved_head.py
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from toprank import ExactRanker, RankNet, RankThenRerank, statistics


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two moons among six columns of noise."""
    X, y = make_moons(n, noise=0.35, random_state=seed)
    return np.hstack([X, np.random.default_rng(seed).normal(size=(n, 6))]), y


def main() -> None:
    X, y = rows(600, seed=0)
    new_X, new_y = rows(600, seed=1)
    net = RankNet(hidden_layers=(16, 2), validation_fraction=0.25, random_state=0).fit(X, y)
    head = make_pipeline(FrozenEstimator(net), ExactRanker("dcg", time_limit=60))
    ranker = RankThenRerank(net, head, top=120, cv="prefit", pass_score=False, random_state=0).fit(X, y)

    certificate = ranker.reranker_[-1].certificate_
    top = ranker.top_rows_
    own = statistics.get("dcg")(y[top], net.decision_function(X[top]))
    print(f"DCG of the first {len(top)} rows, in the network's own order: {own:.4f}")
    print(f"the best that any weights of its last layer reach: {certificate.value:.4f}")
    print(f"proved, none reach more than: {certificate.bound:.4f} ({certificate.status})")
    for name, one in (("network", net), ("network, proved head", ranker)):
        held = statistics.get("dcg@60")(new_y, one.decision_function(new_X))
        print(f"new rows, DCG@60, {name}: {held:.4f}")


if __name__ == "__main__":
    main()
