"""The blend: its weights against enumeration, its figures against rows the members never saw."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from toprank import RankSVM, TopEnsemble, statistics
from toprank.control import SearchStoppedWarning
from toprank.ensemble.blend import (
    LEVELS,
    chosen_trust,
    fitting_weights,
    mixed,
    to_response,
    trust_in,
    usual_weights,
)
from toprank.ensemble.top_ensemble import MemberLeftOutWarning

MEMBERS = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
ALIKE = usual_weights(["one", "other"])


def noisy(n=150, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(size=n) > 1.5).astype(int)


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no licence")


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the label of every row it has seen and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.label_ = {row.tobytes(): float(label) for row, label in zip(X, y, strict=True)}
        return self

    def decision_function(self, X):
        return np.array([self.label_.get(row.tobytes(), 0.5) for row in X])


def test_best_weights_equal_a_fine_search_over_angles():
    X, y = noisy()
    ranker = TopEnsemble(MEMBERS, statistic="dcg@10", trust=1.0, random_state=0).fit(X, y)
    assert ranker.certificate_.proved
    # Rebuild the out-of-fold scores by hand from the attributes, then try 20,000 angles.
    both = TopEnsemble(MEMBERS, statistic="dcg@10", trust=0.0, random_state=0)
    stack = [
        TopEnsemble([member], statistic="dcg@10", trust=0.0, random_state=0).fit(X, y).out_of_fold_scores_
        for member in MEMBERS
    ]
    angles = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    value = statistics.get("dcg@10")
    best = max(value(y, np.cos(a) * stack[0] + np.sin(a) * stack[1]) for a in angles)
    assert ranker.certificate_.value >= best - 1e-12
    assert ranker.outcome_.value == pytest.approx(ranker.certificate_.value)
    assert both.fit(X, y).outcome_.value <= ranker.outcome_.bound + 1e-12


def test_a_member_that_learns_by_heart_gets_no_credit_for_it():
    X, y = noisy()
    ranker = TopEnsemble([("memory", Memory())], statistic="auc", random_state=0).fit(X, y)
    assert ranker.score(X, y) == 1.0  # in sample it is perfect
    assert ranker.outcome_.value < 0.6  # out of fold it knows nothing, and the outcome says so


def test_the_default_members_rank_better_together_than_chance():
    X, y = noisy(200)
    ranker = TopEnsemble(statistic="dcg@10", cv=2, random_state=0).fit(X, y)
    assert {"logistic", "boosting", "forest", "direct"} <= set(ranker.weights_)
    assert ranker.outcome_.value > statistics.get("dcg@10")(y, np.zeros(len(y)), ties="mean")


def test_equal_and_mixed_weights():
    assert np.allclose(ALIKE, 2**-0.5)
    assert np.allclose(mixed(np.array([3.0, 4.0]), 0.0, ALIKE), ALIKE)
    assert np.allclose(mixed(np.array([3.0, 4.0]), 1.0, ALIKE), [0.6, 0.8])
    assert np.allclose(mixed(-ALIKE, 0.5, ALIKE), ALIKE)  # they cancel out
    assert np.linalg.norm(mixed(np.array([1.0, -0.2]), 0.3, ALIKE)) == pytest.approx(1.0)


def test_trust_grows_with_the_positives_that_count():
    y = np.repeat([1, 0], [600, 1400])
    scores = -np.arange(2000.0)
    trusts = [trust_in(f"dcg@{k}", y, scores) for k in (10, 100, 300)]
    assert trusts == sorted(trusts)
    assert trusts[-1] == pytest.approx(0.5, abs=0.01)


def knowing_and_not(n, seed, positives=0.3, noise=1.0):
    """Labels, a member that knows something of them, and one that knows nothing."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < positives).astype(np.int8)
    return y, np.column_stack([y + noise * rng.normal(size=n), rng.normal(size=n)])


def hits_by(y, stack, held, trust, k):
    """Positives among the first k when each fold is ordered by weights found without it, row by row."""
    scores = {}
    for rows, best in held:
        equal = np.full(len(best), len(best) ** -0.5)
        blend = (1 - trust) * equal + trust * np.asarray(best) / np.sqrt(np.sum(np.square(best)))
        for row in rows:
            scores[row] = sum(w * s for w, s in zip(blend / np.linalg.norm(blend), stack[row], strict=True))
    first = sorted(scores, key=lambda row: (-scores[row], row))[:k]
    return sum(int(y[row]) for row in first)


