"""Which label belongs at the top, the same everywhere: rankers, statistics, scorers, tables."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from toprank.base import clone_for_codes
from toprank.datasets import InputError
from toprank.datasets.roles import binary_labels
from toprank.exact import RankingProblem
from toprank.labels import UnclearLabelsWarning, kind_of, plain_top, positives, top_label
from toprank.statistics import get, scorer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
UP = X[:, 0] + 0.5 * RNG.normal(size=80) > 0.4
FRAUD = np.where(UP, "fraud", "legit")

# lower, upper: what nobody would get wrong, whatever the alphabet says.
PLAIN = [
    ("no", "yes"),
    ("No", "yes"),
    ("no", "Yes"),
    ("N", "Y"),
    ("false", "True"),
    ("f", "t"),
    ("NEGATIVE", "positive"),
    ("neg", "pos"),
    ("0", "1"),
    ("-1", "1"),
    ("-1", "+1"),
    ("9", "10"),
    ("-", "+"),
    ("irrelevant", "relevant"),
    ("not relevant", "relevant"),
    (0, 1),
    (-3.0, 2.0),
    (False, True),
]


@pytest.mark.parametrize(("lower", "upper"), PLAIN)
def test_plain_labels_are_read_the_same_everywhere(lower, upper):
    y = np.where(UP, upper, lower)
    scores = X[:, 0]
    wanted = get("auc")(UP, scores)
    ranker = toprank.RankSVM().fit(X, y)
    assert ranker.classes_.tolist() == [lower, upper]
    assert ranker.coef_ @ [1.0, 0.0, 0.0] > 0
    assert get("auc")(y, scores) == get("auc")(y, scores, pos_label=upper) == wanted
    posed = RankingProblem.from_labels(X, y, "auc")
    assert posed.fingerprint() == RankingProblem.from_labels(X, UP, "auc").fingerprint()
    assert binary_labels(pd.Series(y, name="y"))[0].tolist() == UP.tolist()
    for judged in (ranker, LogisticRegression().fit(X, y)):
        found = scorer("auc")(judged, X, y)
        assert found == pytest.approx(get("auc")(UP, X @ judged.coef_.ravel()[:3] * _sign(judged, upper)))


def _sign(fitted, upper):
    return 1.0 if fitted.classes_[1] == upper else -1.0


UNCLEAR = [("fraud", "legit"), ("bad", "good"), ("case", "control"), ("a", "b"), ("yes", "maybe")]


@pytest.mark.parametrize("labels", UNCLEAR)
def test_unclear_labels_are_guessed_aloud(labels):
    lower, upper = sorted(labels)
    y = np.where(UP, upper, lower)
    calls = {
        "pos_label=": lambda: toprank.RankSVM().fit(X, y),
        "y == ": lambda: get("auc")(y, X[:, 0]),
        "pass y == ": lambda: RankingProblem.from_labels(X, y, "auc"),
        "scorer": lambda: scorer("auc")(LogisticRegression().fit(X, y), X, y),
    }
    for remedy, call in calls.items():
        with pytest.warns(UnclearLabelsWarning) as caught:
            call()
        text = str(caught[0].message)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert repr(lower) in text
        assert f"{upper!r} is taken" in text
        assert remedy in text
    with pytest.raises(InputError, match=f"{lower!r} and {upper!r}, and nothing says .*positive={lower}"):
        binary_labels(pd.Series(y, name="y"))


QUICK = {
    "BaggedRanker": {"n_bags": 2},
    "RankThenRerankCV": {"tops": (10, 15), "reranker": toprank.DirectRanker(n_restarts=1), "cv": 2},
    "TopEnsemble": {"members": [("svm", toprank.RankSVM()), ("boost", toprank.RankBoost())], "cv": 2},
}
"""Of rankers that fit many others: fewer of them."""


@pytest.mark.parametrize("name", sorted(set(toprank.__all__)))
def test_every_ranker_takes_pos_label(name):
    kind = getattr(toprank, name)
    if not (isinstance(kind, type) and issubclass(kind, toprank.base.BaseRanker)):
        return
    ranker = kind(pos_label="fraud", **QUICK.get(name, {}))
    assert ranker.get_params()["pos_label"] == "fraud"
    assert "pos_label" in kind.__doc__
    with warnings.catch_warnings():
        # The toy data leave one class at the top of some, and w = 0 the optimum of others; beside the point.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", UnclearLabelsWarning)
        fitted = ranker.fit(X, FRAUD)
        coded = kind(**QUICK.get(name, {})).fit(X, UP.astype(int))
    assert fitted.classes_.tolist() == ["legit", "fraud"]
    scores = fitted.decision_function(X)
    assert np.array_equal(fitted.predict(X) == "fraud", scores > 0)
    assert get("auc")(UP, scores) > 0.8
    if "random_state" not in ranker.get_params(deep=False):
        np.testing.assert_array_equal(scores, coded.decision_function(X))
    assert fitted.score(X, FRAUD) == pytest.approx(coded.score(X, UP.astype(int)), rel=0.05)


@pytest.mark.parametrize("y", [FRAUD, FRAUD.astype(object), UP.astype(int), UP])
def test_a_label_that_is_not_there_is_named(y):
    known = ", ".join(repr(value) for value in np.unique(y).tolist())
    for wrong in ("froud", 7, "1"):
        for call in (
            lambda wrong=wrong: toprank.RankSVM(pos_label=wrong).fit(X, y),
            lambda wrong=wrong: get("auc")(y, X[:, 0], pos_label=wrong),
        ):
            with pytest.raises(ValueError, match=f"pos_label={wrong!r} is not a label in y.* {known}"):
                call()


def test_the_first_of_two_numbers_can_be_on_top():
    ranker = toprank.RankSVM(pos_label=0).fit(X, (~UP).astype(int))
    assert ranker.classes_.tolist() == [1, 0]
    np.testing.assert_allclose(ranker.coef_, toprank.RankSVM().fit(X, UP).coef_)
    assert ranker.score(X, (~UP).astype(int)) == get("auc")(UP, X @ ranker.coef_)


def test_scikit_learn_agrees_where_it_takes_a_pos_label():
    ranker = toprank.RankSVM(pos_label="fraud").fit(X, FRAUD)
    wanted = average_precision_score(UP, X @ ranker.coef_)
    theirs = make_scorer(average_precision_score, response_method="decision_function", pos_label="fraud")
    assert theirs(ranker, X, FRAUD) == pytest.approx(wanted)
    assert scorer("average_precision")(ranker, X, FRAUD) == pytest.approx(wanted)
    assert scorer("average_precision", pos_label="fraud")(ranker, X, FRAUD) == pytest.approx(wanted)
    other = average_precision_score(~UP, -(X @ ranker.coef_))
    assert scorer("average_precision", pos_label="legit")(ranker, X, FRAUD) == pytest.approx(other)
    # For another estimator, whose second class is the other one.
    logistic = LogisticRegression().fit(X, FRAUD)
    assert logistic.classes_.tolist() == ["fraud", "legit"]
    wanted = roc_auc_score(UP, -logistic.decision_function(X))
    assert scorer("auc", pos_label="fraud")(logistic, X, FRAUD) == pytest.approx(wanted)


def test_told_once_is_enough():
    """In pipelines, searches and rankers made of others, without a warning."""
    for ranker in (
        make_pipeline(StandardScaler(), toprank.RankSVM(pos_label="fraud")),
        toprank.RankerCV(toprank.RankSVM(pos_label="fraud"), Cs=[1.0], cv=2),
        toprank.RankThenRerank(toprank.RankSVM(pos_label="fraud"), toprank.DirectRanker(n_restarts=0)),
        toprank.RankThenRerank(reranker=toprank.DirectRanker(n_restarts=0, pos_label="fraud")),
        toprank.RankThenRerank(make_pipeline(toprank.RankSVM(pos_label="fraud")), pos_label="fraud"),
        toprank.PluginRanker(toprank.RankSVM(pos_label="fraud")),
        toprank.DirectRanker(start=toprank.RankSVM(pos_label="fraud"), n_restarts=0),
        toprank.PluginRanker(pos_label="fraud"),
    ):
        fitted = ranker.fit(X, FRAUD)
        assert get("auc")(UP, fitted.decision_function(X)) > 0.8
        assert (cross_val_score(ranker, X, FRAUD, cv=3, scoring=scorer("auc")) > 0.7).all()
    assert clone_for_codes(LogisticRegression()).get_params() == LogisticRegression().get_params()


def test_searches_report_the_right_score():
    grid = GridSearchCV(toprank.RankSVM(pos_label="fraud"), {"C": [1.0]}, cv=3).fit(X, FRAUD)
    same = GridSearchCV(toprank.RankSVM(), {"C": [1.0]}, cv=3).fit(X, UP)
    assert grid.best_score_ > 0.8
    assert same.best_score_ > 0.8


def test_two_stories_are_an_error():
    ranker = toprank.RankThenRerank(
        toprank.RankSVM(pos_label="fraud"), toprank.DirectRanker(pos_label="legit", n_restarts=0)
    )
    with pytest.raises(ValueError, match="'fraud' here, 'legit' there"):
        ranker.fit(X, FRAUD)


def test_the_problem_of_an_exact_ranker_is_the_one_it_solves():
    ranker = toprank.ExactRanker("auc", pos_label="fraud", time_limit=5).fit(X[:20], FRAUD[:20])
    problem = ranker.problem(X[:20], FRAUD[:20])
    assert problem.fingerprint() == RankingProblem.from_labels(X[:20], UP[:20], "auc").fingerprint()
    assert problem.evaluate(ranker.coef_) == ranker.outcome_.value == ranker.score(X[:20], FRAUD[:20])


@pytest.mark.parametrize("kind", [toprank.RankSVM, toprank.RankRLS])
def test_grades_have_no_positive_label(kind):
    for levels in ("auto", "ordinal"):
        with pytest.raises(ValueError, match="pos_label=2 has no meaning with ordinal labels"):
            kind(levels=levels, pos_label=2).fit(X, np.arange(80) % 3)


def test_small_pieces():
    assert plain_top(["1", "1.0"]) is None, "equal as numbers: nothing says which is larger"
    assert plain_top(["nan", "inf"]) is None
    assert top_label(["b", "a"], "a") == 1
    assert positives(["x", "y", "x"], "x").tolist() == [True, False, True]
    with pytest.raises(ValueError, match="pos_label='z' is not a label in y"):
        positives(["x", "y"], "z")


def test_what_numbers_the_labels_itself_says_what_it_found():
    with pytest.raises(ValueError, match="pos_label='fraud' is not a label in y; the labels are 0, 1"):
        cross_val_predict(toprank.RankSVM(pos_label="fraud"), X, FRAUD, cv=3, method="decision_function")
    scores = cross_val_predict(toprank.RankSVM(), X, FRAUD == "fraud", cv=3, method="decision_function")
    assert get("auc")(UP, scores) > 0.8


@pytest.mark.parametrize(
    "y, kind",
    [
        ([0, 1, 1], "binary"),
        ([0.25, 7.5, 7.5], "binary"),
        (["ham", "spam"], "binary"),
        ([True, False], "binary"),
        ([3, 3, 3], "binary"),
        ([0, 1, 2], "ordinal"),
        ([-1.0, 0.0, 5.0], "ordinal"),
        (["1", "2", "10"], "ordinal"),
        (np.array([1, 2, 4], dtype=object), "ordinal"),
        (np.arange(20), "ordinal"),
        (np.arange(21), "continuous"),
        ([0.0, 1.0, 1.5], "continuous"),
        (["0.5", "2", "1"], "continuous"),
    ],
)
def test_the_kind_of_labels_is_told_from_them(y, kind):
    assert kind_of(y) == kind


@pytest.mark.parametrize(
    "y, complaint",
    [
        (["good", "bad", "fair"], r"3 different words, 'bad', 'fair', 'good', .* no order: give numbers"),
        (list("abcdefg"), r"7 different words, 'a', 'b', 'c', 'd', 'e', \.\.\.,"),
        (["1", "2", "good"], "words have no order"),
        ([0.5, np.nan, 1.0, 2.0], "NaN or infinity"),
        ([0.5, np.inf, 1.0], "NaN or infinity"),
        ([1, "a", 2.5, None], "mixes words and numbers"),
    ],
)
def test_labels_of_no_kind_are_refused_with_what_to_do(y, complaint):
    with pytest.raises(ValueError, match=complaint):
        kind_of(np.array(y, dtype=object) if None in y else y)


def test_numbers_as_text_are_grades_by_their_value_and_keep_their_names():
    grade = np.array(["9", "10", "100"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    ranker = toprank.RankSVM().fit(X, grade)
    assert ranker.kind_ == "ordinal"
    assert ranker.classes_.tolist() == ["9", "10", "100"]
    assert ranker.score(X, grade) > 0.9
    assert ranker.predict(X)[ranker.rank(X)[0]] == "100"


@pytest.mark.parametrize("levels", ["ordinal", "continuous"])
def test_what_labels_are_taken_as_can_be_said(levels):
    ranker = toprank.RankRLS(levels=levels).fit(X, UP)
    assert ranker.kind_ == levels
    assert hasattr(ranker, "classes_") == (levels == "ordinal")
    assert ranker.ranker_tags.labels == {"binary", "ordinal", "continuous"}
    again = ranker.set_params(levels="auto").fit(X, UP)
    assert (again.kind_, again.classes_.tolist()) == ("binary", [0, 1])


def test_a_response_is_predicted_by_the_mean_of_what_scores_alike():
    y = 3.0 * X[:, 0] + np.random.default_rng(1).normal(size=len(X))
    ranker = toprank.RankRLS(10.0).fit(X, y)
    expected = IsotonicRegression().fit_transform(ranker.decision_function(X), y)
    np.testing.assert_allclose(ranker.predict(X), expected, atol=1e-6)
    assert (ranker.decision_function(X) > 0).sum() == len(X) // 2
    # The concordance index, pair by pair.
    scores = ranker.decision_function(X)
    upper, lower = np.nonzero(y[:, None] > y)
    assert ranker.score(X, y) == pytest.approx(np.mean(scores[upper] > scores[lower]), abs=1e-12)


@pytest.mark.parametrize("name", ["TopPush", "TreeRank", "AccuracyAtTop"])
@pytest.mark.parametrize("y, kind", [(np.arange(80) % 4, "ordinal"), (np.linspace(0, 1, 80), "continuous")])
def test_who_cannot_use_a_kind_says_so_and_who_can(name, y, kind):
    with pytest.raises(ValueError, match=f"{name} does not learn from {kind} labels, for ") as refusal:
        getattr(toprank, name)().fit(X, y)
    others = re.findall(r"RankSVM|RankRLS|RankBoost", str(refusal.value))
    assert others
    for other in others:
        assert kind in getattr(toprank, other)().ranker_tags.labels


def test_two_stories_of_the_kind_are_an_error():
    search = toprank.RankSVMCV(levels="ordinal")
    assert search._levels() == "ordinal"
    with pytest.raises(ValueError, match="'continuous' here, 'ordinal' there"):
        toprank.RankThenRerank(toprank.RankSVM(levels="ordinal"), toprank.RankSVM(levels="continuous")).fit(
            X, UP
        )


def test_scikit_learn_splits_and_scores_by_labels_of_every_kind():
    """Why a ranker that takes any numbers is a classifier to scikit-learn: it asks before it has seen y."""
    sorted_labels = np.sort(UP)
    for y in (sorted_labels, np.digitize(X[:, 0], [-0.5, 0.5]), X[:, 0] + X[:, 1]):
        assert np.isfinite(cross_val_score(toprank.RankRLS(), X, y, cv=4, error_score="raise")).all()
    assert cross_val_score(toprank.RankRLS(), X, UP, scoring="roc_auc", error_score="raise").mean() > 0.5


def test_expected_ranks_are_those_of_random_samples_of_a_long_list():
    """Of 5 rows drawn from 999 the r-th stands, on average, at the share r / 6."""
    rng = np.random.default_rng(0)
    places = np.mean([np.sort(rng.choice(999, 5, replace=False)) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(toprank.labels.expected_rank(np.arange(5.0)), (places + 1) / 1000, atol=0.01)


def test_expected_ranks_of_ties_weights_and_queries():
    rng = np.random.default_rng(1)
    y, qid, weight = rng.integers(0, 4, 30), rng.integers(0, 3, 30), rng.integers(1, 4, 30)
    rows = np.repeat(np.arange(30), weight)
    found = toprank.labels.expected_rank(y, qid=qid, sample_weight=weight)
    for one in range(30):
        same = rows[qid[rows] == qid[one]]
        below, tied = np.sum(y[same] < y[one]), np.sum(y[same] == y[one])
        assert found[one] == pytest.approx((below + (tied + 1) / 2) / (len(same) + 1))
