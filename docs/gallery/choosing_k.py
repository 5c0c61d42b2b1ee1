"""How much of the list should be ranked again?

`RankThenRerank` leaves a cheap ranker's list as it is but for its first K items. With a short K there is
little to learn from; with a long one the second ranker answers for items nobody will look at, as the
first one did. Folds tell, as far as luck lets them: `RankerCV` tries every K on parts that were held
out, by the statistic you will be judged by, and fits the best one to everything. Made-up data, as in
Rudin & Wang (2018): a crowd that decides the AUC and two clumps that decide the top.
"""

import sys

import matplotlib.pyplot as plt

from toprank import DirectRanker, RankerCV, RankThenRerank, datasets, statistics

DEPTHS = [20, 40, 80, 160, 320]
STATISTIC = "dcg@50"

X, y = datasets.gaussians(1000, stray=(1.0, 10.0))
X_new, y_new = datasets.gaussians(1000, stray=(1.0, 10.0), random_state=1)
reranker = DirectRanker("dcg", n_restarts=10)
search = RankerCV(
    RankThenRerank(reranker=reranker, random_state=0),
    grid={"top": DEPTHS},
    statistic=STATISTIC,
    cv=4,
    random_state=0,
).fit(X, y)
chosen = search.best_params_["top"]
held_out = search.scores_.mean(axis=0)

judge = statistics.get(STATISTIC)
unseen = [
    judge(
        y_new, RankThenRerank(reranker=reranker, top=top, random_state=0).fit(X, y).decision_function(X_new)
    )
    for top in DEPTHS
]
print(f"chosen on folds: K = {chosen}")
for top, on_folds, value in zip(DEPTHS, held_out, unseen, strict=True):
    print(f"  K = {top:3d}   {STATISTIC} on folds {on_folds:5.2f}, on unseen rows {value:5.2f}")
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(DEPTHS, held_out, "o-", color="#0072B2", label="held-out folds")
ax.plot(DEPTHS, unseen, "s--", color="#D55E00", label="unseen rows")
ax.set_xscale("log")
ax.set_xticks(DEPTHS, DEPTHS)
ax.minorticks_off()
ax.set(xlabel="K, items ranked again", ylabel=STATISTIC)
ax.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "choosing_k.png", dpi=120)