@pytest.mark.parametrize("seed", range(12))
def test_trust_is_the_best_level_out_of_fold_or_the_rule(seed):
    y, stack = knowing_and_not(240, seed, noise=0.5 + seed / 4)
    k, rule, rng = 60, 0.15, np.random.default_rng(seed)
    held = [(np.arange(start, 240, 3), rng.normal([1.0, 0.0])) for start in range(3)]
    hits = {level: hits_by(y, stack, held, level, k) for level in (rule, *LEVELS)}
    chosen = chosen_trust(f"precision@{k}", stack, y, held, rule, ALIKE)
    assert chosen in hits
    if chosen != rule:
        assert hits[chosen] == max(hits.values()) > hits[rule]
    else:
        # Every level's gain is within one standard error, which is no more than that of all places differing.
        assert max(hits.values()) - hits[rule] <= k**0.5


def test_trust_follows_the_held_out_rows_not_the_weights():
    y, stack = knowing_and_not(400, 0, noise=0.5)
    halves = [np.arange(start, 400, 2) for start in (0, 1)]
    right, wrong = ([(rows, np.array(best)) for rows in halves] for best in ([1.0, 0.0], [0.0, 1.0]))
    assert chosen_trust("precision@100", stack, y, right, 0.3, ALIKE) > 0.3
    assert chosen_trust("precision@100", stack, y, wrong, 0.3, ALIKE) < 0.3
    assert (
        chosen_trust("precision@100", stack[:, [0, 0]], y, right, 0.3, ALIKE) == 0.3
    )  # all levels are the same


class Column(ClassifierMixin, BaseEstimator):
    """Scores a row by one of its columns."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, self.number]

    def predict(self, X):
        return self.classes_[(X[:, self.number] > 0).astype(int)]


def test_an_ensemble_chooses_its_trust_where_positives_are_many_and_keeps_the_rule_where_they_are_few():
    y, stack = knowing_and_not(600, 1, noise=0.7)
    members = [("knows", Column(0)), ("guesses", Column(1))]
    many = TopEnsemble(members, statistic="dcg@150", random_state=0).fit(stack, y)
    assert many.trust_ in LEVELS
    assert many.trust_ > trust_in("dcg@150", y, stack.sum(axis=1))
    assert many.weights_["knows"] > many.weights_["guesses"]
    few = TopEnsemble(members, statistic="dcg@30", random_state=0).fit(stack, y)
    standard = (stack - stack.mean(axis=0)) / stack.std(axis=0)
    assert few.trust_ == pytest.approx(trust_in("dcg@30", y, standard.sum(axis=1)))
    assert TopEnsemble(members, statistic="dcg@150", trust=0.2, random_state=0).fit(stack, y).trust_ == 0.2


def test_the_weights_of_a_fold_never_saw_its_rows(monkeypatch):
    """A row's own score is not what chose the weights it is judged by."""
    from toprank.ensemble import top_ensemble

    y, stack = knowing_and_not(300, 2)
    stack[:, 1] += 1e-3 * np.arange(300)  # every row can be told from the others
    seen = []

    class Spy(top_ensemble.DirectRanker):
        def fit_within(self, X, *more, **options):
            seen.append({row.tobytes() for row in np.asarray(X)})
            return super().fit_within(X, *more, **options)

    judged = []

    def spied(statistic, rows, y, held, rule, usual):
        judged.extend({row.tobytes() for row in rows[part]} for part, _ in held)
        return chosen_trust(statistic, rows, y, held, rule, usual)

    monkeypatch.setattr(top_ensemble, "DirectRanker", Spy)
    monkeypatch.setattr(top_ensemble, "chosen_trust", spied)
    members = [("knows", Column(0)), ("guesses", Column(1))]
    TopEnsemble(members, statistic="dcg@100", cv=3, random_state=0).fit(stack, y)
    assert len(seen) == len(judged) == 3
    assert not any(learned & held for learned, held in zip(seen, judged, strict=True))
    assert len(set.union(*judged)) == 300


def test_members_that_fail_are_left_out_and_named():
    X, y = noisy()
    with pytest.warns(MemberLeftOutWarning, match="'broken'.*no licence"):
        ranker = TopEnsemble([("broken", Broken()), *MEMBERS], random_state=0).fit(X, y)
    assert list(ranker.weights_) == ["logistic", "bayes"]
    alone = TopEnsemble([("broken", Broken())])
    with pytest.warns(MemberLeftOutWarning), pytest.raises(RuntimeError, match="no licence"):
        alone.fit(X, y)


