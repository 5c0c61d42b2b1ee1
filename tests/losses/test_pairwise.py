import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairwise_oracles as oracle
from toprank.losses.label_weights import swap_costs
from toprank.losses.pairs import Pairs, sorted_order
from toprank.losses.pairwise import pairwise_loss

# Quarters are exact in binary, so that u = 0 is hit exactly and on purpose.
QUARTERS = st.integers(-12, 12).map(lambda k: k / 4)


@st.composite
def scored_items(draw, levels=5, queries=3):
    n = draw(st.integers(2, 14))
    y = draw(st.lists(st.integers(0, levels - 1), min_size=n, max_size=n))
    qid = draw(st.lists(st.integers(0, queries - 1), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    scores = draw(st.lists(QUARTERS, min_size=n, max_size=n))
    return np.array(y), np.array(qid), np.array(weight), np.array(scores)


@given(items=scored_items(), weighting=st.sampled_from(["pairs", "queries"]), squared=st.booleans())
def test_loss_and_gradient_equal_a_loop_over_all_pairs(items, weighting, squared):
    y, qid, weight, scores = items
    listed = oracle.all_pairs(y, qid, weight, weighting)
    if not listed:
        with pytest.raises(ValueError, match="no pair to order"):
            Pairs.from_labels(y, qid=qid, sample_weight=weight, weighting=weighting)
        return
    pairs = Pairs.from_labels(y, qid=qid, sample_weight=weight, weighting=weighting)
    assert pairs.count == len(listed)
    point = pairwise_loss(pairs, scores, loss="squared_hinge" if squared else "hinge")
    assert point.value == pytest.approx(oracle.hinge(scores, listed, squared))
    gradient = np.zeros(len(y))
    for i, j, w in listed:
        u = 1 - scores[i] + scores[j]
        slope = 2 * max(u, 0) if squared else float(u > 0)
        gradient[i] -= w * slope
        gradient[j] += w * slope
    np.testing.assert_allclose(point.gradient, gradient, atol=1e-12)


@given(items=scored_items(), mu=st.sampled_from([0.125, 0.6, 3.0]))
def test_smoothed_derivatives_and_their_sums(items, mu):
    y, qid, weight, scores = items
    listed = oracle.all_pairs(y, qid, weight)
    if not listed:
        return
    point = pairwise_loss(Pairs.from_labels(y, qid=qid, sample_weight=weight), scores, smoothing=mu)
    alpha = {(i, j): np.clip((1 - scores[i] + scores[j] + mu) / (2 * mu), 0, 1) for i, j, _ in listed}
    assert point.value == pytest.approx(oracle.hinge(scores, listed))
    assert point.derivative_sum == pytest.approx(sum(w * alpha[i, j] for i, j, w in listed))
    assert point.derivative_squares == pytest.approx(sum(w * alpha[i, j] ** 2 for i, j, w in listed))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_gradient_and_hessian_by_finite_differences(loss):
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 4, 25), rng.integers(0, 2, 25)
    weight, scores = rng.uniform(0.5, 2, 25), rng.normal(size=25)
    pairs = Pairs.from_labels(y, qid=qid, sample_weight=weight)
    listed = oracle.all_pairs(y, qid, weight)

    def value(s):
        return oracle.smoothed_hinge(s, listed, 0.4) if loss == "hinge" else oracle.hinge(s, listed, True)

    point = pairwise_loss(pairs, scores, loss=loss, smoothing=0.4)
    np.testing.assert_allclose(point.gradient, oracle.numerical_gradient(value, scores), atol=1e-8)
    for k in range(25):
        unit = np.eye(25)[k]
        column = oracle.numerical_gradient(
            lambda s, unit=unit: pairwise_loss(pairs, s, loss=loss, smoothing=0.4).gradient @ unit,
            scores,
            1e-7,
        )
        np.testing.assert_allclose(point.curvature_product(unit), column, atol=1e-6)
        assert point.curvature[k] == pytest.approx(column[k], abs=1e-6)


@given(items=scored_items(levels=4))
def test_every_kind_of_pair_can_have_a_weight_of_its_own(items):
    y, qid, weight, scores = items
    kinds = {(3, 0): 4.0, (2, 0): 1.0, (1, 0): 0.5, (3, 1): 0.0}
    listed = oracle.all_pairs(y, qid, weight, kinds)
    if not listed:
        return
    pairs = Pairs.from_labels(y, qid=qid, sample_weight=weight, weighting=kinds)
    assert pairwise_loss(pairs, scores).value == pytest.approx(oracle.hinge(scores, listed))


@given(items=scored_items(levels=9), picks=st.data())
def test_a_subset_keeps_the_pairs_among_its_items(items, picks):
    y, qid, weight, _ = items
    if not oracle.all_pairs(y, qid, weight):
        return
    pairs = Pairs.from_labels(y, qid=qid, sample_weight=weight)
    rows = np.array(sorted(picks.draw(st.sets(st.integers(0, len(y) - 1), min_size=2))))
    listed = oracle.all_pairs(y[rows], qid[rows], weight[rows])
    if listed:
        part = pairs.subset(rows)
        assert part.count == len(listed)
        assert part.block_share().sum() == pytest.approx(1.0)


def test_listed_pairs_are_the_pairs():
    rng = np.random.default_rng(1)
    y, qid, weight = rng.integers(0, 3, 20), rng.integers(0, 2, 20), rng.uniform(1, 2, 20)
    upper, lower, w = Pairs.from_labels(y, qid=qid, sample_weight=weight).listed()
    expected = {(i, j): value for i, j, value in oracle.all_pairs(y, qid, weight)}
    assert {(i, j): pytest.approx(v) for i, j, v in zip(upper, lower, w, strict=True)} == expected


def test_zone_pairs_are_those_near_the_kink():
    rng = np.random.default_rng(2)
    y, scores = rng.integers(0, 3, 30), rng.normal(size=30)
    uppers, lowers, _, margins = pairwise_loss(Pairs.from_labels(y), scores, smoothing=0.3).zone_pairs()
    near = {(i, j) for i, j, _ in oracle.all_pairs(y) if abs(1 - scores[i] + scores[j]) < 0.3}
    assert set(zip(uppers.tolist(), lowers.tolist(), strict=True)) == near
    assert (margins == 1.0).all()


def test_graded_pairs_are_won_by_one_over_the_difference_of_their_labels():
    rng = np.random.default_rng(3)
    y, scores, weight = rng.integers(0, 4, 30) * 0.5, rng.normal(size=30), rng.uniform(1, 2, 30)
    pairs = Pairs.from_labels(y, sample_weight=weight, graded=True)
    listed = oracle.all_pairs(y, weight=weight)
    mean = sum(w * (y[i] - y[j]) for i, j, w in listed)
    assert 1.0 / pairs.mean_margin == pytest.approx(mean)
    assert pairs.widest_margin == 2.0

    def loss(at):
        return sum(w * max(0.0, 1.0 - (y[i] - y[j]) * (at[i] - at[j])) for i, j, w in listed) / mean

    point = pairwise_loss(pairs, scores)
    assert point.value == pytest.approx(loss(scores))
    for k in range(30):
        step = np.zeros(30)
        step[k] = 1e-7
        assert point.gradient[k] == pytest.approx(
            (loss(scores + step) - loss(scores - step)) / 2e-7, abs=1e-6
        )
    uppers, lowers, _, margins = pairwise_loss(pairs, scores, smoothing=0.3).zone_pairs()
    near = {(i, j) for i, j, _ in listed if abs(1 / (y[i] - y[j]) - scores[i] + scores[j]) < 0.3}
    assert set(zip(uppers.tolist(), lowers.tolist(), strict=True)) == near
    np.testing.assert_allclose(margins, 1.0 / (y[uppers] - y[lowers]))
    part = pairs.subset(np.arange(0, 30, 2))
    some = pairwise_loss(part, scores[::2], smoothing=9.0).zone_pairs()
    np.testing.assert_allclose(some[3], 1.0 / (y[::2][some[0]] - y[::2][some[1]]))


@given(
    st.lists(
        st.one_of(
            st.floats(-1e300, 1e300), st.sampled_from([0.0, -0.0, 1e-300, 1.0, 1.0 + 2**-52, -1e300, 1e300])
        ),
        min_size=1,
        max_size=60,
    )
)
def test_sorting_equals_numpy(values):
    scores = np.array(values)
    order, ordered = sorted_order(scores)
    np.testing.assert_array_equal(ordered, np.sort(scores))
    np.testing.assert_array_equal(scores[order], ordered)
    assert sorted(order.tolist()) == list(range(len(values)))


def test_sorting_crowded_scores():
    # Almost all scores share a key next to one far away: the comparison sort must step in.
    scores = np.concatenate([np.random.default_rng(0).uniform(0, 1e-12, 20000), [1e6]])
    order, ordered = sorted_order(scores)
    np.testing.assert_array_equal(ordered, np.sort(scores))
    np.testing.assert_array_equal(scores[order], ordered)


def test_sample_keeps_every_label():
    y = np.repeat([0, 1, 2], [9000, 500, 30])
    rows = Pairs.from_labels(y).every(8)
    counts = np.bincount(y[rows])
    assert counts[0] < 2000
    assert counts[2] == 30


def test_huge_offsets_do_not_cost_digits():
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 2, 2000), np.round(rng.normal(size=2000), 3)
    pairs = Pairs.from_labels(y)
    plain = pairwise_loss(pairs, scores, loss="squared_hinge")
    moved = pairwise_loss(pairs, scores + 2.0**20, loss="squared_hinge")
    assert moved.value == pytest.approx(plain.value, rel=1e-8)


