"""`TopPush`, `TopPushK`, `TauFPL`: against Clarabel, each other and brute force."""

import numpy as np
import pytest

import push_reference as reference
from toprank.control import Status
from toprank.rankers.infinite_push import InfinitePush
from toprank.rankers.parts.top_push import ZeroOptimumWarning
from toprank.rankers.top_push import TauFPL, TopPush, TopPushK

LOSSES = ["squared_hinge", "logistic", "hinge"]
quiet = pytest.mark.filterwarnings("ignore::toprank.rankers.parts.top_push.ZeroOptimumWarning")


def data(seed=0, m=20, n=40, d=4, shift=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m + n, d))
    X[:m] += shift
    return X, np.r_[np.ones(m, dtype=int), np.zeros(n, dtype=int)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_agree_with_clarabel(loss, C):
    X, y = data()
    options = {"C": C, "loss": loss, "tol": 1e-8}
    for ranker, k in (
        (TopPush(**options), 1),
        (TopPushK(k=6, **options), 6),
        (TauFPL(negative_share=0.3, **options), 12),
    ):
        value, w = reference.solve(X[y == 1], X[y == 0], C=C, loss=loss, k=k)
        ranker.fit(X, y)
        assert ranker.outcome_.status is Status.OPTIMAL
        assert ranker.outcome_.value == pytest.approx(value, rel=1e-6)
        assert ranker.outcome_.bound == pytest.approx(value, rel=1e-6)
        assert ranker.coef_ == pytest.approx(w, abs=1e-3)


def test_the_hinge_is_the_infinite_push():
    X, y = data(1)
    assert TopPush(C=5.0, loss="hinge").fit(X, y).coef_ == pytest.approx(InfinitePush(C=5.0).fit(X, y).coef_)


def test_one_highest_negative_is_top_push():
    X, y = data(2)
    for loss in LOSSES:
        one = TopPushK(k=1, C=5.0, loss=loss, tol=1e-9).fit(X, y)
        assert one.coef_ == pytest.approx(TopPush(C=5.0, loss=loss, tol=1e-9).fit(X, y).coef_, abs=1e-4)


def test_all_negatives_compare_with_their_mean():
    X, y = data(3)
    k = int((y == 0).sum())
    everything = TauFPL(negative_share=1.0, C=5.0, tol=1e-9).fit(X, y)
    assert everything.coef_ == pytest.approx(TopPushK(k=k, C=5.0, tol=1e-9).fit(X, y).coef_, abs=1e-6)
    assert everything.coef_ == pytest.approx(TopPushK(k=10 * k, C=5.0, tol=1e-9).fit(X, y).coef_, abs=1e-6)


def test_a_softer_threshold_has_an_answer_where_the_highest_has_none():
    rng = np.random.default_rng(4)
    X = np.vstack([0.3 * rng.normal(size=(30, 2)) + [1.0, 0.0], 2.0 * rng.normal(size=(300, 2))])
    y = np.r_[np.ones(30, dtype=int), np.zeros(300, dtype=int)]
    with pytest.warns(ZeroOptimumWarning) as caught:
        TopPush().fit(X, y)
    tau = float(str(caught[0].message).split("negative_share=")[1].split(")")[0])
    advised = TauFPL(negative_share=tau).fit(X, y)  # warnings are errors here: the advice holds
    assert not advised.zero_is_optimal_
    assert advised.outcome_.value < 1.0


@pytest.mark.parametrize(
    "ranker, match",
    [
        (TopPush(loss="exponential"), "loss='exponential'"),
        (TopPushK(k=0), "k=0"),
        (TauFPL(negative_share=0.0), "negative_share=0.0"),
        (TauFPL(negative_share=1.1), "negative_share=1.1"),
    ],
)
def test_impossible_parameters_are_refused(ranker, match):
    with pytest.raises(ValueError, match=match):
        ranker.fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("loss", LOSSES)
def test_separable_data_and_a_large_C(loss):
    X, y = data(5, m=5, n=10, d=30)
    ranker = TopPush(C=1e5, loss=loss).fit(X, y)
    assert np.isfinite(ranker.coef_).all()
    scores = X @ ranker.coef_
    assert scores[y == 1].min() > scores[y == 0].max()
