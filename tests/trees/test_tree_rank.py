"""`TreeRank`: the two identities, trees followed by hand, pruning, local splits, hostile rows."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import toprank
from toprank import TreeRank
from toprank.control import SearchStoppedWarning, Status
from toprank.trees.pruning import critical_prices, pruned


def noisy(n=120, d=3, seed=0, values=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if values is None else rng.integers(values, size=(n, d)).astype(float)
    y = (X[:, 0] - X[:, -1] ** 2 + rng.normal(size=n) > -0.5).astype(int)
    y[:2] = 0, 1
    return X, y


def children(tree, node):
    """The rows' way, from the arrays alone: (first child, second child)."""
    return tree.links[node, 1], tree.links[node, 1] + 1


def rows_of(tree, X):
    """The training rows of every node, walked one by one."""
    found = {node: [] for node in range(len(tree.links))}
    for row, x in enumerate(X):
        node = 0
        found[node].append(row)
        while tree.links[node, 0] >= 0:
            first, second = children(tree, node)
            node = first if x[tree.links[node, 0]] <= tree.thresholds[node] else second
            found[node].append(row)
    return {node: np.array(rows, dtype=int) for node, rows in found.items()}


def best_gain(X, y, weight, n_pos, n_neg):
    """a beta(C) - b alpha(C), maximised over all thresholds and both sides, by looking at each."""
    a, b = weight[y == 0].sum() / n_neg, weight[y == 1].sum() / n_pos
    best = 0.0
    for column in X.T:
        for value in np.unique(column)[:-1]:
            inside = column <= value
            for part in (inside, ~inside):
                beta = weight[part & (y == 1)].sum() / n_pos
                alpha = weight[part & (y == 0)].sum() / n_neg
                best = max(best, a * beta - b * alpha)
    return best


# -- the two identities -----------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("values", [None, 4])
def test_every_split_is_the_best_and_gains_what_it_says(values, weighted):
    X, y = noisy(values=values)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    ranker = TreeRank(max_depth=4, min_samples_leaf=1).fit(X, y, weight if weighted else None)
    tree, n_pos, n_neg = ranker.tree_, weight[y == 1].sum(), weight[y == 0].sum()
    rows = rows_of(tree, X)
    assert len(tree.inner) > 5
    for node in tree.inner:
        here = rows[node]
        assert tree.gains[node] == pytest.approx(best_gain(X[here], y[here], weight[here], n_pos, n_neg))
    # Twice the AUC each gains, in sum: the area under the piecewise linear curve.
    auc = roc_auc_score(y, ranker.decision_function(X), sample_weight=weight)
    assert auc == pytest.approx(0.5 + tree.gains.sum() / 2)
    assert ranker.outcome_.value == pytest.approx(auc)
    alpha, beta = ranker.roc_
    assert np.trapezoid(beta, alpha) == pytest.approx(auc)
    assert len(alpha) == ranker.n_leaves_ + 1


def test_a_split_is_classification_with_equal_weight_for_both_classes():
    """Among all thresholds, the one with the least weighted error, weights 1/n+ and 1/n- of the node."""
    X, y = noisy(60, 2)
    tree = TreeRank(max_depth=3, min_samples_leaf=1).fit(X, y).tree_
    rows = rows_of(tree, X)
    for node in tree.inner:
        here = rows[node]
        positive = y[here] == 1
        cost = np.where(positive, 1 / positive.sum(), 1 / (~positive).sum())
        errors = []
        for column in X[here].T:
            for value in np.unique(column)[:-1]:
                inside = column <= value
                errors += [cost[inside != positive].sum(), cost[inside == positive].sum()]
        left, _ = tree.left_and_right(node)
        said = np.isin(here, rows[left])
        assert cost[said != positive].sum() == pytest.approx(min(errors))


def test_a_stump_of_scikit_learn_finds_splits_as_good():
    """An independent search: Gini and KS agree where one feature separates best, whatever the weights."""
    X, y = noisy(200, 2, seed=3)
    X[:, 1] = np.where(y == 1, 2.0, 0.0) + np.random.default_rng(0).uniform(-0.9, 0.9, 200)
    tree = TreeRank(max_depth=1).fit(X, y).tree_
    stump = DecisionTreeClassifier(max_depth=1, class_weight="balanced").fit(X, y).tree_
    assert tree.links[0, 0] == stump.feature[0] == 1
    assert tree.thresholds[0] == pytest.approx(stump.threshold[0])


