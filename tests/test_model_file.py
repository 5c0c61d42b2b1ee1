import hashlib
import json
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from toprank import DirectRanker, RankSVM, RankThenRerank
from toprank.datasets import InputError, Labelled, Roles, Table, learn_encoder
from toprank.model import RankingModel, UntrustedTypesError, load_model, model_bytes, save_model
from toprank.model.plain import NotPlainError, estimator_from_plain, estimator_to_plain

ROLES = Roles("y", id="name", ignore=("note",))


def _table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "name": [f"item {i}" for i in range(n)],
            "size": np.where(rng.random(n) < 0.1, np.nan, size),
            "kind": rng.choice(["a", "b", "c"], size=n),
            "weight": rng.lognormal(size=n),
            "note": "x",
            "y": (size + rng.normal(size=n) > 0.8).astype(int),
        }
    )
    return Table(frame, source="items.csv")


def _model(ranker, table=None):
    table = table or _table()
    data = Labelled.of(table, ROLES)
    encoder, _ = learn_encoder(data.features)
    ranker.fit(encoder.encode(data.features)[0], data.y)
    provenance = {"data": "items.csv", "rows": len(table)}
    return RankingModel(encoder, ranker, ROLES, data.positive, "dcg", provenance)


def _reranker(**options):
    return RankThenRerank(
        options.pop("base", None), DirectRanker(random_state=0), top=30, **{"random_state": 0, **options}
    )


RANKERS = {
    "rerank, default base": lambda: _reranker(),
    "rerank, logistic base": lambda: _reranker(base=LogisticRegression(C=0.5), time_limit=20.0),
    "direct": lambda: DirectRanker("auc", random_state=1),
    "logistic": lambda: LogisticRegression(),
}


@pytest.fixture(scope="module")
def model():
    return _model(_reranker())


@pytest.fixture
def saved(model, tmp_path):
    save_model(model, tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.mark.parametrize("name", RANKERS)
def test_scores_come_back_bit_for_bit(tmp_path, name):
    model = _model(RANKERS[name]())
    save_model(model, tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    for table in (_table(), _table(50, seed=1)):
        np.testing.assert_array_equal(again.scores(table)[0], model.scores(table)[0])
        ours, theirs = again.ranked(table)[0], model.ranked(table)[0]
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    assert again.roles == model.roles
    assert again.positive == ("1",)
    assert again.provenance == model.provenance
    assert again.encoder == model.encoder


def test_the_top_of_one_class_comes_back_too(tmp_path):
    table = _table()
    table.frame["weight"] = table.frame["y"] * 10 + table.frame["weight"] / 100
    with pytest.warns(UserWarning, match="one class only"):
        model = _model(RankThenRerank(fewest_of_a_class=0, top=5), table)
    save_model(model, tmp_path / "m.json")
    np.testing.assert_array_equal(load_model(tmp_path / "m.json").scores(table)[0], model.scores(table)[0])


def test_same_model_same_bytes_and_saving_again_changes_nothing(saved, model, tmp_path):
    assert model_bytes(_model(_reranker()), "m.json") == saved.read_bytes()
    save_model(load_model(saved), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()


def test_the_file_is_readable(saved):
    fields = json.loads(saved.read_text())
    assert fields["format"] == "toprank model"
    counts = _table().frame["kind"].value_counts()
    others = sorted(f"kind={kind}" for kind in counts.index if kind != counts.index[0])
    assert fields["features"] == ["size", *others, "weight"]
    assert len(fields["ranker"]["learned"]["reranker_"]["learned"]["coef_"]) == 4
    # A list of numbers takes one line.
    assert max(line.count(",") for line in saved.read_text().splitlines()) >= 3


@settings(max_examples=50)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_every_number_survives(numbers):
    ranker = LogisticRegression().fit([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [0, 1])
    ranker.coef_ = np.array([numbers])
    again = estimator_from_plain(json.loads(json.dumps(estimator_to_plain(ranker))))
    np.testing.assert_array_equal(again.coef_, ranker.coef_)
    assert again.coef_.dtype == np.float64


# -- files that are not right ----------------------------------------------------------------------


def _resigned(fields):
    """The same file with a checksum that fits, computed without our code."""
    fields.pop("checksum", None)
    text = json.dumps(fields, sort_keys=True)
    return json.dumps({**fields, "checksum": hashlib.sha256(text.encode()).hexdigest()})


def _refused(path, content, match):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=match) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_resigning_is_accepted(saved, model):
    saved.write_text(_resigned(json.loads(saved.read_text())))
    np.testing.assert_array_equal(load_model(saved).scores(_table())[0], model.scores(_table())[0])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_cut_short(saved, share):
    content = saved.read_bytes()
    _refused(saved, content[: int(share * len(content))], "not JSON, or was cut short")


def test_one_digit_changed(saved):
    text = saved.read_text()
    spot = text.index('"coef_": [') + 14
    while not text[spot].isdigit():
        spot += 1
    changed = text[:spot] + str((int(text[spot]) + 1) % 10) + text[spot + 1 :]
    _refused(saved, changed, "checksum")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"\x80\x04\x95pickle", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        ("[]", "not a toprank model"),
        ('{"format": "onnx"}', "not a toprank model"),
        ('{"format": "toprank model"}', "no version number"),
        ('{"format": "toprank model", "version": "1"}', "no version number"),
        (
            '{"format": "toprank model", "version": 99, "toprank": "7.0"}',
            "version 99, written by toprank 7.0",
        ),
    ],
)
def test_foreign_files(tmp_path, content, match):
    _refused(tmp_path / "m.json", content, match)


def _change(fields, path, value):
    *way, last = path
    for key in way:
        fields = fields[key]
    fields[last] = value


RERANKER = ("ranker", "learned", "reranker_")


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (("ranker", "class"), "Popen", "Popen is not a linear model"),
        (("ranker", "class"), "__builtins__", "not a linear model"),
        (("ranker", "class"), 7, "damaged|linear"),
        (("ranker", "parameters", "shell"), True, "no 'shell'"),
        (("ranker", "learned", "__class__"), "x", "no '__class__'"),
        ((*RERANKER, "learned", "coef_"), [1.0], "coefficients of DirectRanker are damaged"),
        ((*RERANKER, "learned", "coef_"), ["a", "b", "c", "d"], "damaged"),
        ((*RERANKER, "learned", "coef_", 0), {"float": "nan"}, "coefficients of DirectRanker are damaged"),
        (("encoder", "kind"), "audio", "damaged"),
        (("encoder", "columns"), [], "do not fit together"),
        (("ranker", "learned", "n_features_in_"), 9, "do not fit together"),
        (("target",), None, "damaged"),
    ],
)
def test_well_signed_nonsense(saved, path, value, match):
    fields = json.loads(saved.read_text())
    _change(fields, path, value)
    _refused(saved, _resigned(fields), match)


