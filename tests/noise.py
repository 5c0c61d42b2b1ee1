"""Every candidate of `toprank rank` and of `toprank compare`, judged where there is nothing to learn.

    python tests/noise.py rank 200 25 results.jsonl       # goes on where it stopped

counts the runs in which a gain is claimed; `tests/workflow/judging/test_noise.py` runs the same.
"""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from toprank import DirectRanker, TopEnsemble, statistics
from toprank.base import ranking_scores
from toprank.datasets import Table, half_splits
from toprank.lineup import ENSEMBLE, RERANK, Settings, lineup
from toprank.workflow.judging.advice import Figures, advice, p_values
from toprank.workflow.judging.held_out import HeldOut, Judged
from toprank.workflow.learning.candidates import LOGISTIC, made_for
from toprank.workflow.learning.fitting import Items, fit_quietly

ROWS, BUDGET, HELD_OUT = 60, 7, 0.5
STATISTICS = {"rank": f"dcg@{BUDGET}", "compare": "dcg"}
LIGHT = [
    ("logistic", LogisticRegression()),
    ("tree", DecisionTreeClassifier(max_depth=3)),
    ("bayes", GaussianNB()),
    ("direct", DirectRanker(max_iter=3, n_restarts=0)),
]
"""Members of the ensembles: hundreds of trees would say the same of noise, more slowly."""
TREES = {"RandomForestClassifier", "HistGradientBoostingClassifier", "LGBMClassifier", "XGBClassifier"}
SETTINGS = Settings(top=2 * BUDGET, time_limit=0.02)


def figures_on_noise(kind, seed, splits):
    """Training and held-out figures of all candidates of a command, on the splits of one made-up table."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(ROWS, 3)), rng.permutation(np.arange(ROWS) % 3 == 0).astype(np.int8)
    statistic = statistics.get(STATISTICS[kind])
    makers = (rank_candidates if kind == "rank" else compare_candidates)(seed)
    found = {name: ([], []) for name in makers}
    drawn = list(half_splits(y, repeats=max(splits) + 1, test_fraction=HELD_OUT, random_state=seed))
    for train, test in (drawn[split] for split in splits):
        for name, make in makers.items():
            ranker, _ = fit_quietly(_lightened(make(y[train])), X[train], y[train], None)
            for part, rows in zip(found[name], (train, test), strict=True):
                part.append(float(statistic(y[rows], ranking_scores(ranker, X[rows]))))
    return found


def rank_candidates(seed):
    """What `toprank rank --prefer simple` chooses among."""
    settings = replace(SETTINGS, statistic=STATISTICS["rank"], seed=seed)

    def make(name, y):
        features = Table(pd.DataFrame(np.zeros((len(y), 3))))  # made_for looks at their number only
        return made_for(name, Items(features, y, None), settings, BUDGET, final=False)

    return {name: partial(make, name) for name in (ENSEMBLE, RERANK, LOGISTIC)}


def compare_candidates(seed):
    """What `toprank compare` compares."""

    def make(contender, y):
        return contender.make()

    contenders = lineup(replace(SETTINGS, top=BUDGET, seed=seed), ROWS // 2)
    return {one.name: partial(make, one) for one in contenders}


def _lightened(ranker):
    """An ensemble takes the light members, all of them, trees are few; others have their time limit."""
    if isinstance(ranker, TopEnsemble):
        ranker.set_params(members=LIGHT, cv=3, trust=0.0, time_limit=None)
    for many in ("n_estimators", "max_iter"):
        if type(ranker).__name__ in TREES and many in ranker.get_params():
            ranker.set_params(**{many: 10})
    return ranker


def claims_a_gain(kind, found):
    """What the command says of these figures: that one pays, or that one should be used."""
    if kind == "compare":
        p = p_values({name: test for name, (_, test) in found.items()}, HELD_OUT)
        figures = [Figures(name, tuple(a), tuple(b), p[name], 0.0, 0) for name, (a, b) in found.items()]
        return advice(sorted(figures, key=lambda one: -one.test_mean)).startswith("Use")
    none = np.zeros(0, dtype=np.int8)
    count = len(found[LOGISTIC][1])
    values = [{name: test[split] for name, (_, test) in found.items()} for split in range(count)]
    judged = tuple(Judged(none, none, None, {}, one) for one in values)
    held_out = HeldOut(judged, HELD_OUT, BUDGET, statistics.get(STATISTICS["rank"]))
    return any("pays" in held_out.sentence(name) for name in held_out.rankers)


def main():
    kind, runs, splits, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    found = {(one["kind"], one["seed"]): one["found"] for one in known}
    claims = done = 0
    for seed in range(runs):
        have = found.get((kind, seed), {})
        count = len(next(iter(have.values()))[1]) if have else 0
        if count < splits:
            more = figures_on_noise(kind, seed, range(count, splits))
            have = {
                name: [a + b for a, b in zip(have.get(name, ([], [])), more[name], strict=True)]
                for name in more
            }
            with path.open("a") as stream:
                stream.write(json.dumps({"kind": kind, "seed": seed, "found": have}) + "\n")
        first = {name: tuple(part[:splits] for part in parts) for name, parts in have.items()}
        claims, done = claims + claims_a_gain(kind, first), done + 1
        print(f"{kind}, {splits} splits: {claims} claims in {done} runs", flush=True)


if __name__ == "__main__":
    main()
