"""`RankingForest`: its trees, what they agree on, seeds and threads, hostile rows."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from toprank import DirectRanker, RankingForest, RankThenRerank, TreeRank
from toprank.control import SearchStoppedWarning, Status
from toprank.trees.nodes import PackedTrees


def data(n=300, seed=0, d=6):
    X, y = make_classification(
        n, d, n_informative=4, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=seed
    )
    return X, y


def by_tree(ranker, X):
    return ranker._by_tree(np.asarray(X, dtype=float))


def test_as_good_as_a_random_forest():
    X, y = data(1200)
    ours = RankingForest(random_state=0).fit(X[:600], y[:600]).decision_function(X[600:])
    theirs = RandomForestClassifier(random_state=0).fit(X[:600], y[:600]).predict_proba(X[600:])[:, 1]
    assert roc_auc_score(y[600:], ours) > roc_auc_score(y[600:], theirs) - 0.005


@pytest.mark.parametrize("splitter", [None, DecisionTreeClassifier(max_depth=2)])
def test_the_same_seed_gives_the_same_forest_whatever_the_threads(splitter):
    X, y = data()
    made = [
        RankingForest(12, splitter=splitter, max_depth=4, n_jobs=jobs, random_state=3).fit(X, y)
        for jobs in (1, 2, 3)
    ]
    for one in made[1:]:
        np.testing.assert_array_equal(made[0].decision_function(X), one.decision_function(X))
    other = RankingForest(12, splitter=splitter, max_depth=4, random_state=4).fit(X, y)
    assert (other.decision_function(X) != made[0].decision_function(X)).any()


def test_one_tree_of_all_rows_and_features_is_tree_rank():
    X, y = data()
    options = {"max_depth": 5, "min_samples_leaf": 4}
    forest = RankingForest(
        1,
        max_features=None,
        bootstrap=False,
        aggregation="borda",
        leaf_order="tree",
        max_bins=None,
        **options,
    ).fit(X, y)
    tree = TreeRank(**options).fit(X, y)
    inner = tree.tree_.inner
    np.testing.assert_array_equal(forest.trees_.numbers[inner], tree.tree_.thresholds[inner])
    np.testing.assert_array_equal(
        np.unique(forest.decision_function(X), return_inverse=True)[1],
        np.unique(tree.decision_function(X), return_inverse=True)[1],
    )


def test_what_the_trees_say_by_hand():
    """Six rows, two leaves of one tree: 2 of 2 positive and 1 of 4."""
    X, y = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]), np.array([0, 0, 0, 1, 1, 1])
    X[3] = 0.5
    options = {"max_depth": 1, "max_features": None, "bootstrap": False}
    # The root has 3 of 6; shrinkage 6 halves the way from it: 1/2 + (1 - 1/2)/2 and 1/2 + (1/4 - 1/2)/2.
    rate = RankingForest(1, shrinkage=6, **options).fit(X, y)
    assert sorted(set(by_tree(rate, X)[:, 0])) == pytest.approx([0.375, 0.75])
    plain = RankingForest(1, shrinkage=0, **options).fit(X, y)
    assert sorted(set(by_tree(plain, X)[:, 0])) == pytest.approx([0.25, 1.0])
    # The lower leaf holds 4 of 6 rows, half of them below a row on average.
    borda = RankingForest(1, aggregation="borda", **options).fit(X, y)
    assert sorted(set(by_tree(borda, X)[:, 0])) == pytest.approx([2 / 6, 5 / 6])
    places = RankingForest(1, aggregation="mean_rank", **options).fit(X, y)
    assert sorted(set(by_tree(places, X)[:, 0])) == [0.0, 1.0]


def test_scores_are_the_mean_over_the_trees():
    X, y = data()
    for aggregation in ("mean_rate", "mean_rank", "borda"):
        ranker = RankingForest(7, aggregation=aggregation, random_state=0).fit(X, y)
        expected = by_tree(ranker, X).mean(axis=1)
        np.testing.assert_allclose(ranker.decision_function(X) - ranker.intercept_, expected)
        assert 0 <= expected.min() < expected.max() <= 1


def test_consensus_puts_a_row_where_fewest_trees_object():
    X, y = data(200)
    ranker = RankingForest(9, aggregation="consensus", n_reference=12, random_state=0).fit(X, y)
    fresh = X[:40]
    values, reference = by_tree(ranker, fresh), ranker._reference
    assert reference.shape == (12, 9)
    scores = ranker.decision_function(fresh) - ranker.intercept_
    for row, score in zip(values, scores, strict=True):
        costs = []
        for place in range(13):
            above, below = reference[:place], reference[place:]
            costs.append(int((row > above).sum() + (row < below).sum()))
        best = np.flatnonzero(np.array(costs) == min(costs))
        assert 12 - score + 0.49 * row.mean() == pytest.approx((best[0] + best[-1]) / 2)
    assert roc_auc_score(y, ranker.decision_function(X)) > 0.9


def test_positives_and_negatives_are_drawn_apart():
    """Two positives in 400 rows: every tree has both classes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.zeros(400, dtype=int)
    y[:2] = 1
    X[:2] += 3
    ranker = RankingForest(30, random_state=0).fit(X, y)
    sizes = np.diff(np.append(ranker.trees_.roots, len(ranker.trees_.links)))
    assert (sizes > 1).all()
    assert set(ranker.first(X, 2)) == {0, 1}


