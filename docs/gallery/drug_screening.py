"""Which compounds should be synthesised first?

A library of 4,000 compounds, each known by 300 yes-or-no substructures (a sparse matrix); 2 % are
active. The laboratory can make 1 % of a new library. What counts is how many of those few are active,
and that no inactive compound stands above them: `TopPush` compares the actives with the highest inactive
only, `PNormPush` with the higher ones more than with the lower. Made-up data: activity comes from two
groups of substructures, and one substructure that most actives have is as common in a crowd of inactive
look-alikes. The three differ by a few compounds of 40: try several libraries before believing one of
them.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from toprank import PNormPush, TopPush, statistics
from toprank.report import LiftDisplay

ROWS, BITS = 4000, 300


def library(seed):
    """Compounds as a sparse matrix of substructures, and which of them are active."""
    rng = np.random.default_rng(seed)
    bits = rng.random((ROWS, BITS)) < 0.04
    active = rng.random(ROWS) < 0.02
    alike = ~active & (rng.random(ROWS) < 0.05)
    bits[active | alike, :6] |= rng.random(((active | alike).sum(), 6)) < 0.6
    group = rng.random(ROWS) < 0.5
    bits[active & group, 6:14] |= rng.random(((active & group).sum(), 8)) < 0.35
    bits[active & ~group, 14:22] |= rng.random(((active & ~group).sum(), 8)) < 0.35
    return sp.csr_matrix(bits, dtype=np.float64), active.astype(int)


X, y = library(0)
X_new, y_new = library(1)
rankers = {
    "logistic regression": LogisticRegression(C=1.0, max_iter=1000),
    "PNormPush(p=4)": PNormPush(p=4, C=10.0),
    "TopPush": TopPush(C=10.0),
}
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
print(f"{ROWS} unseen compounds, {y_new.sum()} of them active; 1 % can be made")
for name, ranker in rankers.items():
    scores = ranker.fit(X, y).decision_function(X_new)
    found = statistics.get("precision@1%")(y_new, scores)
    lift = statistics.get("lift@1%")(y_new, scores)
    print(f"  {name:20s} active of those made {found:.0%}, {lift:4.1f} times what chance would give")
    LiftDisplay.from_predictions(y_new, scores, name=name, top=0.1, ax=ax)
ax.set(xlabel="share of the library made, best first", ylabel="actives, as a multiple of chance")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "drug_screening.png", dpi=120)
