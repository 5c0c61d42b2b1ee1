"""Certificates: readable, exact through a file, and rejected when anything in them is changed."""

import json

import numpy as np
import pytest

from toprank.control import Run, Status
from toprank.exact import Certificate, CertificateError, RankingProblem
from toprank.exact.search.driver import search


def problem_and_certificate(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    y = (X[:, 0] + rng.normal(size=25) > 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg", **options)
    with Run(rng=0) as run:
        return problem, search(problem, run)


PROBLEM, SOUND = problem_and_certificate()


def test_a_certificate_speaks_for_itself():
    assert SOUND.proved
    assert SOUND.summary().endswith("proved optimal")
    assert SOUND.outcome.status is Status.OPTIMAL
    assert SOUND.progress()[-1].value == SOUND.value


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
