"""The shipped checks and the brute-force oracle, over every statistic in the registry."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import strategies
from toprank.statistics import CountTable, LinearRankStatistic, get, names
from toprank.statistics.base import registered
from toprank.testing import statistic_checks

SPECS = sorted({spec for name in names() for spec in (registered()[name].examples or (name,))})
TIES = ("worst", "mean", "best")


@pytest.mark.parametrize("check", statistic_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("spec", SPECS)
def test_shipped_checks(spec, check):
    check(get(spec))


def test_every_two_class_statistic_has_an_oracle():
    modules = {f"toprank.statistics.{module}" for module in ("catalog", "nonlinear", "discounted")}
    ours = [spec for spec in SPECS if type(get(spec)).__module__ in modules]
    assert sorted(ours) == sorted(oracles.STATISTICS)


@pytest.mark.parametrize("spec", oracles.STATISTICS)
@settings(max_examples=40)
@given(case=strategies.tied_lists())
def test_equals_oracle_over_all_tie_orders(spec, case):
    y, scores = case
    for ties, expected in oracles.under_ties(spec, y, scores).items():
        assert get(spec)(y, scores, ties=ties) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("spec", oracles.GRADED_STATISTICS)
@settings(max_examples=40)
@given(case=strategies.tied_lists(max_size=6, levels=4).filter(lambda case: len(set(case[0])) > 2))
def test_graded_equals_oracle_over_all_tie_orders(spec, case):
    y, scores = case
    for ties, expected in oracles.under_ties(spec, y, scores, oracles.GRADED_STATISTICS).items():
        assert get(spec)(y, scores, ties=ties) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("spec", oracles.STATISTICS)
@settings(max_examples=30)
@given(case=strategies.weighted_lists())
def test_whole_weights_equal_repeated_rows(spec, case):
    y, scores, weights = case
    repeated_y, repeated_scores = oracles.repeat_rows(weights, y, scores)
    for ties in TIES:
        expected = get(spec)(repeated_y, repeated_scores, ties=ties)
        assert get(spec)(y, scores, ties=ties, sample_weight=weights) == pytest.approx(expected, rel=1e-10)


# Whole numbers are counts, for which a share of the list is rounded up: a step by design, so not drawn here.
FRACTIONAL = st.floats(0.1, 3.0).filter(lambda weight: weight != int(weight))


@pytest.mark.parametrize("spec", [s for s in oracles.STATISTICS if s != "reciprocal_rank"])
@settings(max_examples=30)
@given(case=strategies.weighted_lists(weights=FRACTIONAL), wiggle=st.integers(0, 5))
def test_fractional_weights_are_continuous(spec, case, wiggle):
    """A weight changed by a hair changes the value by a hair, and the tie policies keep their order."""
    y, scores, weights = case
    statistic = get(spec)
    changed = list(weights)
    changed[wiggle % len(y)] += 1e-9
    sign = 1 if statistic.greater_is_better else -1
    worst = statistic(y, scores, ties="worst", sample_weight=weights)
    best = statistic(y, scores, ties="best", sample_weight=weights)
    assert math.isfinite(worst)
    assert sign * worst <= sign * best + 1e-12 * abs(best)
    assert statistic(y, scores, sample_weight=changed) == pytest.approx(worst, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("spec", oracles.STATISTICS)
@settings(max_examples=30)
@given(case=strategies.query_lists())
def test_queries_are_averaged_and_single_class_queries_skipped(spec, case):
    y, scores, qid = case
    values = []
    for query in set(qid):
        rows = [i for i in range(len(y)) if qid[i] == query]
        if len({y[i] for i in rows}) == 2:
            values.append(get(spec)([y[i] for i in rows], [scores[i] for i in rows]))
    if not values:
        with pytest.raises(ValueError, match="qid"):
            get(spec)(y, scores, qid=qid)
    else:
        assert get(spec)(y, scores, qid=qid) == pytest.approx(sum(values) / len(values), rel=1e-10)


@pytest.mark.parametrize("spec", oracles.STATISTICS)
@settings(max_examples=15)
@given(case=strategies.one_class_lists)
def test_one_class_is_an_error(spec, case):
    y, scores = case
    with pytest.raises(ValueError, match="y"):
        get(spec)(y, scores)


@pytest.mark.parametrize("spec", [s for s in SPECS if isinstance(get(s), LinearRankStatistic)])
def test_weights_are_the_value_on_every_order(spec):
    statistic = get(spec)
    for n in range(2, 8):
        for bits in range(1, 2**n - 1):
            order = np.array([(bits >> j) & 1 for j in range(n)])
            weights = statistic.weights(n, int(order.sum()))
            assert oracles.STATISTICS[spec](order.tolist()) == pytest.approx(
                weights[order == 1].sum(), rel=1e-10
            )


# --- the checks themselves can fail ----------------------------------------------------------------


@dataclass(frozen=True)
class Honest(LinearRankStatistic):
    name = "honest"

    def weights(self, n, n_pos):
        return 1.0 / np.arange(1, n + 1)


class Forgiving(Honest):
    """Counts every tie as correct."""

    def __call__(self, y, scores, *, ties="worst", sample_weight=None, qid=None):
        return super().__call__(y, scores, ties="best", sample_weight=sample_weight, qid=qid)


class Increasing(Honest):
    def weights(self, n, n_pos):
        return np.arange(n, dtype=float)


class Mistaken(Honest):
    """Its table forgets the negatives above."""

    def count_table(self, n_pos, n_neg):
        return CountTable.by_count(np.zeros(n_neg + 1))


class Credulous(Honest):
    """Takes NaN for a low score."""

    def __call__(self, y, scores, **options):
        return super().__call__(y, np.nan_to_num(scores, nan=-1e9), **options)


class RowMinded(Honest):
    """The first row counts twice."""

    def _value(self, labels, scores, ties, weight):
        return super()._value(labels, scores, ties, weight) + 0.1 * bool(labels[0])


class ScoreMinded(Honest):
    def _value(self, labels, scores, ties, weight):
        return super()._value(labels, scores, ties, weight) + 1e-3 * scores.max()


class WeightBlind(Honest):
    def _value(self, labels, scores, ties, weight):
        return super()._value(labels, scores, ties, None)


class QuerySummed(Honest):
    def __call__(self, y, scores, *, qid=None, **options):
        value = super().__call__(y, scores, qid=qid, **options)
        return value if qid is None else value * len(set(qid))


class Masked(Honest):
    """Passes for another statistic."""

    name = "auc"


@pytest.mark.parametrize(
    "broken, check",
    [
        (Forgiving, "check_tie_policies"),
        (Forgiving, "check_constant_scorer"),
        (Increasing, "check_position_weights"),
        (Increasing, "check_count_table"),
        (Mistaken, "check_count_table"),
        (Credulous, "check_bad_input"),
        (RowMinded, "check_rank_invariance"),
        (ScoreMinded, "check_rank_invariance"),
        (ScoreMinded, "check_definition"),
        (WeightBlind, "check_sample_weight"),
        (QuerySummed, "check_queries"),
        (Masked, "check_text_form"),
    ],
)
def test_broken_statistics_are_found_out(broken, check):
    checks = {function.__name__: function for function in statistic_checks()}
    checks[check](Honest())
    with pytest.raises(AssertionError):
        checks[check](broken())
