"""Text form, registry, inputs, and what a statistic gets for free from its base class."""

import math
from dataclasses import FrozenInstanceError, dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import strategies
from toprank import statistics
from toprank.statistics import AUC, DCG, NDCG, PNorm, Precision, RankStatistic, get, names, register
from toprank.statistics.base import registered
from toprank.statistics.cutoffs import check_cutoff, cutoff_positions
from toprank.statistics.inputs import read_classes, read_scores

# --- text form -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, expected",
    [
        ("auc", AUC()),
        ("  AUC ", AUC()),
        ("roc_auc", AUC()),
        ("dcg", DCG()),
        ("dcg@10", DCG(at=10)),
        ("dcg@5%", DCG(at="5%")),
        ("dcg( base = e )", DCG(base=math.e)),
        ("dcg@10(base=10,gain=exponential)", DCG(at=10, base=10, gain="exponential")),
        ("dcg(at=10)", DCG(at=10)),
        ("p-norm(p=64, scaled=true)", PNorm(p=64.0, scaled=True)),
        ("precision@2.50%", Precision(at="2.5%")),
        ("precision@.5%", Precision(at="0.5%")),
    ],
)
def test_get_reads_text(text, expected):
    assert get(text) == expected
    assert hash(get(text)) == hash(expected)


@pytest.mark.parametrize(
    "statistic, text",
    [
        (AUC(), "auc"),
        (DCG(), "dcg"),
        (DCG(base=2), "dcg"),
        (DCG(at=10, base=math.e), "dcg@10(base=e)"),
        (NDCG(at="5.0%"), "ndcg@5%"),
        (PNorm(p=0.5), "p_norm(p=0.5)"),
        (PNorm(p=64, scaled=True), "p_norm(p=64,scaled=true)"),
        (
            statistics.PartialAUCFPR(max_fpr=0.05, standardize=True),
            "partial_auc_fpr(max_fpr=0.05,standardize=true)",
        ),
    ],
)
def test_str_is_the_inverse_of_get(statistic, text):
    assert str(statistic) == text
    assert get(text) == statistic


@given(base=st.floats(1.0, 1e6, exclude_min=True), at=st.one_of(st.none(), st.integers(1, 10**9)))
def test_any_parameter_survives_the_round_trip(base, at):
    statistic = DCG(at=at, base=base)
    assert get(str(statistic)) == statistic


@given(units=st.integers(0, 99), decimals=st.integers(1, 999))
def test_any_share_survives_the_round_trip(units, decimals):
    statistic = Precision(at=f"{units}.{decimals:03d}%")
    assert get(str(statistic)) == statistic


def test_get_passes_a_statistic_through():
    statistic = DCG(at=3)
    assert get(statistic) is statistic


def test_statistics_are_immutable():
    with pytest.raises(FrozenInstanceError):
        DCG(at=3).at = 4


