"""What is special to single statistics: scikit-learn's values, figures from the papers, limits, size."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma
from sklearn import metrics

import oracles
import strategies
from toprank.statistics import AUC, DCG, NDCG, PNorm, get
from toprank.statistics._kernels import harmonic_difference

# --- equal to scikit-learn -------------------------------------------------------------------------


@given(case=strategies.tied_lists(max_size=40))
def test_auc_equals_scikit_learn_with_ties(case):
    y, scores = case
    finite = np.clip(scores, -100, 100)
    assert AUC()(y, scores, ties="mean") == pytest.approx(metrics.roc_auc_score(y, finite), abs=1e-12)


@given(case=strategies.weighted_lists(max_size=15, weights=st.floats(0.01, 10)))
def test_weighted_auc_equals_scikit_learn(case):
    y, scores, weights = case
    expected = metrics.roc_auc_score(y, np.clip(scores, -100, 100), sample_weight=weights)
    assert AUC()(y, scores, sample_weight=weights, ties="mean") == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


@given(case=strategies.untied_lists(max_size=40), ties=st.sampled_from(["worst", "mean", "best"]))
def test_average_precision_equals_scikit_learn_without_ties(case, ties):
    y, scores = case
    ranks = np.argsort(np.argsort(scores))
    expected = metrics.average_precision_score(y, ranks)
    assert get("average_precision")(y, scores, ties=ties) == pytest.approx(expected, abs=1e-12)


@given(case=strategies.weighted_lists(max_size=12))
def test_weighted_average_precision_differs_from_scikit_learn_as_documented(case):
    y, scores, weights = case
    theirs = metrics.average_precision_score(y, np.clip(scores, -100, 100), sample_weight=weights)
    assert get("average_precision")(y, scores, sample_weight=weights) <= theirs + 1e-12


def test_copies_have_positions_of_their_own_in_average_precision():
    y, scores, weight = [0, 1], [2, 1], [1, 2]
    assert get("average_precision")(y, scores, sample_weight=weight) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert metrics.average_precision_score(y, scores, sample_weight=weight) == pytest.approx(2 / 3)


@given(case=strategies.tied_lists(max_size=40, levels=2), k=st.one_of(st.none(), st.integers(1, 45)))
def test_dcg_and_ndcg_equal_scikit_learn_with_ties(case, k):
    y, scores = case
    finite = np.clip(scores, -100, 100)
    expected = metrics.dcg_score([y], [finite], k=k)
    assert DCG(at=k)(y, scores, ties="mean") == pytest.approx(expected, abs=1e-12)
    expected = metrics.ndcg_score([y], [finite], k=k)
    assert NDCG(at=k)(y, scores, ties="mean") == pytest.approx(expected, abs=1e-12)


@given(case=strategies.tied_lists(max_size=40, levels=5), k=st.one_of(st.none(), st.integers(1, 45)))
def test_graded_dcg_and_ndcg_equal_scikit_learn_with_ties(case, k):
    y, scores = case
    finite = np.clip(scores, -100, 100)
    expected = metrics.dcg_score([y], [finite], k=k, log_base=10)
    assert DCG(at=k, base=10)(y, scores, ties="mean") == pytest.approx(expected, rel=1e-10)
    expected = metrics.ndcg_score([y], [finite], k=k)
    assert NDCG(at=k)(y, scores, ties="mean") == pytest.approx(expected, rel=1e-10)


@given(case=strategies.untied_lists(max_size=40), max_fpr=st.floats(0.01, 0.999))
def test_standardized_partial_auc_equals_scikit_learn_without_ties(case, max_fpr):
    y, scores = case
    ranks = np.argsort(np.argsort(scores))
    ours = get(f"partial_auc_fpr(max_fpr={max_fpr!r},standardize=true)")
    assert ours(y, scores) == pytest.approx(metrics.roc_auc_score(y, ranks, max_fpr=max_fpr), abs=1e-9)


# --- figures and relations from the papers ---------------------------------------------------------


def test_agarwal_table_1():
    """Agarwal (2011), Section 2: the same AUC, but one against three positives at the top."""
    y = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    first = [9.7, 7.3, 5.2, 4.0, 8.7, 6.3, 3.9, 2.7, 1.1, 0.8]
    second = [9.5, 8.1, 7.2, 1.5, 6.3, 5.1, 4.4, 3.1, 2.7, 0.9]
    assert AUC()(y, first) == AUC()(y, second) == 19 / 24
    assert get("positives_at_top")(y, first) == 1
    assert get("positives_at_top")(y, second) == 3
    assert get("infinite_push_loss")(y, first) == 0.75
    assert get("infinite_push_loss")(y, second) == 0.25


@given(case=strategies.tied_lists(max_size=30), ties=st.sampled_from(["worst", "mean", "best"]))
def test_relations_between_statistics(case, ties):
    y, scores = case
    n_pos, n_neg = sum(y), len(y) - sum(y)

    def value(spec):
        return get(spec)(y, scores, ties=ties)

    auc = value("auc")
    # Rudin & Wang (2018), Section 2.2 and Eq. (2).
    assert value("wilcoxon_rank_sum") == pytest.approx(n_pos * n_neg * auc + n_pos * (n_pos + 1) / 2)
    assert value("pairwise_misranking_error") == pytest.approx(1 - auc)
    assert value("p_norm_push_loss(p=1)") == pytest.approx(1 - auc)
    assert value("p_norm(p=1)") == pytest.approx(value("wilcoxon_rank_sum"))
    assert value("partial_auc@100%") == pytest.approx(value("wilcoxon_rank_sum"))
    assert value("partial_auc_fpr(max_fpr=1)") == pytest.approx(auc)
    assert value("infinite_push_loss") == pytest.approx(1 - value("positives_at_top(fraction=true)"))
    assert value("winner_takes_all") == pytest.approx(value("precision@1")) == pytest.approx(value("dcg@1"))
    assert value("precision@100%") == pytest.approx(n_pos / len(y))
    assert value("lift@100%") == pytest.approx(1)
    assert value("recall@100%") == pytest.approx(1)


@given(case=strategies.tied_lists(max_size=10), p=st.sampled_from([1, 4, 64]))
def test_push_loss_tends_to_the_infinite_push(case, p):
    """The p-norm of the shares is at most their maximum, and at least that over n-^(1/p)."""
    y, scores = case
    highest = get("infinite_push_loss")(y, scores)
    norm = get(f"p_norm_push_loss(p={p})")(y, scores) ** (1 / p)
    assert highest * y.count(0) ** (-1 / p) <= norm + 1e-12
    assert norm <= highest + 1e-12


def test_two_kinds_of_mean_reciprocal_rank():
    y, scores, qid = [0, 1, 1, 1, 0, 0], [3, 2, 1, 3, 2, 1], [0, 0, 0, 1, 1, 1]
    assert get("reciprocal_rank_sum")(y, scores, qid=qid) == pytest.approx(((1 / 2 + 1 / 3) + 1) / 2)
    assert get("reciprocal_rank")(y, scores, qid=qid) == pytest.approx((1 / 2 + 1) / 2)
    assert get("mrr") == get("reciprocal_rank")  # what everyone but the papers means by it


def test_random_order_has_expected_values():
    """All items tied, ties="mean": a random list, whose expectations are known."""
    y, scores = np.arange(100) < 20, np.zeros(100)
    assert AUC()(y, scores, ties="mean") == 0.5
    assert get("precision@7%")(y, scores, ties="mean") == pytest.approx(0.2)
    assert get("lift@10")(y, scores, ties="mean") == pytest.approx(1)
    assert get("positives_at_top")(y, scores, ties="mean") == pytest.approx(20 / 81)


# --- graded labels ---------------------------------------------------------------------------------


def test_gain_says_how_labels_are_read():
    scores = [3, 2, 1]
    discounts = 1 / np.log2([2, 3, 4])
    assert get("dcg")([2, 0, 2], scores) == pytest.approx(2 * discounts[[0, 2]].sum())
    assert get("dcg(gain=linear)") == get("dcg")
    assert get("dcg(gain=exponential)")([2, 0, 2], scores) == pytest.approx(3 * discounts[[0, 2]].sum())
    assert get("dcg")([2, 1, 0], scores) == pytest.approx(2 * discounts[0] + discounts[1])
    for spec in ("dcg", "dcg(gain=exponential)"):
        for y in ([1, -1, 1], [True, False, True], ["yes", "no", "yes"]):
            assert get(spec)(y, scores) == get("dcg")([1, 0, 1], scores)
    with pytest.raises(ValueError, match="gain of dcg"):
        DCG(gain="auto")


def test_what_a_label_is_worth_does_not_depend_on_the_others():
    assert get("dcg")([2, 0, 0], [3, 2, 1]) == 2.0
    assert get("dcg")([2, 0, 0, 1], [4, 3, 2, 1]) == pytest.approx(2 + 1 / np.log2(5))
    # A list that holds only the grades 0 and 2, beside one that holds all.
    y, scores, qid = [2, 0, 0, 2, 1, 0], [1, 3, 2, 2, 3, 1], [0, 0, 0, 1, 1, 1]
    alone = [get("dcg")(y[:3], scores[:3]), get("dcg")(y[3:], scores[3:])]
    assert get("dcg").by_query(y, scores, qid=qid).tolist() == alone
    assert get("dcg")(y, scores, qid=qid) == pytest.approx(np.mean(alone))


def test_graded_labels_that_cannot_be_gains():
    with pytest.raises(ValueError, match="y holds a negative relevance"):
        DCG()([2, 1, -1], [3, 2, 1])
    with pytest.raises(ValueError, match="y is too large for an exponential gain"):
        DCG(gain="exponential")([2000, 1, 0], [3, 2, 1])
    with pytest.raises(ValueError, match="one value only"):
        DCG(gain="linear").of_order([2, 2])
    with pytest.raises(ValueError, match="one class only"):
        NDCG(gain="linear")([2, 2], [1, 0])


@pytest.mark.parametrize("spec", oracles.GRADED_STATISTICS)
@settings(max_examples=40)
@given(case=strategies.weighted_lists(max_size=5, levels=3))
def test_graded_whole_weights_equal_repeated_rows(spec, case):
    y, scores, weights = case
    repeated_y, repeated_scores = oracles.repeat_rows(weights, y, scores)
    for ties in ("worst", "mean", "best"):
        expected = get(spec)(repeated_y, repeated_scores, ties=ties)
        assert get(spec)(y, scores, ties=ties, sample_weight=weights) == pytest.approx(expected, rel=1e-10)


# --- sample weights --------------------------------------------------------------------------------

UNTIED_FRACTIONS = st.lists(
    st.tuples(st.booleans(), st.floats(0.1, 3.0).filter(lambda weight: weight != int(weight))),
    min_size=2,
    max_size=12,
).filter(lambda rows: len({positive for positive, _ in rows}) == 2)


@given(rows=UNTIED_FRACTIONS, percent=st.integers(1, 100), count=st.integers(1, 20))
def test_fractional_items_fill_fractional_positions(rows, percent, count):
    """A share of a list of fractional items ends where it ends, in the middle of a position if need be."""
    y, weights = [int(positive) for positive, _ in rows], [weight for _, weight in rows]
    scores = [-float(i) for i in range(len(y))]
    total, positive = sum(weights), sum(w for label, w in zip(y, weights, strict=True) if label)
    for at, depth in ((f"{percent}%", percent * total / 100), (str(count), min(count, total))):
        hits = oracles.mass_sum(y, weights, depth, lambda cell: 1.0)
        discounted = oracles.mass_sum(y, weights, depth, lambda cell: 1 / math.log2(cell + 2))
        ideal = oracles.mass_sum([1], [positive], depth, lambda cell: 1 / math.log2(cell + 2))
        expected = {
            "precision": hits / depth,
            "recall": hits / positive,
            "lift": hits / depth / (positive / total),
            "dcg": discounted,
            "ndcg": discounted / ideal,
        }
        for name, value in expected.items():
            found = get(f"{name}@{at}")(y, scores, sample_weight=weights)
            assert found == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "spec, levels",
    [
        *[(spec, 2) for spec in ("dcg@5", "ndcg@2%", "precision@5", "partial_auc@5", "winner_takes_all")],
        *[(spec, 4) for spec in ("dcg@5", "dcg@2%", "ndcg@5", "ndcg@2%(gain=exponential)")],
    ],
)
def test_weights_in_long_lists_equal_repeated_rows(spec, levels):
    """Long enough for the top to be cut out."""
    rng = np.random.default_rng(8)
    y, scores = rng.integers(0, levels, 400), np.round(rng.normal(size=400), 1)
    weight = rng.integers(0, 3, 400)
    for ties in ("worst", "mean", "best"):
        repeated = get(spec)(np.repeat(y, weight), np.repeat(scores, weight), ties=ties)
        assert get(spec)(y, scores, sample_weight=weight, ties=ties) == pytest.approx(repeated, rel=1e-11)


@pytest.mark.parametrize("levels", [2, 4])
def test_depth_is_counted_in_mass_and_not_in_rows(levels):
    """Light rows: many more of them than five fit above a cut-off of five."""
    rng = np.random.default_rng(9)
    y, weights = rng.integers(0, levels, 400), rng.uniform(0.1, 0.4, 400)
    expected = oracles.mass_sum(y, weights, 5.0, lambda cell: 1 / math.log2(cell + 2))
    assert get("dcg@5")(y, -np.arange(400.0), sample_weight=weights) == pytest.approx(expected, rel=1e-11)


# --- limits ----------------------------------------------------------------------------------------


def test_p_norm_never_overflows_in_silence():
    n = 10**6
    with pytest.raises(ValueError, match=r"overflows for 1e\+06 items; use p_norm\(p=64,scaled=true\)"):
        PNorm(p=64).weights(n, 10)
    scaled = PNorm(p=64, scaled=True).weights(n, 10)
    assert scaled[0] == 1
    assert np.isfinite(scaled).all()
    assert np.isfinite(PNorm(p=48).weights(n, n - 1).sum())


def test_weights_need_both_classes():
    for n_pos in (0, 5):
        with pytest.raises(ValueError, match="n_pos must be at least 1 and less than n = 5"):
            DCG().weights(5, n_pos)


@given(t=st.floats(0, 1e9), m=st.floats(1e-6, 1e9))
def test_harmonic_difference_equals_digamma(t, m):
    expected = digamma(t + m + 1) - digamma(t + 1)
    assert harmonic_difference(t, m) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_harmonic_difference_does_not_cancel():
    """Digamma itself loses nine digits here."""
    assert harmonic_difference(10.0**7, 1.0) == pytest.approx(1 / (10**7 + 1), rel=1e-14)
    assert harmonic_difference(0.0, 4.0) == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4, rel=1e-14)
    assert harmonic_difference(3.0, 0.0) == 0


def test_average_precision_keeps_its_digits_down_the_list():
    n = 10**6
    y, scores = np.arange(n) == n - 1, -np.arange(n)
    assert get("average_precision")(y, scores) == pytest.approx(1 / n, rel=1e-14)
    # Half-weight rows: one positive of mass 1/2 below negatives of mass (n - 1)/2.
    weight = np.full(n, 0.5)
    expected = 1 - (n - 1) * harmonic_difference((n - 1) / 2, 0.5)
    assert get("average_precision")(y, scores, sample_weight=weight) == pytest.approx(expected, rel=1e-9)


@given(case=strategies.weighted_lists(max_size=8))
def test_fractional_average_precision_extends_the_whole_one(case):
    """Weights a hair from whole take the other code path, and must agree."""
    y, scores, weights = case
    near = [weight + 1e-9 if weight else 0 for weight in weights]
    for ties in ("worst", "best"):
        whole = get("average_precision")(y, scores, sample_weight=weights, ties=ties)
        assert get("average_precision")(y, scores, sample_weight=near, ties=ties) == pytest.approx(
            whole, rel=1e-6
        )


@pytest.mark.parametrize("spec", [s for s in oracles.STATISTICS if "%" not in s] + ["kendall_tau", "c_index"])
@settings(max_examples=30)
@given(case=strategies.weighted_lists(max_size=8))
def test_fractional_weights_extend_whole_ones_continuously(spec, case):
    y, scores, weights = case
    near = [weight + 1e-10 if weight else 0 for weight in weights]
    for ties in ("worst", "mean", "best"):
        try:
            value = get(spec)(y, scores, sample_weight=near, ties=ties)
        except ValueError as error:
            assert "whole-number sample_weight" in str(error)  # noqa: PT017
            continue
        whole = get(spec)(y, scores, sample_weight=weights, ties=ties)
        assert value == pytest.approx(whole, rel=1e-6, abs=1e-8)


def test_a_share_of_the_list_is_rounded_up_for_whole_weights_only():
    y, scores = [1, 0, 0], [3, 2, 1]
    assert get("precision@40%")(y, scores, sample_weight=[1, 1, 1]) == 0.5
    assert get("precision@40%")(y, scores, sample_weight=[1, 1, 1 + 1e-9]) == pytest.approx(1 / 1.2)


@pytest.mark.parametrize("round_to", [1, 3, 12])
def test_long_lists_equal_plain_numpy(round_to):
    """Past the sizes the oracles reach: the top is cut out, groups are merged, sums are long."""
    rng = np.random.default_rng(round_to)
    n = 20_000
    y = rng.random(n) < 0.1
    scores = np.round(rng.normal(size=n) + y, round_to)
    order = np.lexsort((y, -scores))
    ranked = y[order]
    place = np.flatnonzero(ranked) + 1
    expected = {
        "auc": np.mean([(scores[~y] < s).mean() for s in scores[y]]),
        "dcg": np.sum(1 / np.log2(place + 1)),
        "dcg@50": np.sum(1 / np.log2(place[place <= 50] + 1)),
        "reciprocal_rank_sum": np.sum(1 / place),
        "precision@5%": ranked[:1000].mean(),
        "recall@2000": ranked[:2000].sum() / y.sum(),
        "average_precision": np.mean(np.arange(1, place.size + 1) / place),
        "positives_at_top": np.argmin(ranked),
        "reciprocal_rank": 1 / place[0],
        "partial_auc@100": np.sum(n + 1 - place[place <= 100]),
    }
    for spec, value in expected.items():
        assert get(spec)(y, scores) == pytest.approx(value, rel=1e-11), spec
        assert math.isfinite(get(spec)(y, scores, ties="mean"))


def test_cutting_out_the_top_changes_nothing():
    """A large list whose top is one great tie, so that the cut goes through it."""
    rng = np.random.default_rng(5)
    y = rng.random(5000) < 0.3
    scores = np.where(rng.random(5000) < 0.2, 1.0, rng.random(5000))
    tied = scores == 1.0
    share = y[tied].mean()
    assert get("precision@50")(y, scores, ties="mean") == pytest.approx(share)
    assert get("precision@50")(y, scores, ties="worst") == 0
    assert get("precision@50")(y, scores, ties="best") == 1
    grades = y * rng.integers(1, 4, 5000)
    expected = grades[tied].mean() * np.sum(1 / np.log2(np.arange(2, 52)))
    assert get("dcg@50")(grades, scores, ties="mean") == pytest.approx(expected)
