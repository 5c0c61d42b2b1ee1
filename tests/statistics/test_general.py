"""Statistics for ordinal and real labels: against loops over all tie orders, scipy, and the papers."""

import time
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import general_oracles as oracle
from toprank.statistics import get
from toprank.statistics.general import (
    CIndex,
    HardRankingLoss,
    IntegratedAUC,
    KendallTau,
    LocalAUC,
    LocalizedRankingLoss,
    OrdinalAUC,
    PairCounts,
    VolumeUnderSurface,
    WeakRankingLoss,
    concordance_index,
    pair_counts,
)

BY_DEFINITION = {
    "hard_ranking_loss": oracle.hard_loss,
    "hard_ranking_loss(standardize=true)": oracle.hard_loss_standardized,
    "kendall_tau": oracle.tau_a,
    "kendall_tau(variant=b)": oracle.tau_b,
    "spearman_rho": oracle.spearman,
    "c_index": oracle.c_index,
    "ordinal_auc": oracle.ordinal_auc,
    "vus": oracle.waegeman_w,
    "integrated_auc": oracle.integrated_auc,
} | {
    template.format(k): partial(definition, k=k)
    for template, definition in {
        "weak_ranking_loss@{}": oracle.weak_loss,
        "weak_ranking_loss@{}(standardize=true)": oracle.weak_loss_standardized,
        "top_gain@{}": oracle.top_gain,
        "localized_ranking_loss@{}": oracle.localized_loss,
        "localized_ranking_loss@{}(standardize=true)": oracle.localized_loss_standardized,
    }.items()
    for k in (1, 2, 3, 5, 9)
}
TIES = ("worst", "mean", "best")


@st.composite
def tied_lists(draw, levels=4, longest=6):
    n = draw(st.integers(2, longest))
    y = draw(st.lists(st.integers(0, levels - 1), min_size=n, max_size=n))
    scores = draw(st.lists(st.integers(0, draw(st.sampled_from([1, 2, 5]))), min_size=n, max_size=n))
    assume(len(set(y)) > 1)
    return y, scores


def expected(name, values, ties):
    better, worse = (max, min) if get(name).greater_is_better else (min, max)
    return {"worst": worse(values), "best": better(values), "mean": sum(values) / len(values)}[ties]


@pytest.mark.parametrize("name", BY_DEFINITION)
@settings(max_examples=50, deadline=None)
@given(data=tied_lists())
def test_equals_the_definition_over_all_tie_orders(name, data):
    y, scores = data
    values = oracle.over_tie_orders(BY_DEFINITION[name], y, scores)
    for ties in TIES:
        assert get(name)(y, scores, ties=ties) == pytest.approx(expected(name, values, ties), abs=1e-12), ties