# -- by hand ------------------------------------------------------------------------------------


def test_followed_by_hand():
    """Six rows, three splits, and the text of the tree they make."""
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    y = np.array([1, 1, 0, 1, 0, 0])
    ranker = TreeRank(min_samples_leaf=1).fit(X, y)
    tree = ranker.tree_
    # x <= 2 takes 2 of 3 positives and no negative: 2/3; x <= 4 takes 3 of 3 and 1 of 3: 2/3 as well. The
    # first wins.
    assert tree.thresholds[0] == 2.5
    assert tree.gains[0] == pytest.approx(2 / 3)
    left, right = tree.left_and_right(0)
    assert tree.masses[left].tolist() == [2, 0, 0, 0]
    assert tree.masses[right].tolist() == [1, 3, 2, 0]
    # Of 3, 4, 5, 6 only 4 is positive. a = 1, b = 1/3: x <= 4 gains 1/3 - 1/3 * 1/3 = 2/9.
    assert tree.thresholds[right] == 4.5
    assert tree.gains[right] == pytest.approx(2 / 9)
    # Of 3 and 4: a = 1/3, b = 1/3; x > 3 gains 1/9.
    assert tree.gains.sum() == pytest.approx(2 / 3 + 2 / 9 + 1 / 9)
    assert ranker.rank(X).tolist() == [0, 1, 3, 2, 4, 5]
    assert ranker.outcome_.value == pytest.approx(1.0)
    assert ranker.feature_importances_.tolist() == [1.0]
    assert ranker.export_text(["size"]) == (
        "size <= 2.5\n|   leaf 1: 2 of 2 positive\nsize > 2.5\n|   size <= 4.5\n"
        "|   |   size > 3.5\n|   |   |   leaf 2: 1 of 1 positive\n|   |   size <= 3.5\n"
        "|   |   |   leaf 3: 0 of 1 positive\n|   size > 4.5\n|   |   leaf 4: 0 of 2 positive"
    )


# Positives on two opposite squares, one of them larger: an XOR that a first threshold can see.
CHEQUERS = [
    (1, 1, 1),
    (1, 2, 1),
    (2, 1, 1),
    (2, 2, 1),
    (-1, -1, 1),
    (-1, 1, 0),
    (-2, 2, 0),
    (1, -1, 0),
    (2, -2, 0),
]


def test_a_tree_ranks_chequers_perfectly_and_no_line_does():
    X, y = np.array(CHEQUERS, dtype=float)[:, :2], np.array(CHEQUERS)[:, 2]
    # From left to right (1, -1), which went left with the larger square, is above (-1, -1): 2 of 20 pairs.
    assert TreeRank(min_samples_leaf=1).fit(X, y).outcome_.value == pytest.approx(1 - 2 / 20)
    ranker = TreeRank(min_samples_leaf=1, leaf_order="rate").fit(X, y)
    assert ranker.outcome_.value == 1.0
    assert set(ranker.rank(X)[:5]) == set(np.flatnonzero(y))
    # All orders that a linear score can make: one angle between any two at which two rows swap.
    steps = [X[i] - X[j] for i, j in itertools.combinations(range(len(X)), 2) if (X[i] != X[j]).any()]
    turns = np.sort([np.arctan2(step[0], -step[1]) % np.pi for step in steps])
    middles = np.concatenate((turns, turns + np.pi)) + 1e-4
    linear = max(roc_auc_score(y, X @ [np.cos(t), np.sin(t)]) for t in middles)
    assert linear < 0.9


def test_balanced_chequers_need_a_splitter_that_sees_two_features():
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=2)) * 3)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    # No threshold gains anything: the tree is its root, and says so.
    plain = TreeRank(min_samples_leaf=1).fit(X, y)
    assert plain.n_leaves_ == 1
    assert plain.outcome_.value == 0.5
    assert len(set(plain.decision_function(X))) == 1
    two = TreeRank(DecisionTreeClassifier(max_depth=2, random_state=0), min_samples_leaf=1).fit(X, y)
    assert two.outcome_.value == 1.0
    assert two.depth_ == 1
    assert "DecisionTreeClassifier says yes" in two.export_text()


