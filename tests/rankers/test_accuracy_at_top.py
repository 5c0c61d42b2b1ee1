"""`AccuracyAtTop`: the paper's rule by brute force, the edges, interruptions."""

import os
import signal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from at_top_oracles import rule, top_quantile
from toprank.control import SearchStoppedWarning, keep_best_on_interrupt
from toprank.convex.accuracy_at_top import pin_search
from toprank.rankers.accuracy_at_top import AccuracyAtTop
from toprank.rankers.exact import ExactRanker
from toprank.rankers.parts.margin_bound import margin_bound


def sample(seed, n=24, d=3, *, share=0.4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    score = X[:, 0] - X[:, 1] / 2 + noise * rng.normal(size=n)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


@pytest.mark.parametrize("seed, tau, C", [(0, 0.25, 0.01), (1, 0.125, 0.001), (2, 0.5, 0.1), (3, 0.25, 1.0)])
def test_chooses_what_the_paper_chooses(seed, tau, C):
    X, y = sample(seed)
    n_pos, n_neg = y.sum(), (1 - y).sum()
    chosen, distance, value, coef = rule(X, C * n_neg * y, C * n_pos * (1 - y), tau)
    ranker = AccuracyAtTop(tau, C).fit(X, y)
    np.testing.assert_allclose(ranker.pins_.value, value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ranker.pins_.distance, distance, atol=1e-5)
    assert ranker.pin_ == chosen
    np.testing.assert_allclose(ranker.coef_, coef, atol=1e-5)
    assert ranker.certified_
    assert ranker.distance_ == pytest.approx(distance[chosen], abs=1e-5)
    assert ranker.relative_distance_ == pytest.approx(distance[chosen] / (X @ coef).std(), abs=1e-5)
    assert ranker.quantile_ == pytest.approx(top_quantile(X @ coef, tau), abs=1e-5)
    assert ranker.outcome_.bound == pytest.approx(value.min(), rel=1e-5)
    assert ranker.outcome_.value >= ranker.outcome_.bound


@pytest.mark.parametrize("solver", ["exhaustive", "screened", "local"])
def test_predict_marks_the_top_share(solver):
    X, y = sample(5, n=40)
    ranker = AccuracyAtTop(0.2, 0.01, solver=solver, random_state=0).fit(X, y)
    assert ranker.predict(X).sum() == ranker.n_top_ == 8
    scores = X @ ranker.coef_
    assert np.sort(scores)[::-1][7] == pytest.approx(ranker.quantile_)
    assert (scores > ranker.threshold_).sum() == 8
    np.testing.assert_array_equal(ranker.first(X, 8), np.argsort(-scores, kind="stable")[:8])
    precision = y[ranker.first(X, 8)].mean()
    assert ranker.score(X, y) == pytest.approx(precision)


def test_local_finds_a_value_no_worse_than_the_published_rule():
    for seed in range(6):
        X, y = sample(seed, n=60)
        published = AccuracyAtTop(0.1, 0.02).fit(X, y).outcome_
        local = AccuracyAtTop(0.1, 0.02, solver="local", random_state=0).fit(X, y).outcome_
        assert published.bound <= local.value <= published.value * (1 + 1e-3)


# -- kernels ------------------------------------------------------------------------------------


def test_a_kernel_of_inner_products_is_the_linear_ranker():
    X, y = sample(7)
    linear = AccuracyAtTop(0.25, 0.05).fit(X, y)
    for kernel, rows in ((lambda a, b: float(a @ b), X), ("precomputed", X @ X.T)):
        other = AccuracyAtTop(0.25, 0.05, kernel=kernel).fit(rows, y)
        assert other.pin_ == linear.pin_
        np.testing.assert_allclose(other.decision_function(rows), linear.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("solver", ["exhaustive", "local"])
def test_rbf_equals_its_own_gram_matrix_on_new_rows(solver):
    X, y = sample(8)
    order = np.lexsort(X.T[::-1])  # "local" sorts rows, and cannot sort a Gram matrix
    X, y = X[order], y[order]
    new = X[:5] + 0.1
    by_name = AccuracyAtTop(0.25, 0.5, kernel="rbf", gamma=0.3, solver=solver, random_state=0).fit(X, y)
    by_matrix = AccuracyAtTop(0.25, 0.5, kernel="precomputed", solver=solver, random_state=0)
    by_matrix.fit(rbf_kernel(X, gamma=0.3), y)
    np.testing.assert_allclose(
        by_name.decision_function(new), by_matrix.decision_function(rbf_kernel(new, X, gamma=0.3)), atol=1e-6
    )


def test_all_nystroem_components_give_the_whole_kernel():
    X, y = sample(9)
    whole = AccuracyAtTop(0.25, 0.5, kernel="rbf", gamma=0.3).fit(X, y)
    approximate = (
        clone(whole).set_params(approximation="nystroem", n_components=len(X), random_state=0).fit(X, y)
    )
    np.testing.assert_allclose(approximate.decision_function(X), whole.decision_function(X), atol=1e-4)
    few = clone(whole).set_params(approximation="nystroem", n_components=5, random_state=0).fit(X, y)
    assert few.coef_.shape == (5,)


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), np.arange(12) % 2
    exhaustive = AccuracyAtTop(0.25, 0.01).fit(X, y)
    np.testing.assert_allclose(exhaustive._scores(X), X @ exhaustive.coef_)
    local = AccuracyAtTop(0.25, 0.01, solver="local", random_state=0).fit(X, y)
    assert local.coef_.shape == (40,)
    assert local.outcome_.value >= exhaustive.outcome_.bound * (1 - 1e-9)


# -- other inputs ---------------------------------------------------------------------------------


def test_all_pairs_of_balanced_labels_are_the_labels():
    X, y = sample(10, share=0.5)
    pairs = [(i, k) for i in np.flatnonzero(y == 1) for k in np.flatnonzero(y == 0)]
    by_label = AccuracyAtTop(0.25, 0.01).fit(X, y)
    by_pair = AccuracyAtTop(0.25, 0.01).fit_pairs(X, pairs)
    np.testing.assert_allclose(by_pair.coef_, by_label.coef_, atol=1e-7)
    assert by_pair.threshold_ == pytest.approx(by_label.threshold_)
    np.testing.assert_array_equal(by_pair.predict(X), by_label.predict(X))


def test_a_pair_of_weight_two_is_two_pairs_and_items_may_be_on_both_sides():
    X, _ = sample(11, n=8)
    pairs = [(0, 1), (1, 2), (3, 4), (5, 0), (6, 7)]
    weighted = AccuracyAtTop(0.25, 0.5).fit_pairs(X, pairs, sample_weight=[2, 1, 1, 1, 1])
    repeated = AccuracyAtTop(0.25, 0.5).fit_pairs(X, [pairs[0], *pairs])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


@pytest.mark.parametrize(
    "pairs, message",
    [([(0, 9)], "row numbers from 0"), ([(1, 1)], "above itself"), ([0, 1], "shape"), ([(0.5, 1)], "whole")],
)
def test_bad_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        AccuracyAtTop().fit_pairs(np.eye(3), pairs)


@pytest.mark.parametrize("solver", ["exhaustive", "local"])
def test_repeated_rows_count_as_weights(solver):
    X, y = sample(12, n=16)
    weight = np.random.default_rng(0).integers(0, 3, 16)
    weight[:4] = 1
    ranker = AccuracyAtTop(0.25, 0.02, solver=solver, random_state=0)
    weighted = clone(ranker).fit(X, y, sample_weight=weight)
    repeated = clone(ranker).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.outcome_.value == pytest.approx(repeated.outcome_.value, rel=1e-4)
    if solver == "exhaustive":
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_weightings_are_the_same_up_to_C():
    X, y = sample(13)
    n_pos, n_neg = y.sum(), (1 - y).sum()
    balanced = AccuracyAtTop(0.25, 0.3, weighting="balanced").fit(X, y)
    pairs = AccuracyAtTop(0.25, 0.3 * len(y) / (2 * n_pos * n_neg)).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, pairs.coef_, atol=1e-6)


