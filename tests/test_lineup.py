import numpy as np
import pytest
from sklearn.base import clone

import toprank
from toprank.base import BaseRanker, ranking_scores
from toprank.lineup import BASELINE, BASES, RERANKER, Settings, lineup, make_base, make_reranker


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
    assert set(rankers) <= set(made)


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
