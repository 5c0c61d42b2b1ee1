"""A network comes back from its file as it was, and a file that is not one says so."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save
from torch import nn

from toprank import DirectLossRanker, RankNet, RankSVM, RankThenRerank, SoDeepRanker
from toprank.datasets import InputError, Labelled, Roles, Table, learn_encoder
from toprank.model import RankingModel, load_model, save_model

TINY = {"hidden_layers": (5,), "max_iter": 2, "random_state": 0}
RANKERS = {
    "two labels": RankNet(**TINY),
    "held out": RankNet("p_norm", validation_fraction=0.3, p=2.5, **TINY),
    "a generator": RankNet(**{**TINY, "random_state": np.random.default_rng(0)}),
    "direct loss": DirectLossRanker("positive", **TINY),
    "soft ranks": SoDeepRanker("spearman", sorter="sigmoid", **TINY),
}


def rows(kind="binary"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 3))
    response = X[:, 0] + rng.normal(size=70)
    return X, {
        "binary": (response > 0.4).astype(int),
        "words": np.where(response > 0.4, "yes", "no"),
        "ordinal": np.digitize(response, [-0.5, 0.5]),
        "continuous": response,
    }[kind]


@pytest.mark.parametrize("name", RANKERS)
def test_it_comes_back_as_it_was(tmp_path, name):
    X, y = rows("words")
    ranker = RANKERS[name].fit(X, y)
    ranker.save(tmp_path / "net.safetensors")
    again = type(ranker).load(tmp_path / "net.safetensors")
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(again.transform(X), ranker.transform(X))
    np.testing.assert_array_equal(again.history_["loss"], ranker.history_["loss"])
    left = {"random_state"} if name == "a generator" else set()
    for key in set(ranker.get_params()) - left:
        assert str(again.get_params()[key]).strip("()[],") == str(ranker.get_params()[key]).strip("()[],"), (
            key
        )
    again.save(tmp_path / "twice.safetensors")
    assert (tmp_path / "twice.safetensors").read_bytes() == (tmp_path / "net.safetensors").read_bytes()


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
def test_numbers_too(tmp_path, kind):
    X, y = rows(kind)
    ranker = RankNet(**TINY).fit(pd.DataFrame(X, columns=list("abc")), y)
    ranker.save(tmp_path / "net.safetensors")
    again = RankNet.load(tmp_path / "net.safetensors")
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))
    assert again.score(frame, y) == ranker.score(frame, y)


def own(n_features):
    return nn.Sequential(nn.Linear(n_features, 4), nn.ReLU(), nn.Linear(4, 1))


def test_a_network_of_ones_own_is_given_again(tmp_path):
    X, y = rows()
    ranker = RankNet(network=own, **TINY).fit(X, y)
    ranker.save(tmp_path / "net.safetensors")
    with pytest.raises(InputError, match=r"network of the user's own.*RankNet\.load\(file, network=\.\.\.\)"):
        RankNet.load(tmp_path / "net.safetensors")
    again = RankNet.load(tmp_path / "net.safetensors", network=own)
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))
    with pytest.raises(ValueError, match="holds a RankNet, not a SoDeepRanker"):
        SoDeepRanker.load(tmp_path / "net.safetensors", network=own)


def test_what_is_no_network_file(tmp_path):
    X, y = rows()
    file = tmp_path / "net.safetensors"
    ranker = RankNet(**TINY).fit(X, y)
    ranker.save(file)
    content = file.read_bytes()
    tensors, said = load(content), json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    plain = json.loads(said["__metadata__"]["toprank"])
    for broken, words in [
        (content[:50], "not a safetensors file, or was cut short"),
        (b"", "not a safetensors file"),
        (save(tensors), "not a file of toprank's"),
        (save(tensors, metadata={"toprank": json.dumps({**plain, "class": "os.system"})}), "no network"),
        (
            save(tensors, metadata={"toprank": json.dumps({**plain, "parameters": {"callback": 1}})}),
            "no parameter 'callback'",
        ),
        (save({}, metadata={"toprank": json.dumps({})}), "no network"),
        (
            save(tensors, metadata={"toprank": json.dumps({k: plain[k] for k in ("format", "class")})}),
            "damaged",
        ),
    ]:
        file.write_bytes(broken)
        with pytest.raises(InputError, match=words):
            RankNet.load(file)
    with pytest.raises(InputError, match="There is no network file"):
        RankNet.load(tmp_path / "nowhere.safetensors")
    with pytest.raises(InputError, match=r"must end in \.safetensors"):
        ranker.save(tmp_path / "net.json")


# -- models with their table ---------------------------------------------------------------------------


def model_of(ranker):
    X, y = rows()
    table = Table(pd.DataFrame(X, columns=list("abc")).assign(y=y), source="items.csv")
    data = Labelled.of(table, Roles("y"))
    encoder, _ = learn_encoder(data.features)
    fitted = ranker.fit(encoder.encode(data.features)[0], data.y)
    return RankingModel(encoder, fitted, Roles("y"), data.positive, "auc"), table


@pytest.mark.parametrize(
    "ranker",
    [
        RankNet(**TINY),
        RankThenRerank(RankNet(**TINY), RankSVM(), top=40, cv=2, random_state=0),
    ],
    ids=["network", "base"],
)
@pytest.mark.parametrize("ending", ["safetensors", "skops"])
def test_a_model_with_a_network(tmp_path, ranker, ending):
    if ending == "skops":
        pytest.importorskip("skops")
    model, table = model_of(ranker)
    file = tmp_path / f"model.{ending}"
    save_model(model, file)
    np.testing.assert_array_equal(load_model(file).scores(table)[0], model.scores(table)[0])


def test_what_is_no_network_goes_elsewhere(tmp_path):
    with pytest.raises(InputError, match=r"it holds no network; give its file the ending \.skops or \.json"):
        save_model(model_of(RankSVM())[0], tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="a network of your own is code"):
        save_model(model_of(RankNet(network=own, **TINY))[0], tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"not a linear model .*\.skops"):
        save_model(model_of(RankNet(**TINY))[0], tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []
    RankNet(**TINY).fit(*rows()).save(tmp_path / "single.safetensors")
    with pytest.raises(InputError, match="a single network is read by the `load` of its class"):
        load_model(tmp_path / "single.safetensors")
