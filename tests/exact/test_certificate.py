"""Certificates: readable, exact through a file, and rejected when anything in them is changed."""

import dataclasses
import json
import math

import numpy as np
import pytest

from toprank.control import Run, Status
from toprank.exact import Certificate, CertificateError, RankingProblem, verify
from toprank.exact.search import search


def problem_and_certificate(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    y = (X[:, 0] + rng.normal(size=25) > 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg", **options)
    with Run(rng=0) as run:
        return problem, search(problem, run)


PROBLEM, SOUND = problem_and_certificate()


def test_a_sound_certificate_passes():
    assert SOUND.proved
    assert verify(PROBLEM, SOUND) == []
    assert SOUND.summary().endswith("proved optimal")
    assert SOUND.outcome.status is Status.OPTIMAL
    assert SOUND.progress()[-1].value == SOUND.value


@pytest.mark.parametrize(
    "change",
    [
        {"value": SOUND.value + 1e-9},
        {"value": math.nextafter(SOUND.value, 0)},
        {"bound": SOUND.value - 1e-6},
        {"bound": SOUND.bound + 0.01},
        {"bound": math.nan},
        {"coef": tuple(-c for c in SOUND.coef)},
        {"coef": (*SOUND.coef[:-1], math.nan)},
        {"coef": SOUND.coef[:-1]},
        {"margin": 1e-5},
        {"penalty": 0.1},
        {"statistic": "auc"},
        {"scales": (1.0, 1.0, 64.0)},
        {"fingerprint": "0" * 64},
    ],
)
def test_a_changed_certificate_is_rejected(change):
    assert verify(PROBLEM, dataclasses.replace(SOUND, **change)) != []


@pytest.mark.parametrize("what", ["row", "label", "margin", "penalty", "statistic"])
def test_other_data_or_another_claim_is_rejected(what):
    X, y, options = PROBLEM.X.copy(), PROBLEM.labels.copy(), {}
    if what == "row":
        X[3, 1] = np.nextafter(X[3, 1], 0)
    elif what == "label":
        y[0] = 1 - y[0]
    elif what != "statistic":
        options[what] = 1e-3
    other = RankingProblem.from_labels(X, y, "auc" if what == "statistic" else "dcg", **options)
    assert verify(other, SOUND) != []


def test_files_keep_every_digit(tmp_path):
    path = tmp_path / "certificate.json"
    SOUND.save(path)
    assert Certificate.load(path) == SOUND
    assert json.loads(path.read_text())["value"] == SOUND.value
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("field", ["value", "bound", "coef", "status", "nodes", "fingerprint"])
def test_a_changed_file_is_refused(tmp_path, field):
    content = json.loads(SOUND.to_json())
    content[field] = [0.0, 1.0, 0.0] if field == "coef" else "optimal!" if field == "status" else 1
    with pytest.raises(CertificateError, match="seal"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"format": "toprank certificate", "version": 99}', "\x00"]
)
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(CertificateError):
        Certificate.from_json(text)


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(CertificateError, match="no text"):
        Certificate.load(path)


def test_the_price_is_part_of_the_value():
    problem, certificate = problem_and_certificate(penalty=0.05)
    assert certificate.proved
    assert verify(problem, certificate) == []
    free = dataclasses.replace(certificate, value=certificate.value + 0.05)
    assert verify(problem, free) != []


# -- proofs that can be replayed --------------------------------------------------------------


def with_proof(penalty=0.0, method="sweep"):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(16, 3))
    y = (X[:, 0] + 3 * rng.normal(size=16) > 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg", penalty=penalty)
    with Run(rng=0) as run:
        certificate = search(problem, run, method=method, keep_proof=True)
    assert certificate.proved
    assert certificate.proof is not None
    return problem, certificate


@pytest.mark.parametrize("method", ["sweep", "cells"])
@pytest.mark.parametrize("penalty", [0.0, 0.03])
def test_a_kept_proof_is_replayed_and_survives_a_file(tmp_path, penalty, method):
    problem, certificate = with_proof(penalty, method)
    assert {part["method"] for part in certificate.proof["parts"]} == {method}
    certificate.save(tmp_path / "certificate.json")
    loaded = Certificate.load(tmp_path / "certificate.json")
    assert loaded == certificate
    assert verify(problem, loaded) == []


@pytest.mark.parametrize("method", ["sweep", "cells"])
@pytest.mark.parametrize("penalty", [0.0, 0.03])
@pytest.mark.parametrize("fault", ["log", "part", "columns", "bound", "method", "damage"])
def test_a_changed_proof_is_rejected(penalty, fault, method):
    problem, certificate = with_proof(penalty, method)
    proof = json.loads(json.dumps(certificate.proof))
    first = proof["parts"][0]
    if fault == "log":
        first["log"].pop(max(first["log"], key=lambda key: len(first["log"][key])))
    elif fault == "part":
        proof["parts"].pop(0)
    elif fault == "columns":
        first["columns"] = first["columns"][:-1]
    elif fault == "bound":
        first["bound"] -= 0.2
    elif fault == "method":
        first["method"] = "cells" if method == "sweep" else "sweep"
    else:
        first["log"] = {"?": "?"}
    assert verify(problem, dataclasses.replace(certificate, proof=proof)) != []


@pytest.mark.parametrize("method", ["sweep", "cells"])
def test_a_false_bound_below_the_optimum_is_found_out_by_the_replay(method):
    """A worse answer whose bound is made to meet its value: only going through the proof again can tell."""
    problem, certificate = with_proof(method=method)
    worse = np.array([1.0, 0.0, 0.0])
    value = problem.evaluate(worse)
    assert value < certificate.value
    proof = json.loads(json.dumps(certificate.proof))
    proof["parts"][0]["bound"] = value
    forged = dataclasses.replace(certificate, coef=tuple(worse), value=value, bound=value, proof=proof)
    complaints = verify(problem, forged)
    assert any("may be worth the target" in text or "without reason" in text for text in complaints)