def test_features_are_drawn_at_either_place():
    X, y = data(200)
    tree = DecisionTreeClassifier(max_depth=2)
    node = RankingForest(4, splitter=tree, max_features=2, max_depth=3, random_state=0).fit(X, y)
    inside = RankingForest(
        4, splitter=tree, randomize="splitter", max_features=2, max_depth=3, random_state=0
    ).fit(X, y)
    for forest, columns, own in ((node, 2, None), (inside, X.shape[1], 2)):
        splitters = [one for grown in forest.trees_ for one in grown.splitters if one is not None]
        assert splitters
        assert {len(one.columns) for one in splitters} == {columns}
        assert {one.estimator.max_features for one in splitters} == {own}
    with pytest.raises(ValueError, match="randomize='splitter': LogisticRegression has no max_features"):
        RankingForest(splitter=LogisticRegression(), randomize="splitter").fit(X, y)


def test_a_forest_looks_at_features_that_vary():
    """Nine constant columns: the one that is not is found in every node."""
    X, y = data(150, d=4)
    wide = np.hstack([np.zeros((150, 9)), X[:, :1]])
    ranker = RankingForest(5, max_features=1, random_state=0).fit(wide, y)
    assert ranker.feature_importances_[-1] == 1.0


def test_many_bins_are_one_code_for_each_value():
    X, y = data(150)
    whole, binned = (RankingForest(5, max_bins=bins, random_state=0).fit(X, y) for bins in (None, 150))
    np.testing.assert_array_equal(whole.decision_function(X), binned.decision_function(X))
    coarse = RankingForest(5, max_bins=3, random_state=0).fit(X, y)
    for feature in range(X.shape[1]):
        inner = coarse.trees_.links[:, 0] >> 1 == feature
        assert len(set(coarse.trees_.numbers[inner])) <= 2 + 1  # two cuts, and the middle of a gap


def test_weights_count_and_their_scale_does_not():
    X, y = data()
    weight = np.where(X[:, 0] > 0, 4.0, 1.0)
    one, other = (RankingForest(5, random_state=0).fit(X, y, scale * weight) for scale in (1.0, 0.25))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X))
    plain = RankingForest(5, random_state=0).fit(X, y)
    assert (plain.decision_function(X) != one.decision_function(X)).any()
    # Rows without weight are not there.
    none = weight * (np.arange(len(y)) % 3 > 0)
    kept = none > 0
    few = RankingForest(5, random_state=0).fit(X[kept], y[kept], none[kept])
    np.testing.assert_allclose(
        RankingForest(5, random_state=0).fit(X, y, none).decision_function(X) - few.decision_function(X),
        0,
        atol=1e-9,
    )


def test_hostile_rows():
    y = (np.arange(100_000) % 11 == 0).astype(int)
    same = RankingForest(3, random_state=0).fit(np.ones((len(y), 3)), y)
    assert np.ptp(same.decision_function(np.ones((4, 3)))) == 0
    assert len(same.trees_.links) == 3
    one = RankingForest(5, random_state=0).fit([[0.0], [1.0], [2.0], [np.nan]], [0, 0, 1, 1])
    assert set(one.first([[0.0], [1.0], [2.0], [np.nan]], 2)) <= {2, 3}
    stump = RankingForest(5, max_depth=1, random_state=0).fit(*data())
    assert len(stump.trees_.links) == 15


def test_the_clock_and_the_callback_leave_some_trees():
    X, y = data()
    heard = []
    with pytest.warns(SearchStoppedWarning):
        ranker = RankingForest(50, callback=lambda p: heard.append(p) or False, random_state=0).fit(X, y)
    assert ranker.outcome_.status is Status.STOPPED
    assert len(ranker.trees_.roots) == ranker.outcome_.iterations == 1
    assert heard[0].phase == "trees"


def test_the_top_of_a_forest_can_be_reranked():
    X, y = data(400)
    quick = DirectRanker(n_restarts=1)
    reranked = RankThenRerank(RankingForest(20, random_state=0), quick, top=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # cut short, or the forest's own order is better
        reranked.fit(X, y)
    assert sorted(reranked.rank(X)) == list(range(400))


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number of at least 1"),
        ({"max_features": "most"}, "max_features='most' is not one of 'sqrt', 'log2'"),
        ({"max_features": 1.5}, "max_features=1.5: a share is above 0"),
        ({"aggregation": "vote"}, "aggregation='vote' is not one of"),
        ({"shrinkage": -1}, "shrinkage=-1 must be"),
        ({"max_bins": 1}, "max_bins=1 must be a whole number of at least 2"),
    ],
)
def test_wrong_parameters_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        RankingForest(**wrong).fit(*data(30))


def test_a_forest_keeps_sixteen_bytes_a_node():
    X, y = data(400)
    trees = RankingForest(5, random_state=0).fit(X, y).trees_
    kept = sum(part.nbytes for part in (trees.roots, trees.links, trees.numbers))
    assert kept <= 16 * len(trees.numbers) + 8 * 5


def test_joined_trees_score_as_one_after_the_other():
    X, y = data(60)
    one, other = (RankingForest(3, random_state=seed).fit(X, y).trees_ for seed in (0, 1))
    expected = one.total(X) + other.total(X)
    joined = PackedTrees.joined([one, other, one])
    np.testing.assert_allclose(joined.total(X), expected + one.total(X), rtol=1e-12)
    assert PackedTrees.joined([]).total(X).tolist() == [0.0] * 60
