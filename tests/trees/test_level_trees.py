"""Trees for grades and for a response: splits against brute force, identities, by hand, hostile rows."""

import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from toprank import CRank, RankingForest, TreeRank, TreeRankTournament, statistics
from toprank.control import SearchStoppedWarning
from toprank.report import RankingTreeDisplay


def graded(n=40, d=3, levels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X[:, 0] + np.abs(X[:, -1]) + 0.5 * rng.normal(size=n)
    return X, np.argsort(np.argsort(z)) * levels // n


def response(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + np.abs(X[:, -1]) + 0.5 * rng.normal(size=n)


def volume(groups, y):
    """The share of chains, one row of each level, in the right order, by listing them; L tied: one of L!."""
    place = {row: number for number, rows in enumerate(groups) for row in rows}
    total, chains = 0.0, list(itertools.product(*(np.flatnonzero(y == level) for level in np.unique(y))))
    for chain in chains:
        at = [-place[row] for row in chain]  # groups are best first
        if all(a <= b for a, b in itertools.pairwise(at)):
            total += 1 / math.prod(math.factorial(at.count(one)) for one in set(at))
    return total / len(chains)


def members(tree, X):
    """The training rows of every node, walked one by one."""
    found = {node: [] for node in range(len(tree.links))}
    for row, x in enumerate(X):
        node = 0
        found[node].append(row)
        while tree.links[node, 0] >= 0:
            below = x[tree.links[node, 0]] <= tree.thresholds[node]
            node = tree.links[node, 1] + (0 if below else 1)
            found[node].append(row)
    return found


def pair_winners(X, y, rows, lower, upper):
    """All cuts of these rows that tell two levels apart best: sets that would go left."""
    best, found = 0.0, []
    for column in X.T:
        values = np.unique(column[rows])
        for threshold in (values[:-1] + values[1:]) / 2:
            for side in (column[rows] <= threshold, column[rows] > threshold):
                worth = side[y[rows] == upper].mean() - side[y[rows] == lower].mean()
                if worth > best + 1e-9:
                    best, found = worth, []
                if worth > best - 1e-9 and worth > 1e-9:
                    found.append(side)
    return found


# -- tournaments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_adjacent_levels_with_the_best_volume_win(seed):
    X, y = graded(18, 2, seed=seed)
    ranker = TreeRankTournament(max_depth=3, min_samples_leaf=1).fit(X, y)
    tree, rows = ranker.tree_, members(ranker.tree_, X)
    leaves, inner = [0], sorted(tree.inner, key=lambda node: tree.links[node, 1])  # in the order made
    assert len(inner) >= 3
    for node in inner:
        here = np.array(rows[node])
        place, before = leaves.index(node), volume([rows[one] for one in leaves], y)

        def gain(left, here=here, place=place, before=before):
            halves = [here[left].tolist(), here[~left].tolist()]
            groups = [rows[one] for one in leaves]
            return volume([*groups[:place], *halves, *groups[place + 1 :]], y) - before

        left, right = tree.left_and_right(node)
        said = np.isin(here, rows[left])
        assert tree.gains[node] == pytest.approx(gain(said), abs=1e-12)
        pairs = list(itertools.pairwise(np.unique(y[here])))
        proposed = [pair_winners(X, y, here, *pair) for pair in pairs]
        # It is the best cut for some two adjacent levels, and no other two have a better one.
        assert any(np.array_equal(said, one) for several in proposed for one in several)
        for several in proposed:
            assert tree.gains[node] >= min((gain(one) for one in several), default=0.0) - 1e-12
        leaves[place : place + 1] = [left, right]
    assert ranker.outcome_.value == pytest.approx(volume([rows[one] for one in leaves], y))


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("splitter", [None, DecisionTreeClassifier(max_depth=2), LogisticRegression()])
def test_the_volume_is_what_the_gains_add_up_to(levels, splitter):
    X, y = graded(150, 3, levels)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    for given in (None, weight):
        ranker = TreeRankTournament(splitter, min_samples_leaf=3, random_state=0).fit(X, y, given)
        vus = statistics.get("vus")(y, ranker.decision_function(X), ties="mean", sample_weight=given)
        assert ranker.outcome_.value == pytest.approx(vus)
        assert 1 / math.factorial(levels) + ranker.tree_.gains.sum() == pytest.approx(vus)


def test_with_two_labels_it_is_treerank():
    X, y = graded(120, 3, 2)
    ours, theirs = TreeRankTournament().fit(X, y), TreeRank().fit(X, y)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_three_levels_no_line_can_rank():
    """On a line: level 2, then 0, then 1. The tree's VUS is 1, that of any linear score below a half."""
    X, y = np.arange(12.0)[:, None], np.repeat([2, 0, 1], 4)
    ranker = TreeRankTournament(min_samples_leaf=1).fit(X, y)
    assert ranker.score(X, y) == ranker.outcome_.value == pytest.approx(1.0)
    # 2 and 1 propose a cut between 3 and 8; level 0 in between may go either way. Above the cut after 3:
    # 1/3! + gain, where chains of 0 and 1 tie in one leaf below 2: one half of them are in order.
    assert ranker.tree_.gains.tolist() == pytest.approx([1 / 2 - 1 / 6, 0.0, 1 / 2, 0.0, 0.0])
    for sign in (1, -1):
        assert statistics.get("vus")(y, sign * X[:, 0]) == 0.0


# -- medians --------------------------------------------------------------------------------------------


def test_crank_by_hand():
    """Responses 1, 3, 2, 10 along x: the median is 2, x > 1.5 would hold 3, 2 and 10, x > 3.5 only 10."""
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1.0, 3.0, 2.0, 10.0])
    ranker = CRank(min_samples_leaf=1).fit(X, y)
    tree = ranker.tree_
    # Above the median are 3 and 10, at x = 2 and 4. x > 3.5 gets one of two and none of the others: 1/2, as
    # good as x > 1.5, two of two and one of two; the first one found is taken.
    assert tree.thresholds[0] == 1.5
    # Ranking three rows above the lowest: three of six pairs.
    assert tree.gains[0] == pytest.approx(3 / 6)
    left, _ = tree.left_and_right(0)
    assert tree.means[left] == 5.0
    # Of 3, 2, 10 the median is 3, above it 10: x > 3.5, two more pairs. Of 3 and 2 the cut is at 2: x <= 2.5.
    assert tree.thresholds[left] == 3.5
    assert sorted(tree.gains[tree.inner].tolist()) == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert ranker.rank(X).tolist() == [3, 1, 2, 0]
    assert ranker.outcome_.value == pytest.approx(1.0)
    assert ranker.export_text(["x"]).splitlines()[-1] == "|   leaf 4: mean 1 of 1 row"
    assert (ranker.score(X, y), CRank(statistic="integrated_auc").fit(X, y).statistic) == (
        1.0,
        "integrated_auc",
    )