def test_queries_are_kept_whole_and_reach_members_that_take_them():
    X, y = noisy(120)
    qid = np.arange(120) // 6
    ranker = TopEnsemble(
        [("svm", RankSVM()), ("logistic", LogisticRegression())], statistic="ndcg@3", random_state=0
    )
    fitted = ranker.fit(X, y, qid=qid)
    expected = statistics.get("ndcg@3")(y, fitted.out_of_fold_scores_, qid=qid)
    assert fitted.outcome_.value == pytest.approx(expected)


def test_weighted_rows_reach_the_members_and_are_blended_alike():
    X, y = noisy()
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    ranker = TopEnsemble(MEMBERS, random_state=0).fit(X, y, sample_weight=weight)
    assert ranker.trust_ == 0.0
    assert np.allclose(list(ranker.weights_.values()), np.full(2, 2**-0.5))
    with pytest.raises(ValueError, match="trust"):
        TopEnsemble(MEMBERS, trust=0.5).fit(X, y, sample_weight=weight)


def test_out_of_time_keeps_what_was_cross_fitted():
    X, y = noisy()
    members = [("first", LogisticRegression()), ("second", DecisionTreeClassifier())]
    ranker = TopEnsemble(members, time_limit=1e-6, random_state=0)
    with pytest.warns(SearchStoppedWarning, match="second"):
        ranker.fit(X, y)
    assert list(ranker.members_) == ["first"]


@pytest.mark.parametrize(
    "options, word",
    [
        ({"trust": 1.5}, "trust"),
        ({"trust": "much"}, "trust"),
        ({"members": []}, "members"),
        ({"members": [("a", DummyClassifier()), ("a", KNeighborsClassifier())]}, "members"),
        ({"cv": 1}, "cv"),
        ({"statistic": "average_precision"}, "average_precision.*trust=0"),
    ],
)
def test_bad_parameters_are_named(options, word):
    with pytest.raises(ValueError, match=word):
        TopEnsemble(**{"members": MEMBERS, **options}).fit(*noisy())


def test_weights_of_numbers_are_those_of_least_squares():
    """Nearest to the response among all weights that are not negative, as scikit-learn finds them too."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4))
    y = 50 + 10 * X[:, 0] + 5 * X[:, 1] ** 2 + rng.normal(size=120)
    members = [("ridge", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    folds = [(np.setdiff1d(np.arange(120), held), held) for held in np.array_split(np.arange(120), 4)]
    ranker = TopEnsemble(members, cv=folds, random_state=0).fit(X, y)
    stack = np.column_stack([cross_val_predict(one, X, y, cv=folds) for _, one in members])
    known = LinearRegression(positive=True).fit(stack, y)
    np.testing.assert_allclose(ranker.out_of_fold_scores_, known.predict(stack), rtol=1e-6)
    assert ranker.trust_ == 1.0
    # Leads are in the units of the response.
    fitted = known.predict(np.column_stack([one.predict(X) for one in ranker.members_.values()]))
    scores = ranker.decision_function(X)
    np.testing.assert_allclose(scores - scores.mean(), fitted - fitted.mean(), atol=1e-6)


def test_weights_of_numbers_look_within_queries_and_count_weights_as_repetitions():
    rng = np.random.default_rng(6)
    stack, qid = rng.normal(size=(40, 3)), np.arange(40) % 4
    y = stack @ [1.0, 0.5, 0.0] + 0.1 * rng.normal(size=40)
    moved = y + 100.0 * qid
    np.testing.assert_allclose(fitting_weights(stack, moved, qid=qid), fitting_weights(stack, y, qid=qid))
    weight = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weight)
    np.testing.assert_allclose(
        fitting_weights(stack, y, weight=weight.astype(float)), fitting_weights(stack[rows], y[rows])
    )


def test_members_that_all_point_the_wrong_way_count_alike():
    stack = np.array([[1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]])
    np.testing.assert_allclose(fitting_weights(stack, np.array([1.0, 2.0, 3.0])), np.full(2, 2**-0.5))
    assert to_response(stack[:, 0], np.array([1.0, 2.0, 3.0])) == (0.0, 1.0)


def with_known_odds(n, seed):
    """Rows, labels, and the probability with which each label was drawn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    share = 1 / (1 + np.exp(2.0 - 1.5 * X[:, 0] - 0.7 * X[:, 1] ** 2))
    return X, (rng.random(n) < share).astype(int), share