# -- splitters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "splitter", [LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)]
)
def test_any_classifier_splits_and_the_identity_holds(splitter):
    X, y = noisy(200)
    ranker = TreeRank(splitter, max_depth=3).fit(X, y)
    assert ranker.n_leaves_ > 2
    assert roc_auc_score(y, ranker.decision_function(X)) == pytest.approx(0.5 + ranker.tree_.gains.sum() / 2)
    rows = ranker.tree_.masses[ranker.tree_.leaves, :2].sum(axis=1)
    assert rows.min() >= ranker.min_samples_leaf
    assert rows.sum() == len(y)


def test_the_splitter_gets_half_the_weight_for_either_class():
    seen = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append((y, sample_weight))
            return super().fit(X, y, sample_weight=sample_weight)

    X, y = noisy(80)
    TreeRank(Spy(max_depth=1, random_state=0), max_depth=2).fit(X, y, np.linspace(1, 2, 80))
    assert len(seen) > 1
    for labels, weight in seen:
        assert weight[labels == 1].sum() == pytest.approx(weight[labels == 0].sum())
        assert weight.mean() == pytest.approx(1.0)


def test_a_splitter_without_weights_is_refused_by_name():
    X, y = noisy()
    with pytest.raises(ValueError, match="sample_weight: KNeighborsClassifier takes no weights"):
        TreeRank(KNeighborsClassifier()).fit(X, y)


def test_importances_need_a_splitter_that_has_some():
    X, y = noisy(200)
    shares = TreeRank(DecisionTreeClassifier(max_depth=2, random_state=0), max_depth=2).fit(X, y)
    assert shares.feature_importances_.sum() == pytest.approx(1.0)
    with pytest.raises(AttributeError, match="LogisticRegression has no feature_importances_"):
        _ = TreeRank(LogisticRegression(), max_depth=2).fit(X, y).feature_importances_


# -- pruning ------------------------------------------------------------------------------------


def subtrees(tree, node=0):
    """Every subtree with the same root, as the set of nodes that stay split."""
    if tree.links[node, 0] < 0:
        return [frozenset()]
    first, second = children(tree, node)
    kept = [{node} | a | b for a in subtrees(tree, first) for b in subtrees(tree, second)]
    return [frozenset(), *map(frozenset, kept)]


@pytest.mark.parametrize("seed", range(4))
def test_pruning_finds_the_best_of_all_subtrees(seed):
    X, y = noisy(60, 2, seed=seed)
    tree = TreeRank(max_depth=3, min_samples_leaf=1).fit(X, y).tree_
    every = subtrees(tree)
    assert len(every) > 10
    for price in [0.0, *np.quantile(tree.gains[tree.inner], [0.2, 0.5, 0.8]) / 2, 0.4]:
        found = pruned(tree, price)
        best = max(sum(tree.gains[list(one)]) / 2 - price * (len(one) + 1) for one in every)
        assert found.gains.sum() / 2 - price * len(found.leaves) == pytest.approx(best)
        assert found.masses[found.leaves, :2].sum() == len(y)


def test_critical_prices_go_from_all_to_nothing():
    X, y = noisy(150)
    tree = TreeRank(min_samples_leaf=3).fit(X, y).tree_
    prices = critical_prices(tree)
    sizes = [len(pruned(tree, price).leaves) for price in prices]
    assert sizes[0] == len(tree.leaves)
    assert sizes[-1] == 1
    assert (np.diff(prices) > 0).all()
    assert (np.diff(sizes) <= 0).all()


