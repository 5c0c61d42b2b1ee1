"""Every public ranker, in every configuration that scores differently, survives its file or is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

import toprank
from ranker_variants import VARIANTS
from toprank.base import BaseRanker
from toprank.datasets import InputError, Labelled, Roles, Table, learn_encoder
from toprank.model import RankingModel, load_model, save_model
from toprank.testing.samples import takes_kernel

pytest.importorskip("skops")


def rough(row, other):
    """A kernel of the user's own."""
    return float(1.0 + row @ other)


def can_be_a_table(ranker):
    """Rows of a table have features, not kernel values; a kernel of the user's own is tested below."""
    return not takes_kernel(ranker) and not callable(getattr(ranker, "kernel", None))


CONFIGURATIONS = {
    **{n: one.make for n, one in VARIANTS.items() if not one.slow and can_be_a_table(one.make())},
    "svm, as many landmarks as features": lambda: toprank.RankSVM(
        kernel="rbf", approximation="nystroem", n_components=4
    ),
    "svm, more landmarks than features": lambda: toprank.RankSVM(
        kernel="rbf", approximation="nystroem", n_components=3, n_landmarks=9
    ),
    "svm, generator": lambda: toprank.RankSVM(random_state=np.random.RandomState(0)),
    "at top, as many landmarks as features": lambda: toprank.AccuracyAtTop(
        0.2, kernel="rbf", approximation="nystroem", n_components=4
    ),
    "at top, local": lambda: toprank.AccuracyAtTop(0.2, solver="local", random_state=0),
    "cv, rbf": lambda: toprank.RankerCV(toprank.RankSVM(kernel="rbf"), Cs=[1.0], cv=2),
    "cv, splitter": lambda: toprank.RankSVMCV(Cs=[1.0], cv=StratifiedKFold(2)),
    "rerank, rbf": lambda: toprank.RankThenRerank(reranker=toprank.InfinitePush(kernel="rbf"), top=40),
    "rerank, svm": lambda: toprank.RankThenRerank(toprank.RankSVM(), toprank.TopPush(), top=40),
    "rerank, forest": lambda: toprank.RankThenRerank(FOREST, toprank.DirectRanker(n_restarts=1), top=40),
    "bag, forest": lambda: toprank.BaggedRanker(FOREST, n_bags=2),
    "ensemble, forest": lambda: toprank.TopEnsemble([("forest", FOREST), ("bayes", GaussianNB())], cv=2),
    "ensemble, lightgbm": lambda: toprank.TopEnsemble(
        [("boosting", lightgbm()), ("bayes", GaussianNB())], cv=2
    ),
    "ensemble, catboost": lambda: toprank.TopEnsemble(
        [("boosting", catboost()), ("bayes", GaussianNB())], cv=2
    ),
    "bag, lightgbm": lambda: toprank.BaggedRanker(lightgbm(), n_bags=2),
    "exact, statistic": lambda: toprank.ExactRanker(toprank.statistics.get("ndcg@5"), time_limit=1),
    "exact, proof": lambda: toprank.ExactRanker(keep_proof=True, time_limit=1),
    "direct, generator": lambda: toprank.DirectRanker(
        "auc", random_state=np.random.default_rng(0), n_restarts=1
    ),
}
FOREST = RandomForestClassifier(3, random_state=0)
TRUSTED = [
    "sklearn.tree._tree.Tree",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss._loss.CyHalfBinomialLoss",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "catboost.core.CatBoostClassifier",
]


def lightgbm():
    module = pytest.importorskip("lightgbm", reason="the extra `boosting` is not installed")
    return module.LGBMClassifier(n_estimators=5, min_child_samples=5, n_jobs=1, verbosity=-1)


def catboost():
    module = pytest.importorskip("catboost", reason="the extra `boosting` is not installed")
    return module.CatBoostClassifier(iterations=5, verbose=False, allow_writing_files=False, thread_count=1)