@pytest.mark.parametrize("name", BY_DEFINITION)
@settings(max_examples=30, deadline=None)
@given(y=st.lists(st.integers(0, 3), min_size=2, max_size=7))
def test_value_of_an_order_is_the_definition(name, y):
    assume(len(set(y)) > 1)
    assert get(name).of_order(y) == pytest.approx(BY_DEFINITION[name](y), abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
@settings(max_examples=50, deadline=None)
@given(data=tied_lists(levels=2))
def test_local_auc_equals_the_definition_over_all_tie_orders(k, data):
    y, scores = data
    values = oracle.over_tie_orders(partial(oracle.local_auc, k=k), y, scores)
    for ties in TIES:
        assert LocalAUC(at=k)(y, scores, ties=ties) == pytest.approx(expected("local_auc@1", values, ties)), (
            ties
        )
    ranked = [label for _, label in sorted(enumerate(y), key=lambda item: scores[item[0]])]
    assert LocalAUC(at=k).of_order(ranked) == pytest.approx(oracle.local_auc(ranked, k))


@pytest.mark.parametrize("k", [1, 2, 5])
@settings(max_examples=40, deadline=None)
@given(data=tied_lists(levels=2))
def test_localized_loss_with_the_negatives_as_printed(k, data):
    y, scores = data
    name = f"localized_ranking_loss@{k}(negatives=labels)"
    values = oracle.over_tie_orders(partial(oracle.localized_loss_as_printed, k=k), y, scores)
    for ties in TIES:
        assert get(name)(y, scores, ties=ties) == pytest.approx(expected(name, values, ties), abs=1e-12), ties
    table = get(name).count_table(sum(y), len(y) - sum(y))
    if table is None or len(set(scores)) < len(scores):
        return
    ordered = [label for _, label in sorted(zip(scores, y, strict=True), reverse=True)]
    above = [ordered[:place].count(0) for place, label in enumerate(ordered) if label == 1]
    worth = table.at(np.arange(len(above)), np.array(above))
    assert -worth.sum() == pytest.approx(values[0], abs=1e-12)


def test_the_lower_of_two_labels_needs_two():
    with pytest.raises(ValueError, match="counts the lower of two labels, and y has more"):
        LocalizedRankingLoss(at=2, negatives="labels")([0, 1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="must be 'rest' or 'labels'"):
        LocalizedRankingLoss(at=2, negatives="all")


@pytest.mark.parametrize("name", [*BY_DEFINITION, "local_auc@2"])
@settings(max_examples=25, deadline=None)
@given(data=tied_lists(levels=2), copies=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_a_whole_weight_is_a_number_of_copies(name, data, copies):
    y, scores = map(np.array, data)
    weight = np.array(copies[: y.size])
    assume(len(set(y[weight > 0])) > 1)
    for ties in TIES:
        weighted = get(name)(y, scores, ties=ties, sample_weight=weight)
        repeated = get(name)(np.repeat(y, weight), np.repeat(scores, weight), ties=ties)
        assert weighted == pytest.approx(repeated, abs=1e-12), ties


@pytest.mark.parametrize("name", ["c_index", "ordinal_auc", "vus", "integrated_auc"])
def test_fractional_weights_only_matter_relative_to_each_other(name):
    rng = np.random.default_rng(0)
    y, scores, weight = rng.integers(0, 4, 50), rng.integers(0, 9, 50), rng.integers(1, 5, 50)
    for ties in TIES:
        whole = get(name)(y, scores, ties=ties, sample_weight=weight)
        assert get(name)(y, scores, ties=ties, sample_weight=weight / 7) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        "hard_ranking_loss",
        "kendall_tau",
        "weak_ranking_loss@2",
        "localized_ranking_loss@2",
        "local_auc@2",
        "top_gain@2",
    ],
)
def test_fractional_weights_are_refused_where_they_mean_nothing(name):
    with pytest.raises(ValueError, match="whole-number sample_weight"):
        get(name)([0, 1, 1], [1, 2, 3], sample_weight=[0.5, 1, 1])


@pytest.mark.parametrize("name", BY_DEFINITION)
def test_queries_are_averaged_and_constant_ones_skipped(name):
    rng = np.random.default_rng(1)
    y, scores, qid = rng.integers(0, 3, 60), rng.normal(size=60), rng.integers(0, 5, 60)
    y[qid == 3] = 1
    parts = [get(name)(y[qid == q], scores[qid == q]) for q in (0, 1, 2, 4)]
    assert get(name)(y, scores, qid=qid) == pytest.approx(np.mean(parts))


# -- the worked example of Werner (2020) ----------------------------------------------------------

WERNER_Y = [-3, 10.3, -8, 12, 14, -0.5, 29, -1.1, -5.7, 119]
WERNER_SCORES = [0.02, 0.6, 0.1, 0.47, 0.82, 0.04, 0.77, 0.09, 0.01, 0.79]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    ("statistic", "printed"),
    [
        (WeakRankingLoss(at=4), Fraction(2, 10)),
        (WeakRankingLoss(at=4, standardize=True), Fraction(1, 4)),
        (LocalizedRankingLoss(at=4), Fraction(37, 225)),
        (LocalizedRankingLoss(at=4, standardize=True), Fraction(75, 46) * Fraction(37, 225)),
        (HardRankingLoss(), Fraction(16, 90)),
        (WeakRankingLoss(at=5), Fraction(0)),
        (LocalizedRankingLoss(at=5), Fraction(1, 15)),
        (LocalizedRankingLoss(at=5, standardize=True), Fraction(18, 13) * Fraction(1, 15)),
    ],
    ids=str,
)
def test_werner_example_2_1(statistic, printed, ties):
    assert statistic(WERNER_Y, WERNER_SCORES, ties=ties) == pytest.approx(float(printed), abs=1e-15)


def test_werner_lemma_2_1_links_the_hard_loss_and_tau():
    rng = np.random.default_rng(2)
    y, scores = rng.permutation(200), rng.permutation(200)
    assert HardRankingLoss()(y, scores) == pytest.approx((1 - KendallTau()(y, scores)) / 2)


def test_standardized_losses_reach_one_on_the_reversed_list():
    y = np.arange(20)
    assert HardRankingLoss(standardize=True)(y, -y) == 1.0
    assert WeakRankingLoss(at=10, standardize=True)(y, -y) == 1.0
    assert LocalizedRankingLoss(at=10, standardize=True)(y, -y) == pytest.approx(1.0)


