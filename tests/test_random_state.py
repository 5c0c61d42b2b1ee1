"""Whatever numpy draws random numbers with will do as a random_state, wherever random numbers are drawn."""

import numpy as np
import pytest

import toprank
from toprank.datasets import half_splits, split_rows
from toprank.statistics.inference import bootstrap_difference
from toprank.testing.rankers import check_random_state

KERNEL = {"kernel": "rbf", "n_components": 8}
# Configurations that draw random numbers where the default one does not.
DRAWING = [
    toprank.RankSVM(approximation="nystroem", **KERNEL),
    toprank.RankSVM(approximation="fourier", **KERNEL),
    toprank.RankRLS(approximation="nystroem", **KERNEL),
    toprank.RankRLS(approximation="fourier", **KERNEL),
    toprank.InfinitePush(approximation="nystroem", **KERNEL),
    toprank.InfinitePush(approximation="fourier", **KERNEL),
    toprank.AccuracyAtTop(kernel="rbf", approximation="nystroem", n_components=8, solver="local"),
    toprank.RankerCV(toprank.RankSVM(approximation="nystroem", **KERNEL), Cs=[0.1, 1.0], cv=2),
    toprank.RankThenRerank(toprank.RankSVM(), toprank.DirectRanker(n_restarts=1)),
]
KINDS = [lambda: 3, lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)]


# On the check's noisy data w = 0 is the optimum of the push family, and it says so.
@pytest.mark.filterwarnings("ignore::toprank.rankers.parts.top_push.ZeroOptimumWarning")
@pytest.mark.parametrize("ranker", DRAWING, ids=repr)
def test_rankers_that_draw(ranker):
    check_random_state(ranker)


@pytest.mark.parametrize("kind", KINDS)
def test_splits_and_resampling(kind):
    y = np.arange(40) % 3 == 0
    scores = np.random.default_rng(0).normal(size=(2, 40))
    draws = [
        lambda: split_rows(y, random_state=kind()).test.tolist(),
        lambda: [split.test.tolist() for split in half_splits(y, repeats=2, random_state=kind())],
        lambda: bootstrap_difference("auc", y, *scores, random_state=kind()),
    ]
    for draw in draws:
        assert draw() == draw()


def test_one_generator_goes_on_from_split_to_split():
    y, rng = np.arange(40) % 3 == 0, np.random.default_rng(0)
    first, second = ([split.test.tolist() for split in half_splits(y, random_state=rng)] for _ in range(2))
    assert first != second
    assert first == [split.test.tolist() for split in half_splits(y, random_state=0)]
