"""Which 100 returns should be audited?

The label is an amount: what an audit brought in. Most bring next to nothing, a few a great deal, so that
a regression of the amount chases its largest values and a classifier of "more than nothing" does not
know what much is. A ranker needs the order only: of all amounts, or of the upper tenth of them,
the rest being one crowd below (`labels.localized`). `top_gain@100` is what the first hundred bring above
chance, as a share of the most it could be. A few windfalls make the steps in the curves, and no score
foresees those. Made-up data.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from toprank import RankSVM, labels, statistics

AUDITS, ROWS = 100, 3000


def returns(seed):
    """Seven figures of each return, and the money an audit brings."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 7))
    doubt = X @ [0.9, 0.6, -0.5, 0.4, 0.0, 0.0, 0.0] + 0.8 * rng.normal(size=ROWS)
    money = np.exp(1.4 * doubt + 4.5)  # from a few dollars to a few hundred thousand
    return X, np.where(rng.random(ROWS) < 0.03, 50 * money, money).round()  # and now and then a windfall


X, money = returns(0)
X_new, money_new = returns(1)
scaler = StandardScaler().fit(X)
X, X_new = scaler.transform(X), scaler.transform(X_new)
gain = statistics.get(f"top_gain@{AUDITS}")

scores = {
    "regression of the amount": Ridge().fit(X, money).predict(X_new),
    "order of all amounts": RankSVM().fit(X, money).decision_function(X_new),
    # The 300 largest amounts keep their order, the rest is one crowd: the upper part of the list counts.
    "order of the upper tenth": RankSVM()
    .fit(X, labels.localized(money, 300, ties="in"))
    .decision_function(X_new),
}
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
print(f"money from the first {AUDITS} of {ROWS} new returns (by chance {AUDITS * money_new.mean():,.0f}):")
for name, score in scores.items():
    order = np.argsort(-score, kind="stable")
    brought = np.cumsum(money_new[order])
    print(f"  {name:26s} {brought[AUDITS - 1]:12,.0f}   {gain} {gain(money_new, score):.3f}")
    ax.plot(np.arange(1, 301), brought[:300] / 1e6, label=name)
ax.axvline(AUDITS, color="#7A7A7A", linewidth=0.8)
ax.set(xlabel="audits, best first", ylabel="millions brought in")
ax.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "tax_audit.png", dpi=120)