@pytest.mark.parametrize("seed", range(4))
def test_every_split_tells_the_halves_of_its_node_apart_best(seed):
    X, y = response(40, 2, seed)
    tree = CRank(max_depth=3, min_samples_leaf=1).fit(X, y).tree_
    rows = members(tree, X)
    for node in tree.inner:
        here = np.array(rows[node])
        above = y[here] > np.sort(y[here])[(len(here) - 1) // 2]
        left, right = tree.left_and_right(node)
        said = np.isin(here, rows[left])
        winners = pair_winners(X[here], above.astype(int), np.arange(len(here)), 0, 1)
        assert any(np.array_equal(said, one) for one in winners)
        gained = sum(np.sign(y[a] - y[b]) for a in rows[left] for b in rows[right])
        assert tree.gains[node] == pytest.approx(gained / math.comb(len(y), 2))


@pytest.mark.parametrize("splitter", [None, DecisionTreeClassifier(max_depth=2)])
def test_concordance_is_a_half_plus_half_of_the_gains(splitter):
    X, y = response(150)
    y = np.round(y, 1)  # some are equal
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    for given in (None, weight):
        ranker = CRank(splitter, min_samples_leaf=3, random_state=0).fit(X, y, given)
        c = statistics.get("c_index")(y, ranker.decision_function(X), ties="mean", sample_weight=given)
        assert ranker.outcome_.value == pytest.approx(c)
        assert 0.5 + 0.5 * ranker.tree_.gains.sum() == pytest.approx(c)


def test_only_the_order_of_the_responses_counts():
    X, y = response()
    np.testing.assert_array_equal(
        CRank().fit(X, y).decision_function(X), CRank().fit(X, np.exp(3 * y)).decision_function(X)
    )


# -- both, and forests of them ---------------------------------------------------------------------------

BOTH = [
    (TreeRankTournament(min_samples_leaf=1), graded),
    (CRank(min_samples_leaf=1), response),
]


@pytest.mark.parametrize("ranker, rows", BOTH, ids=["tournament", "crank"])
def test_a_weight_is_a_repetition(ranker, rows):
    X, y = rows()
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    weighted = ranker.set_params(max_depth=4).fit(X, y, weight).decision_function(X)
    repeated = ranker.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    np.testing.assert_array_equal(weighted, repeated)


@pytest.mark.parametrize("ranker, rows", BOTH, ids=["tournament", "crank"])
def test_missing_values_find_a_side(ranker, rows):
    X, y = rows(80)
    X[:, 0] = np.where(y >= np.median(y), np.nan, X[:, 0])
    ranker.set_params(max_depth=1).fit(X, y)
    assert ranker.export_text(["a", "b", "c"]).startswith("a is missing")


@pytest.mark.parametrize("ranker, rows", BOTH, ids=["tournament", "crank"])
def test_hostile_rows(ranker, rows):
    X, y = rows(30)
    constant = ranker.fit(np.ones((30, 2)), y)
    assert constant.n_leaves_ == 1
    assert np.ptp(constant.decision_function(np.ones((3, 2)))) == 0
    assert ranker.set_params(max_depth=1).fit(X[:, :1], y).n_leaves_ == 2
    few = ranker.set_params(max_depth=None).fit([[0.0], [1.0], [2.0]], [0, 1, 2])  # a level a row
    assert few.rank([[0.0], [1.0], [2.0]]).tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match="one class"):
        ranker.fit(X, np.zeros(30))