# -- edges ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [-0.1, 0.0, 1.0, 1.5, np.nan])
def test_tau_outside_the_open_interval(tau):
    with pytest.raises(ValueError, match="top_share="):
        AccuracyAtTop(tau).fit(*sample(0))


@pytest.mark.parametrize("tau, top", [(1e-6, 1), (0.999999, 23)])
def test_a_top_of_nothing_or_all_becomes_one_or_all_but_one(tau, top):
    X, y = sample(0)
    ranker = AccuracyAtTop(tau, 0.01).fit(X, y)
    assert ranker.n_top_ == top
    assert ranker.predict(X).sum() == top
    assert any("was taken" in note for note in ranker.outcome_.notes)


def test_features_out_of_scale_bring_a_warning():
    X, y = sample(0)
    AccuracyAtTop(0.25).fit(X, y)  # without one: warnings are errors here
    with pytest.warns(SearchStoppedWarning, match="scale the features"):
        far = AccuracyAtTop(0.25).fit(1e6 * X, y)
    assert not far.certified_


def test_one_class():
    with pytest.raises(ValueError, match="one class only"):
        AccuracyAtTop().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="sample_weight leaves one class"):
        AccuracyAtTop().fit([[0.0], [1.0]], [0, 1], sample_weight=[0, 1])