# -- against scipy and the two-class statistics -----------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(data=tied_lists(levels=5, longest=12))
def test_pair_counts_give_scipys_coefficients(data):
    y, scores = data
    counts = pair_counts(y, scores)
    assert counts.total == len(y) * (len(y) - 1) / 2
    if len(set(scores)) == 1:
        assert np.isnan(counts.tau_b)
        assert np.isnan(counts.gamma)
        return
    assert counts.tau_b == pytest.approx(scipy.stats.kendalltau(y, scores).statistic, abs=1e-12)
    assert counts.somers_d == pytest.approx(scipy.stats.somersd(y, scores).statistic, abs=1e-12)


def test_pair_counts_of_copies_and_of_constant_labels():
    counts = pair_counts([1, 2, 2, 3], [1, 1, 4, 0], sample_weight=[2, 1, 3, 0])
    assert counts == PairCounts(6.0, 0.0, tied_scores=2.0, tied_labels=3.0, tied_both=4.0)
    assert np.isnan(pair_counts([1, 1], [1, 2]).somers_d)
    with pytest.raises(ValueError, match="whole-number"):
        pair_counts([1, 2], [1, 2], sample_weight=[0.5, 1])


def test_without_score_ties_tau_is_scipys():
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 40, 500), rng.normal(size=500)
    assert KendallTau("b")(y, scores) == pytest.approx(scipy.stats.kendalltau(y, scores).statistic, abs=1e-13)
    real = rng.normal(size=500)
    assert KendallTau("a")(real, scores) == pytest.approx(scipy.stats.kendalltau(real, scores).statistic)


@pytest.mark.parametrize("name", ["c_index", "ordinal_auc", "vus", "integrated_auc", "local_auc@100%"])
@pytest.mark.parametrize("ties", TIES)
def test_with_two_classes_it_is_the_auc(name, ties):
    rng = np.random.default_rng(4)
    y, scores = rng.integers(0, 2, 300), rng.integers(0, 30, 300)
    assert get(name)(y, scores, ties=ties) == pytest.approx(get("auc")(y, scores, ties=ties), rel=1e-12)


def test_one_tied_group_of_many_levels_has_one_over_the_factorial():
    assert VolumeUnderSurface()(range(8), [0.0] * 8, ties="mean") == pytest.approx(1 / 40320)
    assert VolumeUnderSurface()(range(400), [0.0] * 400, ties="mean") == 0.0
    assert VolumeUnderSurface()(range(400), range(400)) == 1.0


def test_infinite_scores_tie_with_each_other():
    y, scores = [2, 1, 3, 0], [np.inf, np.inf, 1.0, -np.inf]
    finite = [9.0, 9.0, 1.0, -9.0]
    for name in BY_DEFINITION:
        for ties in TIES:
            assert get(name)(y, scores, ties=ties) == get(name)(y, finite, ties=ties)


@settings(max_examples=50, deadline=None)
@given(
    data=tied_lists(levels=9, longest=9),
    increasing=st.sampled_from([np.exp, np.arctan, lambda v: 3.0 * v - 7.0]),
)
def test_only_the_order_of_scores_and_labels_counts(data, increasing):
    y, scores = (np.array(part, dtype=float) for part in data)
    shuffle = np.random.default_rng(0).permutation(y.size)
    for name in [name for name in BY_DEFINITION if not name.startswith("top_gain")]:  # which adds labels up
        before = get(name)(y, scores, ties="mean")
        after = get(name)(increasing(y)[shuffle], increasing(scores)[shuffle], ties="mean")
        assert after == pytest.approx(before, abs=1e-12), name


# -- a long tie across the edge of the top K, where brute force cannot reach ---------------------------


@pytest.mark.parametrize("k", [1, 30, 100, 170, 199])
def test_localized_mean_of_long_ties_is_near_a_simulation(k):
    rng = np.random.default_rng(5)
    y, scores = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    for statistic in (WeakRankingLoss(at=k, standardize=True), LocalizedRankingLoss(at=k, standardize=True)):
        drawn = [statistic(y, scores + rng.uniform(0, 0.5, 200)) for _ in range(800)]
        error = 5 * np.std(drawn) / np.sqrt(800) + 1e-9
        assert statistic(y, scores, ties="mean") == pytest.approx(np.mean(drawn), abs=error)
        low, high = statistic(y, scores, ties="best"), statistic(y, scores, ties="worst")
        assert low - 1e-12 <= min(drawn) <= max(drawn) <= high + 1e-12


