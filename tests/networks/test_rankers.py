"""What the three networks learn, and what else is made of them."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from toprank import DirectLossRanker, ExactRanker, RankNet, RankThenRerank, SoDeepRanker, statistics
from toprank.control import Status

X, Y = make_moons(500, noise=0.25, random_state=0)
LEARN, JUDGE = slice(0, 300), slice(300, 500)
SMALL = {"hidden_layers": (8,), "random_state": 0}
NETWORKS = {
    **{f"RankNet {loss}": RankNet(loss, **SMALL) for loss in (
        "cross_entropy", "hinge", "squared_hinge", "p_norm", "top_push", "at_top", "ndcg"
    )},
    "RankNet difference": RankNet(target="difference", **SMALL),
    "RankNet localized": RankNet(negative_share=0.3, **SMALL),
    "direct loss": DirectLossRanker(**SMALL),
    "SoDeep spearman": SoDeepRanker("spearman", sorter="sigmoid", **SMALL),
    "SoDeep learned": SoDeepRanker(**SMALL),
    "SoDeep neural sort": SoDeepRanker(sorter="neural_sort", **SMALL),
    "SoDeep projection": SoDeepRanker("mean_rank", sorter="projection", temperature=0.5, **SMALL),
    "SoDeep recall": SoDeepRanker("recall", sorter="sigmoid", k=60, **SMALL),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_it_learns_what_no_linear_score_can(name):
    """The best linear score of two moons has an AUC of about 0.93 here."""
    ranker = NETWORKS[name].fit(X[LEARN], Y[LEARN])
    held = statistics.get("auc")(Y[JUDGE], ranker.decision_function(X[JUDGE]))
    # The AUC is no aim of those that look at the top alone.
    at_top = any(word in name for word in ("top", "ndcg", "recall"))
    assert held > (0.85 if at_top else 0.94)


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **o: RankNet(**SMALL, **o),
        lambda **o: RankNet(target="difference", **SMALL, **o),
        lambda **o: SoDeepRanker("spearman", sorter="sigmoid", **SMALL, **o),
    ],
    ids=["order", "difference", "spearman"],
)
def test_grades_and_responses_within_queries(kind, make):
    rng = np.random.default_rng(0)
    rows, qid = rng.normal(size=(400, 3)), rng.permutation(np.repeat(np.arange(20), 20))
    response = rows[:, 0] ** 2 + rng.normal(scale=0.2, size=400)
    y = np.digitize(response, [0.3, 1.0, 2.0]) if kind == "ordinal" else response
    # Queries differ in their level, which says nothing about the order within them.
    level = qid.astype(int) % 3 if kind == "ordinal" else 5.0 * qid
    ranker = make(levels=kind, max_iter=40).fit(rows, y + level, qid=qid)
    assert ranker.kind_ == kind
    found = statistics.get("c_index")(y + level, ranker.decision_function(rows), qid=qid)
    assert found > 0.75


def test_a_network_as_the_base_and_its_last_layer_as_features_of_a_proved_head():
    net = RankNet(hidden_layers=(8, 2), random_state=0).fit(X[LEARN], Y[LEARN])
    head = make_pipeline(FrozenEstimator(net), ExactRanker("dcg", time_limit=30))
    ranker = RankThenRerank(net, head, top=120, cv="prefit", pass_score=False, random_state=0)
    ranker.fit(X[LEARN], Y[LEARN])
    assert ranker.base_ is net
    proved = ranker.reranker_[-1]
    assert proved.n_features_in_ == 2
    assert proved.certificate_.status is Status.OPTIMAL
    top = ranker.top_rows_
    # The network's own order of these rows is one linear score of the same features: it cannot be better.
    own = statistics.get("dcg")(Y[LEARN][top], net.decision_function(X[LEARN][top]))
    assert proved.certificate_.value >= own - 1e-9
    np.testing.assert_allclose(
        net.transform(X[LEARN]) @ net.weights_["4.weight"][0] + net.weights_["4.bias"] + net.intercept_,
        net.decision_function(X[LEARN]),
        atol=1e-9,
    )


def test_a_network_is_a_base_like_any_other():
    ranker = RankThenRerank(RankNet(**SMALL), top=120, cv=3, time_limit=20, random_state=0).fit(
        X[LEARN], Y[LEARN]
    )
    assert ranker.passes_score_
    assert statistics.get("auc")(Y[JUDGE], ranker.decision_function(X[JUDGE])) > 0.93