def test_more_positives_than_the_quantile_holds_is_noted():
    X, y = sample(0, share=0.5)
    assert any("do not fit" in note for note in AccuracyAtTop(0.1).fit(X, y).outcome_.notes)
    assert not AccuracyAtTop(0.5).fit(X, y).outcome_.notes


@pytest.mark.parametrize("solver", ["exhaustive", "screened", "local"])
def test_identical_items(solver):
    X, y = np.ones((6, 2)), np.arange(6) % 2
    ranker = AccuracyAtTop(0.5, solver=solver, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ranker.coef_, 0.0)
    assert ranker.predict(X).all()
    if solver != "local":
        assert len(ranker.pin_rows_) == 1


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"C": 0.0}, "C="),
        ({"tol": 2.0}, "tol="),
        ({"solver": "magic"}, "solver="),
        ({"weighting": "magic"}, "weighting="),
        ({"approximation": "nystroem"}, "needs a kernel to approximate"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        AccuracyAtTop(**parameters).fit(*sample(0))


# On a handful of equal rows the local solver may not settle; it says so, and that is not the question.
@pytest.mark.filterwarnings("ignore::toprank.control.SearchStoppedWarning")
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), solver=st.sampled_from(["exhaustive", "screened", "local"]))
@example(seed=142, solver="exhaustive")  # equal scores that rounding parts
@example(seed=162, solver="local")
@example(seed=366, solver="exhaustive")
def test_ties_and_duplicates(seed, solver):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    X, y = rng.integers(0, 2, (n, 2)).astype(float), rng.integers(0, 2, n)
    y[:2] = 0, 1
    ranker = AccuracyAtTop(0.3, 0.5, solver=solver, random_state=0).fit(X, y)
    scores = X @ ranker.coef_
    marked = ranker.predict(X) == 1
    assert ranker.n_top_ <= marked.sum()
    assert (scores[marked] >= ranker.quantile_ - 1e-9).all()
    assert np.isfinite(ranker.outcome_.value)


# -- clocks, files -----------------------------------------------------------------------


def test_no_time_at_all_still_gives_an_answer():
    X, y = sample(0)
    for kernel in (None, "rbf"):
        with pytest.warns(SearchStoppedWarning, match="time_limit"):
            ranker = AccuracyAtTop(0.25, kernel=kernel, time_limit=1e-9).fit(X, y)
        assert not ranker.certified_
        assert ranker.pin_ == -1
        assert np.isfinite(ranker.decision_function(X)).all()


@pytest.fixture
def watched(monkeypatch):
    """Each solved pin, in order; Ctrl-C is pressed while the pin number `press_at` is being solved."""

    class Watched:
        def __init__(self):
            self.pins, self.press_at = [], -1

    examine = pin_search.examine

    def watching(items, pin, tol):
        watch.pins.append(pin)
        if len(watch.pins) == watch.press_at:
            os.kill(os.getpid(), signal.SIGINT)
        return examine(items, pin, tol)

    watch = Watched()
    monkeypatch.setattr(pin_search, "examine", watching)
    return watch


@pytest.mark.parametrize("solver, press_at", [("exhaustive", 5), ("screened", 5), ("screened", 45)])
def test_interrupted_keeps_the_best_so_far(solver, press_at, watched):
    X, y = sample(0, n=40)
    watched.press_at = press_at
    with keep_best_on_interrupt(), pytest.warns(SearchStoppedWarning, match="interrupted"):
        ranker = AccuracyAtTop(0.25, solver=solver).fit(X, y)
    assert len(watched.pins) == press_at
    assert ranker.pins_.solved.sum() == min(press_at, 40)
    assert not ranker.certified_
    assert np.isnan(ranker.outcome_.bound) == (press_at < 40)


def test_goes_on_from_a_checkpoint(tmp_path, watched):
    X, y = sample(0, n=40)
    path = tmp_path / "pins.npz"
    complete = AccuracyAtTop(0.25, 0.01).fit(X, y)
    watched.pins, watched.press_at = [], 11
    with keep_best_on_interrupt(), pytest.warns(SearchStoppedWarning):
        AccuracyAtTop(0.25, 0.01, checkpoint=path).fit(X, y)
    first = set(watched.pins)
    watched.pins, watched.press_at = [], -1
    second = AccuracyAtTop(0.25, 0.01, checkpoint=path).fit(X, y)
    assert len(first) == 11
    assert len(watched.pins) == 29
    assert not first & set(watched.pins)
    np.testing.assert_array_equal(second.coef_, complete.coef_)
    with pytest.raises(ValueError, match="other data or parameters"):
        AccuracyAtTop(0.25, 0.02, checkpoint=path).fit(X, y)
    path.write_text("something else")
    with pytest.raises(ValueError, match="not a file of solved pins"):
        AccuracyAtTop(0.25, 0.01, checkpoint=path).fit(X, y)


