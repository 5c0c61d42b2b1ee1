"""The loop: what it keeps, when it stops, and what it says when something goes wrong."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_moons
from torch import nn

from toprank import RankNet, statistics
from toprank.control import SearchStoppedWarning, Status
from toprank.networks import modules, training


def moons(n=240, seed=0):
    return make_moons(n, noise=0.3, random_state=seed)


def tiny(**more):
    return RankNet(**{"hidden_layers": (8,), "max_iter": 4, "random_state": 0, **more})


def same(one, other):
    return all(np.array_equal(one.weights_[name], other.weights_[name]) for name in one.weights_)


def test_the_best_pass_is_kept_and_training_stops_when_nothing_is_gained():
    X, y = moons()
    ranker = tiny(
        validation_fraction=0.4,
        statistic="average_precision",
        max_iter=60,
        n_iter_no_change=5,
        learning_rate=0.05,
    ).fit(X, y)
    values = ranker.history_["value"]
    assert ranker.n_iter_ == int(np.argmax(values)) + 1
    assert len(values) == min(60, ranker.n_iter_ + 5)
    assert len(ranker.history_["loss"]) == len(ranker.history_["seconds"]) == len(values)
    again = tiny(
        validation_fraction=0.4, statistic="average_precision", max_iter=ranker.n_iter_, learning_rate=0.05
    ).fit(X, y)
    assert same(ranker, again)  # the weights are those of that pass


@pytest.mark.parametrize("statistic", ["auc", "dcg@5", "precision@10", "c_index", "recall@10%"])
def test_any_statistic_judges(statistic):
    X, y = moons()
    ranker = tiny(validation_fraction=0.4, statistic=statistic).fit(X, y)
    assert len(ranker.history_["value"]) == 4
    assert ranker.score(X, y) == statistics.get(statistic)(y, ranker.decision_function(X))


def test_the_same_seed_gives_the_same_network_and_leaves_pytorchs_own_numbers_alone():
    X, y = moons()
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    first, second = (tiny(batch_size=50).fit(X, y) for _ in range(2))
    assert same(first, second)
    assert torch.equal(torch.rand(3), wanted)
    assert not same(first, tiny(batch_size=50, random_state=1).fit(X, y))


def test_the_callback_hears_every_pass_and_stops_within_one(monkeypatch):
    X, y = moons()
    heard = []

    def stop(progress):
        heard.append(progress)
        return len(heard) < 3

    monkeypatch.setattr("toprank.networks.base.NetworkRanker._make_run", unthrottled(stop))
    with pytest.warns(SearchStoppedWarning):
        ranker = tiny(batch_size=50, max_iter=1000).fit(X, y)
    assert len(heard) == 3
    assert ranker.outcome_.status is Status.STOPPED
    assert len(ranker.history_["loss"]) == 1  # five batches a pass


def unthrottled(callback):
    from toprank.control import Run

    return lambda self: Run(callback=callback, rng=0, interval=0.0)


def test_standardisation_is_inside():
    X, y = moons()
    plain, scaled = tiny().fit(X, y), tiny().fit(1e6 * X + 1e8, y)
    np.testing.assert_allclose(
        scaled.decision_function(1e6 * X + 1e8), plain.decision_function(X), rtol=1e-4, atol=1e-6
    )


# -- networks of one's own -----------------------------------------------------------------------------


class Own(nn.Module):
    def __init__(self, n_features, outputs=1):
        super().__init__()
        self.inside = nn.Sequential(nn.Linear(n_features, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.2))
        self.last = nn.Linear(6, outputs)

    def forward(self, rows):
        return self.last(self.inside(rows))


def test_any_module_or_what_makes_one():
    X, y = moons()
    torch.manual_seed(0)
    module = Own(2)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    for network in (module, Own):
        first, second = (tiny(network=network, batch_size=60).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
        assert first.transform(X).shape == (len(X), 6)
        by_hand = first.transform(X) @ first.weights_["last.weight"][0] + first.weights_["last.bias"]
        np.testing.assert_allclose(
            first.decision_function(X), by_hand + first.intercept_, rtol=1e-5, atol=1e-6
        )
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


@pytest.mark.parametrize("outputs", [2, 3])
def test_a_network_with_the_wrong_output(outputs):
    with pytest.raises(ValueError, match=r"output of shape .* one score for each row: let it end in"):
        tiny(network=Own(2, outputs)).fit(*moons())


def test_what_is_no_network():
    with pytest.raises(ValueError, match=r"network=3 must be a torch\.nn\.Module, a function"):
        tiny(network=3).fit(*moons())


# -- what goes wrong -----------------------------------------------------------------------------------


class Broken(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.last = nn.Linear(n_features, 1)

    def forward(self, rows):
        return self.last(rows) * float("nan")


def test_scores_or_losses_that_are_no_numbers_name_the_remedy():
    with pytest.raises(
        ValueError, match=r"a score of the network is not a finite number .* lower learning_rate"
    ):
        tiny(network=Broken).fit(*moons())
    with pytest.raises(ValueError, match="is not a finite number any more, in pass"):
        tiny(loss="p_norm", p=1e300, learning_rate=1e300, max_iter=20).fit(*moons())


def test_no_memory_names_the_remedy(monkeypatch):
    def greedy(*arguments):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    monkeypatch.setattr(training, "_step", greedy)
    with pytest.raises(MemoryError, match="batches of 256 rows: lower batch_size"):
        tiny().fit(*moons())
    with pytest.raises(RuntimeError, match="something else"), modules.remedied(2):
        raise RuntimeError("something else")


def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match=r"device='cuda:77' cannot be used here .*use 'auto' or 'cpu'"):
        tiny(device="cuda:77").fit(*moons())


def test_one_class_and_queries_without_pairs():
    X, y = moons()
    with pytest.raises(ValueError, match="one class only"):
        tiny().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="qid: no query holds rows of two different labels"):
        tiny().fit(X, y, qid=np.arange(len(X)))
    with pytest.raises(ValueError, match="qid: no query"):
        tiny().fit(X, y, sample_weight=(np.arange(len(X)) % 20 == 0) * 1.0 + 0.0, qid=np.arange(len(X)) // 10)


@pytest.mark.parametrize(
    "name, value",
    [
        ("loss", "nonsense"), ("target", "x"), ("activation", "x"), ("precision", "half"), ("batch_size", 1),
        ("max_iter", 0), ("learning_rate", -1), ("hidden_layers", (0,)), ("p", 0.5), ("k", 0),
        ("top_share", 2.0), ("negative_share", -0.1), ("validation_fraction", 2.0),
    ],
)  # fmt: skip
def test_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        tiny(**{name: value}).fit(*moons())