@pytest.mark.parametrize("ranker, rows", BOTH, ids=["tournament", "crank"])
def test_many_equal_rows(ranker, rows):
    X = np.repeat([[0.0], [1.0]], 50_000, axis=0)
    y = np.tile([0.0, 1.0, 2.0, 2.5] if rows is response else [0, 1, 2, 2], 25_000)
    y[:10] = 2
    assert ranker.set_params(max_depth=None).fit(X, y).n_leaves_ <= 2


def test_what_cannot_be_ranked_is_said():
    X, y = response(150)
    with pytest.raises(ValueError, match=r"TreeRankTournament does not learn from continuous.*CRank takes"):
        TreeRankTournament().fit(X, y)
    with pytest.raises(ValueError, match="150 levels"):
        TreeRankTournament(levels="ordinal").fit(X, y)
    with pytest.raises(ValueError, match="max_depth=0"):
        CRank(max_depth=0).fit(X, y)
    with pytest.raises(ValueError, match="local AUC"):
        RankingForest(2, top="10%").fit(X, y)


@pytest.mark.parametrize("ranker, rows", BOTH, ids=["tournament", "crank"])
def test_a_tree_that_time_cuts_short(ranker, rows, monkeypatch):
    X, y = rows(400)
    whole = ranker.set_params(max_depth=None, time_limit=None).fit(X, y).n_leaves_
    monkeypatch.setattr("toprank.trees.level_growing.BUDGET", 100)
    looks = iter(range(10**6))
    monkeypatch.setattr("toprank.control.run.time.perf_counter", lambda: 0.0 if next(looks) < 30 else 1e9)
    with pytest.warns(SearchStoppedWarning):
        ranker.set_params(time_limit=10).fit(X, y)
    ranker.set_params(time_limit=None)
    assert 1 <= ranker.n_leaves_ < whole
    monkeypatch.undo()
    assert sorted(set(ranker.decision_function(X) - ranker.intercept_)) == list(
        range(1, ranker.n_leaves_ + 1)
    )


@pytest.mark.parametrize("rows", [graded, response])
@pytest.mark.parametrize("splitter", [None, DecisionTreeClassifier(max_depth=1)])
def test_a_forest_is_better_than_a_tree_and_the_same_on_any_number_of_threads(rows, splitter):
    X, y = rows(600)
    learn, judge = slice(0, 300), slice(300, None)
    options = {"splitter": splitter, "random_state": 0, "n_estimators": 30, "min_samples_leaf": 3}
    if splitter is not None:
        options |= {"n_estimators": 4, "max_depth": 3}
    one, two = (RankingForest(**options, n_jobs=jobs).fit(X[learn], y[learn]) for jobs in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    if splitter is None:
        tree = (TreeRankTournament if rows is graded else CRank)().fit(X[learn], y[learn])
        c_index = statistics.get("c_index")
        alone = c_index(y[judge], tree.decision_function(X[judge]), ties="mean")
        assert one.score(X[judge], y[judge]) > alone
        assert one.feature_importances_.sum() == pytest.approx(1.0)
        assert one.feature_importances_.argmin() == 1


@pytest.mark.parametrize("aggregation", ["mean_rank", "borda", "consensus"])
def test_forests_of_grades_agree_in_any_way(aggregation):
    X, y = graded(200)
    ranker = RankingForest(10, aggregation=aggregation, min_samples_leaf=3, random_state=0).fit(X, y)
    assert ranker.score(X, y) > 0.85


def test_a_tree_of_grades_is_drawn():
    X, y = graded(60)
    display = RankingTreeDisplay.from_estimator(TreeRankTournament(max_depth=3).fit(X, y), max_depth=2)
    leaves = [text.get_text() for text in display.texts_ if "mean" in text.get_text()]
    assert leaves[0].startswith("1\nmean ")