# -- beside the exact optimum -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_no_ranker_beats_the_exact_optimum_of_precision_at_tau(seed):
    """The exact ranker proves the optimum of what the surrogate stands for; a sweep of the plane agrees."""
    X, y = sample(seed, n=40, d=2)
    directions = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    scores = X @ np.array([np.cos(directions), np.sin(directions)])
    swept = y[np.argsort(-scores, axis=0, kind="stable")[:8]].mean(axis=0).max()
    exact = ExactRanker("precision@20%", n_jobs=1, random_state=0, time_limit=60).fit(X, y)
    surrogate = AccuracyAtTop(0.2, 0.02).fit(X, y)
    assert exact.outcome_.value == pytest.approx(swept)
    assert surrogate.score(X, y) <= exact.outcome_.value + 1e-9


def test_margin_bound_by_hand():
    X = np.array([[3.0], [1.0], [-1.0], [-3.0]])
    ranker = AccuracyAtTop(0.5, 0.1).fit(X, [1, 1, 0, 0])
    found = margin_bound(ranker, X, [1, 1, 0, 0], rho=0.5, delta=0.1)
    w, lead = ranker.coef_[0], ranker.decision_function(X) * np.array([1, 1, -1, -1])
    paid = np.minimum(np.maximum(1 - lead / 0.5, 0), 1)
    assert found.empirical == pytest.approx(paid.mean())
    assert (found.n_pairs, found.radius) == (2, 3.0)
    assert found.norm == pytest.approx(abs(w))
    assert found.value == pytest.approx(
        paid.mean() + 4 * 3 * abs(w) / (0.5 * 2**0.5) + (np.log(10) / 4) ** 0.5
    )
    roots = 2 * 5**0.5 + 2 * 3
    assert found.by_trace == pytest.approx(
        paid.mean() + abs(w) / (0.5 * 2**0.5) * roots + 3 * (np.log(20) / 4) ** 0.5
    )


def test_margin_bound_with_given_complexities_at_any_threshold():
    X, y = np.array([[3.0], [1.0], [-1.0], [-3.0]]), [1, 0, 1, 0]
    ranker = AccuracyAtTop(0.5, 0.1).fit(X, [1, 1, 0, 0])
    scores = ranker.decision_function(X)
    cut = float((scores[1] + scores[2]) / 2) + 0.1
    found = margin_bound(ranker, X, y, rho=0.5, delta=0.1, threshold=cut, complexity=(0.2, 0.3), largest=2.0)
    # Boyd et al. (2012), Theorem 1, with Phi_rho(x) = 1 for x <= 0, else (1 - x / rho)_+.
    margins = [scores[0] - cut, cut - scores[1], scores[2] - cut, cut - scores[3]]
    paid = np.mean([1.0 if x <= 0 else max(1 - x / 0.5, 0.0) for x in margins])
    added = (0.2 + 0.3 + 2 * 2.0 / 2**0.5) / 0.5
    assert found.empirical == pytest.approx(paid)
    assert found.error == 0.5, "one of two irrelevant items above, one of two relevant ones below"
    assert found.value == pytest.approx(paid + added + (np.log(10) / 4) ** 0.5)
    assert found.by_trace == pytest.approx(paid + added + 3 * (np.log(20) / 4) ** 0.5)
    with pytest.raises(ValueError, match="complexity and largest go together"):
        margin_bound(ranker, X, y, rho=0.5, complexity=(0.2, 0.3))


def test_margin_bound_of_kernels_and_of_other_linear_models():
    X, y = sample(3)
    inner = AccuracyAtTop(0.25, 0.05, kernel=lambda a, b: float(a @ b)).fit(X, y)
    linear = AccuracyAtTop(0.25, 0.05).fit(X, y)
    gram = AccuracyAtTop(0.25, 0.05, kernel="precomputed").fit(X @ X.T, y)
    expected = margin_bound(linear, X, y, rho=1.0)
    for other, rows in ((inner, X), (gram, X @ X.T)):
        assert margin_bound(other, rows, y, rho=1.0).value == pytest.approx(expected.value, rel=1e-5)
    logistic = LogisticRegression().fit(X, y)
    assert margin_bound(logistic, X, y, rho=1.0).norm == pytest.approx(np.linalg.norm(logistic.coef_))
    assert margin_bound(AccuracyAtTop(0.25, kernel="rbf").fit(X, y), X, y, rho=1.0).radius == 1.0
    with pytest.raises(ValueError, match="rho="):
        margin_bound(linear, X, y, rho=0.0)
    with pytest.raises(ValueError, match="one class"):
        margin_bound(linear, X, np.ones(len(y)), rho=1.0)
    with pytest.raises(ValueError, match="Gram matrix"):
        margin_bound(gram, (X @ X.T)[:5], y[:5], rho=1.0)