def test_mean_of_a_very_long_tie_across_the_cut_is_hypergeometric():
    # 3,000 of 30,000 items are better than the 6,000th label, 15,000 share it: 3,000 of these belong inside.
    y = np.repeat([2, 1, 0], [3000, 15_000, 12_000])
    inside = np.arange(6001)
    probability = scipy.stats.hypergeom(30_000, 15_000, 6000).pmf(inside)
    recovered = 6000 * 3000 / 30_000 + probability @ np.minimum(inside, 3000)
    value = WeakRankingLoss(at=6000, standardize=True)(y, np.zeros(30_000), ties="mean")
    assert value == pytest.approx(1 - recovered / 6000, rel=1e-9)


# -- censored times -----------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(data=tied_lists(levels=4, longest=8), event=st.lists(st.booleans(), min_size=8, max_size=8))
def test_censored_c_index_equals_the_loop(data, event):
    y, scores = data
    event = event[: len(y)]
    for ties, tie in zip(TIES, (0.0, 0.5, 1.0), strict=True):
        loop = oracle.harrell(y, scores, event, tie)
        if loop is None:
            with pytest.raises(ValueError, match="no pair is comparable"):
                concordance_index(y, scores, event=event, ties=ties)
        else:
            assert concordance_index(y, scores, event=event, ties=ties) == pytest.approx(loop)


def test_concordance_index_without_events_is_the_statistic():
    rng = np.random.default_rng(6)
    y, scores = rng.integers(0, 9, 80), rng.integers(0, 20, 80)
    for ties in TIES:
        assert concordance_index(y, scores, ties=ties) == pytest.approx(CIndex()(y, scores, ties=ties))


def test_events_must_fit():
    with pytest.raises(ValueError, match="event has 1 values but y has 2"):
        concordance_index([1, 2], [1, 2], event=[True])
    with pytest.raises(ValueError, match="event must be true"):
        concordance_index([1, 2], [1, 2], event=[3, 1])


# -- names and errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "statistic"),
    [
        ("kendall_tau(variant=b)", KendallTau(variant="b")),
        ("hard_ranking_loss(standardize=true)", HardRankingLoss(standardize=True)),
        ("weak_ranking_loss@50", WeakRankingLoss(at=50)),
        ("localized_ranking_loss@5%(standardize=true)", LocalizedRankingLoss(at="5%", standardize=True)),
        ("local_auc@10%", LocalAUC(at="10%")),
        ("vus", VolumeUnderSurface()),
        ("integrated_auc", IntegratedAUC()),
        ("ordinal_auc", OrdinalAUC()),
        ("c_index", CIndex()),
    ],
)
def test_names_are_read_back(text, statistic):
    assert get(text) == statistic
    assert str(statistic) == text
    assert len({statistic, get(text)}) == 1


@pytest.mark.parametrize(
    ("alias", "name"), [("waegeman_w", "vus"), ("iauc", "integrated_auc"), ("furnkranz_u", "ordinal_auc")]
)
def test_other_names(alias, name):
    assert get(alias) == get(name)


@pytest.mark.parametrize("name", BY_DEFINITION)
def test_constant_labels_are_an_error(name):
    with pytest.raises(ValueError, match="one class only"):
        get(name)([2, 2, 2], [1, 2, 3])


def test_wrong_parameters_are_errors():
    with pytest.raises(ValueError, match="variant"):
        KendallTau(variant="c")
    with pytest.raises(ValueError, match="cut-off"):
        WeakRankingLoss(at=0)
    with pytest.raises(ValueError, match="cut-off"):
        LocalAUC(at="120%")
    with pytest.raises(ValueError, match="NaN"):
        KendallTau()([1, 2], [np.nan, 1])


@pytest.mark.wall_clock
@pytest.mark.parametrize("kind", ["distinct", "tied", "constant"])
def test_long_lists_take_no_more_than_a_few_sorts(kind):
    rng = np.random.default_rng(7)
    n = 200_000
    y = rng.normal(size=n)
    scores = {"distinct": y + rng.normal(size=n), "tied": rng.integers(0, 50, n), "constant": np.zeros(n)}[
        kind
    ]
    started = time.perf_counter()
    np.lexsort((y, rng.normal(size=n)))
    sort = time.perf_counter() - started
    for name in ("kendall_tau", "integrated_auc", "vus", f"localized_ranking_loss@{n // 3}"):
        get(name)(y[:9], scores[:9] + np.arange(9.0), ties="mean")  # compile
        for ties in TIES:
            started = time.perf_counter()
            get(name)(y, scores, ties=ties)
            # Quadratic counting would take thousands of times as long as a sort.
            assert time.perf_counter() - started < 40 * sort + 0.5, (name, ties)


def test_spearman_is_scipys_without_tied_scores():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 5, 200), rng.normal(size=200)
    assert get("spearman")(y, scores) == pytest.approx(scipy.stats.spearmanr(y, scores).statistic, abs=1e-12)
