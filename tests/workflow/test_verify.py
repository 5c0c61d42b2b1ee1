"""`toprank verify`: says what was checked of a model's certificate, and finds forged ones out."""

import hashlib
import json
import os

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from toprank import datasets
from toprank.cli.main import main
from toprank.ensemble.rank_then_rerank import OneClassTopWarning

RANK = [
    "-t",
    "failed",
    "--id",
    "pump",
    "--ranker",
    "rerank",
    "--depth",
    "16",
    "-s",
    "dcg",
    "--splits",
    "0",
    "-q",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verify")
    table = datasets.inspections(400)
    table.to_csv(folder / "data.csv", index=False)
    table.assign(vibration_mm_s=table["vibration_mm_s"] + 0.5 * table["failed"]).to_csv(
        folder / "other.csv", index=False
    )
    data = str(folder / "data.csv")
    assert main(["rank", data, *RANK, "--model", str(folder / "model.json")]) == 0
    assert main(["rank", data, *RANK, "--keep-proof", "--model", str(folder / "proved.json")]) == 0
    return folder


def verify(made, model, data="data.csv", *options):
    return main(["verify", str(made / model), str(made / data), *options])


def test_a_kept_proof_is_replayed(made, capsys):
    assert verify(made, "proved.json", "data.csv", "--seconds", "0") == 0
    out = capsys.readouterr().out
    assert "the kept proof was replayed" in out or "winning every pair that can be won" in out
    assert "not checked" not in out
    kept, bare = ((made / name).read_text() for name in ("proved.json", "model.json"))
    assert '"proof": null' in bare
    assert '"proof": null' not in kept


def test_without_a_proof_it_is_proved_again(made, capsys):
    assert verify(made, "model.json", "data.csv", "--seconds", "60") == 0
    assert "proved again in" in capsys.readouterr().out


def test_what_was_not_checked_is_said(made, capsys):
    assert verify(made, "model.json", "data.csv", "--seconds", "0") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "not checked: the bound" in out
    assert "rests on the program that wrote the file" in out
    assert "the bound was not checked." in out
    assert "ound:" not in out.replace("bound:", "")


def test_other_data_are_noticed(made, capsys):
    assert verify(made, "model.json", "other.csv") == 3
    out = capsys.readouterr().out
    assert "FAILS" in out
    assert "The certificate does not hold." in out


def test_fewer_rows_are_noticed_in_a_sentence_with_one_full_stop(made, capsys):
    lines = (made / "data.csv").read_text().splitlines(keepends=True)
    (made / "fewer.csv").write_text("".join(lines[:20] + lines[-20:]))
    assert verify(made, "model.json", "fewer.csv") == 3
    out = capsys.readouterr().out
    assert "FAILS" in out
    assert ".." not in out


def test_for_machines(made, capsys):
    assert verify(made, "model.json", "data.csv", "--seconds", "0", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is True
    assert report["complete"] is False
    assert report["failed"] == []
    assert len(report["unchecked"]) == 1


def test_seconds_must_be_a_number(made, capsys):
    assert verify(made, "model.json", "data.csv", "--seconds", "-1") == 2
    assert "--seconds -1" in capsys.readouterr().err


# -- forged model files: checksum and seal recomputed, without our code ----------------------------


def signed(fields, name):
    """The same fields with a signature that fits."""
    fields = {key: value for key, value in fields.items() if key != name}
    bare = {key: fields[key] for key in fields if name == "checksum" or key not in ("format", "version")}
    return {**fields, name: hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()}


def forge(made, source, change):
    """A model file in which somebody changed the reranker, and signed it again."""
    fields = json.loads((made / source).read_text())
    learned = fields["ranker"]["learned"]["reranker_"]["learned"]
    claim = learned["certificate_"]["certificate"]
    change(learned, claim)
    learned["certificate_"]["certificate"] = signed(claim, "seal")
    (made / "forged.json").write_text(json.dumps(signed(fields, "checksum")))


def worse(learned, claim):
    """Other coefficients, in the model and in the certificate, the rest of which stays."""
    coef = [0.0] * len(claim["coef"])
    coef[0] = -1.0
    learned["coef_"] = claim["coef"] = coef


def false_optimum(learned, claim):
    """A worse answer with its true value, called optimal."""
    from toprank import datasets
    from toprank.model import load_model

    worse(learned, claim)
    folder = false_optimum.folder
    model = load_model(folder / "model.json")
    table = datasets.read_table(folder / "data.csv", text_columns=model.text_columns)
    X, _ = model.encoder.encode(model.roles.features(table))
    y = table.frame["failed"].to_numpy()
    top = np.flatnonzero(model.ranker.base_.decision_function(X) >= model.ranker.threshold_)
    problem = model.ranker.reranker_.problem(X[top], y[top])
    claim["value"] = claim["bound"] = float(problem.evaluate_exact(np.array(claim["coef"])))


CHANGES = {
    "changed coefficients": worse,
    "another value": lambda learned, claim: claim.update(
        value=claim["value"] * 1.01, bound=claim["value"] * 1.01
    ),
    "bound above the trivial one": lambda learned, claim: claim.update(bound=1e3, status="time_limit"),
    "coefficients of the model only": lambda learned, claim: learned.update(
        coef_=[-one for one in learned["coef_"]]
    ),
    "false optimum": false_optimum,
}


@pytest.mark.parametrize("source", ["model.json", "proved.json"])
@pytest.mark.parametrize("name", sorted(CHANGES))
def test_forged_models_are_found_out(made, capsys, source, name):
    false_optimum.folder = made
    forge(made, source, CHANGES[name])
    assert verify(made, "forged.json", "data.csv", "--seconds", "30") == 3
    out = capsys.readouterr().out
    assert "FAILS" in out
    assert "The certificate does not hold." in out


def test_signing_again_is_no_forgery(made):
    forge(made, "proved.json", lambda learned, claim: None)
    assert verify(made, "forged.json", "data.csv", "--seconds", "0") == 0


# -- what score and verify take --------------------------------------------------------------------


def test_the_embedded_example_by_leaving_it_out(tmp_path, capsys):
    model = str(tmp_path / "model.json")
    assert main(["rank", "--depth", "16", "-k", "8", "--splits", "0", "-q", "--model", model]) == 0
    assert main(["verify", model, "--seconds", "0"]) == 0
    capsys.readouterr()
    assert main(["score", model, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["listed"] == "the embedded example"
    assert report["rows"] == len(datasets.inspections())
    assert report["value"] is not None


@pytest.mark.skipif(
    "TOPRANK_DATA" not in os.environ, reason="TOPRANK_DATA names no folder with the data files"
)
def test_a_data_set_by_its_name(tmp_path, capsys):
    model = str(tmp_path / "model.json")
    assert (
        main(
            [
                "rank",
                "pima",
                "--depth",
                "25",
                "--splits",
                "0",
                "-q",
                "--time-limit",
                "2",
                "-m",
                model,
                "-s",
                "dcg",
            ]
        )
        == 0
    )
    assert main(["verify", model, "pima", "--seconds", "0"]) == 0
    capsys.readouterr()
    assert main(["score", model, "pima", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 768


def test_skops_models_can_be_trusted(made, tmp_path, capsys, monkeypatch):
    pytest.importorskip("skops")
    monkeypatch.setattr("toprank.lineup.FOREST_TREES", 20)  # three readings of 300 trees take half a minute
    model, data = str(tmp_path / "model.skops"), str(made / "data.csv")
    forest = ["--base", "forest", "--depth", "150", "--time-limit", "1"]
    assert main(["rank", data, *RANK, *forest, "--model", model]) == 0
    monkeypatch.setattr("toprank.model.files.PARTS", frozenset())  # as if of a type we do not write
    assert main(["verify", model, data]) == 2
    assert "--trust sklearn.tree._tree.Tree (or --trust all)" in capsys.readouterr().err
    assert main(["verify", model, data, "--trust", "all", "--seconds", "0"]) == 0
    trust = ["--trust", "sklearn.tree._tree.Tree"]
    assert main(["verify", model, data, *trust, "--seconds", "0"]) == 0
    assert main(["score", model, data, *trust, "-q"]) == 0


def test_a_top_of_one_class_was_not_reranked(made, tmp_path, capsys):
    pytest.importorskip("skops")
    from toprank import RankThenRerank
    from toprank.model import load_model, save_model

    model = load_model(made / "model.json")
    table = datasets.read_table(made / "data.csv", text_columns=model.text_columns)
    X, _ = model.encoder.encode(model.roles.features(table))
    # A forest that has seen the rows puts positives first, and the top is not widened.
    ranker = RankThenRerank(RandomForestClassifier(random_state=0), top=3, cv=None, fewest_of_a_class=0)
    with pytest.warns(OneClassTopWarning):
        ranker.fit(X, table.frame["failed"].to_numpy())
    path = tmp_path / "model.skops"
    save_model(type(model)(model.encoder, ranker, model.roles, model.positive, "dcg"), path)
    assert main(["verify", str(path), str(made / "data.csv"), "--trust", "all"]) == 2
    assert "one class only, so nothing was reranked" in capsys.readouterr().err


def test_models_without_a_certificate(made, capsys):
    from toprank import RankSVM
    from toprank.model import load_model, save_model

    model = load_model(made / "model.json")
    table = datasets.read_table(made / "data.csv", text_columns=model.text_columns)
    X, _ = model.encoder.encode(model.roles.features(table))
    other = RankSVM().fit(X, table.frame["failed"].to_numpy())
    save_model(type(model)(model.encoder, other, model.roles, model.positive, "auc"), made / "bare.json")
    assert verify(made, "bare.json") == 2
    assert "holds no certificate" in capsys.readouterr().err