def test_no_file_and_no_model(tmp_path, model):
    with pytest.raises(InputError, match="no model file"):
        load_model(tmp_path / "absent.json")
    with pytest.raises(InputError, match="no model file"):
        load_model(tmp_path)
    with pytest.raises(InputError, match=r"end in \.json, \.safetensors or \.skops"):
        save_model(model, tmp_path / "model.pkl")


@pytest.mark.parametrize("file", ["m.json", "m.skops", "m.pkl"])
@pytest.mark.parametrize("ranker", [RankSVM(), make_pipeline(StandardScaler(), RankSVM())])
def test_a_ranker_alone_is_no_model_and_both_ways_out_are_named(tmp_path, ranker, file):
    frame = _table().frame
    X, y = frame[["weight"]], frame["y"]
    with pytest.raises(TypeError, match=rf"not a {type(ranker).__name__}:") as caught:
        save_model(ranker.fit(X, y), tmp_path / file)
    assert list(tmp_path.iterdir()) == []
    assert "\n" not in str(caught.value)
    assert "RankingModel.learned(ranker, table, Roles(target))" in str(caught.value)
    assert "skops.io.dump(ranker, path)" in str(caught.value)
    # What the message says is true.
    skops = pytest.importorskip("skops.io")
    skops.dump(ranker, tmp_path / "ranker.skops")
    asked = skops.get_untrusted_types(file=tmp_path / "ranker.skops")
    again = skops.load(tmp_path / "ranker.skops", trusted=asked)
    np.testing.assert_array_equal(again.decision_function(X), ranker.decision_function(X))
    save_model(RankingModel.learned(ranker, frame, Roles("y", ignore=("name", "note"))), tmp_path / "m.json")


class Keeps(BaseEstimator):
    """Remembers what its `fit` was given."""

    def fit(self, X, y, sample_weight=None, *, qid=None):
        self.given_ = (sample_weight, qid)
        return self


@pytest.mark.parametrize("piped", [False, True])
def test_weights_and_queries_reach_the_ranker_in_a_pipeline_too(piped):
    frame = pd.DataFrame({"a": [3.0, 9, 8, 1], "list": ["p", "q", "q", "p"], "y": [0, 1, 0, 1]})
    keeps, weight = Keeps(), np.array([1.0, 2.0, 0.5, 3.0])
    ranker = make_pipeline(StandardScaler(), keeps) if piped else keeps
    RankingModel.learned(ranker, frame, Roles("y", qid="list"), sample_weight=weight)
    assert keeps.given_[0].tolist() == weight.tolist()
    assert (keeps.given_[1][:, None] == keeps.given_[1]).tolist() == [
        [one == other for other in frame["list"]] for one in frame["list"]
    ]
    RankingModel.learned(ranker, frame, Roles("y", ignore=("list",)))
    assert keeps.given_ == (None, None)


