"""Reports for the pages without any fitting: figures made by hand from made-up scores."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from toprank.control import Outcome, Status
from toprank.datasets import Note, Roles, Table, learn_encoder
from toprank.ensemble.rank_then_rerank import RankThenRerank
from toprank.exact import Certificate
from toprank.model import RankingModel
from toprank.rankers.exact import ExactRanker
from toprank.statistics import get
from toprank.workflow.compare import CompareReport
from toprank.workflow.judging.advice import Figures
from toprank.workflow.judging.held_out import HeldOut, Judged
from toprank.workflow.learning.fitting import Items
from toprank.workflow.listing.found import found_within
from toprank.workflow.listing.groups import group_shares
from toprank.workflow.listing.places import OUT_OF_FOLD, UNSEEN, Place, list_items
from toprank.workflow.listing.report import RankReport, column_worths

HOSTILE_NAME = "<script>alert(1)</script>"
HOSTILE_CELL = "</script><img src=x onerror=alert(2)>"
COMMAND = "toprank rank items.csv -t y"


def frame(n=300, seed=0, *, hostile=False):
    """Items with numbers, words, an identifier and a group."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    found = pd.DataFrame(
        {
            "code": [f"P{i:06d}" for i in range(n)],
            "a": np.round(a, 3),
            "b": np.round(b, 3),
            "site": rng.choice(["north", "south", "west"], n),
            "y": (a + 0.5 * b + rng.normal(size=n) > 0.8).astype(int),
        }
    )
    if hostile:
        found[HOSTILE_NAME] = rng.normal(size=n)
        found["site"] = np.where(found["site"] == "west", HOSTILE_CELL, found["site"])
        found["code"] = [f"{code}{HOSTILE_CELL}\u2028" for code in found["code"]]
    return found


def report_of(
    items,
    *,
    budget=50,
    splits=5,
    delivered="rerank",
    group=False,
    qid=False,
    certificate=True,
    unseen=False,
    interrupted=False,
):
    """A report as `rank_items` makes one; the scores are sums of columns with noise, nothing is searched."""
    rng = np.random.default_rng(1)
    roles = Roles("y", "code", qid="site" if qid else None, group="site" if group else None)
    table = Table(items, source="items.csv")
    features = roles.features(table)
    encoder, notes = learn_encoder(features)
    X, _ = encoder.encode(features)
    y = items["y"].to_numpy(np.int8)
    codes = roles.queries(table)
    ranker = _ranker(X, y) if delivered == "rerank" else LogisticRegression().fit(X, y)
    names = list(dict.fromkeys([delivered, "logistic"]))
    judged = [_split(X, y, codes, names, encoder, rng) for _ in range(splits)]
    held_out = HeldOut(tuple(judged), 0.5, budget, get(f"dcg@{budget}")) if splits else None
    scores = X[:, 0] + 0.4 * X[:, 1] + rng.normal(scale=0.3, size=len(y))
    place = Place(
        np.argsort(-scores, kind="stable"), scores, X[:, 0] * 1.0, UNSEEN if unseen else OUT_OF_FOLD
    )
    provenance = {
        "data": "items.csv",
        "data_sha256": "ab" * 32,
        "rows": len(y),
        "positives": int(y.sum()),
        "budget": budget,
        "seed": 3,
        "scikit_learn": "1.0",
        "toprank": "0.0",
        "ranker": delivered,
        "base": "logistic",
        "depth": 100,
    }
    model = RankingModel(encoder, ranker, roles, ("1",), f"dcg@{budget}", provenance)
    listing, reasons = list_items(model, table, X, place, delivered, None if unseen else held_out, budget)
    coefficients = dict(zip(encoder.feature_names, np.linspace(1, -0.5, X.shape[1]).tolist(), strict=True))
    ranks = listing["rank"].to_numpy()
    reranked = delivered == "rerank"
    return RankReport(
        model=model,
        listing=listing,
        listed="items.csv",
        order=place.right,
        statistic=f"dcg@{budget}",
        rows=len(y),
        positives=int(y.sum()),
        budget=budget,
        depth=100 if reranked else None,
        delivered=delivered,
        why="",
        training=9.5,
        chance=3.25,
        found=found_within(budget, Items(features, y, codes), place, delivered),
        held_out=held_out,
        held_out_by="query" if qid else "group" if group else "random",
        columns=column_worths(delivered, coefficients, held_out),
        linear=True,
        outcome=_certificate().outcome if reranked else Outcome(1.0),
        reasons=reasons,
        groups=group_shares(listing, "site", ranks, budget, None if unseen else listing["y"].to_numpy())
        if group
        else None,
        duplicates=2,
        notes=[*notes, Note("same", "dropped", "constant"), Note("a", "imputed", "3 missing", warning=True)],
        new_notes=[],
        remarks=["Column 'a' alone tells the classes apart."]
        + (["Interrupted: 2 of 5 held-out splits were finished."] if interrupted else []),
        interrupted=interrupted,
        seconds=1.5,
    )


def comparison():
    """A comparison of a ranker that is better, one that is worse and one nobody can tell."""
    figures = [
        Figures("good", (2.0,) * 5, (2.0, 2.1, 2.2, 2.0, 2.1), 0.01, 0.1, 0),
        Figures("logistic regression", (1.0,) * 5, (1.0, 1.1, 1.2, 1.0, 1.1), float("nan"), 0.1, 0),
        Figures("unclear", (1.0,) * 5, (1.0, 1.1, 1.2, 1.0, 1.0), 0.6, 0.1, 2),
        Figures(HOSTILE_NAME, (0.5,) * 5, (0.5, 0.4, 0.5, 0.4, 0.5), 0.001, 0.1, 0),
    ]
    provenance = dict(report_of(frame(40), budget=5, splits=2).model.provenance)
    late = ["slow"]
    return CompareReport(
        "dcg", 10, 4, 5, figures, late, "tested so", "Use 'good'.", [], True, provenance, 2.0, chance=0.25
    )


def _certificate():
    history = ((0.0, 8.0, 12.0), (0.5, 9.0, 11.0), (1.5, 9.5, 10.0))
    return Certificate(
        (1.0,), 9.5, 10.0, Status.TIME_LIMIT, 1.5, 40, "boxes", "dcg", 0.0, 0.0, (1.0,), "cd" * 32, history
    )


def _ranker(X, y):
    """A reranker as a fit leaves it, without the search."""
    ranker = RankThenRerank(LogisticRegression(), ExactRanker("dcg"), top=100)
    ranker.base_ = LogisticRegression().fit(X, y)
    ranker.reranker_ = ExactRanker("dcg")
    ranker.reranker_.coef_ = np.linspace(1, -0.5, X.shape[1])
    ranker.reranker_.certificate_ = _certificate()
    ranker.reranked_, ranker.threshold_, ranker.n_features_in_ = True, -np.inf, X.shape[1]
    return ranker


def _split(X, y, codes, names, encoder, rng):
    rows = np.sort(rng.permutation(len(y))[: len(y) // 2])
    scores = {name: X[rows, 0] + rng.normal(scale=1 + k, size=len(rows)) for k, name in enumerate(names)}
    part = None if codes is None else codes[rows]
    values = {name: float(get("dcg@50")(y[rows], scores[name])) for name in names}
    coefficients = {
        name: dict(zip(encoder.feature_names, rng.normal(size=X.shape[1]).tolist(), strict=True))
        for name in names
    }
    return Judged(rows, y[rows], part, scores, values, coefficients=coefficients)
