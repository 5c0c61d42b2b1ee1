"""Certificates: what they say, how they travel, and that tampering is noticed."""

import dataclasses
import json

import numpy as np
import pytest

from toprank.control import Status
from toprank.exact.certificate import Certificate, CertificateError, verify
from toprank.exact.problem import RankingProblem

X = np.array([[0.0, 0.3], [1.0, 0.1], [2.0, 0.7], [3.0, 0.2]])
Y = [0, 1, 0, 1]


def problem(**options):
    return RankingProblem.from_labels(options.pop("X", X), Y, options.pop("statistic", "dcg"), **options)


def certificate(**options):
    given = {"bound": 2.0, "status": Status.TIME_LIMIT, "seconds": 1.5, "nodes": 7, "method": "sweep"}
    return Certificate.of(problem(), np.array([1.0, 0.5]), **{**given, **options})


def test_files_keep_every_digit(tmp_path):
    one = certificate(history=((0.1, 1 / 3, 2 / 3),), notes=("a note",), proof={"kind": "sweep"})
    one.save(tmp_path / "proof.json")
    assert Certificate.load(tmp_path / "proof.json") == one
    assert [path.name for path in tmp_path.iterdir()] == ["proof.json"]


def test_sound_certificates_have_no_complaints():
    assert verify(problem(), certificate()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": 1.9}, "not the stated value"),
        ({"bound": 0.5}, "below the value"),
        ({"coef": (-1.0, 0.5)}, "not the stated value"),
        ({"coef": (1.0,)}, "1 coefficients for 2"),
        ({"coef": (float("nan"), 1.0)}, "not finite"),
        ({"status": Status.OPTIMAL}, "called optimal"),
        ({"margin": 1e-3}, "margin"),
        ({"penalty": 1.0}, "penalty"),
        ({"statistic": "auc"}, "statistic"),
        ({"scales": (1.0, 7.0)}, "scales"),
        ({"fingerprint": "0" * 64}, "fingerprint"),
    ],
)
def test_tampering_is_noticed(change, words):
    complaints = verify(problem(), dataclasses.replace(certificate(), **change))
    assert any(words in complaint for complaint in complaints)


@pytest.mark.parametrize(
    "other",
    [
        {"X": X + np.array([[0, 0], [0, 0], [0, 0], [0, 1e-9]])},
        {"statistic": "auc"},
        {"margin": 1e-5},
        {"penalty": 0.1},
    ],
)
def test_another_problem_is_noticed(other):
    assert any("fingerprint" in complaint for complaint in verify(problem(**other), certificate()))


@pytest.mark.parametrize("field", ["value", "bound", "coef", "seconds"])
def test_an_edited_file_is_noticed(field):
    content = json.loads(certificate().to_json())
    content[field] = [2.0, 0.5] if field == "coef" else content[field] + 0.25
    with pytest.raises(CertificateError, match="seal"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no valid JSON"),
        ("[1, 2]", "format"),
        ('{"a": 1}', "format"),
        ('{"format": "toprank certificate", "version": 99}', "version 99"),
        ('{"format": "toprank certificate", "version": 1}', "seal"),
    ],
)
def test_foreign_and_damaged_files(text, words):
    with pytest.raises(CertificateError, match=words):
        Certificate.from_json(text)


def test_binary_files_are_a_clear_error(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(CertificateError, match="no text"):
        Certificate.load(tmp_path / "x.json")


def test_summary_and_outcome():
    assert "at most" in certificate().summary()
    assert certificate().outcome.gap == certificate().gap > 0
    assert "proved optimal" in certificate(bound=0.0, status=Status.OPTIMAL).summary()
    assert [event.seconds for event in certificate(history=((0.5, 1.0, 2.0),)).progress()] == [0.5]
