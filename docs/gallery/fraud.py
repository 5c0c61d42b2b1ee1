"""How good will the list be next month?

Fraud changes: what gave it away in spring is known to the fraudsters by autumn. Folds at random learn
from the future and promise too much; folds in time learn from the past only, as you will. Here the sign
of fraud wanders over twelve months. The months of the past are used to predict how many of the first 50
alerts will be frauds, in both ways, and month twelve shows who was right. What helps is to forget: learned
from the last three months only, the list finds twice as many. Made-up data.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import PNormPush, statistics

MONTH, MONTHS, ALERTS = 500, 12, 50


def payments(seed):
    """Payments in the order of time; the direction that gives fraud away turns by and by."""
    rng = np.random.default_rng(seed)
    rows = MONTH * MONTHS
    month = np.arange(rows) // MONTH
    X = rng.normal(size=(rows, 6))
    turn = 0.22 * month
    signal = np.cos(turn) * X[:, 0] + np.sin(turn) * X[:, 1] + 0.5 * X[:, 2]
    return X, (signal + 0.7 * rng.normal(size=rows) > 2.3).astype(int), month


X, y, month = payments(0)
past, last = month < MONTHS - 1, month == MONTHS - 1
ranker = make_pipeline(StandardScaler(), PNormPush(p=4, C=10.0))
scoring = statistics.scorer(f"precision@{ALERTS}")

at_random = cross_val_score(
    ranker, X[past], y[past], cv=KFold(11, shuffle=True, random_state=0), scoring=scoring
)
in_time = cross_val_score(ranker, X[past], y[past], cv=TimeSeriesSplit(10), scoring=scoring)
came = scoring(ranker.fit(X[past], y[past]), X[last], y[last])
recent = past & (month >= MONTHS - 4)
came_recent = scoring(ranker.fit(X[recent], y[recent]), X[last], y[last])

print(f"frauds among the first {ALERTS} alerts of a month ({y.mean():.0%} of all payments are):")
print(f"  promised by folds at random  {ALERTS * at_random.mean():.1f}")
print(f"  promised by folds in time    {ALERTS * in_time[-3:].mean():.1f} (the last three months)")
print(f"  came true in month twelve    {ALERTS * came:.0f}")
print(f"  learned from the last three months only {ALERTS * came_recent:.0f}")

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(np.arange(2, 12), ALERTS * in_time, "o-", color="#0072B2", label="folds in time")
ax.axhline(ALERTS * at_random.mean(), color="#D55E00", linestyle="--", label="folds at random, mean")
ax.plot([12], [ALERTS * came], "s", color="black", label="what came")
ax.set(xlabel="month", ylabel=f"frauds among the first {ALERTS}", ylim=(0, ALERTS), xticks=range(2, 13))
ax.legend(frameon=False, loc="lower left")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "fraud.png", dpi=120)