def test_probabilities_of_fresh_rows_are_those_their_labels_are_drawn_with():
    X, y, _ = with_known_odds(600, 0)
    new, _, share = with_known_odds(5000, 1)
    members = [*MEMBERS, ("tree", DecisionTreeClassifier(min_samples_leaf=20, random_state=0))]
    ranker = TopEnsemble(members, statistic="dcg@30", random_state=0).fit(X, y)
    found = ranker.predict_proba(new)
    assert found.shape == (5000, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    tenths = np.array_split(ranker.rank(new), 10)
    promised, kept = (np.array([one[part].mean() for part in tenths]) for one in (found[:, 1], share))
    assert (np.diff(promised) <= 0).all()
    # A frequency among 600 rows has a standard error of 0.02.
    assert np.abs(promised - kept).mean() < 0.03
    # Whoever says the same of every row is far from it.
    assert np.abs(y.mean() - kept).mean() > 0.1


def test_probabilities_rise_with_the_score_and_stand_in_the_order_of_the_classes():
    X, y, _ = with_known_odds(300, 2)
    words = np.where(y == 1, "bad", "good")
    with_words = TopEnsemble(MEMBERS, pos_label="bad", random_state=0).fit(X, words)
    with_numbers = TopEnsemble(MEMBERS, random_state=0).fit(X, y)
    assert with_words.classes_.tolist() == ["good", "bad"]
    np.testing.assert_allclose(with_words.predict_proba(X), with_numbers.predict_proba(X))
    new = with_known_odds(500, 3)[0]
    order = np.argsort(with_numbers.decision_function(new))
    assert (np.diff(with_numbers.predict_proba(new)[order, 1]) > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_that_of_scikit_learn(weighted):
    """A column scores a row alike in every fold, so that calibrating it needs no folds at all."""
    y, stack = knowing_and_not(200, 3, noise=0.8)
    weight = np.where(stack[:, 1] > 0, 3.0, 0.5) if weighted else None
    ranker = TopEnsemble([("knows", Column(0))], random_state=0).fit(stack, y, sample_weight=weight)
    known = CalibratedClassifierCV(Column(0), ensemble=False).fit(stack, y, sample_weight=weight)
    np.testing.assert_allclose(ranker.predict_proba(stack), known.predict_proba(stack), atol=1e-4)


def test_what_the_members_learned_by_heart_makes_nobody_sure():
    X, y = noisy()
    found = TopEnsemble([("memory", Memory())], statistic="auc", random_state=0).fit(X, y).predict_proba(X)
    assert np.abs(found[:, 1] - y.mean()).max() < 0.05


def test_grades_and_numbers_have_no_probabilities_of_two_classes():
    X, y = noisy()
    grades = y + (X[:, 0] > 1)
    members = [("line", LinearRegression())]
    ranker = TopEnsemble(members, random_state=0)
    assert hasattr(ranker, "predict_proba")  # nobody has seen labels yet
    assert ranker.fit(X, y).predict_proba(X).shape == (150, 2)
    for labels in (grades, grades + X[:, 1]):
        ranker.fit(X, labels)
        assert not hasattr(ranker, "predict_proba")
        with pytest.raises(AttributeError, match="predict_proba") as caught:
            _ = ranker.predict_proba
        assert f"{ranker.kind_} labels have no probabilities" in str(caught.value.__cause__)
    assert not hasattr(TopEnsemble(levels="ordinal"), "predict_proba")


def test_members_without_importances_are_left_out_and_permutations_measure_the_whole():
    X, y, _ = with_known_odds(300, 4)
    X[:, 2] = 0.0
    silent = ("bayes", GaussianNB(var_smoothing=1e-3))
    ranker = TopEnsemble([silent, MEMBERS[0]], statistic="auc", random_state=0).fit(X, y)
    assert list(ranker.member_importances_) == ["logistic"]
    np.testing.assert_array_equal(ranker.feature_importances_, ranker.member_importances_["logistic"])
    found = permutation_importance(ranker, X, y, random_state=0)
    assert found.importances_mean.argmax() == 0
    assert found.importances_mean[2] == 0, "a constant column decides nothing"
    alone = TopEnsemble([silent], statistic="auc", random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match=r"sklearn\.inspection\.permutation_importance\(ranker, X, y\)"):
        _ = alone.feature_importances_


def test_members_count_as_told_and_catboost_twice_unless_told():
    X, y = noisy()
    ranker = TopEnsemble(MEMBERS, trust=0.0, weights={"bayes": 0.75}, random_state=0).fit(X, y)
    assert ranker.weights_ == pytest.approx({"logistic": 0.8, "bayes": 0.6})
    usual = TopEnsemble()._usual_weights(["logistic", "catboost"])
    assert usual[1] == pytest.approx(2 * usual[0])
    assert np.allclose(TopEnsemble(MEMBERS)._usual_weights(["logistic", "catboost"]), 2**-0.5)
    for wrong in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match="weights"):
            TopEnsemble(MEMBERS, weights={"bayes": wrong}).fit(X, y)