def is_text(ranker):
    """What the tags say: a linear score, one learned with such a ranker, a linear list reranked linearly."""
    if isinstance(ranker, toprank.RankThenRerank):
        return all(is_text(one) for one in (ranker.base_, ranker.reranker_) if one is not None)
    if isinstance(ranker, Pipeline):
        return is_text(ranker.steps[-1][1])
    for inside in ("estimator_", "ranker_"):
        if hasattr(ranker, inside):
            return is_text(getattr(ranker, inside))
    return (
        ranker.ranker_tags.linear
        if isinstance(ranker, BaseRanker)
        else isinstance(ranker, LogisticRegression | LinearRegression | Ridge)
    )


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
    assert hasattr(again.ranker, "predict_proba") == hasattr(model.ranker, "predict_proba")
    if hasattr(model.ranker, "predict_proba"):
        np.testing.assert_array_equal(again.ranker.predict_proba(X), model.ranker.predict_proba(X))


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS))
def test_a_model_is_saved_completely_or_not_at_all(tmp_path, name):
    model, table = fitted(CONFIGURATIONS[name])
    text, binary = tmp_path / "model.json", tmp_path / "model.skops"
    if not is_text(model.ranker):
        with pytest.raises(InputError, match=r"not a linear model .*\.skops"):
            save_model(model, text)
        assert not text.exists()
    else:
        save_model(model, text)
        same(model, load_model(text), table)
    save_model(model, binary)
    same(model, load_model(binary, trusted=TRUSTED), table)


def test_an_ensemble_from_before_it_had_probabilities_scores_as_it_did(tmp_path):
    model, table = fitted(lambda: toprank.TopEnsemble([("bayes", GaussianNB())], cv=2))
    del model.ranker._odds_line
    save_model(model, tmp_path / "old.skops")
    again = load_model(tmp_path / "old.skops")
    same(model, again, table)
    assert not hasattr(again.ranker, "predict_proba")


def test_the_answer_depends_on_the_fit_and_not_on_the_name(tmp_path):
    """A ranker that was linear once is so no longer."""
    model, _ = fitted(toprank.InfinitePush)
    X, y = np.random.default_rng(1).normal(size=(30, 4)), np.arange(30) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.ranker.set_params(kernel="rbf").fit(X, y)
    with pytest.raises(InputError, match=r"InfinitePush\(kernel='rbf'\) is not a linear model"):
        save_model(model, tmp_path / "model.json")


def test_a_kernel_of_the_users_own_is_no_text(tmp_path):
    model, _ = fitted(lambda: toprank.InfinitePush(kernel=rough))
    with pytest.raises(InputError, match=r"InfinitePush\(kernel=.*is not a linear model"):
        save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


NUMBERS = {
    **{
        name: getattr(toprank, name)
        for name in ("RankSVM", "RankRLS", "GreedyRankRLS", "PluginRanker", "RankBoost")
    },
    "rerank": lambda: toprank.RankThenRerank(reranker=toprank.RankRLS(), top=40, cv=2),
    "cv": lambda: toprank.RankRLSCV([1.0]),
    "ensemble": lambda: toprank.TopEnsemble(cv=2, random_state=0),
    "trees": lambda: toprank.GradientBoostingRanker(n_estimators=5),
    "stumps": lambda: toprank.RankBoost(weak_rankers="stumps", n_estimators=5),
}


@pytest.mark.parametrize(
    "name, kind",
    [
        *[(name, "continuous") for name in sorted(NUMBERS)],
        *[(name, "ordinal") for name in ("RankSVM", "rerank", "trees")],
    ],
)
def test_what_learned_from_numbers_predicts_the_same_from_its_file(tmp_path, name, kind):
    """Ours load without being trusted by name, the members by default included."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = X[:, 0] + rng.normal(size=90)
    y = np.digitize(y, [-0.5, 0.5]) if kind == "ordinal" else y
    table = Table(pd.DataFrame(X, columns=list("abcd")), source="items.csv")
    encoder, _ = learn_encoder(table)
    model = RankingModel(encoder, NUMBERS[name]().fit(X, y), Roles("y"), (), "c_index")
    files = ["model.json"] * (name not in ("ensemble", "trees", "stumps")) + ["model.skops"]
    for file in files:
        save_model(model, tmp_path / file)
        again = load_model(tmp_path / file).ranker
        assert again.kind_ == kind
        np.testing.assert_array_equal(again.predict(X), model.ranker.predict(X))
        assert again.score(X, y) == model.ranker.score(X, y)
