"""Every public ranker, in every configuration that scores differently, survives its file or is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import toprank
from toprank.base import BaseRanker
from toprank.datasets import InputError, Labelled, Roles, Table, learn_encoder
from toprank.model import RankingModel, load_model, save_model

pytest.importorskip("skops")


def rough(row, other):
    """A kernel of the user's own."""
    return float(1.0 + row @ other)


PUBLIC = {name: getattr(toprank, name) for name in toprank.__all__}
CONFIGURATIONS = {
    **{name: one for name, one in PUBLIC.items() if isinstance(one, type) and issubclass(one, BaseRanker)},
    "BaggedRanker": lambda: toprank.BaggedRanker(toprank.DirectRanker(n_restarts=1), n_bags=2),
    "TopEnsemble": lambda: toprank.TopEnsemble(
        [("logistic", LogisticRegression()), ("svm", toprank.RankSVM())], cv=2
    ),
    "push, rbf": lambda: toprank.InfinitePush(kernel="rbf"),
    "push, nystroem": lambda: toprank.InfinitePush(kernel="rbf", approximation="nystroem", n_components=10),
    "push, fourier": lambda: toprank.InfinitePush(kernel="rbf", approximation="fourier", n_components=10),
    "push, gradient projection": lambda: toprank.InfinitePush(solver="gradient_projection", max_iter=20),
    "svm, hinge": lambda: toprank.RankSVM(loss="hinge"),
    "svm, l1": lambda: toprank.RankSVM(norm="l1"),
    "svm, rbf": lambda: toprank.RankSVM(kernel="rbf"),
    "svm, as many landmarks as features": lambda: toprank.RankSVM(
        kernel="rbf", approximation="nystroem", n_components=4
    ),
    "svm, generator": lambda: toprank.RankSVM(random_state=np.random.RandomState(0)),
    "rls, rbf": lambda: toprank.RankRLS(kernel="rbf"),
    "boost, stumps": lambda: toprank.RankBoost(weak_rankers="stumps"),
    "boost, features": lambda: toprank.RankBoost(weak_rankers="features"),
    "p-norm, boosted features": lambda: toprank.PNormPush(solver="boosting", weak_rankers="features"),
    "p-norm, boosted stumps": lambda: toprank.PNormPush(solver="boosting", weak_rankers="stumps"),
    "at top, rbf": lambda: toprank.AccuracyAtTop(0.2, kernel="rbf"),
    "at top, nystroem": lambda: toprank.AccuracyAtTop(
        0.2, kernel="rbf", approximation="nystroem", n_components=10
    ),
    "at top, as many landmarks as features": lambda: toprank.AccuracyAtTop(
        0.2, kernel="rbf", approximation="nystroem", n_components=4
    ),
    "at top, local": lambda: toprank.AccuracyAtTop(0.2, solver="local", random_state=0),
    "plugin, logistic": lambda: toprank.PluginRanker(LogisticRegression()),
    "plugin, forest": lambda: toprank.PluginRanker(RandomForestClassifier(3, random_state=0)),
    "cv, rbf": lambda: toprank.RankerCV(toprank.RankSVM(kernel="rbf"), Cs=[1.0], cv=2),
    "rerank, rbf": lambda: toprank.RankThenRerank(reranker=toprank.InfinitePush(kernel="rbf"), top=40),
    "rerank, svm": lambda: toprank.RankThenRerank(toprank.RankSVM(), toprank.TopPush(), top=40),
    "exact, statistic": lambda: toprank.ExactRanker(toprank.statistics.get("ndcg@5"), time_limit=5),
    "exact, proof": lambda: toprank.ExactRanker(keep_proof=True, time_limit=5),
    "direct, weights": lambda: toprank.DirectRanker("auc", random_state=np.random.default_rng(0)),
}
TREES = ["sklearn.tree._tree.Tree"]
NOT_LINEAR = {
    name for name in CONFIGURATIONS if any(word in name for word in ("rbf", "stumps", "forest"))
} | {
    "BaggedRanker",  # its mean of scores is linear, but not to the last digit
    "TopEnsemble",
    "push, nystroem",
    "push, fourier",
    "svm, as many landmarks as features",
    "at top, nystroem",
    "at top, as many landmarks as features",
}


def fitted(make, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, 4))
    y = (X[:, 0] + rng.normal(size=70) > 0.5).astype(int)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    table = Table(frame, source="items.csv")
    data = Labelled.of(table, Roles("y"))
    encoder, _ = learn_encoder(data.features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = make().fit(encoder.encode(data.features)[0], data.y)
    return RankingModel(encoder, ranker, Roles("y"), data.positive, "auc"), table


def same(model, again, table):
    X, _ = model.encoder.encode(model.roles.features(table))
    np.testing.assert_array_equal(again.scores(table)[0], model.scores(table)[0])
    np.testing.assert_array_equal(again.ranker.predict(X), model.ranker.predict(X))


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS))
def test_a_model_is_saved_completely_or_not_at_all(tmp_path, name):
    model, table = fitted(CONFIGURATIONS[name])
    text, binary = tmp_path / "model.json", tmp_path / "model.skops"
    if name in NOT_LINEAR:
        with pytest.raises(InputError, match=r"not a linear model .*\.skops"):
            save_model(model, text)
        assert not text.exists()
    else:
        save_model(model, text)
        same(model, load_model(text), table)
    save_model(model, binary)
    same(model, load_model(binary, trusted=TREES if "forest" in name else ()), table)


def test_the_answer_depends_on_the_fit_and_not_on_the_name(tmp_path):
    """Attributes left over from a linear fit do not make a kernel model linear."""
    model, _ = fitted(toprank.InfinitePush)
    X, y = np.random.default_rng(1).normal(size=(30, 4)), np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.ranker.set_params(kernel="rbf").fit(X, y)
    assert hasattr(model.ranker, "coef_")
    with pytest.raises(InputError, match=r"InfinitePush\(kernel='rbf'\) is not a linear model"):
        save_model(model, tmp_path / "model.json")


def test_a_kernel_of_the_users_own_is_no_text(tmp_path):
    model, _ = fitted(lambda: toprank.InfinitePush(kernel=rough))
    with pytest.raises(InputError, match="InfinitePush has a kernel that is no text"):
        save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []
