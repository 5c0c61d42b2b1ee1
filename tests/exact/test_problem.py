"""The claim: values against exact fractions, bounds, pair arrays, fingerprints, bad input."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import exact_oracles as oracles
from toprank import statistics
from toprank.exact import RankingProblem, kendall_pairs, multipartite_pairs

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.1, 0.2, 0.3, 1e-6, -1e-6, 1e8, 1 + 2**-52, 5e-7]),
    st.floats(-2, 2, allow_nan=False),
)


@st.composite
def problems(draw, max_rows=9, max_columns=4):
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    X = np.array(draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array([*draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2)), 0, 1])
    coef = np.array(draw(st.lists(NUMBERS, min_size=d, max_size=d)))
    return X, y, coef


def reference(problem, X, y, coef):
    differences, positive, negative = oracles.class_pairs(X / problem.scales, y)
    # Of the smallest numbers there are, products of floats would be zero.
    scaled = [Fraction(c) * Fraction(s) for c, s in zip(coef.tolist(), problem.scales.tolist(), strict=True)]
    won = oracles.exact_won(differences, scaled, problem.margin)
    return oracles.order_value(won, positive, negative, problem.objective.weights.tolist())


@given(
    problems(), st.sampled_from(["dcg", "auc", "precision@2", "reciprocal_rank_sum", "dcg@3", "p_norm(p=3)"])
)
def test_value_equals_fractions_over_all_pairs(case, statistic):
    X, y, coef = case
    problem = RankingProblem.from_labels(X, y, statistic)
    expected = reference(problem, X, y, coef)
    assert problem.evaluate(coef) == expected
    assert float(problem.evaluate_exact(coef)) == expected
    assert RankingProblem.from_labels(sp.csr_matrix(X), y, statistic, scales=problem.scales).evaluate(
        coef
    ) == pytest.approx(expected, abs=0)


@given(problems())
def test_value_is_the_statistic_with_ties_as_mistakes(case):
    """The problem's value is the statistic's."""
    X, y, coef = case
    X = np.round(X * 4)  # scores in floats are exact
    coef = np.round(np.clip(coef, -3, 3))
    scores = X @ coef
    for name in ("dcg", "auc"):
        problem = RankingProblem.from_labels(X, y, name)
        assert problem.evaluate(coef) == pytest.approx(statistics.get(name)(y, scores), rel=1e-12, abs=1e-12)


@given(problems(), st.floats(0.01, 1e6))
def test_length_of_coefficients_does_not_matter(case, factor):
    X, y, coef = case
    problem = RankingProblem.from_labels(X, y, "dcg")
    power = 2.0 ** round(math.log2(factor))
    assert problem.evaluate(coef * power) == problem.evaluate(coef)


@given(problems())
def test_no_answer_beats_the_trivial_bound_or_falls_below_the_floor(case):
    X, y, coef = case
    for penalty in (0.0, 0.05):
        problem = RankingProblem.from_labels(X, y, "dcg", penalty=penalty)
        assert problem.evaluate(coef) <= problem.trivial_bound
        priced = penalty * np.count_nonzero(coef)
        assert problem.evaluate(coef) >= problem.floor - priced - 1e-12


def test_a_lead_of_exactly_the_margin_wins_and_a_hair_less_does_not():
    margin = 2.0**-20
    for w, expected in ((margin, 1.0), (margin - 2.0**-53, 0.0)):
        options = {"margin": margin, "scales": np.ones(2)}
        problem = RankingProblem.from_labels([[0.0, 0.0], [0.25, 0.5]], [0, 1], "auc", **options)
        # The length of the pair is 1 and the largest coefficient 1: 1/4 + 1/2 * (2 w - 1/2) = w.
        assert problem.evaluate([1.0, 2 * w - 0.5]) == expected


@pytest.mark.parametrize("power", [-60, -20, 0, 20, 60])
def test_a_margin_is_relative_to_the_length_of_the_pair(power):
    """Neither a close pair nor a distant one is harder to win for its length."""
    X = np.array([[0.0, 0.0], [3.0, 2.0]]) * 2.0**power
    for margin, expected in ((0.25, 1.0), (0.3, 0.0)):
        problem = RankingProblem.from_labels(X, [0, 1], "auc", margin=margin, scales=np.ones(2))
        assert problem.evaluate([1.0, -1.0]) == expected


def test_any_lead_wins_without_a_margin():
    for X in ([[1e9], [3.0], [2.0], [1.0]], [[1e15], [1 + 2**-52], [1.0], [0.0]]):
        problem = RankingProblem.from_labels(X, [0, 1, 0, 0], "auc")
        assert problem.evaluate([1.0]) == pytest.approx(2 / 3, rel=1e-15)
        assert problem.scales[0] <= 4.0


def test_rounding_of_scores_does_not_decide():
    """0.1 + 0.2 - 0.3 is 5.6e-17 in floats and 2.8e-17 exactly, of a length of 1/2."""
    X = np.array([[0.1, 0.2, -0.3], [0.0, 0.0, 0.0]])
    exact = sum(map(Fraction, (0.1, 0.2, -0.3)))
    assert 0 < exact < Fraction(4e-17)
    for margin, expected in ((8e-17, 0.0), (4e-17, 1.0), (0.0, 1.0)):
        problem = RankingProblem.from_labels(X, [1, 0], "auc", margin=margin, scales=np.ones(3))
        assert problem.evaluate(np.ones(3)) == expected
        assert problem.evaluate(-np.ones(3)) == 0.0
    tied = RankingProblem.from_labels([[0.5, 0.25, -0.75], [0.0, 0.0, 0.0]], [1, 0], "auc")
    assert tied.evaluate(np.ones(3)) == 0.0


def test_queries_are_summed_or_averaged_and_one_class_queries_left_out():
    X = np.array([[0.0], [1.0], [5.0], [4.0], [9.0], [8.0]])
    y, qid = [0, 1, 0, 1, 1, 1], ["a", "a", "b", "b", "c", "c"]
    summed = RankingProblem.from_labels(X, y, "auc", qid=qid)
    averaged = RankingProblem.from_labels(X, y, "auc", qid=qid, queries="mean")
    assert (summed.evaluate([1.0]), summed.evaluate([-1.0]), summed.trivial_bound) == (1.0, 1.0, 2.0)
    assert averaged.evaluate([1.0]) == statistics.get("auc")(y, X[:, 0], qid=qid) == 0.5
    arrays = summed.arrays()
    assert arrays.differences[:, 0].tolist() == [0.5, -0.5]
    assert (arrays.rows[arrays.upper, 0] * summed.scales[0]).tolist() == [1.0, 4.0]
    assert (arrays.rows[arrays.lower, 0] * summed.scales[0]).tolist() == [0.0, 5.0]
    assert arrays.positive_query.tolist() == arrays.negative_query.tolist() == [0, 1]


@given(problems(), st.randoms())
def test_pair_arrays_tell_the_same_value(case, random):
    X, y, coef = case
    qid = [random.choice("ab") for _ in y[:-2]] + ["a", "a"]
    problem = RankingProblem.from_labels(X, y, "dcg", qid=qid)
    arrays = problem.arrays()
    w = problem.scale(coef)
    lead = np.array([[Fraction(v) for v in row] for row in arrays.differences], dtype=object)
    exact = [sum(row * [Fraction(v) for v in w]) for row in lead]
    if any(abs(value - Fraction(problem.margin)) < 1e-12 for value in exact) or not coef.any():
        return  # within the rounding of the differences and of the scaling
    won = np.array([value > 0 for value in exact], dtype=bool)
    lost = np.bincount(arrays.positive[~won], minlength=len(arrays.positive_query))
    total = 0.0
    for q in range(len(problem.objective.weight_start) - 1):
        weights = problem.objective.weights[
            problem.objective.weight_start[q] : problem.objective.weight_start[q + 1]
        ]
        counts = np.sort(lost[arrays.positive_query == q])
        total += sum(weights[j + c] for j, c in enumerate(counts))
    assert problem.evaluate(coef) == pytest.approx(total, rel=1e-12)


def test_preferences_and_their_ready_made_sets():
    X = np.array([[0.0], [2.0], [1.0]])
    assert multipartite_pairs([0, 2, 1])[0].tolist() == [[1, 0], [1, 2], [2, 0]]
    assert kendall_pairs([0.3, 0.1, 0.3], qid=[1, 1, 2]).tolist() == [[0, 1]]
    problem = RankingProblem.from_preferences(X, [(1, 0), (0, 2)], [3.0, 0.5], penalty=0.25)
    assert problem.evaluate([1.0]) == 2.75
    assert problem.trivial_bound == 3.25
    assert problem.arrays().objective.worth.tolist() == [3.0, 0.5]
    graded = RankingProblem.multipartite(X, [0, 1, 3], by_difference=True)
    assert graded.evaluate([1.0]) == 4.0
    assert graded.trivial_bound == 6.0
    assert RankingProblem.kendall(X, [0.1, 0.5, 0.2]).evaluate([-1.0]) == 0.0


@given(problems())
def test_weighted_pairs_equal_fractions(case):
    X, _, coef = case
    pairs = [(i, k) for i in range(len(X)) for k in range(len(X)) if i != k and (i * 7 + k) % 3]
    if not pairs:
        return
    worth = 1.0 + np.arange(len(pairs)) / 8
    problem = RankingProblem.from_preferences(X, pairs, worth)
    scales = [Fraction(scale) for scale in problem.scales]  # products of floats may underflow to zero
    rows = [[Fraction(v) / scale for v, scale in zip(row, scales, strict=True)] for row in X]
    differences = [[a - b for a, b in zip(rows[i], rows[k], strict=True)] for i, k in pairs]
    scaled = [Fraction(w) * scale for w, scale in zip(coef, scales, strict=True)]
    won = oracles.exact_won(differences, scaled, problem.margin)
    assert problem.evaluate(coef) == oracles.pair_value(won, worth) == float(problem.evaluate_exact(coef))


def test_fingerprint_knows_every_part_of_the_claim():
    X, y = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 0.0]]), np.array([0, 1, 0])
    base = RankingProblem.from_labels(X, y, "dcg")
    assert base.fingerprint() == RankingProblem.from_labels(X.copy(order="F"), y.copy(), "dcg").fingerprint()
    changed = X.copy()
    changed[2, 1] = 1e-300
    others = [
        RankingProblem.from_labels(changed, y, "dcg"),
        RankingProblem.from_labels(X, [0, 1, 1], "dcg"),
        RankingProblem.from_labels(X, y, "auc"),
        RankingProblem.from_labels(X, y, "dcg", margin=1e-5),
        RankingProblem.from_labels(X, y, "dcg", penalty=0.1),
        RankingProblem.from_labels(X, y, "dcg", scales=[4.0, 1.0]),
        RankingProblem.from_labels(X, y, "dcg", qid=[0, 0, 1]),
        RankingProblem.from_preferences(X, [(1, 0), (1, 2)]),
    ]
    assert len({p.fingerprint() for p in [base, *others]}) == len(others) + 1


def test_scales_are_powers_of_two_near_the_spread():
    X = np.column_stack([np.linspace(0, 1e-9, 5), np.linspace(0, 3e7, 5), np.full(5, 7.0)])
    scales = RankingProblem.from_labels(X, [0, 0, 1, 1, 1], "dcg").scales
    assert (np.frexp(scales)[0] == 0.5).all()
    assert scales[2] == 1.0
    assert np.all(np.abs(np.log2(scales[:2] / X.std(axis=0)[:2])) <= 1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"y": [1, 1, 1]}, "one class only"),
        ({"y": [0, 1, 2]}, "3 different values"),
        ({"y": [0, 1]}, "one label for each of the 3 rows"),
        ({"y": [0.0, 1.0, math.nan]}, "y contains NaN"),
        ({"X": [[0.0], [math.nan], [1.0]]}, "X contains NaN"),
        ({"X": [[0.0], [math.inf], [1.0]]}, "X contains NaN or infinity"),
        ({"X": np.empty((3, 0))}, "is empty"),
        ({"X": [[1e300], [0.0], [1.0]]}, "values above"),
        ({"X": [1.0, 2.0, 3.0]}, "two dimensions"),
        ({"qid": [0, 1, 2]}, "one class only in every query"),
        ({"qid": [0, 1]}, "one query for each of the 3 rows"),
        ({"statistic": "vus"}, "cannot be maximised directly"),
        ({"statistic": np.array([1.0, 2.0, 3.0])}, "never increase"),
        ({"statistic": np.array([1.0])}, "3 position weights"),
        ({"margin": -1e-9}, "margin must be zero or more"),
        ({"margin": math.nan}, "margin must be zero or more"),
        ({"penalty": -1.0}, "penalty must be zero or more"),
        ({"scales": [3.0]}, "powers of two"),
        ({"scales": [1.0, 1.0]}, "one number for each"),
        ({"queries": "max"}, 'queries must be "sum" or "mean"'),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 0], "statistic": "dcg", **change}
    with pytest.raises(ValueError, match=message):
        RankingProblem.from_labels(
            arguments.pop("X"), arguments.pop("y"), arguments.pop("statistic"), **arguments
        )


@pytest.mark.parametrize(
    "pairs, weights, message",
    [
        ([], None, "at least one pair"),
        ([(0, 3)], None, "row numbers from 0 to 1"),
        ([(1, 1)], None, "above itself"),
        ([(0.5, 1.0)], None, "whole row numbers"),
        ([(0, 1)], [0.0], "positive and finite"),
        ([(0, 1)], [1.0, 2.0], "one number for each of the 1 pairs"),
    ],
)
def test_bad_preferences_are_named(pairs, weights, message):
    with pytest.raises(ValueError, match=message):
        RankingProblem.from_preferences([[0.0], [1.0]], np.array(pairs), weights)


@pytest.mark.parametrize("coef", [[1.0], [1.0, math.nan], [[1.0, 2.0]]])
def test_bad_coefficients_are_named(coef):
    problem = RankingProblem.from_labels([[0.0, 1.0], [1.0, 2.0]], [0, 1], "dcg")
    with pytest.raises(ValueError, match="coef must be 2 finite numbers"):
        problem.evaluate(coef)


def test_degenerate_problems_are_trivial_not_errors():
    same = RankingProblem.from_labels(np.ones((4, 2)), [0, 1, 0, 1], "dcg")
    assert same.evaluate([1.0, -2.0]) == same.floor
    wide = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc", margin=1e6)
    assert wide.evaluate([1.0]) == wide.floor == 0.0