def test_learned_with_weights_is_fitted_with_weights():
    frame = _table().frame.dropna()[["size", "weight", "y"]]
    weight = np.where(frame["size"] > 0, 4.0, 0.25)
    model = RankingModel.learned(LogisticRegression(), frame, Roles("y"), sample_weight=weight)
    rows = model.encoder.encode(Table(frame[["size", "weight"]]))[0]
    weighted, plain = (LogisticRegression().fit(rows, frame["y"], one) for one in (weight, None))
    np.testing.assert_allclose(model.scores(frame)[0], weighted.decision_function(rows))
    assert np.abs(weighted.coef_ - plain.coef_).max() > 0.01


def test_weights_are_refused_by_a_ranker_that_takes_none():
    frame = _table().frame[["size", "weight", "y"]]
    with pytest.raises(ValueError, match="sample_weight: DirectRanker takes no weights"):
        RankingModel.learned(DirectRanker(), frame, Roles("y"), sample_weight=np.ones(len(frame)))


def test_classes_of_the_same_name_are_not_taken_for_ours():
    class LogisticRegression:
        pass

    with pytest.raises(NotPlainError, match="not the class of that name"):
        estimator_to_plain(LogisticRegression())


# -- models that are not linear --------------------------------------------------------------------

TREE = "sklearn.tree._tree.Tree"
KD_TREE = r"sklearn\.neighbors\._kd_tree\.KDTree"


@pytest.fixture(scope="module")
def forest():
    return _model(_reranker(base=RandomForestClassifier(5, max_depth=1, random_state=0)))


def test_forest_is_not_json(forest, tmp_path):
    with pytest.raises(InputError, match=r"RandomForestClassifier is not a linear model .*\.skops"):
        save_model(forest, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_what_our_models_are_made_of_needs_no_trust(forest, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    save_model(forest, tmp_path / "m.skops")
    assert TREE in skops_io.get_untrusted_types(file=tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.scores(_table())[0], forest.scores(_table())[0])


def test_other_types_are_refused_and_named(tmp_path):
    pytest.importorskip("skops")
    neighbours = _model(_reranker(base=KNeighborsClassifier(algorithm="kd_tree")))
    save_model(neighbours, tmp_path / "m.skops")
    with pytest.raises(UntrustedTypesError, match=KD_TREE) as refused:
        load_model(tmp_path / "m.skops")
    assert "--" not in str(refused.value)
    again = load_model(tmp_path / "m.skops", trusted=refused.value.types)
    np.testing.assert_array_equal(again.scores(_table())[0], neighbours.scores(_table())[0])


def test_functions_are_refused_whatever_package_they_are_of(tmp_path):
    skops_io = pytest.importorskip("skops.io")
    content = skops_io.dumps({"model": "{}", "parts": [FunctionTransformer(sklearn.datasets.load_files)]})
    (tmp_path / "m.skops").write_bytes(content)
    with pytest.raises(UntrustedTypesError, match="load_files"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize("lost", ["_below_curve", "threshold_", "base_"])
def test_rankers_of_an_older_version_are_refused_with_both_versions(saved, lost):
    fields = json.loads(saved.read_text())
    del fields["ranker"]["learned"][lost]
    fields["toprank"] = "0.0.7"
    _refused(saved, _resigned(fields), r"written by toprank 0\.0\.7 \(model format 2\), whose RankThenRerank")


def test_linear_models_in_skops_need_no_trust(model, tmp_path):
    pytest.importorskip("skops")
    save_model(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.skops").scores(_table())[0], model.scores(_table())[0]
    )


def test_bad_skops_files(forest, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    content = model_bytes(forest, "m.skops")
    path = tmp_path / "m.skops"
    _refused(path, content[: len(content) // 2], "not a skops file")
    _refused(path, b"", "not a skops file")
    _refused(path, b"{}", "not a skops file")
    _refused(path, skops_io.dumps({"a": 1}), "not a toprank model")
    _refused(path, skops_io.dumps([1, 2]), "not a toprank model")
    _refused(path, skops_io.dumps({"model": '{"format": "x"}', "parts": []}), "not a toprank model")


def test_without_skops(forest, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(InputError, match=r"pip install toprank\[skops\]"):
        save_model(forest, tmp_path / "m.skops")
    (tmp_path / "m.skops").write_bytes(b"")
    with pytest.raises(InputError, match=r"pip install toprank\[skops\]"):
        load_model(tmp_path / "m.skops")
    save_model(model, tmp_path / "m.json")
