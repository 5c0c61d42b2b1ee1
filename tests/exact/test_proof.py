"""Kept proofs: parts replay by their own method, and together cover every set of columns at its price."""

import itertools
import json

import numpy as np
import pytest

from toprank.exact import RankingProblem
from toprank.exact import proof as module
from toprank.exact.proof import check_proof, proof_part


def problem_of(d=3, penalty=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, d))
    return RankingProblem.from_labels(X, X[:, 0] + rng.normal(size=12) > 0, "dcg", penalty=penalty)


@pytest.fixture
def replayed(monkeypatch):
    """Every log replays; what was asked for is noted."""
    asked = []

    def again(name, arrays, log, bound):
        asked.append((name, arrays.differences.shape[1], log, bound))
        return []

    monkeypatch.setattr(module, "replay_log", again)
    return asked


def part(columns, bound, method="boxes", log=None):
    return proof_part(method, np.array(columns), bound, {b"\x00key": b"\xffrecord"} if log is None else log)


def test_a_part_survives_json_and_is_replayed_on_its_columns(replayed):
    problem = problem_of()
    proof = json.loads(json.dumps({"parts": [part([0, 1, 2], 5.0, method="cells")]}))
    assert check_proof(problem, proof, 5.0) == []
    ((name, columns, log, bound),) = replayed
    assert (name, columns, log) == ("cells", 3, {b"\x00key": b"\xffrecord"})
    assert 5.0 < bound < 5.0 + 1e-8


def test_without_a_price_the_whole_set_must_be_covered(replayed):
    problem = problem_of()
    assert check_proof(problem, {"parts": [part([0, 1], 5.0)]}, 5.0) == [
        "the proof leaves out coefficients on the columns [0, 1, 2]"
    ]
    assert check_proof(problem, {"parts": [part([0, 1, 2], 5.1)]}, 5.0) != []


@pytest.mark.parametrize("seed", range(20))
def test_with_a_price_every_set_needs_a_part_that_is_low_enough(seed, replayed):
    rng = np.random.default_rng(seed)
    problem = problem_of(penalty=0.25)
    sets = [s for k in (1, 2, 3) for s in itertools.combinations(range(3), k)]
    parts = [(s, float(rng.integers(16, 24)) / 4) for s in sets if rng.random() < 0.6]
    covered = all(
        any(set(s) <= set(columns) and most - 0.25 * len(s) <= 4.75 for columns, most in parts) for s in sets
    )
    complaints = check_proof(problem, {"parts": [part(columns, most) for columns, most in parts]}, 4.75)
    assert (complaints == []) == covered


def test_what_a_replay_complains_of_is_handed_on(monkeypatch):
    monkeypatch.setattr(module, "replay_log", lambda *asked: ["a box is missing"])
    assert check_proof(problem_of(), {"parts": [part([0, 1, 2], 5.0)]}, 5.0) == ["a box is missing"]


@pytest.mark.parametrize(
    "damage",
    [
        {"columns": [0, 3]},
        {"columns": []},
        {"columns": [-1]},
        {"bound": "low"},
        {"log": {"?": "?"}},
        {"log": None},
        {"log": {"YQ==": "not text of bytes"}},
    ],
)
def test_damage_is_no_proof_and_no_error(damage, replayed):
    proof = {"parts": [{**part([0, 1, 2], 5.0), **damage}]}
    (complaint,) = check_proof(problem_of(), proof, 5.0)
    assert "damaged" in complaint
    assert "damaged" in check_proof(problem_of(), {}, 5.0)[0]


def test_too_many_columns_with_a_price_are_not_gone_through(monkeypatch, replayed):
    monkeypatch.setattr(module, "MOST_FEATURES", 2)
    with pytest.raises(ValueError, match="more than 2 columns"):
        check_proof(problem_of(penalty=0.1), {"parts": [part([0, 1, 2], 5.0)]}, 5.0)