def test_score_loss_contract():
    point = pairwise_loss(Pairs.from_labels([1, 0]), np.array([0.0, 0.0]), loss="squared_hinge")
    value, gradient = point.value, point.gradient
    assert (value, gradient.tolist()) == (1.0, [-2.0, 2.0])


@pytest.mark.parametrize("weighting", [{(0, 1): 1.0}, {(1, 0): -1.0}, {(1, 0): np.nan}])
def test_bad_kinds_of_pairs_are_refused(weighting):
    with pytest.raises(ValueError, match="upper label, lower label"):
        Pairs.from_labels([0, 1], weighting=weighting)


@given(grades=st.lists(st.integers(0, 3), min_size=3, max_size=7), top=st.integers(1, 4))
def test_swap_costs_equal_swapping_every_pair(grades, top):
    grades = np.array(sorted(grades, reverse=True), dtype=float)
    gains = 2.0 ** (grades - grades.min()) - 1
    discount = np.where(np.arange(len(grades)) < top, 1 / np.log2(np.arange(len(grades)) + 2), 0.0)
    ideal = gains @ discount
    costs = swap_costs(grades, top=top)
    kinds = {(a, b) for a in grades for b in grades if a > b}
    assert set(costs) == kinds
    for a, b in kinds:
        drops = []
        for i in np.flatnonzero(grades == a):
            for j in np.flatnonzero(grades == b):
                swapped = gains.copy()
                swapped[[i, j]] = swapped[[j, i]]
                drops.append((ideal - swapped @ discount) / ideal)
        assert costs[a, b] == pytest.approx(np.mean(drops))


def test_swap_costs_average_over_queries():
    first, second = np.array([2.0, 0.0, 0.0]), np.array([2.0, 1.0])
    both = swap_costs(np.concatenate([second, first]), np.array([1, 1, 0, 0, 0]), top=1)
    assert both[2.0, 0.0] == pytest.approx(swap_costs(first, top=1)[2.0, 0.0])
    # Within the second query the lowest grade is 1, but gains count from the lowest grade of all.
    assert both[2.0, 1.0] == pytest.approx((3 - 1) * 1.0 / 3)


def test_too_many_grades_for_swap_costs():
    with pytest.raises(ValueError, match="use at most 64"):
        swap_costs(np.arange(65.0))