@pytest.mark.parametrize(
    "text, message",
    [
        ("ndgc@10", "did you mean 'ndcg'"),
        ("avg_precision", "'average_precision'"),
        ("zzzzzz", "names\\(\\) lists them all"),
        ("auc@10", "auc has no cut-off"),
        ("auc(base=2)", "auc has no parameter 'base'.*takes no parameters"),
        ("dcg(bas=2)", "takes @cut-off, base, gain"),
        ("dcg(base)", "write parameter=value"),
        ("dcg(base=2,base=3)", "each once"),
        ("precision", "needs a cut-off, such as 'precision@10'"),
        ("precision@0", "1 or more"),
        ("precision@0%", "5%"),
        ("precision@101%", "5%"),
        ("precision@0.05", "5%"),
        ("precision@-3", "1 or more"),
        ("p_norm(p=0)", "p of p_norm"),
        ("p_norm(p=nan)", "p of p_norm"),
        ("p_norm(p=inf)", "p of p_norm"),
        ("p_norm_push_loss(p=x)", "p of p_norm_push_loss"),
        ("dcg(base=1)", "base of dcg"),
        ("dcg(base=true)", "base of dcg"),
        ("dcg(gain=square)", "gain of dcg"),
        ("partial_auc_fpr(max_fpr=0)", "max_fpr"),
        ("partial_auc_fpr(max_fpr=0.2,min_fpr=0.2)", "min_fpr"),
        ("", "cannot read"),
        ("dcg@", "cannot read"),
        ("dcg(base=2", "cannot read"),
    ],
)
def test_get_says_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        get(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("thing", [None, 3, AUC])
def test_get_refuses_what_is_no_statistic(thing):
    with pytest.raises(ValueError, match="statistic must be"):
        get(thing)


def test_names_are_sorted_and_without_aliases():
    assert names() == sorted(set(names()))
    assert "ndcg" in names()
    assert "wrs" not in names()


def test_a_name_cannot_be_taken_twice():
    @dataclass(frozen=True)
    class Impostor(AUC):
        name = "auc"

    with pytest.raises(ValueError, match="'auc' is registered already"):
        register(Impostor)
    assert registered()["auc"] is AUC


def test_public_names_resolve_and_are_sorted():
    assert all(getattr(statistics, name) is not None for name in statistics.__all__)
    assert set(statistics.__all__) <= set(dir(statistics))
    assert statistics.__all__ == sorted(statistics.__all__, key=_isort_key)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        statistics.nonsense  # noqa: B018


def _isort_key(name):
    """Constants, then classes, then functions: the order the linter keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


# --- cut-offs --------------------------------------------------------------------------------------


@given(percent=st.integers(1, 100), n=st.integers(2, 10**7))
def test_share_of_the_list_is_rounded_up_exactly(percent, n):
    assert cutoff_positions(f"{percent}%", n, True) == -(-percent * n // 100)


def test_cutoff_is_at_most_the_list():
    assert cutoff_positions(10, 3, True) == 3
    assert cutoff_positions(None, 3, True) == 3
    assert cutoff_positions("100%", 3, True) == 3


@pytest.mark.parametrize("at", [True, 2.0, 0, -1, "10", "x%", "", None, "1e1%"])
def test_cutoff_refuses(at):
    with pytest.raises(ValueError, match="cut-off of thing"):
        check_cutoff(at, "thing")


# --- inputs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, 1, 0],
        [-1, 1, 1, -1],
        [False, True, True, False],
        [1, 2, 2, 1],
        [0.25, 0.5, 0.5, 0.25],
        ["no", "yes", "yes", "no"],
        np.array([0, 1, 1, 0], dtype=np.uint8),
        pd.Series([0, 1, 1, 0], index=[7, 7, 3, 1]),
        pd.Categorical(["no", "yes", "yes", "no"]),
    ],
)
@pytest.mark.parametrize("spec", ["auc", "dcg", "ndcg@2", "average_precision"])
def test_any_two_values_are_two_classes(spec, y):
    scores = [0.3, 0.1, 0.9, 0.2]
    if "dcg" in spec and set(y) & {2, 0.5}:
        return  # Relevance, which is worth what it says: see the graded tests.
    assert get(spec)(y, scores) == get(spec)([0, 1, 1, 0], scores)


@pytest.mark.parametrize(
    "y, message",
    [
        ([0, 1, 2, 1], "two classes, got 3"),
        (["a", "b", "c", "a"], "two classes, got 3"),
        (np.array(["a", 1, "a", 1], dtype=object), "cannot be compared"),
        ([[0, 1], [1, 0]], "one-dimensional"),
        ([5, 5, 5, 5], "only one class"),
        ([0, 0, 0, 0], "one class only"),
        ([0, 1, np.nan, 1], "NaN"),
        (np.array([0, 1, np.nan, 1], dtype=object), "NaN"),
        (np.array([1, 1, np.nan, 1], dtype=object), "NaN"),
        (np.array(["a", "b", None, "b"], dtype=object), "no value at index 2"),
        (np.array(["a", "b", np.nan, "b"], dtype=object), "no value at index 2"),
        ([0j, 1j, 0j, 1j], "real numbers, got complex"),
        (np.ma.array([0, 1, 0, 1], mask=[0, 0, 0, 1]), "masked values"),
        (np.array(["2020", "NaT", "2021", "2020"], dtype="datetime64[Y]"), "NaT"),
    ],
)
def test_labels_that_are_no_two_classes(y, message):
    with pytest.raises(ValueError, match=message) as caught:
        AUC()(y, [0.1, 0.2, 0.3, 0.4])
    assert str(caught.value).startswith("y ")


@pytest.mark.parametrize(
    "scores, message",
    [
        ([1, 2, np.nan], "NaN \\(first at index 2\\)"),
        ([1, 2], "2 values but y has 3"),
        (["a", "b", "c"], "must be numbers"),
        ([[1], [2], [3]], "one-dimensional"),
        ([2**53 + 1, 0, 1], "beyond 2\\*\\*53"),
        (np.array([2**53 + 1, 0, 1], dtype=object), "beyond 2\\*\\*53"),
        (np.array([2**70, 0, 1], dtype=object), "beyond 2\\*\\*63"),
        ([1 + 2j, 1, 0], "real numbers, got complex"),
        (np.array([1 + 0j, 1, 0], dtype=np.complex64), "real numbers, got complex"),
        (np.array([1, 2j, 0], dtype=object), "real numbers, got complex"),
        (["1", "2", "3"], "must be numbers"),
        (np.array(["1", "2", "3"], dtype=object), "must be numbers"),
        (np.array([1, "2", 3], dtype=object), "must be numbers"),
        (np.array([b"1", b"2", b"3"]), "must be numbers"),
        (np.array([0, 1, 2], dtype="timedelta64[s]"), "must be numbers"),
        (np.array([0, 1, 2], dtype="datetime64[s]"), "must be numbers"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "masked values"),
        (np.array([1, None, 3], dtype=object), "no value at index 1"),
        (np.array([1, np.nan, 3], dtype=object), "NaN \\(first at index 1\\)"),
        (pd.array([1.0, None, 3.0], dtype="Float64"), "(no value at index 1|NaN)"),
        (pd.Series([pd.NA, 1, 2], dtype=object), "no value at index 0"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(ValueError, match=message) as caught:
        AUC()([0, 1, 1], scores)
    assert str(caught.value).startswith("scores ")


@pytest.mark.parametrize("spec", ["dcg", "kendall_tau", "weak_ranking_loss@1", "auc"])
@pytest.mark.parametrize(
    "argument, value",
    [
        ("y", [0, 1j, 1]),
        ("y", np.ma.array([0, 1, 1], mask=[0, 0, 1])),
        ("sample_weight", [1, 1j, 1]),
        ("sample_weight", ["1", "1", "2"]),
        ("sample_weight", np.ma.array([1, 1, 2], mask=[0, 0, 1])),
        ("qid", np.array([1, None, 1], dtype=object)),
        ("qid", np.array([1, "a", 1], dtype=object)),
        ("qid", np.ma.array([1, 1, 1], mask=[0, 0, 1])),
    ],
)
def test_nothing_is_dropped_from_any_argument_in_silence(spec, argument, value):
    arguments = {"y": [0, 1, 1], "scores": [1.0, 2.0, 3.0], argument: value}
    with pytest.raises(ValueError, match=f"^{argument} "):
        get(spec)(**arguments)


def test_numbers_kept_as_objects_are_numbers():
    scores = np.array([Decimal("0.1"), Fraction(1, 3), 2, np.float32(1.5)], dtype=object)
    grades = np.array([0, 2, 1, 3], dtype=object)
    assert get("dcg")(grades, scores) == get("dcg")([0, 2, 1, 3], [0.1, 1 / 3, 2, 1.5])
    assert AUC()(np.array([True, False], dtype=object), np.ma.array([2, 1], mask=False)) == 1


def test_infinite_scores_are_scores():
    assert AUC()([1, 0, 1, 0], [np.inf, -np.inf, 0, 0], ties="mean") == 0.875
    assert AUC()([1, 0], [np.inf, np.inf]) == 0


def test_input_is_not_written_to():
    y, scores, weight = np.array([0, 1, 0, 1]), np.array([3.0, 1.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0, 0.5])
    for array in (y, scores, weight):
        array.setflags(write=False)
    before = [array.copy() for array in (y, scores, weight)]
    for name in ("auc", "dcg@1", "ndcg(gain=linear)"):
        get(name)(y, scores, sample_weight=weight)
    assert all((a == b).all() for a, b in zip(before, (y, scores, weight), strict=True))


def test_scores_of_any_number_type():
    for dtype in (np.int8, np.uint64, np.float32, np.float16, bool, object):
        assert AUC()([0, 1, 1], np.array([0, 1, 1]).astype(dtype)) == 1
    assert read_scores(np.array([3, 1])[::-1]).flags.c_contiguous


def test_strided_labels():
    assert read_classes(np.array([0, 5, 1, 5, 0, 5])[::2]).tolist() == [False, True, False]


# --- sample weights and queries --------------------------------------------------------------------


@given(
    case=strategies.weighted_lists(weights=st.floats(0.01, 10)),
    credit=st.sampled_from([("worst", 0), ("mean", 0.5), ("best", 1)]),
)
def test_weighted_auc_counts_weighted_pairs(case, credit):
    ties, worth = credit
    expected = oracles.weighted_auc(*case, worth)
    y, scores, weights = case
    assert AUC()(y, scores, sample_weight=weights, ties=ties) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_fractional_items_share_positions():
    # Masses 0.5, 1, 0.5: the first position is half the first item's and half the second's.
    y, scores, weight = [1, 0, 1], [3, 2, 1], [0.5, 1.0, 0.5]
    discounts = 1 / np.log2([2, 3])
    expected = 0.5 * discounts[0] + 0.5 * discounts[1]
    assert DCG()(y, scores, sample_weight=weight) == pytest.approx(expected)
    assert Precision(at=1)(y, scores, sample_weight=weight) == pytest.approx(0.5)
    assert Precision(at="25%")(y, scores, sample_weight=weight) == pytest.approx(1.0)
    # Graded labels follow the same rule.
    assert DCG()([2, 0, 1], scores, sample_weight=weight) == pytest.approx(discounts[0] + 0.5 * discounts[1])


def test_fractional_weights_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="reciprocal_rank takes whole-number sample_weight"):
        get("reciprocal_rank")([1, 0], [2, 1], sample_weight=[0.5, 1])
    with pytest.raises(ValueError, match="ties='mean' needs whole-number sample_weight"):
        get("average_precision")([1, 0], [1, 1], sample_weight=[0.5, 1], ties="mean")
    assert get("average_precision")([1, 0], [2, 1], sample_weight=[0.5, 1], ties="mean") == 1


def test_zero_weight_rows_do_not_exist():
    assert AUC()([0, 1, 1], [1, 2, 0], sample_weight=[1, 1, 0]) == 1
    assert AUC()([0, 1, 7], [1, 2, 0], sample_weight=[1, 1, 0]) == 1
    with pytest.raises(ValueError, match="one class only"):
        AUC()([0, 1, 1], [1, 2, 0], sample_weight=[0, 1, 1])
    with pytest.raises(ValueError, match="sample_weight"):
        AUC()([0, 1, 1], [1, 2, 0], sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="query"):
        AUC()([0, 1, 1], [1, 2, 0], sample_weight=[0, 1, 1], qid=[0, 0, 0])


def test_queries_of_any_kind():
    y, scores = [1, 0, 0, 1, 1, 1], [2, 1, 2, 1, 5, 6]
    for qid in (list("ababcc"), [1.5, -2, 1.5, -2, 9, 9], pd.Series([3, 1, 3, 1, 2, 2])):
        assert AUC()(y, scores, qid=qid) == pytest.approx(0.0)
    with pytest.raises(ValueError, match="qid contains NaN"):
        AUC()(y, scores, qid=[0, 0, 0, 0, 0, np.nan])


# --- a statistic that only says what an order is worth ---------------------------------------------


@dataclass(frozen=True)
class LastPositive(RankStatistic):
    """Minus the place of the last item with the highest label."""

    name = "last_positive"

    def of_order(self, y_best_first):
        y = np.asarray(y_best_first)
        return -float(np.flatnonzero(y == y.max())[-1])


@given(case=strategies.tied_lists(max_size=6, levels=3))
def test_base_class_resolves_ties_by_definition(case):
    y, scores = case
    expected = oracles.over_tie_orders(LastPositive().of_order, y, scores)
    for ties, value in zip(("worst", "mean", "best"), expected, strict=True):
        assert LastPositive()(y, scores, ties=ties) == pytest.approx(value)


def test_base_class_repeats_rows_for_weights():
    assert LastPositive()([1, 0, 0], [1, 2, 3], sample_weight=[1, 3, 2]) == -5
    with pytest.raises(ValueError, match="whole-number"):
        LastPositive()([1, 0, 0], [1, 2, 3], sample_weight=[1, 0.5, 2])
    with pytest.raises(ValueError, match="ties are too many"):
        LastPositive()([1, 0] * 10, [0] * 20, ties="mean")


def test_an_unregistered_statistic_has_a_text_form():
    assert str(LastPositive()) == "last_positive"
    with pytest.raises(ValueError, match="unknown"):
        get("last_positive")


class Plain(RankStatistic):
    name = "plain"

    def of_order(self, y_best_first):
        return float(y_best_first[0])


def test_a_statistic_need_not_be_a_dataclass():
    assert str(Plain()) == "plain"
    assert Plain()([0, 3], [1, 2]) == 3
