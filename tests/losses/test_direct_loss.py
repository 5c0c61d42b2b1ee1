"""The dynamic program of direct loss minimisation against all interleavings, one by one."""

import itertools

import numpy as np
import pytest

from toprank.losses.direct_loss import DirectLoss, direct_order


def interleavings(n_pos, n_neg):
    """Every list of n_pos ones and n_neg zeros."""
    for places in itertools.combinations(range(n_pos + n_neg), n_pos):
        labels = np.zeros(n_pos + n_neg, dtype=int)
        labels[list(places)] = 1
        yield labels


def average_precision(labels):
    hits = np.flatnonzero(labels)
    return np.mean([(place + 1) / (rank + 1) for place, rank in enumerate(hits)])


def pair_sum(labels, positive, negative):
    """F of Song et al. (2016), and its gradient, pair by pair."""
    total, up, down = 0.0, np.zeros(len(positive)), np.zeros(len(negative))
    scale = 1.0 / (len(positive) * len(negative))
    where_up, where_down = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    for i, a in enumerate(where_up):
        for j, b in enumerate(where_down):
            sign = 1.0 if a < b else -1.0
            total += sign * (positive[i] - negative[j]) * scale
            up[i] += sign * scale
            down[j] -= sign * scale
    return total, up, down


def best(positive, negative, pull):
    """The largest F + pull (1 - AP) over all interleavings, and the gradient of F there."""
    found = [
        (pair_sum(one, positive, negative)[0] + pull * (1 - average_precision(one)), tuple(one))
        for one in interleavings(len(positive), len(negative))
    ]
    value, labels = max(found)
    return value, pair_sum(np.array(labels), positive, negative)[1:]


def cases():
    rng = np.random.default_rng(0)
    for n_pos, n_neg in ((1, 1), (1, 5), (5, 1), (3, 4), (4, 3), (5, 5)):
        for _ in range(4):
            scale = 10.0 ** rng.integers(-2, 1)
            yield -np.sort(-scale * rng.normal(size=n_pos)), -np.sort(-scale * rng.normal(size=n_neg))


@pytest.mark.parametrize("pull", [0.0, 0.3, 3.0, -0.3, -3.0])
def test_the_table_finds_the_best_of_all_interleavings(pull):
    for positive, negative in cases():
        above = direct_order(positive, negative, pull)
        assert (np.diff(above) >= 0).all()
        labels = np.zeros(len(positive) + len(negative), dtype=int)
        labels[above + np.arange(len(positive))] = 1
        own = pair_sum(labels, positive, negative)[0] + pull * (1 - average_precision(labels))
        assert own == pytest.approx(best(positive, negative, pull)[0], abs=1e-12)


@pytest.mark.parametrize("update, signs", [("positive", [1]), ("negative", [-1]), ("both", [1, -1])])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_the_gradient_is_the_difference_of_two_orders(update, signs, epsilon):
    for positive, negative in cases():
        n_pos = len(positive)
        y = np.repeat([1, 0], [n_pos, len(negative)])
        scores = np.concatenate([positive, negative])
        own = np.concatenate(best(positive, negative, 0.0)[1])
        wanted = np.mean(
            [
                sign * (np.concatenate(best(positive, negative, sign * epsilon)[1]) - own) / epsilon
                for sign in signs
            ],
            axis=0,
        )
        point = DirectLoss.from_labels(y, epsilon=epsilon, update=update).at(scores)
        np.testing.assert_allclose(point.gradient, wanted, atol=1e-12)
        order = np.argsort(-scores, kind="stable")
        assert point.value == pytest.approx(1 - average_precision(y[order]))


def test_the_gradient_tells_how_the_expected_loss_changes():
    """The mean over noisy scores against a finite difference of the mean loss: what the theorem says."""
    rng = np.random.default_rng(1)
    noise, y = rng.normal(size=(40_000, 6)), np.array([1, 0, 1, 0, 0, 1])
    at, along = np.array([0.5, 0.3, 0.1, 0.0, -0.2, -0.4]), np.eye(6)[1]
    loss = DirectLoss.from_labels(y, epsilon=0.15)

    def losses(scores):
        hits = y[np.argsort(-scores, axis=1)]
        precision = np.cumsum(hits, axis=1) / np.arange(1, 7)
        return 1 - (precision * hits).sum(axis=1) / 3

    step = 0.15
    slope = np.mean(losses(at + noise + step * along) - losses(at + noise - step * along)) / (2 * step)
    found = np.mean([loss.at(at + one).gradient[1] for one in noise[:4000]])
    assert slope > 0
    assert found == pytest.approx(slope, rel=0.25)


def test_queries_are_lists_of_their_own_and_those_of_one_class_are_passed_over():
    rng = np.random.default_rng(0)
    y, qid, scores = rng.integers(0, 2, 30), np.arange(30) % 4, rng.normal(size=30)
    y[qid == 3] = 0
    whole = DirectLoss.from_labels(y, qid=qid).at(scores)
    assert not whole.gradient[qid == 3].any()
    alone = [DirectLoss.from_labels(y[qid == q]).at(scores[qid == q]) for q in range(3)]
    assert whole.value == pytest.approx(np.mean([one.value for one in alone]))
    for q in range(3):
        np.testing.assert_allclose(whole.gradient[qid == q], alone[q].gradient / 3)
    with pytest.raises(ValueError, match="no query with items of both classes"):
        DirectLoss.from_labels(np.ones(3))