def test_the_price_of_a_leaf_by_cross_validation():
    """One step with noise: a whole tree follows the noise, the pruned one the step."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = (X[:, 1] > 0.2) ^ (rng.random(400) < 0.2)
    whole = TreeRank(min_samples_leaf=1, max_depth=None).fit(X, y)
    chosen = TreeRank(min_samples_leaf=1, max_depth=None, leaf_penalty="cv", random_state=0).fit(X, y)
    assert chosen.leaf_penalty_ > 0
    assert 1 < chosen.n_leaves_ < whole.n_leaves_ / 10
    assert chosen.tree_.links[0, 0] == 1
    assert chosen.tree_.thresholds[0] == pytest.approx(0.2, abs=0.1)
    again = TreeRank(min_samples_leaf=1, max_depth=None, leaf_penalty=chosen.leaf_penalty_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), chosen.decision_function(X))


def test_noise_is_pruned_away():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    assert TreeRank(leaf_penalty="cv", random_state=0).fit(X, y).n_leaves_ <= 3


def test_too_few_positives_for_folds():
    with pytest.raises(ValueError, match="cv=5 folds cannot be made"):
        TreeRank(leaf_penalty="cv").fit([[0.0], [1.0], [2.0]], [0, 0, 1])


# -- the top ------------------------------------------------------------------------------------


def local_auc(order, top):
    """By the definition: a positive among the first, above a negative."""
    n_pos, n_neg = sum(order), len(order) - sum(order)
    pairs = sum(
        1
        for i, j in itertools.product(range(len(order)), repeat=2)
        if order[i] and not order[j] and i < j and i < top
    )
    return pairs / (n_pos * n_neg)


def mean_over_ties(groups, top):
    """The mean over all orders of rows in the same leaf, leaves best first."""
    orders = [sorted(set(itertools.permutations(group))) for group in groups]
    return np.mean(
        [local_auc([x for part in parts for x in part], top) for parts in itertools.product(*orders)]
    )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), min_size=4, max_size=9),
    st.integers(1, 9),
)
@settings(max_examples=60)
def test_local_splits_are_the_best_and_the_value_is_the_local_auc(cells, top):
    X = np.array([[a, b] for a, b, _ in cells], dtype=float)
    y = np.array([c for *_, c in cells], dtype=int)
    if y.min() == y.max():
        return
    top = min(top, len(y))
    ranker = TreeRank(max_depth=1, min_samples_leaf=1, top=top).fit(X, y)
    candidates = [[y.tolist()]]
    for column in X.T:
        for value in np.unique(column)[:-1]:
            parts = [y[column <= value].tolist(), y[column > value].tolist()]
            candidates += [parts, parts[::-1]]
    values = [mean_over_ties(groups, top) for groups in candidates]
    assert ranker.outcome_.value == pytest.approx(max(values))
    assert ranker.tree_.gains[0] == pytest.approx(2 * (max(values) - values[0]))


def test_what_is_below_the_top_is_not_split():
    X, y = noisy(400)
    ranker = TreeRank(top=40, min_samples_leaf=3).fit(X, y)
    before = ranker.tree_.masses[ranker.tree_.inner, 2:].sum(axis=1)
    assert before.max() < 40
    local = toprank.statistics.get("local_auc@40")
    assert ranker.outcome_.value == pytest.approx(local(y, ranker.decision_function(X), ties="mean"))
    plain = TreeRank(min_samples_leaf=3, max_depth=ranker.depth_).fit(X, y)
    assert ranker.outcome_.value >= local(y, plain.decision_function(X), ties="mean") - 0.02
    assert TreeRank(top="10%").fit(X, y).ranker_tags.at_top
    with pytest.raises(ValueError, match="cut-off of top"):
        TreeRank(top="half").fit(X, y)


# -- hostile rows ---------------------------------------------------------------------------------


def test_leaves_of_one_class_are_left_alone():
    X, y = np.arange(20.0)[:, None], (np.arange(20) >= 10).astype(int)
    ranker = TreeRank(min_samples_leaf=1, max_depth=None).fit(X, y)
    assert ranker.n_leaves_ == 2
    assert ranker.tree_.thresholds[0] == 9.5


def test_depth_one_is_one_split():
    X, y = noisy()
    ranker = TreeRank(max_depth=1).fit(X, y)
    assert (ranker.n_leaves_, ranker.depth_) == (2, 1)


def test_a_leaf_has_its_rows():
    X, y = noisy(100)
    tree = TreeRank(min_samples_leaf=17, max_depth=None).fit(X, y).tree_
    assert tree.masses[tree.leaves, :2].sum(axis=1).min() >= 17


def test_constant_features_and_many_equal_rows():
    y = (np.arange(100_000) % 7 == 0).astype(int)
    X = np.full((len(y), 2), 3.25)
    ranker = TreeRank().fit(X, y)
    assert ranker.n_leaves_ == 1
    assert ranker.outcome_.value == 0.5
    assert ranker.export_text() == f"leaf 1: {y.sum()} of 100000 positive"
    assert np.ptp(ranker.decision_function(X[:5])) == 0
    assert ranker.feature_importances_.tolist() == [0.0, 0.0]
    X[y == 1, 1] = 4.0
    assert TreeRank().fit(X, y).outcome_.value == 1.0


def test_thresholds_between_neighbouring_floats_and_huge_numbers():
    below = np.nextafter(1.0, 0.0)
    X = np.array([[below], [1.0], [-1.7e308], [1.7e308]])
    y = np.array([0, 1, 0, 1])
    ranker = TreeRank(min_samples_leaf=1).fit(X, y)
    assert ranker.outcome_.value == 1.0
    assert ranker.rank(X).tolist() == [1, 3, 0, 2]


def test_missing_values_go_where_they_gain_most():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [4.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    ranker = TreeRank(min_samples_leaf=1).fit(X, y)
    assert ranker.outcome_.value == 1.0
    assert ranker.n_leaves_ == 2  # one split: 4 and what is missing above the rest
    alone = TreeRank(min_samples_leaf=1).fit(X, [0, 0, 0, 1, 1, 0])
    assert alone.export_text(["x"]).startswith("x is missing\n|   leaf 1: 2 of 2 positive\nx is known")
    assert alone.rank([[-9.0], [np.nan], [9.0]]).tolist() == [1, 0, 2]
    # None was missing: with the larger part.
    plain = TreeRank(min_samples_leaf=1).fit(X[[0, 1, 2, 5]], [0, 0, 0, 1])
    np.testing.assert_array_equal(*plain.decision_function([[np.nan], [1.0]])[:, None])


def test_sparse_rows_grow_the_same_tree():
    X, y = noisy(90, 4, values=3)
    dense, sparse = TreeRank().fit(X, y), TreeRank().fit(sp.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.tree_.thresholds, sparse.tree_.thresholds)
    np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(sp.csr_matrix(X)))


def test_weights_are_repetitions():
    X, y = noisy(60)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    weighted = TreeRank(min_samples_leaf=1).fit(X, y, weight)
    repeated = TreeRank(min_samples_leaf=1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.tree_.thresholds, repeated.tree_.thresholds)
    np.testing.assert_allclose(weighted.tree_.gains, repeated.tree_.gains)


def test_leaves_by_rate_make_the_curve_concave():
    X, y = noisy(400, seed=5)
    tree, rate = (TreeRank(leaf_order=by, max_depth=6).fit(X, y) for by in ("tree", "rate"))
    alpha, beta = rate.roc_
    # Compared without division: a leaf may hold no negatives.
    rise, run = np.diff(beta), np.diff(alpha)
    assert (rise[:-1] * run[1:] >= rise[1:] * run[:-1] - 1e-12).all()
    assert rate.outcome_.value >= tree.outcome_.value
    assert rate.outcome_.value == pytest.approx(roc_auc_score(y, rate.decision_function(X)))


def test_a_callback_that_says_stop_leaves_a_tree():
    X, y = noisy(400)
    with pytest.warns(SearchStoppedWarning):
        ranker = TreeRank(leaf_penalty="cv", callback=lambda progress: False, random_state=0).fit(X, y)
    assert ranker.outcome_.status is Status.STOPPED
    assert ranker.leaf_penalty_ >= 0


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"max_depth": 0}, "max_depth=0 must be a whole number of at least 1"),
        ({"min_samples_leaf": 2.5}, "min_samples_leaf=2.5 must be a whole number"),
        ({"leaf_penalty": -1}, "leaf_penalty=-1 must be a finite number of at least 0"),
        ({"leaf_order": "size"}, "leaf_order='size' is not one of 'tree', 'rate'"),
    ],
)
def test_wrong_parameters_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        TreeRank(**wrong).fit(*noisy(20))


def test_names_for_the_text():
    ranker = TreeRank(max_depth=1).fit(*noisy())
    assert ranker.export_text().startswith("x")
    with pytest.raises(ValueError, match="feature_names has 1 names, but there are 3 features"):
        ranker.export_text(["a"])
