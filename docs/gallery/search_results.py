"""Which results should a search engine show first?

Results compete within their query: a page that is middling for one query may be the best there is for
another. Each query here has a level of its own that says nothing about relevance (some words simply
occur more often), and it is much of what a score of single pages learns from. With `qid`, pairs of
results of the same query are all that is compared. Grades from 0 to 3, NDCG of the first five, judged on
queries nobody has seen. Made-up data.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from toprank import RankSVM, statistics

EACH, FEATURES = 20, 6


def queries(n, seed):
    """`n` queries of `EACH` results: features, grades, and the query of each."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n), EACH)
    level = rng.normal(size=(n, FEATURES))  # of the query: the same for all its results
    popular = level @ [1.0, 1.0, -1.0, 0.0, 0.0, 0.0]  # popular queries have more that is relevant
    own = rng.normal(size=(n * EACH, FEATURES))
    worth = own @ [0.8, -0.6, 0.5, 0.3, 0.0, 0.0] + popular[qid] + 0.8 * rng.normal(size=n * EACH)
    return own + 2 * level[qid], np.digitize(worth, [0.5, 1.5, 2.5]), qid


X, y, qid = queries(60, seed=0)
X_new, y_new, qid_new = queries(200, seed=1)
ndcg = statistics.get("ndcg@5")
scores = {
    "regression of the grade": Ridge().fit(X, y).predict(X_new),
    "pairs of any two results": RankSVM().fit(X, y).decision_function(X_new),
    "pairs within a query": RankSVM().fit(X, y, qid=qid).decision_function(X_new),
}
print("NDCG of the first five, mean over 200 unseen queries:")
values = {name: ndcg.by_query(y_new, score, qid=qid_new) for name, score in scores.items()}
for name, each in values.items():
    print(f"  {name:26s} {each.mean():.3f}")
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.boxplot([*values.values()], widths=0.5)
ax.set_xticks([1, 2, 3], [*values])
ax.set(ylabel="NDCG of the first five, query by query")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "search_results.png", dpi=120)
