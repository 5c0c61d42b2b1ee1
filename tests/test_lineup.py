import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone

import toprank
from toprank import contenders, statistics
from toprank.base import BaseRanker, ranking_scores
from toprank.lineup import (
    BASELINE,
    BASES,
    FOR_NUMBERS,
    LEFT_OUT,
    RERANKER,
    Settings,
    lineup,
    make_base,
    make_reranker,
)


def _names(**options):
    rows = options.pop("rows", 1000)
    return [contender.name for contender in lineup(Settings(**options), rows)]


def test_everyone_public_takes_part_once():
    names = _names()
    assert names[0] == BASELINE
    assert len(set(names)) == len(names)
    public = [getattr(toprank, name) for name in toprank.__all__]
    rankers = [one for one in public if isinstance(one, type) and issubclass(one, BaseRanker)]
    made = [type(contender.make()) for contender in lineup(Settings(), 1000)]
    left_out = {getattr(toprank, name) for name in LEFT_OUT | FOR_NUMBERS}
    assert set(rankers) - left_out <= set(made)
    assert {toprank.RankThenRerank} == left_out & set(made)


def test_nobody_takes_part_under_two_names():
    """Orders of made-up rows: whoever agrees with another on one table is asked about the next as well."""
    alike = [[contender.name for contender in lineup(Settings("dcg@10", top=20, budget=10), 60)]]
    for seed, noise in enumerate((0.2, 0.5, 1.5)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 4))
        y = (X @ [1.0, 0.6, -0.4, 0.0] + rng.normal(scale=noise, size=60) > 0.5).astype(int)
        alike = [same for names in alike for same in _with_one_order(names, X, y)]
    assert alike == []


def _with_one_order(names, X, y):
    """Those of the contenders who order the rows alike, in groups of two and more."""
    same = {}
    for contender in lineup(Settings("dcg@10", top=20, time_limit=0.2, budget=10), 60):
        made = contender.make()
        if contender.name not in names or isinstance(made, toprank.TopEnsemble):
            continue  # an ensemble is a blend of others, by its making
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = ranking_scores(made.fit(X, y), X)
        order = tuple(np.argsort(-scores, kind="stable").tolist())
        # One that was stopped before it had any order is like no other.
        told = order if len(np.unique(scores)) > 1 else contender.name
        same.setdefault(told, []).append(contender.name)
    return [group for group in same.values() if len(group) > 1]


def test_left_out_rankers_are_others_by_another_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + rng.normal(size=40) > 0.5
    cross_validated = toprank.RankerCV(random_state=0), toprank.RankSVMCV(random_state=0)
    for pair in ((toprank.PluginRanker(), make_base(Settings())), cross_validated):
        ours, theirs = (ranking_scores(made.fit(X, y), X) for made in pair)
        assert (np.argsort(ours, kind="stable") == np.argsort(theirs, kind="stable")).all()


def test_the_top_of_a_ranker_is_the_budget():
    made = {one.name: one.make() for one in lineup(Settings("dcg@30", budget=30), 300)}
    assert made["TopPushK"].k == 30
    assert made["AccuracyAtTop"].top_share == made["PatMat"].top_share == made["Grill"].top_share == 0.1
    assert made["TauFPL"].negative_share == 0.1
    assert made["PatMat"].negative_share is None  # that would be another loss
    assert made["GradientBoostingRanker"].negative_share is None


@pytest.mark.parametrize("statistic", ["auc", "dcg@5", "precision@5"])
def test_rank_rls_by_cross_validation_for_every_statistic(statistic):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3 == 0
    found = next(one for one in lineup(Settings(statistic), 40) if one.name == "RankRLSCV")
    assert np.isfinite(ranking_scores(found.make().fit(X, y), X)).all()


def test_other_packages_take_part_when_installed(monkeypatch):
    wanted = {"linear SVM", "random forest", "gradient boosting", "LightGBM", "LightGBM lambdarank"}
    wanted |= {"XGBoost", "XGBoost lambdarank"}
    missing = {
        name
        for name in wanted
        for package in ("lightgbm", "xgboost")
        if package in name.lower() and find_spec(package) is None
    }
    assert wanted - missing <= set(_names())
    monkeypatch.setattr(contenders, "find_spec", lambda name: None)
    assert not {name for name in _names() if "LightGBM" in name or "XGBoost" in name}


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_lambdarank_learns_within_queries(engine):
    pytest.importorskip(engine)
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(200, 3)), rng.permutation(np.repeat(np.arange(4), 50))
    # Queries differ in their level, which says nothing about the order within them.
    grades = np.clip(np.round(X[:, 0] + rng.normal(scale=0.3, size=200) + 1), 0, 3).astype(int)
    X[:, 1] = qid
    ranker = contenders.LambdaRank(engine, k=10).fit(X, grades, qid=qid)
    assert statistics.get("ndcg@10")(grades, ranker.decision_function(X), qid=qid) > 0.9


def test_lists_too_long_for_lightgbm_are_said(monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(contenders, "LONGEST_FOR_LIGHTGBM", 10)
    with pytest.raises(ValueError, match="10 items a list"):
        contenders.LambdaRank().fit(np.zeros((11, 1)), np.arange(11) % 2)


def test_reranking_the_whole_list_is_no_reranking():
    assert [name for name in _names(top=40, rows=100) if "rerank" in name] == [
        "rerank the top 40",
        "rerank the top 80",
    ]
    assert not [name for name in _names(top=40, rows=40) if "rerank" in name]


@pytest.mark.parametrize("base", BASES)
def test_bases(base):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3 == 0
    fitted = make_base(Settings(base=base)).fit(X, y)
    assert len(ranking_scores(fitted, X)) == 60
    names = _names(base=base)
    assert BASES[base] in names
    assert BASELINE in names


def test_settings_reach_the_ranker():
    made = make_reranker(Settings("auc", top=7, time_limit=3.0, seed=5))
    assert made.top == 7
    assert made.time_limit == 3.0
    assert type(made.reranker).__name__ == RERANKER
    assert made.reranker.statistic == "auc"
    assert made.reranker.random_state == 5


def test_unfitted_and_cloneable():
    for contender in lineup(Settings(), 1000):
        made = contender.make()
        assert type(clone(made)) is type(made)
        assert not [name for name in vars(made) if name.endswith("_")]
